// poisson and binomial: numbers of events. Where few are expected by the waiting times between
// them, otherwise by transformed rejection (Hörmann 1993: PTRS and BTRS). Each element draws
// uniform numbers of a stretch of its own, so the results depend on no other element.
#include <algorithm>
#include <cmath>

#include "groove/ops/creation.h"
#include "groove/ops/elementwise.h"
#include "groove/ops/reductions.h"
#include "groove/ops/views.h"
#include "kernels/ops/random.h"
#include "kernels/ops/ranking.h"
#include "kernels/ops/reference.h"

namespace groove {
namespace {

constexpr std::int64_t kStretch = std::int64_t{1} << 20;  // uniform numbers of an element
constexpr double kFew = 10;                               // events, where both ways are as fast

class Stream {
 public:
  Stream(const Signature& s, std::int64_t element) : s_(s), at_(element * kStretch) {}
  double next() { return reference_uniform(s_, 0, at_++, kDouble); }

 private:
  const Signature& s_;
  std::int64_t at_;
};

double poisson_of(double rate, Stream stream) {
  if (rate < kFew) {
    const double limit = std::exp(-rate);
    double product = stream.next();
    double count = 0;
    for (; product > limit; product *= stream.next()) ++count;
    return count;
  }
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), sure = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = stream.next() - 0.5, v = 1 - stream.next();  // v is never 0
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= sure) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b) <=
        k * std::log(rate) - rate - std::lgamma(k + 1))
      return k;
  }
}

// log(k!) less Stirling's formula.
double stirling_rest(double k) {
  return std::lgamma(k + 1) -
         ((k + 0.5) * std::log(k + 1) - (k + 1) + 0.918938533204672741780329736406);
}

