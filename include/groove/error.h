// The user's error: thrown before anything is recorded or changed, naming op, values and remedy.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace groove {

class Site;

/// what() is "name: what is wrong and what to do", with the name that the program called, and the
/// place of that call: "\n  at /home/me/train.cpp:12".
class Error : public std::runtime_error {
 public:
  explicit Error(std::string message) : std::runtime_error(""), message_(std::move(message)) {}
  const char* what() const noexcept override {
    return text_.empty() ? message_.c_str() : text_.c_str();
  }
  /// The message without the place (LibTorch's spelling).
  const char* what_without_backtrace() const noexcept { return message_.c_str(); }
  const std::string& msg() const noexcept { return message_; }
  /// Where the program made the call: null and 0 where that is unknown.
  const char* file() const noexcept { return file_; }
  std::uint_least32_t line() const noexcept { return line_; }

 private:
  friend class ErrorPlace;      // src/core/call_frame.cpp
  std::string message_, text_;  // text_: with the place, where it is known
  const char* file_ = nullptr;
  std::uint_least32_t line_ = 0, column_ = 0;
  const void* frame_ = nullptr;  // what gave the place
  bool is_settled_ = false;      // calls further out are of other lines
};

// Kinds of it, as LibTorch has them.
/// A position or an axis that is not there.
struct IndexError : Error {
  using Error::Error;
};
/// An argument that does not fit another one.
struct ValueError : Error {
  using Error::Error;
};
struct TypeError : Error {
  using Error::Error;
};
/// A dtype that the operator is not defined for.
struct NotImplementedError : Error {
  using Error::Error;
};
struct OutOfMemoryError : Error {
  using Error::Error;
};
/// A matrix that has no such factorisation or inverse.
struct LinAlgError : Error {
  using Error::Error;
};

/// Throws Error with the place and the name of the call that runs.
[[noreturn]] void throw_error(std::string message);

}  // namespace groove
