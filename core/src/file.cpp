#include <core/file.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <random>
#include <string>
#include <system_error>
#include <utility>

#include <zenith/error.hpp>

namespace zenith::detail {
namespace {

// An open file, closed at the end.
class descriptor {
 public:
  explicit descriptor(int number) : number_(number) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }
  /// Whether all that was written arrived, as far as closing tells.
  bool close() { return ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

std::string system_message(int number) { return std::generic_category().message(number); }

[[noreturn]] void fail(std::string_view what, const std::filesystem::path& file, const char* verb,
                       const std::string& why, int number = 0) {
  throw error(error_code::invalid_argument,
              std::string{what} + " '" + file.string() + "' cannot be " + verb + ": " + why, {}, number);
}

bool write_all(int to, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(to, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

// Not made from the file's own name, which may be as long as a name can be.
std::filesystem::path temporary_beside(const std::filesystem::path& file) {
  std::random_device random;
  return file.parent_path() / (".zenith-new-" + std::to_string(random()) + std::to_string(random()));
}

// Where symbolic links lead, whether or not anything is there.
std::filesystem::path behind_links(std::filesystem::path file) {
  constexpr int most = 40;  // as many as the system follows
  std::error_code none;
  for (int i = 0; i < most && std::filesystem::is_symlink(file, none); ++i) {
    file = file.parent_path() / std::filesystem::read_symlink(file, none);
  }
  return file;
}

}  // namespace

std::optional<std::string> first_bytes(const std::filesystem::path& file, std::size_t most) {
  constexpr std::size_t piece = std::size_t{16} << 10;
  const descriptor from(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (from.number() < 0 && errno == ENOMEM) throw std::bad_alloc{};
  if (from.number() < 0) return std::nullopt;
  // what the system makes while it is read has no size before
  std::string bytes;
  while (bytes.size() < most) {
    const auto before = bytes.size();
    bytes.resize(std::min(most, before + piece));
    const auto read = ::read(from.number(), bytes.data() + before, bytes.size() - before);
    const int number = errno;
    bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(read, 0)));
    if (read == 0) break;
    if (read > 0 || number == EINTR) continue;
    if (number == ENOMEM) throw std::bad_alloc{};
    return std::nullopt;
  }
  return bytes;
}

mapped_file map_file(std::string_view what, const std::filesystem::path& file) {
  // without waiting: a named pipe would wait for a writer
  const descriptor from(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (from.number() < 0 || ::fstat(from.number(), &status) != 0) {
    const int number = errno;
    fail(what, file, "read", system_message(number), number);
  }
  if (!S_ISREG(status.st_mode)) fail(what, file, "read", "it is not a file");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return {};
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, from.number(), 0);
  if (data == MAP_FAILED) {
    const int number = errno;
    fail(what, file, "read", system_message(number), number);
  }
  return {{static_cast<const std::byte*>(data), [data, size](const std::byte*) { ::munmap(data, size); }}, size};
}

void replace_file(std::string_view what, const std::filesystem::path& file,
                  std::span<const std::span<const std::byte>> parts) {
  if (!file.has_filename()) fail(what, file, "written", "it names no file");
  const auto place = behind_links(file);
  struct stat old {};
  const bool replaces = ::stat(place.c_str(), &old) == 0;
  if (!replaces && errno != ENOENT) {
    const int number = errno;
    fail(what, file, "written", system_message(number), number);
  }
  // a device or a pipe would be gone
  if (replaces && !S_ISREG(old.st_mode)) fail(what, file, "written", "it is not a file");
  const auto temporary = temporary_beside(place);
  descriptor to(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, replaces ? 0600 : 0666));
  if (to.number() < 0) {
    const int number = errno;
    fail(what, file, "written", system_message(number), number);
  }
  constexpr mode_t permissions = 0777;
  bool whole = !replaces || ::fchmod(to.number(), old.st_mode & permissions) == 0;
  for (const auto part : parts) whole = whole && write_all(to.number(), part);
  // on the disk before it has the name: else a power cut could leave the name without the bytes
  whole = whole && ::fsync(to.number()) == 0 && to.close();
  if (whole && ::rename(temporary.c_str(), place.c_str()) == 0) return;
  const int number = errno;
  ::unlink(temporary.c_str());
  fail(what, file, "written", system_message(number), number);
}

}  // namespace zenith::detail
