// The .npy format: 6 bytes of mark, 2 of version, the length of the header (2 bytes in version 1,
// else 4; little-endian), the header, which is a dictionary as Python writes it, and the elements.
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/io/elements.h"

namespace groove::serialize {

struct NpyDtype {
  const char* text;  // the kind, and the bytes of an element
  ScalarType dtype;
};
inline constexpr NpyDtype kNpyDtypes[] = {
    {"c16", kComplexDouble}, {"c8", kComplexFloat}, {"f8", kDouble}, {"f4", kFloat},
    {"f2", kHalf},           {"i8", kLong},         {"i4", kInt},    {"i2", kShort},
    {"i1", kChar},           {"u1", kByte},         {"b1", kBool}};

struct NpyHeader {
  ScalarType dtype = ScalarType::Undefined;
  bool is_big_endian = false, is_column_major = false;
  std::vector<std::uint64_t> shape;
};

/// Throws groove::Error naming `file` unless the text is such a dictionary with a dtype of
/// Groove's.
NpyHeader parse_npy_header(std::string_view text, const std::string& file);

/// Reads `size` bytes. All is checked before memory is asked for.
Tensor read_npy(const Source& source, std::size_t size, const std::string& file);
void write_npy(const Tensor& tensor, const Sink& sink);

/// Calls back with the name and the tensor of each entry of a .npz file.
void read_npz(std::string_view bytes, const std::string& file,
              const std::function<void(const std::string&, const Tensor&)>& take);

}  // namespace groove::serialize
