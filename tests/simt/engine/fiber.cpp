#include "fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <utility>

#include "sanitizer.hpp"

namespace zenith::simt_engine {
namespace {

std::size_t page() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// Hands Boost the stack that the fiber owns anyway.
struct lent_stack {
  const fiber_stack* stack;

  boost::context::stack_context allocate() const {
    boost::context::stack_context context;
    context.size = fiber_stack::bytes;
    context.sp = stack->bottom() + fiber_stack::bytes;
    return context;
  }
  void deallocate(boost::context::stack_context&) const noexcept {}
};

}  // namespace

fiber_stack::fiber_stack() {
  void* const at = mmap(nullptr, bytes + page(), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<std::byte*>(at);
  bottom_ = mapping_ + page();
  mprotect(mapping_, page(), PROT_NONE);
}

fiber_stack::~fiber_stack() {
  allow(bottom_, bytes);
  munmap(mapping_, bytes + page());
}

void fiber::start(void (*body)(void*), void* argument) {
  allow(stack_.bottom(), fiber_stack::bytes);
  own_shadow_ = nullptr;
  own_ = boost::context::fiber(std::allocator_arg, lent_stack{&stack_},
                               [this, body, argument](boost::context::fiber&& scheduler) {
                                 enter_stack(nullptr, &scheduler_bottom_, &scheduler_bytes_);
                                 scheduler_ = std::move(scheduler);
                                 body(argument);
                                 leave_stack(nullptr, scheduler_bottom_, scheduler_bytes_);
                                 return std::move(scheduler_);
                               });
}

bool fiber::resume() {
  leave_stack(&scheduler_shadow_, stack_.bottom(), fiber_stack::bytes);
  own_ = std::move(own_).resume();
  enter_stack(scheduler_shadow_, nullptr, nullptr);
  return static_cast<bool>(own_);
}

void fiber::suspend() {
  leave_stack(&own_shadow_, scheduler_bottom_, scheduler_bytes_);
  scheduler_ = std::move(scheduler_).resume();
  enter_stack(own_shadow_, &scheduler_bottom_, &scheduler_bytes_);
}

void fiber::give_up() noexcept {
  if (!own_) return;
  // The destructor of Boost's handle would unwind: keep it from running.
  union grave {
    boost::context::fiber handle;
    explicit grave(boost::context::fiber&& of) : handle(std::move(of)) {}
    ~grave() {}
  };
  grave{std::move(own_)};
}

}  // namespace zenith::simt_engine
