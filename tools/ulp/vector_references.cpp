// References in f64 four at a time, by glibc's vector functions, whose errors of up to 4 units of
// the f64 the f32 does not see: they decide which points of f32 the scalar references need not see.
#include <cmath>
#include <cstring>

#include "tools/ulp/accuracy.h"

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 35)
#define GROOVE_VECTOR_FUNCTION(name) \
  __attribute__((simd("notinbranch"))) double name(double) noexcept;
#define GROOVE_VECTOR_FUNCTION_OF_TWO(name) \
  __attribute__((simd("notinbranch"))) double name(double, double) noexcept;
#endif
#endif

#ifdef GROOVE_VECTOR_FUNCTION
extern "C" {
GROOVE_VECTOR_FUNCTION(exp)
GROOVE_VECTOR_FUNCTION(exp2)
GROOVE_VECTOR_FUNCTION(expm1)
GROOVE_VECTOR_FUNCTION(log)
GROOVE_VECTOR_FUNCTION(log2)
GROOVE_VECTOR_FUNCTION(log10)
GROOVE_VECTOR_FUNCTION(log1p)
GROOVE_VECTOR_FUNCTION(sin)
GROOVE_VECTOR_FUNCTION(cos)
GROOVE_VECTOR_FUNCTION(tan)
GROOVE_VECTOR_FUNCTION(asin)
GROOVE_VECTOR_FUNCTION(acos)
GROOVE_VECTOR_FUNCTION(atan)
GROOVE_VECTOR_FUNCTION(sinh)
GROOVE_VECTOR_FUNCTION(cosh)
GROOVE_VECTOR_FUNCTION(tanh)
GROOVE_VECTOR_FUNCTION(erf)
GROOVE_VECTOR_FUNCTION(erfc)
GROOVE_VECTOR_FUNCTION_OF_TWO(pow)
GROOVE_VECTOR_FUNCTION_OF_TWO(atan2)
}
#endif

namespace groove::accuracy {
namespace {

#ifdef GROOVE_VECTOR_FUNCTION

template <auto kFunction>
void each(const double* x, double* result, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) result[i] = kFunction(x[i]);
}
template <auto kFunction>
void each_pair(const double* x, const double* y, double* result, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) result[i] = kFunction(x[i], y[i]);
}

// Without branches, so that loops of them become vector code.
double logistic(double x) {
  const double power = ::exp(-std::fabs(x));
  return (x < 0 ? power : 1.0) / (1.0 + power);
}
double wide_softplus(double x) {
  const double curved = ::log1p(::exp(x));
  return x > 20 ? x : curved;
}
double wide_gelu_tanh(double x) {
  return x * logistic(2.0 * 0.79788456080286535588 * (x + 0.044715 * x * x * x));
}

const struct {
  const char* name;
  VectorReference function;
} kOfOne[] = {
    {"exp", each<[](double x) { return ::exp(x); }>},
    {"exp2", each<[](double x) { return ::exp2(x); }>},
    {"expm1", each<[](double x) { return ::expm1(x); }>},
    {"log", each<[](double x) { return ::log(x); }>},
    {"log2", each<[](double x) { return ::log2(x); }>},
    {"log10", each<[](double x) { return ::log10(x); }>},
    {"log1p", each<[](double x) { return ::log1p(x); }>},
    {"sin", each<[](double x) { return ::sin(x); }>},
    {"cos", each<[](double x) { return ::cos(x); }>},
    {"tan", each<[](double x) { return ::tan(x); }>},
    {"asin", each<[](double x) { return ::asin(x); }>},
    {"acos", each<[](double x) { return ::acos(x); }>},
    {"atan", each<[](double x) { return ::atan(x); }>},
    {"sinh", each<[](double x) { return ::sinh(x); }>},
    {"cosh", each<[](double x) { return ::cosh(x); }>},
    {"tanh", each<[](double x) { return ::tanh(x); }>},
    {"sigmoid", each<logistic>},
    {"silu", each<[](double x) { return x * logistic(x); }>},
    {"erf", each<[](double x) { return ::erf(x); }>},
    {"erfc", each<[](double x) { return ::erfc(x); }>},
    {"gelu", each<[](double x) { return 0.5 * x * ::erfc(-x * 0.70710678118654752440); }>},
    {"gelu_tanh", each<wide_gelu_tanh>},
    {"softplus", each<wide_softplus>},
    {"rsqrt", each<[](double x) { return 1.0 / std::sqrt(x); }>},
};
const struct {
  const char* name;
  VectorReferenceOfTwo function;
} kOfTwo[] = {
    {"pow", each_pair<[](double x, double y) { return ::pow(x, y); }>},
    {"atan2", each_pair<[](double x, double y) { return ::atan2(x, y); }>},
};

template <typename Table>
auto found(const Table& table, const char* name) -> decltype(table[0].function) {
  for (const auto& entry : table)
    if (std::strcmp(entry.name, name) == 0) return entry.function;
  return nullptr;
}

#endif

}  // namespace

#ifdef GROOVE_VECTOR_FUNCTION
VectorReference vector_reference(const Unary& f) { return found(kOfOne, f.name); }
VectorReferenceOfTwo vector_reference(const Binary& f) { return found(kOfTwo, f.name); }
#else
VectorReference vector_reference(const Unary&) { return nullptr; }
VectorReferenceOfTwo vector_reference(const Binary&) { return nullptr; }
#endif

}  // namespace groove::accuracy
