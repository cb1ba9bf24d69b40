// Options as modules print them, LibTorch's way: a module that may name a truth leaves the stream
// writing truths in words, which programs that print on see.
#pragma once

#include <cctype>
#include <ostream>
#include <string>

namespace groove::nn {

struct PrintedTruth {
  bool value;
};
inline std::ostream& operator<<(std::ostream& stream, PrintedTruth truth) {
  return stream << std::boolalpha << truth.value;
}
inline PrintedTruth text(bool value) { return {value}; }

struct PrintedInplace {
  bool value;
  const char* before;
};
inline std::ostream& operator<<(std::ostream& stream, PrintedInplace option) {
  return option.value ? stream << option.before << "inplace=" << text(true) : stream;
}
/// As the only option, and behind others: nothing where it is not in place.
inline PrintedInplace inplace_text(bool value) { return {value, ""}; }
inline PrintedInplace later_inplace_text(bool value) { return {value, ", "}; }

/// "kCircular" of "circular".
inline std::string enumerator(std::string name) {
  name[0] = static_cast<char>(std::toupper(name[0]));
  return "k" + name;
}

}  // namespace groove::nn
