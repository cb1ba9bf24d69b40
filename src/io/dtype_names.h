// The element types as safetensors spells them.
#pragma once

#include <string>

#include "groove/dtype.h"

namespace groove::serialize {

const char* file_name_of(ScalarType dtype);
/// Undefined for a name that stands for none of Groove's dtypes.
ScalarType dtype_of_file_name(const std::string& name);

}  // namespace groove::serialize
