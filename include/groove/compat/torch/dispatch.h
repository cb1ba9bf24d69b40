// AT_DISPATCH_…: a lambda run with the C++ type of a tensor's elements as scalar_t.
#pragma once

#include "groove/compat/c10/util/Exception.h"
#include "groove/compat/names.h"

namespace c10 {
namespace impl {
template <ScalarType dtype>
struct ScalarTypeToCPPType;
#define GROOVE_CPP_TYPE(dtype, T)                 \
  template <>                                     \
  struct ScalarTypeToCPPType<ScalarType::dtype> { \
    using type = T;                               \
  };
GROOVE_CPP_TYPE(Byte, std::uint8_t)
GROOVE_CPP_TYPE(Char, std::int8_t)
GROOVE_CPP_TYPE(Short, std::int16_t)
GROOVE_CPP_TYPE(Int, std::int32_t)
GROOVE_CPP_TYPE(Long, std::int64_t)
GROOVE_CPP_TYPE(Half, groove::Half)
GROOVE_CPP_TYPE(Float, float)
GROOVE_CPP_TYPE(Double, double)
GROOVE_CPP_TYPE(ComplexFloat, std::complex<float>)
GROOVE_CPP_TYPE(ComplexDouble, std::complex<double>)
GROOVE_CPP_TYPE(Bool, bool)
GROOVE_CPP_TYPE(BFloat16, groove::BFloat16)
#undef GROOVE_CPP_TYPE
template <ScalarType dtype>
using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<dtype>::type;
}  // namespace impl
template <typename T>
struct CppTypeToScalarType : std::integral_constant<ScalarType, groove::dtype_of<T>> {};
}  // namespace c10
namespace at {
using c10::CppTypeToScalarType;
namespace detail {
inline ScalarType scalar_type(ScalarType dtype) { return dtype; }
inline ScalarType scalar_type(const Tensor& tensor) { return tensor.scalar_type(); }
}  // namespace detail
}  // namespace at

#define AT_DISPATCH_SWITCH(TYPE, NAME, ...)                                       \
  [&] {                                                                           \
    const ::at::ScalarType at_dispatch_type = ::at::detail::scalar_type(TYPE);    \
    switch (at_dispatch_type) {                                                   \
      __VA_ARGS__                                                                 \
      default:                                                                    \
        TORCH_CHECK_NOT_IMPLEMENTED(false, '"', NAME, "\" not implemented for '", \
                                    ::groove::toString(at_dispatch_type), "'");   \
        throw; /* not reached */                                                  \
    }                                                                             \
  }()
#define AT_DISPATCH_CASE_HINT(enum_type, HINT, ...)                             \
  case enum_type: {                                                             \
    using HINT [[maybe_unused]] = ::c10::impl::ScalarTypeToCPPTypeT<enum_type>; \
    return __VA_ARGS__();                                                       \
  }
#define AT_DISPATCH_CASE(enum_type, ...) AT_DISPATCH_CASE_HINT(enum_type, scalar_t, __VA_ARGS__)

#define AT_DISPATCH_CASE_FLOATING_TYPES(...)              \
  AT_DISPATCH_CASE(::at::ScalarType::Double, __VA_ARGS__) \
  AT_DISPATCH_CASE(::at::ScalarType::Float, __VA_ARGS__)
