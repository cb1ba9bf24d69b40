// Names and promotion of the element types.
#include "groove/dtype.h"

#include <array>
#include <ostream>

namespace groove {
namespace {

struct DtypeNames {
  const char* short_name;
  const char* name;
};
constexpr DtypeNames kNames[] = {{"u8", "Byte"},
                                 {"i8", "Char"},
                                 {"i16", "Short"},
                                 {"i32", "Int"},
                                 {"i64", "Long"},
                                 {"f16", "Half"},
                                 {"f32", "Float"},
                                 {"f64", "Double"},
                                 {"c32", "ComplexHalf"},
                                 {"c64", "ComplexFloat"},
                                 {"c128", "ComplexDouble"},
                                 {"bool", "Bool"},
                                 {"qi8", "QInt8"},
                                 {"qu8", "QUInt8"},
                                 {"qi32", "QInt32"},
                                 {"bf16", "BFloat16"},
                                 {"undefined", "Undefined"},
                                 {"undefined", "Undefined"}};

}  // namespace

const char* short_name(ScalarType dtype) { return kNames[static_cast<int>(dtype)].short_name; }
const char* name(ScalarType dtype) { return kNames[static_cast<int>(dtype)].name; }
std::ostream& operator<<(std::ostream& out, ScalarType dtype) { return out << name(dtype); }

ScalarType promote_types(ScalarType a, ScalarType b) {
  if (a == b) return a;
  // bool < integers < floats; of two floats the wider, f16 with bf16 gives f32; u8 with a signed
  // integer of the same width gives the next wider signed one.
  if (a == kBool) return b;
  if (b == kBool) return a;
  const bool a_floats = is_floating(a), b_floats = is_floating(b);
  if (a_floats != b_floats) return a_floats ? a : b;
  if (a_floats) {
    if (element_size(a) == element_size(b)) return kFloat;
    return element_size(a) > element_size(b) ? a : b;
  }
  if (element_size(a) == element_size(b)) return kShort;  // u8 with i8
  return element_size(a) > element_size(b) ? a : b;
}

}  // namespace groove
