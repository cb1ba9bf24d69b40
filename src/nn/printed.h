// Options as modules print them, LibTorch's way.
#pragma once

#include <cctype>
#include <string>

namespace groove::nn {

inline const char* text(bool value) { return value ? "true" : "false"; }
/// As the only option, and behind others: nothing where it is not in place.
inline const char* inplace_text(bool value) { return value ? "inplace=true" : ""; }
inline const char* later_inplace_text(bool value) { return value ? ", inplace=true" : ""; }

/// "kCircular" of "circular".
inline std::string enumerator(std::string name) {
  name[0] = static_cast<char>(std::toupper(name[0]));
  return "k" + name;
}

}  // namespace groove::nn
