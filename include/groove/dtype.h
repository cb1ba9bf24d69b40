// The element types. The enumerators and their order follow c10::ScalarType, so that a table
// indexed by dtype never assumes which of them exist yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>

#include "groove/half.h"

namespace groove {

enum class ScalarType : std::int8_t {
  Byte = 0,  // u8
  Char,      // i8
  Short,     // i16
  Int,       // i32
  Long,      // i64
  Half,      // f16
  Float,     // f32
  Double,    // f64
  ComplexHalf,
  ComplexFloat,
  ComplexDouble,
  Bool,
  QInt8,
  QUInt8,
  QInt32,
  BFloat16,
  Undefined,
  NumOptions
};

using Dtype = ScalarType;

constexpr ScalarType kByte = ScalarType::Byte, kUInt8 = kByte, kU8 = kByte;
constexpr ScalarType kChar = ScalarType::Char, kInt8 = kChar, kI8 = kChar;
constexpr ScalarType kShort = ScalarType::Short, kInt16 = kShort, kI16 = kShort;
constexpr ScalarType kInt = ScalarType::Int, kInt32 = kInt, kI32 = kInt;
constexpr ScalarType kLong = ScalarType::Long, kInt64 = kLong, kI64 = kLong;
constexpr ScalarType kHalf = ScalarType::Half, kFloat16 = kHalf, kF16 = kHalf;
constexpr ScalarType kFloat = ScalarType::Float, kFloat32 = kFloat, kF32 = kFloat;
constexpr ScalarType kDouble = ScalarType::Double, kFloat64 = kDouble, kF64 = kDouble;
constexpr ScalarType kBool = ScalarType::Bool;
constexpr ScalarType kBFloat16 = ScalarType::BFloat16;
constexpr ScalarType kComplexFloat = ScalarType::ComplexFloat, kComplex64 = kComplexFloat;
constexpr ScalarType kComplexDouble = ScalarType::ComplexDouble, kComplex128 = kComplexDouble;
// Of LibTorch; Groove does not compute with them.
constexpr ScalarType kComplexHalf = ScalarType::ComplexHalf, kComplex32 = kComplexHalf;
constexpr ScalarType kQInt8 = ScalarType::QInt8;
constexpr ScalarType kQUInt8 = ScalarType::QUInt8;
constexpr ScalarType kQInt32 = ScalarType::QInt32;

/// Bytes of one element; 0 for dtypes that Groove does not compute with.
constexpr std::size_t element_size(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Byte:
    case ScalarType::Char:
    case ScalarType::Bool:
      return 1;
    case ScalarType::Short:
    case ScalarType::Half:
    case ScalarType::BFloat16:
      return 2;
    case ScalarType::Int:
    case ScalarType::Float:
      return 4;
    case ScalarType::Long:
    case ScalarType::Double:
    case ScalarType::ComplexFloat:
      return 8;
    case ScalarType::ComplexDouble:
      return 16;
    default:
      return 0;
  }
}
constexpr bool is_floating(ScalarType dtype) {
  return dtype == kHalf || dtype == kFloat || dtype == kDouble || dtype == kBFloat16;
}
constexpr bool is_integral(ScalarType dtype) {
  return dtype == kByte || dtype == kChar || dtype == kShort || dtype == kInt || dtype == kLong;
}
constexpr bool is_complex(ScalarType dtype) {
  return dtype == kComplexFloat || dtype == kComplexDouble || dtype == kComplexHalf;
}
/// Of the two parts of a complex dtype; others stay.
constexpr ScalarType real_dtype(ScalarType dtype) {
  switch (dtype) {
    case kComplexHalf:
      return kHalf;
    case kComplexFloat:
      return kFloat;
    case kComplexDouble:
      return kDouble;
    default:
      return dtype;
  }
}
/// ComplexDouble for f64, ComplexFloat for all other real dtypes.
constexpr ScalarType complex_dtype(ScalarType dtype) {
  return is_complex(dtype) ? dtype : dtype == kDouble ? kComplexDouble : kComplexFloat;
}

/// "f32", "i64", "bool" …: the spelling of the text forms.
const char* short_name(ScalarType dtype);
/// "Float", "Long", "Bool" …: LibTorch's spelling, used in printing and errors.
const char* name(ScalarType dtype);
inline const char* toString(ScalarType dtype) { return name(dtype); }
std::ostream& operator<<(std::ostream& out, ScalarType dtype);

/// The dtype two operands of equal category compute in (LibTorch's promotion table).
ScalarType promote_types(ScalarType a, ScalarType b);

/// What dtype() of a tensor gives: a ScalarType that prints as the C++ type ("float", "long int"),
/// as LibTorch's.
class TypeMeta {
 public:
  constexpr TypeMeta() = default;
  constexpr explicit TypeMeta(ScalarType dtype) : dtype_(dtype) {}
  constexpr operator ScalarType() const { return dtype_; }
  constexpr ScalarType toScalarType() const { return dtype_; }
  constexpr std::size_t itemsize() const { return element_size(dtype_); }
  const char* name() const;
  /// That of a C++ type.
  template <typename T>
  static constexpr TypeMeta Make();

 private:
  ScalarType dtype_ = ScalarType::Undefined;
};
inline const char* name(TypeMeta dtype) { return name(dtype.toScalarType()); }
constexpr bool is_floating(TypeMeta dtype) { return is_floating(dtype.toScalarType()); }
constexpr bool is_complex(TypeMeta dtype) { return is_complex(dtype.toScalarType()); }
constexpr ScalarType typeMetaToScalarType(TypeMeta dtype) { return dtype; }
constexpr TypeMeta scalarTypeToTypeMeta(ScalarType dtype) { return TypeMeta(dtype); }
constexpr std::size_t elementSize(ScalarType dtype) { return element_size(dtype); }
constexpr bool isFloatingType(ScalarType dtype) { return is_floating(dtype); }
constexpr bool isComplexType(ScalarType dtype) { return is_complex(dtype); }
constexpr ScalarType toRealValueType(ScalarType dtype) { return real_dtype(dtype); }
constexpr ScalarType toComplexType(ScalarType dtype) { return complex_dtype(dtype); }
constexpr bool isIntegralType(ScalarType dtype, bool include_bool = false) {
  return is_integral(dtype) || (include_bool && dtype == kBool);
}
std::ostream& operator<<(std::ostream& out, TypeMeta dtype);

template <typename T>
struct DtypeOf;
#define GROOVE_DTYPE_OF(type, value)            \
  template <>                                   \
  struct DtypeOf<type> {                        \
    static constexpr ScalarType kValue = value; \
  };
GROOVE_DTYPE_OF(std::uint8_t, kByte)
GROOVE_DTYPE_OF(std::int8_t, kChar)
GROOVE_DTYPE_OF(std::int16_t, kShort)
GROOVE_DTYPE_OF(std::int32_t, kInt)
GROOVE_DTYPE_OF(long, kLong)
GROOVE_DTYPE_OF(long long, kLong)
GROOVE_DTYPE_OF(float, kFloat)
GROOVE_DTYPE_OF(double, kDouble)
GROOVE_DTYPE_OF(bool, kBool)
GROOVE_DTYPE_OF(Half, kHalf)
GROOVE_DTYPE_OF(BFloat16, kBFloat16)
#undef GROOVE_DTYPE_OF
template <typename T>
constexpr ScalarType dtype_of = DtypeOf<T>::kValue;
template <typename T>
constexpr TypeMeta TypeMeta::Make() {
  return TypeMeta(dtype_of<T>);
}

}  // namespace groove
