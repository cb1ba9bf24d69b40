// What a file holds once it is read, shared by all archives over it.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "groove/tensor.h"

namespace groove::serialize::detail {

// Before the name of what is no tensor, among the texts of a file.
inline constexpr const char* kValue = "value:";

struct Contents {
  std::string source;  // the path, or what else it was read from; for messages
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> values;  // IValues as text
  Device device;

  // What modules that are being loaded will take: written when the outermost load() ends well.
  std::vector<std::pair<Tensor, Tensor>> pending;  // target and value
  int depth = 0;
};

}  // namespace groove::serialize::detail
