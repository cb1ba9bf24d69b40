// How far functions are from the truth, in units in the last place of the result: what the tool
// ulp prints and the tests of the kernels sample.
#pragma once

#include <mpfr.h>

#include <cstdint>
#include <string>
#include <vector>

#include "groove/dtype.h"
#include "kernels/expr.h"

namespace groove::accuracy {

// A reference result with 160 bits; owns its limbs.
class Big {
 public:
  Big() { mpfr_init2(value_, 160); }
  ~Big() { mpfr_clear(value_); }
  Big(const Big&) = delete;
  Big& operator=(const Big&) = delete;
  operator mpfr_ptr() { return value_; }

 private:
  mpfr_t value_;
};

struct Unary {
  const char* name;
  kernels::Expr (*function)(kernels::Expr);
  void (*reference)(mpfr_ptr result, mpfr_ptr x);
  // In f64, with an error that f32 does not see; null: the function's own f64 form, which the
  // comparison in f64 proves.
  double (*quick)(double x);
  // In 64 bits of mantissa, right to kCloseError or not finite: it decides which points of f64 MPFR
  // need not see.
  long double (*close)(long double x);
  double bound_single = 1, bound_double = 2;
  // Near its roots the unit is that of 1.
  bool is_absolute_near_roots = false;
};
const std::vector<Unary>& unary_functions();

struct Binary {
  const char* name;
  kernels::Expr (*function)(kernels::Expr, kernels::Expr);
  void (*reference)(mpfr_ptr result, mpfr_ptr x, mpfr_ptr y);
  double (*quick)(double x, double y);
  long double (*close)(long double x, long double y);
  double bound_single = 1, bound_double = 2;
  // A pair of arguments worth looking at, from 128 random bits; `single`: in the range of f32.
  void (*draw)(std::uint64_t first, std::uint64_t second, bool single, double& x, double& y);
};
const std::vector<Binary>& binary_functions();

/// Loops of references in f64, right to a few of its units, that are vector code; null where there
/// are none.
using VectorReference = void (*)(const double* x, double* result, std::int64_t count);
using VectorReferenceOfTwo = void (*)(const double* x, const double* y, double* result,
                                      std::int64_t count);
VectorReference vector_reference(const Unary& f);
VectorReferenceOfTwo vector_reference(const Binary& f);

/// The worst error seen, and where. A wrong sign, NaN or infinity counts as 1e30.
struct Worst {
  double ulp = 0, x = 0, y = 0;
  void see(double error, double at, double at_y = 0) {
    if (!(error <= ulp)) *this = {error, at, at_y};
  }
};

/// Units of the f64 by which `close` may be wrong, 32 of its own.
constexpr long double kCloseError = 0x1p-6L;
/// The greatest error of `close`, in units of the f64.
Worst check_close(const Unary& f, std::int64_t points, std::uint64_t seed);
Worst check_close(const Binary& f, std::int64_t points, std::uint64_t seed);

/// Every `stride`-th of all f32 values, from `first`.
Worst check_single(const Unary& f, std::uint64_t stride, std::uint64_t first = 0);
/// About `points` values over all exponents of f64, most of them where functions bend.
Worst check_double(const Unary& f, std::int64_t points, std::uint64_t seed);
/// All values of a 16-bit float, which functions take through f32: against the truth rounded once.
Worst check_half(const Unary& f, ScalarType dtype);
Worst check_single(const Binary& f, std::int64_t points, std::uint64_t seed);
Worst check_double(const Binary& f, std::int64_t points, std::uint64_t seed);

}  // namespace groove::accuracy
