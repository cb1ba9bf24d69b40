// Names and promotion of the element types.
#include "groove/dtype.h"

#include <array>
#include <ostream>

namespace groove {
namespace {

struct DtypeNames {
  const char* short_name;
  const char* name;
  const char* cpp_name;
};
constexpr DtypeNames kNames[] = {{"u8", "Byte", "unsigned char"},
                                 {"i8", "Char", "signed char"},
                                 {"i16", "Short", "short int"},
                                 {"i32", "Int", "int"},
                                 {"i64", "Long", "long int"},
                                 {"f16", "Half", "c10::Half"},
                                 {"f32", "Float", "float"},
                                 {"f64", "Double", "double"},
                                 {"c32", "ComplexHalf", "c10::complex<c10::Half>"},
                                 {"c64", "ComplexFloat", "c10::complex<float>"},
                                 {"c128", "ComplexDouble", "c10::complex<double>"},
                                 {"bool", "Bool", "bool"},
                                 {"qi8", "QInt8", "c10::qint8"},
                                 {"qu8", "QUInt8", "c10::quint8"},
                                 {"qi32", "QInt32", "c10::qint32"},
                                 {"bf16", "BFloat16", "c10::BFloat16"},
                                 {"undefined", "Undefined", "nullptr (uninitialized)"},
                                 {"undefined", "Undefined", "nullptr (uninitialized)"}};

}  // namespace

const char* short_name(ScalarType dtype) { return kNames[static_cast<int>(dtype)].short_name; }
const char* name(ScalarType dtype) { return kNames[static_cast<int>(dtype)].name; }
const char* TypeMeta::name() const { return kNames[static_cast<int>(dtype_)].cpp_name; }
std::ostream& operator<<(std::ostream& out, ScalarType dtype) { return out << name(dtype); }
std::ostream& operator<<(std::ostream& out, TypeMeta dtype) { return out << dtype.name(); }

ScalarType promote_types(ScalarType a, ScalarType b) {
  if (a == b) return a;
  // bool < integers < floats; of two floats the wider, f16 with bf16 gives f32; u8 with a signed
  // integer of the same width gives the next wider signed one.
  if (a == kBool) return b;
  if (b == kBool) return a;
  if (is_complex(a) || is_complex(b))
    return complex_dtype(promote_types(real_dtype(a), real_dtype(b)));
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
