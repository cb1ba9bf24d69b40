// Python's pickle, as far as files of PyTorch need it: values, and the few names that stand for
// tensors. No program in a pickle is run: a name that is not known here throws.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "groove/ivalue.h"

namespace groove::serialize {

/// The bytes of the storage of that key.
using ReadStorage = std::function<std::string(const std::string& key)>;

/// Throws groove::Error, with `source`, for what is cut short, unknown, nested deeper than 256,
/// larger than the file can hold, or refers to itself.
IValue read_pickle(std::string_view bytes, const std::string& source, const ReadStorage& storage);

/// Protocol 2. The storages that the tensors lie in get the keys "0", "1", … in the order in which
/// they are added to `storages`.
std::string write_pickle(const IValue& value, std::vector<Tensor>& storages);

/// "FloatStorage" and the like; Undefined or null where there is none.
ScalarType dtype_of_storage(std::string_view name);
const char* storage_of(ScalarType dtype);

}  // namespace groove::serialize
