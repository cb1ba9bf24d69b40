// Draws arguments, runs the expansions through the interpreter, and measures.
#include "tools/ulp/accuracy.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <random>

#include "groove/half.h"
#include "kernels/backend.h"

namespace groove::accuracy {
namespace {

using kernels::Builder;
using kernels::Expr;
using kernels::StrideClass;

constexpr std::int64_t kBatch = 1 << 18;
constexpr double kWrong = 1e30;

// A function as something to call on arrays of T.
using Function = std::function<Expr(const Expr*)>;

template <typename T>
class Compiled {
 public:
  // Halves are computed in f32, as operators do.
  Compiled(const Function& function, int arity, ScalarType dtype) : arity_(arity) {
    const bool is_half = dtype == kHalf || dtype == kBFloat16;
    Builder b;
    Expr arguments[2];
    for (int i = 0; i < arity; ++i) {
      const Expr loaded = b.load(dtype, StrideClass::kContiguous);
      arguments[i] = is_half ? convert(loaded, kFloat) : loaded;
    }
    b.store(dtype, StrideClass::kContiguous, convert(function(arguments), dtype));
    // Generated code has the interpreter's bits, as the tests of the backends show.
    kernels::Backend* backend = kernels::find_backend("asmjit");
    if (!backend || !backend->unavailable().empty()) backend = kernels::find_backend("interpreter");
    callable_ = backend->compile(b.finish());
  }
  void run(const T* x, const T* y, T* result, std::int64_t count) const {
    void* pointers[] = {const_cast<T*>(x), arity_ == 2 ? const_cast<T*>(y) : result, result};
    const std::int64_t strides[3][kernels::kMaxAxes] = {{1}, {1}, {1}};
    kernels::Launch launch;
    launch.count[0] = count;
    launch.pointers = pointers;
    launch.strides = strides;
    callable_->run(launch);
  }

