// Options as modules print them, LibTorch's way.
#pragma once

namespace groove::nn {

inline const char* text(bool value) { return value ? "true" : "false"; }
/// As the only option, and behind others: nothing where it is not in place.
inline const char* inplace_text(bool value) { return value ? "inplace=true" : ""; }
inline const char* later_inplace_text(bool value) { return value ? ", inplace=true" : ""; }

}  // namespace groove::nn
