// The user's error: thrown before anything is recorded or changed, naming op, values and remedy.
#pragma once

#include <stdexcept>
#include <string>

namespace groove {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  /// The message without a backtrace (LibTorch's spelling).
  const char* what_without_backtrace() const { return what(); }
};

}  // namespace groove
