// Complex numbers on the host: what the elements of a complex tensor are.
#pragma once

#include <complex>

#include "groove/dtype.h"

namespace groove {

template <>
struct DtypeOf<std::complex<float>> {
  static constexpr ScalarType kValue = kComplexFloat;
};
template <>
struct DtypeOf<std::complex<double>> {
  static constexpr ScalarType kValue = kComplexDouble;
};

template <typename T>
constexpr bool is_complex_number = false;
template <typename T>
constexpr bool is_complex_number<std::complex<T>> = true;

}  // namespace groove
