#include "src/core/check.h"

#include <cstdio>
#include <cstdlib>

namespace groove {

void (*error_hook)() = nullptr;

template <typename Kind>
void throw_error_as(std::string message) {
  if (error_hook) error_hook();
  Kind error(std::move(message));
  place_error(error);
  throw error;
}
template void throw_error_as<IndexError>(std::string message);
template void throw_error_as<ValueError>(std::string message);
template void throw_error_as<NotImplementedError>(std::string message);
template void throw_error_as<LinAlgError>(std::string message);

void throw_error(std::string message) { throw_error_as<Error>(std::move(message)); }

void assertion_failed(const char* condition, const char* file, int line,
                      const std::string& detail) noexcept {
  std::fprintf(stderr, "groove: internal check failed: %s\n  at %s:%d\n%s%s", condition, file, line,
               detail.c_str(), detail.empty() ? "" : "\n");
  std::abort();
}

}  // namespace groove
