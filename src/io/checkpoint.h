// PyTorch's files: a zip of a pickle and the storages that its tensors lie in.
#pragma once

#include <string>
#include <string_view>

#include "groove/ivalue.h"
#include "src/io/contents.h"

namespace groove::serialize {

IValue read_checkpoint(std::string_view bytes, const std::string& source);
std::string write_checkpoint(const IValue& value);

/// As the entries of an archive: of a dictionary in a dictionary under "outer.inner", of a list
/// under "0", "1", …, and of a single tensor under "0". What is no tensor, number, text or list of
/// numbers is left out.
void read_checkpoint(std::string_view bytes, detail::Contents& contents);

}  // namespace groove::serialize
