// IValues as the texts of a file's metadata: "int 3", "double 0.1", "bool true", "string x",
// "ints 1 2", "doubles 0.9 0.999", "none". Doubles are read back with the same bits.
#pragma once

#include <optional>
#include <string>

#include "groove/autograd.h"

namespace groove::serialize {

std::string text_of(const IValue& value);
/// Nothing for a text that is none of these.
std::optional<IValue> value_of(const std::string& text);

}  // namespace groove::serialize