double rare_of(double count, double p, Stream stream) {
  if (p == 0) return 0;
  if (count * p < kFew) {
    double trials = 0, events = 0;
    for (;; ++events) {
      trials += std::ceil(std::log(1 - stream.next()) / std::log1p(-p));
      if (!(trials <= count)) return events;
    }
  }
  const double deviation = std::sqrt(count * p * (1 - p));
  const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double center = count * p + 0.5, sure = 0.92 - 4.2 / b, odds = p / (1 - p);
  const double alpha = (2.83 + 5.1 / b) * deviation, mode = std::floor((count + 1) * p);
  for (;;) {
    const double u = stream.next() - 0.5, v = 1 - stream.next();
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + center);
    if (us >= 0.07 && v <= sure) return k;
    if (k < 0 || k > count) continue;
    const double bound = (mode + 0.5) * std::log((mode + 1) / (odds * (count - mode + 1))) +
                         (count + 1) * std::log((count - mode + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log(odds * (count - k + 1) / (k + 1)) +
                         stirling_rest(mode) + stirling_rest(count - mode) - stirling_rest(k) -
                         stirling_rest(count - k);
    if (std::log(v * alpha / (a / (us * us) + b)) <= bound) return k;
  }
}

double binomial_of(double count, double p, Stream stream) {
  if (!(count >= 0 && std::isfinite(count) && p >= 0 && p <= 1)) return NAN;
  const double trials = std::floor(count);
  return p <= 0.5 ? rare_of(trials, p, stream) : trials - rare_of(trials, 1 - p, stream);
}

TypeResult counts_type(const Signature& s) {
  check_defined(s);
  const Type& type = s.inputs[0];
  for (const Type& other : s.inputs)
    GROOVE_CHECK(is_floating(other.dtype) && other.dtype == type.dtype && other.sizes == type.sizes,
                 "{}: inputs must be floating, of one dtype and shape; they are {} {} and {} {}",
                 s.op.name, name(type.dtype), to_string(type.sizes), name(other.dtype),
                 to_string(other.sizes));
  return {{type}, type.dtype};
}

template <typename Count>
kernels::OpaqueLowering counting(Count count) {
  return {.run_part =
              [count](const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs,
                      int part, int parts) {
                const std::int64_t elements = element_count(s.inputs[0].sizes);
                with_element(s.inputs[0].dtype, [&](auto kind) {
                  using T = decltype(kind);
                  const T* given[2] = {};
                  for (std::size_t i = 0; i < inputs.size(); ++i)
                    given[i] = static_cast<const T*>(inputs[i].impl()->data());
                  T* const drawn = static_cast<T*>(outputs[0].impl()->data());
                  for (std::int64_t i = elements * part / parts; i < elements * (part + 1) / parts;
                       ++i) {
                    const auto value = [&](std::size_t k) {
                      return static_cast<double>(given[k][i]);
                    };
                    const double events = count(value, Stream(s, i));
                    if constexpr (std::is_same_v<T, double>)
                      drawn[i] = events;
                    else
                      drawn[i] = static_cast<T>(static_cast<float>(events));
                  }
                });
              },
          .nanoseconds =
              [](const Signature& s) {
                return 100.0 + 150.0 * static_cast<double>(element_count(s.inputs[0].sizes));
              }};
}

// The counts of one set of uniform numbers; tests/tensor holds their distribution.
template <typename Count>
const Op& define_counts(const char* name, int inputs, Count count, Domain domain) {
  return define_random({
      .name = name,
      .kind = OpKind::kOpaque,
      .inputs = inputs,
      .number_names = {"seed", "draw"},
      .type = counts_type,
      .lowering = kernels::lower(counting(count)),
      .has_inplace = false,
      .reference =
          [count](const Signature& s, const std::vector<Reference>& given) {
            std::int64_t at = 0;
            return std::vector<Reference>{make_reference(given[0].type, [&](const Shape&) {
              const std::int64_t i = at++;
              return count(
                  [&](std::size_t k) { return given[k].values[static_cast<std::size_t>(i)]; },
                  Stream(s, i));
            })};
          },
      .domain = domain,
      .dtypes = floating_dtypes(),
      .samples =
          [inputs](ScalarType dtype) {
            std::vector<Sample> samples;
            for (const Shape& sizes : {Shape{9}, Shape{3, 5}, Shape{}, Shape{0, 4}}) {
              samples.push_back(
                  {std::vector<Type>(static_cast<std::size_t>(inputs), {dtype, sizes}),
                   Attrs(),
                   {Scalar(12345), Scalar(7)}});
            }
            return samples;
          },
      .tolerance_ulp = 0,
  });
}

const Op& op_poisson =
    define_counts("poisson", 1,
                  [](const auto& value, Stream stream) {
                    const double rate = value(0);
                    return rate >= 0 && std::isfinite(rate) ? poisson_of(rate, stream) : NAN;
                  },
                  {0.1, 20});
const Op& op_binomial = define_counts(
    "binomial", 2,
    [](const auto& value, Stream stream) { return binomial_of(value(0), value(1), stream); },
    {0, 1});

void check_all(const char* op, const Tensor& x, bool are_right, const char* range) {
  GROOVE_CHECK(are_right, "{}: an element of {} is not {}", op, to_string(type_of(x).sizes), range);
}

}  // namespace

Tensor poisson(Arg self) {
  const CallFrame frame(self.site);
  const ScalarType dtype = checked("poisson", *self.tensor).dtype;
  GROOVE_CHECK(is_floating(dtype), "poisson: the rates are {}; they must be floating", name(dtype));
  const Tensor rates = self.tensor->detach();
  check_all("poisson", rates, !any(lt(rates, 0)).item<bool>(), "0 or more");
  const DrawNumbers draw = next_draw();
  return call(drawn_by(op_poisson, draw), {rates}, self.site, Attrs(), {draw.seed, draw.draw});
}

Tensor binomial(Arg count, const Tensor& prob) {
  const CallFrame frame(count.site);
  checked("binomial", *count.tensor);
  checked("binomial", prob);
  const Tensors both = broadcast_tensors({count.tensor->detach(), prob.detach()});
  const Tensor &trials = both[0], &p = both[1];
  check_all("binomial", trials, !any(lt(trials, 0)).item<bool>(), "0 or more trials");
  check_all("binomial", p, !any(logical_or(lt(p, 0), gt(p, 1))).item<bool>(), "in [0, 1]");
  const DrawNumbers draw = next_draw();
  return call(drawn_by(op_binomial, draw), {trials, p}, count.site, Attrs(),
              {draw.seed, draw.draw});
}

}  // namespace groove