 private:
  int arity_;
  std::shared_ptr<const kernels::Callable> callable_;
};

double unit_of(double reference, int mantissa_bits, int least_exponent) {
  // A denormal reference has the exponent 0 here, whose unit is the least one of every format.
  const auto biased = static_cast<int>(std::bit_cast<std::uint64_t>(reference) >> 52 & 0x7ff);
  const int exponent = std::max(biased - 1023 - mantissa_bits + 1, least_exponent);
  if (exponent < -1022) return std::bit_cast<double>(std::uint64_t{1} << (exponent + 1074));
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// What is left to compare once NaN, infinities and signs agree; negative otherwise: go on.
double special_error(double result, double rounded, bool may_change_sign) {
  if (std::isnan(rounded)) return std::isnan(result) ? 0 : kWrong;
  if (std::isinf(rounded) || std::isinf(result)) return result == rounded ? 0 : kWrong;
  if (!may_change_sign && std::signbit(result) != std::signbit(rounded)) return kWrong;
  return -1;
}

struct Format {
  int mantissa_bits, least_exponent;
  double most;
};
template <typename T>
Format format_of() {
  using Limits = std::numeric_limits<T>;
  return {Limits::digits, Limits::min_exponent - Limits::digits,
          static_cast<double>(Limits::max())};
}

// A correctly rounded result is within half a unit.
bool is_rounded(float result, double reference) {
  return std::bit_cast<std::uint32_t>(result) ==
         std::bit_cast<std::uint32_t>(static_cast<float>(reference));
}

// May the error of a result be more than `most`? A reference of 64 bits says no where its own
// error leaves no doubt.
bool may_exceed(double result, long double close, double most, bool absolute) {
  const auto rounded = static_cast<double>(close);
  if (std::isinf(rounded))
    return result != rounded || std::fabs(close) < 1.001L * std::numeric_limits<double>::max();
  if (!std::isfinite(rounded) || !std::isfinite(result)) return true;
  const double scale = absolute ? std::max(1.0, std::fabs(rounded)) : rounded;
  const long double unit = unit_of(scale, 53, -1074);
  return !(std::fabs(static_cast<long double>(result) - close) / unit + kCloseError <
           static_cast<long double>(most)) ||
         (!absolute && std::signbit(result) != std::signbit(rounded));
}

// Is the error of an f32 beyond doubt no more than `most`? A quick answer for nearly all points.
bool is_no_news(float result, double reference, double most, bool absolute) {
  if (std::isnan(reference)) return std::isnan(result);
  if (most >= 0.5 && is_rounded(result, reference)) return true;
  if (!std::isfinite(result) || !(std::fabs(reference) <= std::numeric_limits<float>::max()) ||
      (!absolute && std::signbit(result) != std::signbit(reference))) {
    return false;
  }
  const double scale = absolute ? std::max(1.0, std::fabs(reference)) : reference;
  return std::fabs(result - reference) <= most * unit_of(scale, 24, -149);
}

// f32 and the halves: the reference is an f64.
double narrow_error(double result, double reference, const Format& format, bool absolute) {
  // Halfway to what would follow the greatest number everything rounds to infinity.
  const double limit =
      format.most + unit_of(format.most, format.mantissa_bits, format.least_exponent) / 2;
  const double rounded =
      std::fabs(reference) >= limit ? std::copysign(INFINITY, reference) : reference;
  const double special = special_error(result, rounded, absolute);
  if (special >= 0) return special;
  const double scale = absolute ? std::max(1.0, std::fabs(reference)) : reference;
  return std::fabs(result - reference) /
         unit_of(scale, format.mantissa_bits, format.least_exponent);
}

double wide_error(double result, mpfr_ptr reference, bool absolute) {
  const double rounded = mpfr_get_d(reference, MPFR_RNDN);
  const double special = special_error(result, rounded, absolute);
  if (special >= 0) return special;
  static thread_local Big difference;
  mpfr_sub_d(difference, reference, result, MPFR_RNDN);
  const double scale = absolute ? std::max(1.0, std::fabs(rounded)) : rounded;
  mpfr_div_d(difference, difference, unit_of(scale, 53, -1074), MPFR_RNDN);
  return std::fabs(mpfr_get_d(difference, MPFR_RNDN));
}

Function applied(Expr (*f)(Expr)) {
  return [f](const Expr* x) { return f(x[0]); };
}
Function applied(Expr (*f)(Expr, Expr)) {
  return [f](const Expr* x) { return f(x[0], x[1]); };
}

// References of a batch in f64.
class Quick {
 public:
  explicit Quick(const Unary& f) : f_(f), own_(applied(f.function), 1, kDouble) {}
  // The vector function's where there is one; once() decides what it leaves in doubt.
  const std::vector<double>& first_of(const std::vector<double>& x) {
    const VectorReference vector = vector_reference(f_);
    if (vector == nullptr) return of(x);
    result_.resize(x.size());
    vector(x.data(), result_.data(), static_cast<std::int64_t>(x.size()));
    return result_;
  }
  double once(double x, double first) const { return f_.quick != nullptr ? f_.quick(x) : first; }
  const std::vector<double>& of(const std::vector<double>& x) {
    result_.resize(x.size());
    if (f_.quick != nullptr) {
      std::transform(x.begin(), x.end(), result_.begin(), f_.quick);
    } else {
      own_.run(x.data(), nullptr, result_.data(), static_cast<std::int64_t>(x.size()));
    }
    return result_;
  }

 private:
  const Unary& f_;
  Compiled<double> own_;
  std::vector<double> result_;
};

// Calls draw(i) and see(i) for each of `points` arguments, in batches between which `run` computes
// the results of the first so many.
template <typename Draw, typename Run, typename See>
void in_batches(std::int64_t points, const Draw& draw, const Run& run, const See& see) {
  for (std::int64_t done = 0; done < points; done += kBatch) {
    const std::int64_t count = std::min(kBatch, points - done);
    for (std::int64_t i = 0; i < count; ++i) draw(static_cast<std::size_t>(i));
    run(count);
    for (std::int64_t i = 0; i < count; ++i) see(static_cast<std::size_t>(i));
  }
}

// Pairs of arguments in T, each with its result, given to see(result, x, y, reference), the
// reference of a vector function or NaN.
template <typename T, typename See>
void check_pairs(const Binary& f, std::int64_t points, std::uint64_t seed, const See& see) {
  const VectorReferenceOfTwo vector = dtype_of<T> == kFloat ? vector_reference(f) : nullptr;
  std::vector<double> wide_x, wide_y, reference(kBatch, NAN);
  const Compiled<T> function(applied(f.function), 2, dtype_of<T>);
  std::mt19937_64 random(seed);
  std::vector<T> x(kBatch), y(kBatch), result(kBatch);
  in_batches(
      points,
      [&](std::size_t i) {
        const std::uint64_t first = random(), second = random();
        double a, b;
        f.draw(first, second, dtype_of<T> == kFloat, a, b);
        x[i] = static_cast<T>(a);
        y[i] = static_cast<T>(b);
      },
      [&](std::int64_t count) {
        function.run(x.data(), y.data(), result.data(), count);
        if (vector == nullptr) return;
        wide_x.assign(x.begin(), x.begin() + count);
        wide_y.assign(y.begin(), y.begin() + count);
        vector(wide_x.data(), wide_y.data(), reference.data(), count);
      },
      [&](std::size_t i) { see(result[i], x[i], y[i], reference[i]); });
}

// A magnitude with a random mantissa; the exponents where functions bend come as often as the rest.
double drawn(std::mt19937_64& random) {
  const std::uint64_t bits = random(), choice = random();
  const std::uint64_t exponent =
      choice % 2 == 0 ? (choice >> 1) % 2048 : 1023 - 30 + (choice >> 1) % 42;
  return std::bit_cast<double>((bits & 0x800fffffffffffffu) | exponent << 52);
}

}  // namespace

Worst check_single(const Unary& f, std::uint64_t stride, std::uint64_t first) {
  const Compiled<float> function(applied(f.function), 1, kFloat);
  Quick quick(f);
  Worst worst;
  std::vector<float> x(kBatch), y(kBatch);
  std::vector<double> wide;
  const double* reference = nullptr;
  std::uint64_t bits = first;
  in_batches(
      static_cast<std::int64_t>(((1ull << 32) - first + stride - 1) / stride),
      [&](std::size_t i) {
        x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        bits += stride;
      },
      [&](std::int64_t count) {
        function.run(x.data(), nullptr, y.data(), count);
        wide.assign(x.begin(), x.begin() + count);
        reference = quick.first_of(wide).data();
      },
      [&](std::size_t i) {
        if (is_no_news(y[i], reference[i], worst.ulp, f.is_absolute_near_roots)) return;
        worst.see(narrow_error(y[i], quick.once(x[i], reference[i]), format_of<float>(),
                               f.is_absolute_near_roots),
                  x[i]);
      });
  return worst;
}

Worst check_double(const Unary& f, std::int64_t points, std::uint64_t seed) {
  const Compiled<double> function(applied(f.function), 1, kDouble);
  std::mt19937_64 random(seed);
  Worst worst;
  Big argument, reference;
  std::vector<double> x(kBatch), y(kBatch);
  in_batches(
      points, [&](std::size_t i) { x[i] = drawn(random); },
      [&](std::int64_t count) { function.run(x.data(), nullptr, y.data(), count); },
      [&](std::size_t i) {
        if (!may_exceed(y[i], f.close(x[i]), worst.ulp, f.is_absolute_near_roots)) return;
        mpfr_set_d(argument, x[i], MPFR_RNDN);
        f.reference(reference, argument);
        worst.see(wide_error(y[i], reference, f.is_absolute_near_roots), x[i]);
      });
  return worst;
}

namespace {

// See check_close().
void see_close(Worst& worst, long double close, mpfr_ptr reference, bool absolute, double x,
               double y) {
  const double rounded = mpfr_get_d(reference, MPFR_RNDN);
  if (!std::isfinite(rounded) || !std::isfinite(static_cast<double>(close))) return;
  static thread_local Big difference;
  mpfr_set_ld(difference, close, MPFR_RNDN);
  mpfr_sub(difference, reference, difference, MPFR_RNDN);
  const double scale = absolute ? std::max(1.0, std::fabs(rounded)) : rounded;
  mpfr_div_d(difference, difference, unit_of(scale, 53, -1074), MPFR_RNDN);
  worst.see(std::fabs(mpfr_get_d(difference, MPFR_RNDN)), x, y);
}

}  // namespace

Worst check_close(const Unary& f, std::int64_t points, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Worst worst;
  Big argument, reference;
  for (std::int64_t i = 0; i < points; ++i) {
    const double x = drawn(random);
    mpfr_set_d(argument, x, MPFR_RNDN);
    f.reference(reference, argument);
    see_close(worst, f.close(x), reference, f.is_absolute_near_roots, x, 0);
  }
  return worst;
}

Worst check_close(const Binary& f, std::int64_t points, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Worst worst;
  Big first_argument, second_argument, reference;
  for (std::int64_t i = 0; i < points; ++i) {
    const std::uint64_t first = random(), second = random();
    double x, y;
    f.draw(first, second, false, x, y);
    mpfr_set_d(first_argument, x, MPFR_RNDN);
    mpfr_set_d(second_argument, y, MPFR_RNDN);
    f.reference(reference, first_argument, second_argument);
    see_close(worst, f.close(x, y), reference, false, x, y);
  }
  return worst;
}

Worst check_half(const Unary& f, ScalarType dtype) {
  const Compiled<std::uint16_t> function(applied(f.function), 1, dtype);
  std::vector<std::uint16_t> x(1 << 16), y(1 << 16);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::uint16_t>(i);
  function.run(x.data(), nullptr, y.data(), static_cast<std::int64_t>(x.size()));
  const auto value_of = [dtype](std::uint16_t bits) {
    return dtype == kBFloat16
               ? static_cast<double>(static_cast<float>(std::bit_cast<BFloat16>(bits)))
               : static_cast<double>(static_cast<float>(std::bit_cast<Half>(bits)));
  };
  const Format format = dtype == kBFloat16 ? Format{8, -133, 0x1.fep127} : Format{11, -24, 65504};
  std::vector<double> wide;
  for (const std::uint16_t bits : x) wide.push_back(value_of(bits));
  Quick quick(f);
  const std::vector<double>& reference = quick.of(wide);
  Worst worst;
  for (std::size_t i = 0; i < x.size(); ++i) {
    worst.see(narrow_error(value_of(y[i]), reference[i], format, f.is_absolute_near_roots),
              wide[i]);
  }
  return worst;
}

Worst check_single(const Binary& f, std::int64_t points, std::uint64_t seed) {
  Worst worst;
  check_pairs<float>(f, points, seed, [&](float result, float x, float y, double first) {
    if (!std::isnan(first) && is_no_news(result, first, worst.ulp, false)) return;
    const double reference = f.quick(x, y);
    worst.see(narrow_error(result, reference, format_of<float>(), false), x, y);
  });
  return worst;
}

Worst check_double(const Binary& f, std::int64_t points, std::uint64_t seed) {
  Worst worst;
  Big first_argument, second_argument, reference;
  check_pairs<double>(f, points, seed, [&](double result, double x, double y, double) {
    if (!may_exceed(result, f.close(x, y), worst.ulp, false)) return;
    mpfr_set_d(first_argument, x, MPFR_RNDN);
    mpfr_set_d(second_argument, y, MPFR_RNDN);
    f.reference(reference, first_argument, second_argument);
    worst.see(wide_error(result, reference, false), x, y);
  });
  return worst;
}

}  // namespace groove::accuracy
