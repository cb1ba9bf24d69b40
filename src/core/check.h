// GROOVE_CHECK: the user's mistake, as groove::Error built with fmt. GROOVE_ASSERT: ours.
#pragma once

#include <fmt/core.h>

#include <string>

#include "groove/error.h"

namespace groove {

[[noreturn]] inline void throw_error(std::string message) { throw Error(std::move(message)); }

/// Prints condition, place and detail to standard error and aborts.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line,
                                   const std::string& detail) noexcept;

}  // namespace groove

#define GROOVE_CHECK(condition, ...)                     \
  do {                                                   \
    if (!(condition)) [[unlikely]]                       \
      ::groove::throw_error(::fmt::format(__VA_ARGS__)); \
  } while (false)

#define GROOVE_ASSERT(condition, ...)                                                            \
  do {                                                                                           \
    if (!(condition)) [[unlikely]]                                                               \
      ::groove::assertion_failed(#condition, __FILE__, __LINE__, ::fmt::format("" __VA_ARGS__)); \
  } while (false)
