// The safetensors format: 8 bytes of length (little-endian), a JSON header of that length, and the
// bytes of the tensors one after the other in the order of their offsets.
//   {"__metadata__": {"key": "text"},
//    "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "groove/tensor.h"
#include "src/io/contents.h"
#include "src/io/elements.h"

namespace groove::serialize {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
using Metadata = std::vector<std::pair<std::string, std::string>>;

/// Names must be valid UTF-8. Tensors are written as their elements in row-major order, NaN as the
/// canonical quiet NaN.
void write_safetensors(const NamedTensors& tensors, const Metadata& metadata, const Sink& sink);

/// Reads `size` bytes. Everything is checked: a file that is not well-formed to the last byte
/// throws groove::Error before memory for more than the file's own size is asked for.
void read_safetensors(const Source& source, std::size_t size, detail::Contents& contents);

/// How many bytes follow a header (whose length was checked), as its offsets say.
std::size_t data_size(const std::string& header, const std::string& source);
constexpr std::size_t kMostHeaderBytes = 100'000'000;  // the limit of the reference implementation

}  // namespace groove::serialize
