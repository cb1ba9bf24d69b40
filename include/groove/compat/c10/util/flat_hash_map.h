// ska::flat_hash_map by its name: the standard library's.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "groove/compat/torch/torch.h"

namespace ska {
template <typename Key, typename Value>
using flat_hash_map = std::unordered_map<Key, Value>;
template <typename Value>
using flat_hash_set = std::unordered_set<Value>;
}  // namespace ska
