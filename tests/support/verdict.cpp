#include <verdict.hpp>

#include <catch.hpp>
#include <settings.hpp>

namespace zenith_test {

void verdict::add(const target& on, const std::string& fault) {
  constexpr std::size_t shown_of_each = 4;
  ++cases_;
  if (fault.empty()) return;
  ++faults_;
  if (++faults_of_[on.name()] <= shown_of_each) text_ += "\n  " + on.name() + ": " + fault;
}

void verdict::require_none() const {
  if (faults_ == 0) {
    SUCCEED();
    return;
  }
  std::string counts;
  for (const auto& [name, count] : faults_of_) counts += "\n  " + name + ": " + std::to_string(count);
  FAIL_CHECK(faults_ << " of " << cases_ << " cases failed with ZENITH_SEED=" << seed() << counts
                     << "\nsuch as:" << text_);
}

}  // namespace zenith_test
