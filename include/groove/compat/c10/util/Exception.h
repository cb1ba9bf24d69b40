// TORCH_CHECK and c10::Error for LibTorch programs.
#pragma once

#include "groove/detail/message.h"
#include "groove/error.h"
#include "groove/groove.h"

namespace groove {

namespace detail {
template <typename... Parts>
[[noreturn]] void compat_check_failed(const char* condition, const Parts&... parts) {
  if constexpr (sizeof...(Parts) == 0)
    throw Error(str("Expected ", condition, " to be true"));
  else
    throw Error(str(parts...));
}
}  // namespace detail
}  // namespace groove

#define TORCH_CHECK(condition, ...)                                                 \
  do {                                                                              \
    if (!(condition)) [[unlikely]]                                                  \
      ::groove::detail::compat_check_failed(#condition __VA_OPT__(, ) __VA_ARGS__); \
  } while (false)
#define TORCH_INTERNAL_ASSERT(condition, ...) TORCH_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) TORCH_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#define AT_ASSERT(condition, ...) TORCH_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#define AT_ERROR(...) ::groove::detail::compat_check_failed("" __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_WARN(...) (void)0
