// IDX files (the format of the MNIST digits), plain or compressed by gzip.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace groove::data {

struct IdxFile {
  std::vector<std::int64_t> sizes;
  std::vector<std::uint8_t> values;  // row-major
};

/// Reads `path`, or `path`.gz when that does not exist. The file must hold unsigned bytes with
/// `dims` axes and end where its header says. Throws groove::Error naming file, values, remedy.
IdxFile read_idx(const std::string& path, int dims);

}  // namespace groove::data