#define AT_DISPATCH_CASE_COMPLEX_TYPES(...)                      \
  AT_DISPATCH_CASE(::at::ScalarType::ComplexDouble, __VA_ARGS__) \
  AT_DISPATCH_CASE(::at::ScalarType::ComplexFloat, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...)            \
  AT_DISPATCH_CASE(::at::ScalarType::Byte, __VA_ARGS__) \
  AT_DISPATCH_CASE(::at::ScalarType::Char, __VA_ARGS__) \
  AT_DISPATCH_CASE(::at::ScalarType::Int, __VA_ARGS__)  \
  AT_DISPATCH_CASE(::at::ScalarType::Long, __VA_ARGS__) \
  AT_DISPATCH_CASE(::at::ScalarType::Short, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(...)         \
  AT_DISPATCH_CASE(::at::ScalarType::Double, __VA_ARGS__)        \
  AT_DISPATCH_CASE(::at::ScalarType::Float, __VA_ARGS__)         \
  AT_DISPATCH_CASE(::at::ScalarType::ComplexDouble, __VA_ARGS__) \
  AT_DISPATCH_CASE(::at::ScalarType::ComplexFloat, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...)                   \
  AT_DISPATCH_CASE(::at::ScalarType::Byte, __VA_ARGS__)   \
  AT_DISPATCH_CASE(::at::ScalarType::Char, __VA_ARGS__)   \
  AT_DISPATCH_CASE(::at::ScalarType::Int, __VA_ARGS__)    \
  AT_DISPATCH_CASE(::at::ScalarType::Long, __VA_ARGS__)   \
  AT_DISPATCH_CASE(::at::ScalarType::Short, __VA_ARGS__)  \
  AT_DISPATCH_CASE(::at::ScalarType::Double, __VA_ARGS__) \
  AT_DISPATCH_CASE(::at::ScalarType::Float, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(...)              \
  AT_DISPATCH_CASE(::at::ScalarType::Byte, __VA_ARGS__)          \
  AT_DISPATCH_CASE(::at::ScalarType::Char, __VA_ARGS__)          \
  AT_DISPATCH_CASE(::at::ScalarType::Int, __VA_ARGS__)           \
  AT_DISPATCH_CASE(::at::ScalarType::Long, __VA_ARGS__)          \
  AT_DISPATCH_CASE(::at::ScalarType::Short, __VA_ARGS__)         \
  AT_DISPATCH_CASE(::at::ScalarType::Double, __VA_ARGS__)        \
  AT_DISPATCH_CASE(::at::ScalarType::Float, __VA_ARGS__)         \
  AT_DISPATCH_CASE(::at::ScalarType::ComplexDouble, __VA_ARGS__) \
  AT_DISPATCH_CASE(::at::ScalarType::ComplexFloat, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(...) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(::at::ScalarType::Half, __VA_ARGS__)
#define AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(...)    \
  AT_DISPATCH_CASE(::at::ScalarType::Half, __VA_ARGS__) \
  AT_DISPATCH_CASE(::at::ScalarType::BFloat16, __VA_ARGS__)

#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_COMPLEX_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(__VA_ARGS__))
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND(T1, ...) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(T1, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND(T1, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES_AND(T1, __VA_ARGS__))
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND2(T1, T2, ...) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)            \
  AT_DISPATCH_CASE(T1, __VA_ARGS__) AT_DISPATCH_CASE(T2, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND2(T1, T2, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES_AND2(T1, T2, __VA_ARGS__))
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND3(T1, T2, T3, ...)         \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)                        \
  AT_DISPATCH_CASE(T1, __VA_ARGS__) AT_DISPATCH_CASE(T2, __VA_ARGS__) \
      AT_DISPATCH_CASE(T3, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND3(T1, T2, T3, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES_AND3(T1, T2, T3, __VA_ARGS__))
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND4(T1, T2, T3, T4, ...)     \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)                        \
  AT_DISPATCH_CASE(T1, __VA_ARGS__) AT_DISPATCH_CASE(T2, __VA_ARGS__) \
      AT_DISPATCH_CASE(T3, __VA_ARGS__) AT_DISPATCH_CASE(T4, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND4(T1, T2, T3, T4, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES_AND4(T1, T2, T3, T4, __VA_ARGS__))
#define AT_DISPATCH_CASE_COMPLEX_TYPES_AND(T1, ...) \
  AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(T1, __VA_ARGS__)
#define AT_DISPATCH_COMPLEX_TYPES_AND(T1, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_COMPLEX_TYPES_AND(T1, __VA_ARGS__))
#define AT_DISPATCH_CASE_COMPLEX_TYPES_AND2(T1, T2, ...) \
  AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)            \
  AT_DISPATCH_CASE(T1, __VA_ARGS__) AT_DISPATCH_CASE(T2, __VA_ARGS__)
#define AT_DISPATCH_COMPLEX_TYPES_AND2(T1, T2, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_COMPLEX_TYPES_AND2(T1, T2, __VA_ARGS__))
#define AT_DISPATCH_CASE_COMPLEX_TYPES_AND3(T1, T2, T3, ...)          \
  AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)                         \
  AT_DISPATCH_CASE(T1, __VA_ARGS__) AT_DISPATCH_CASE(T2, __VA_ARGS__) \
      AT_DISPATCH_CASE(T3, __VA_ARGS__)
#define AT_DISPATCH_COMPLEX_TYPES_AND3(T1, T2, T3, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_COMPLEX_TYPES_AND3(T1, T2, T3, __VA_ARGS__))
#define AT_DISPATCH_CASE_COMPLEX_TYPES_AND4(T1, T2, T3, T4, ...)      \
  AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)                         \
  AT_DISPATCH_CASE(T1, __VA_ARGS__) AT_DISPATCH_CASE(T2, __VA_ARGS__) \
      AT_DISPATCH_CASE(T3, __VA_ARGS__) AT_DISPATCH_CASE(T4, __VA_ARGS__)
#define AT_DISPATCH_COMPLEX_TYPES_AND4(T1, T2, T3, T4, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_COMPLEX_TYPES_AND4(T1, T2, T3, T4, __VA_ARGS__))
#define AT_DISPATCH_CASE_INTEGRAL_TYPES_AND(T1, ...) \
  AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(T1, __VA_ARGS__)
#define AT_DISPATCH_INTEGRAL_TYPES_AND(T1, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_INTEGRAL_TYPES_AND(T1, __VA_ARGS__))
#define AT_DISPATCH_CASE_INTEGRAL_TYPES_AND2(T1, T2, ...) \
  AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__)            \
  AT_DISPATCH_CASE(T1, __VA_ARGS__) AT_DISPATCH_CASE(T2, __VA_ARGS__)
