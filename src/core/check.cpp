#include "src/core/check.h"

#include <cstdio>
#include <cstdlib>

namespace groove {

void (*error_hook)() = nullptr;

void throw_error(std::string message) {
  if (error_hook) error_hook();
  Error error(std::move(message));
  place_error(error);
  throw error;
}

void assertion_failed(const char* condition, const char* file, int line,
                      const std::string& detail) noexcept {
  std::fprintf(stderr, "groove: internal check failed: %s\n  at %s:%d\n%s%s", condition, file, line,
               detail.c_str(), detail.empty() ? "" : "\n");
  std::abort();
}

}  // namespace groove
