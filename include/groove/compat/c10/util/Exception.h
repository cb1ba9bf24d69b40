// TORCH_CHECK, TORCH_WARN and the classes of c10::Error for LibTorch programs.
#pragma once

#include <atomic>
#include <exception>
#include <sstream>

#include "groove/detail/message.h"
#include "groove/error.h"
#include "groove/groove.h"

namespace c10 {

using groove::Error;
using groove::IndexError;
using groove::LinAlgError;
using groove::NotImplementedError;
using groove::OutOfMemoryError;
using groove::TypeError;
using groove::ValueError;

namespace detail {
template <typename Kind, typename... Parts>
[[noreturn]] void check_failed(const char* condition, const Parts&... parts) {
  if constexpr (sizeof...(Parts) == 0)
    throw Kind(groove::str("Expected ", condition, " to be true"));
  else
    throw Kind(groove::str(parts...));
}
/// What a failed TORCH_CHECK_EQ is streamed into; throws at the end of the statement.
class FailedComparison {
 public:
  FailedComparison() = default;
  FailedComparison(const FailedComparison&) = delete;
  FailedComparison& operator=(const FailedComparison&) = delete;
  ~FailedComparison() noexcept(false) {
    if (std::uncaught_exceptions() == 0) throw Error(text_.str());
  }
  std::ostream& stream() { return text_; }

 private:
  std::ostringstream text_;
};
struct Discard {
  void operator&(const std::ostream&) const {}
};
}  // namespace detail

}  // namespace c10

// A block, as LibTorch's is: programs leave the semicolon out.
#define TORCH_CHECK_WITH(kind, condition, ...)                                       \
  if (!(condition)) [[unlikely]] {                                                   \
    ::c10::detail::check_failed<::c10::kind>(#condition __VA_OPT__(, ) __VA_ARGS__); \
  }
#define TORCH_CHECK(condition, ...) TORCH_CHECK_WITH(Error, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) \
  TORCH_CHECK_WITH(IndexError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) \
  TORCH_CHECK_WITH(ValueError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) \
  TORCH_CHECK_WITH(TypeError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) \
  TORCH_CHECK_WITH(NotImplementedError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_LINALG(condition, ...) \
  TORCH_CHECK_WITH(LinAlgError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_ARG(condition, number, ...) \
  TORCH_CHECK(condition, "invalid argument ", number, ": ", __VA_ARGS__)
#define TORCH_CHECK_OP(a, b, op)                                                                \
  ((a)op(b)) ? (void)0                                                                          \
             : ::c10::detail::Discard() & ::c10::detail::FailedComparison().stream()            \
                                              << "Check failed: " #a " " #op " " #b " (" << (a) \
                                              << " vs. " << (b) << "). "
#define TORCH_CHECK_EQ(a, b) TORCH_CHECK_OP(a, b, ==)
#define TORCH_CHECK_NE(a, b) TORCH_CHECK_OP(a, b, !=)
#define TORCH_CHECK_LT(a, b) TORCH_CHECK_OP(a, b, <)
#define TORCH_CHECK_LE(a, b) TORCH_CHECK_OP(a, b, <=)
#define TORCH_CHECK_GT(a, b) TORCH_CHECK_OP(a, b, >)
#define TORCH_CHECK_GE(a, b) TORCH_CHECK_OP(a, b, >=)
#define TORCH_INTERNAL_ASSERT(condition, ...) TORCH_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#define AT_ASSERT(condition, ...) TORCH_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#ifdef NDEBUG
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) \
  while (false) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#else
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#endif
#define AT_ERROR(...) ::c10::detail::check_failed<::c10::Error>("" __VA_OPT__(, ) __VA_ARGS__)
#define C10_THROW_ERROR(kind, message) throw ::c10::kind(message)
#define TORCH_WARN(...) ::groove::warn_each_time(::groove::str(__VA_ARGS__));
#define TORCH_WARN_ONCE(...)                                                          \
  {                                                                                   \
    static ::std::atomic_flag is_given = ATOMIC_FLAG_INIT;                            \
    if (!is_given.test_and_set() || ::groove::warns_always()) TORCH_WARN(__VA_ARGS__) \
  }