#define AT_DISPATCH_INTEGRAL_TYPES_AND2(T1, T2, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_INTEGRAL_TYPES_AND2(T1, T2, __VA_ARGS__))
#define AT_DISPATCH_CASE_INTEGRAL_TYPES_AND3(T1, T2, T3, ...)         \
  AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__)                        \
  AT_DISPATCH_CASE(T1, __VA_ARGS__) AT_DISPATCH_CASE(T2, __VA_ARGS__) \
      AT_DISPATCH_CASE(T3, __VA_ARGS__)
#define AT_DISPATCH_INTEGRAL_TYPES_AND3(T1, T2, T3, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_INTEGRAL_TYPES_AND3(T1, T2, T3, __VA_ARGS__))
#define AT_DISPATCH_CASE_INTEGRAL_TYPES_AND4(T1, T2, T3, T4, ...)     \
  AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__)                        \
  AT_DISPATCH_CASE(T1, __VA_ARGS__) AT_DISPATCH_CASE(T2, __VA_ARGS__) \
      AT_DISPATCH_CASE(T3, __VA_ARGS__) AT_DISPATCH_CASE(T4, __VA_ARGS__)
#define AT_DISPATCH_INTEGRAL_TYPES_AND4(T1, T2, T3, T4, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_INTEGRAL_TYPES_AND4(T1, T2, T3, T4, __VA_ARGS__))
#define AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES_AND(T1, ...) \
  AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(T1, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND(T1, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES_AND(T1, __VA_ARGS__))
#define AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES_AND2(T1, T2, ...) \
  AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__)            \
  AT_DISPATCH_CASE(T1, __VA_ARGS__) AT_DISPATCH_CASE(T2, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2(T1, T2, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                             \
                     AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES_AND2(T1, T2, __VA_ARGS__))
#define AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES_AND3(T1, T2, T3, ...) \
  AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__)                \
  AT_DISPATCH_CASE(T1, __VA_ARGS__) AT_DISPATCH_CASE(T2, __VA_ARGS__)     \
      AT_DISPATCH_CASE(T3, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND3(T1, T2, T3, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                                 \
                     AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES_AND3(T1, T2, T3, __VA_ARGS__))
#define AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES_AND4(T1, T2, T3, T4, ...) \
  AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__)                    \
  AT_DISPATCH_CASE(T1, __VA_ARGS__) AT_DISPATCH_CASE(T2, __VA_ARGS__)         \
      AT_DISPATCH_CASE(T3, __VA_ARGS__) AT_DISPATCH_CASE(T4, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND4(T1, T2, T3, T4, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(                                                                \
      TYPE, NAME, AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES_AND4(T1, T2, T3, T4, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND(T1, ...) \
  AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(T1, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND(T1, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES_AND(T1, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND2(T1, T2, ...) \
  AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__)            \
  AT_DISPATCH_CASE(T1, __VA_ARGS__) AT_DISPATCH_CASE(T2, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND2(T1, T2, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES_AND2(T1, T2, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND3(T1, T2, T3, ...)              \
  AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__)                             \
  AT_DISPATCH_CASE(T1, __VA_ARGS__) AT_DISPATCH_CASE(T2, __VA_ARGS__) \
      AT_DISPATCH_CASE(T3, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND3(T1, T2, T3, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES_AND3(T1, T2, T3, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND4(T1, T2, T3, T4, ...)          \
  AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__)                             \
  AT_DISPATCH_CASE(T1, __VA_ARGS__) AT_DISPATCH_CASE(T2, __VA_ARGS__) \
      AT_DISPATCH_CASE(T3, __VA_ARGS__) AT_DISPATCH_CASE(T4, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND4(T1, T2, T3, T4, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES_AND4(T1, T2, T3, T4, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND(T1, ...) \
  AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__) AT_DISPATCH_CASE(T1, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND(T1, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND(T1, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND2(T1, T2, ...) \
  AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__)            \
  AT_DISPATCH_CASE(T1, __VA_ARGS__) AT_DISPATCH_CASE(T2, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(T1, T2, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND2(T1, T2, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND3(T1, T2, T3, ...)  \
  AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__)                 \
  AT_DISPATCH_CASE(T1, __VA_ARGS__) AT_DISPATCH_CASE(T2, __VA_ARGS__) \
      AT_DISPATCH_CASE(T3, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(T1, T2, T3, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                            \
                     AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND3(T1, T2, T3, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND4(T1, T2, T3, T4, ...) \
  AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__)                    \
  AT_DISPATCH_CASE(T1, __VA_ARGS__) AT_DISPATCH_CASE(T2, __VA_ARGS__)    \
      AT_DISPATCH_CASE(T3, __VA_ARGS__) AT_DISPATCH_CASE(T4, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND4(T1, T2, T3, T4, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                                \
                     AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND4(T1, T2, T3, T4, __VA_ARGS__))

#define AT_DISPATCH_INDEX_TYPES(TYPE, NAME, ...)                                        \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                                        \
                     AT_DISPATCH_CASE_HINT(::at::ScalarType::Int, index_t, __VA_ARGS__) \
                         AT_DISPATCH_CASE_HINT(::at::ScalarType::Long, index_t, __VA_ARGS__))
#define RECORD_KERNEL_FUNCTION_DTYPE(NAME, dtype)
