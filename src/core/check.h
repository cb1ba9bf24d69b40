// GROOVE_CHECK: the user's mistake, as groove::Error built with fmt. GROOVE_ASSERT: ours.
#pragma once

#include <fmt/core.h>

#include <string>

#include "groove/error.h"
#include "src/core/call_frame.h"

namespace groove {

[[noreturn]] void throw_error(std::string message);
/// As an error of that kind (IndexError, …).
template <typename Kind>
[[noreturn]] void throw_error_as(std::string message);
/// Called before every such throw: the program may be about to leave its loop.
extern void (*error_hook)();

/// Prints condition, place and detail to standard error and aborts.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line,
                                   const std::string& detail) noexcept;

}  // namespace groove

#define GROOVE_CHECK(condition, ...)                     \
  do {                                                   \
    if (!(condition)) [[unlikely]]                       \
      ::groove::throw_error(::fmt::format(__VA_ARGS__)); \
  } while (false)

// The same as a kind of it: IndexError, ValueError, NotImplementedError, LinAlgError.
#define GROOVE_CHECK_AS(Kind, condition, ...)                               \
  do {                                                                      \
    if (!(condition)) [[unlikely]]                                          \
      ::groove::throw_error_as<::groove::Kind>(::fmt::format(__VA_ARGS__)); \
  } while (false)

// The same for a call whose place is at hand; costs nothing where all is well.
#define GROOVE_CHECK_AT(site, condition, ...)                  \
  do {                                                         \
    if (!(condition)) [[unlikely]] {                           \
      const ::groove::CallFrame frame_of_check(site, nullptr); \
      ::groove::throw_error(::fmt::format(__VA_ARGS__));       \
    }                                                          \
  } while (false)

#define GROOVE_ASSERT(condition, ...)                                                            \
  do {                                                                                           \
    if (!(condition)) [[unlikely]]                                                               \
      ::groove::assertion_failed(#condition, __FILE__, __LINE__, ::fmt::format("" __VA_ARGS__)); \
  } while (false)
