// New tensors. The dtype comes from the options (default: get_default_dtype(), for arange of
// integers i64). Negative sizes throw groove::Error. Random factories make one draw of the global
// generator each; floating dtypes only, except randint.
#pragma once

#include <concepts>

#include "groove/tensor.h"

namespace groove {

Tensor empty(IntArrayRef size, TensorOptions options = {}, Site site = Site::current());
Tensor zeros(IntArrayRef size, TensorOptions options = {}, Site site = Site::current());
Tensor ones(IntArrayRef size, TensorOptions options = {}, Site site = Site::current());
/// Without a dtype: that of the number (i64, bool or the default dtype).
Tensor full(IntArrayRef size, Scalar value, TensorOptions options = {},
            Site site = Site::current());
/// start, start + step, … below end; throws when step is 0 or leads away from end.
Tensor arange(Scalar end, TensorOptions options = {}, Site site = Site::current());
Tensor arange(Scalar start, Scalar end, TensorOptions options = {}, Site site = Site::current());
Tensor arange(Scalar start, Scalar end, Scalar step, TensorOptions options = {},
              Site site = Site::current());
/// `steps` values evenly spaced from start to end, both included.
Tensor linspace(Scalar start, Scalar end, std::int64_t steps, TensorOptions options = {},
                Site site = Site::current());
/// Between the values of 0-d tensors, which are waited for.
Tensor linspace(Arg start, const Tensor& end, std::int64_t steps, TensorOptions options = {});
Tensor linspace(Arg start, Scalar end, std::int64_t steps, TensorOptions options = {});
Tensor linspace(Scalar start, Arg end, std::int64_t steps, TensorOptions options = {});
/// The unit matrix, square or with m columns.
Tensor eye(std::int64_t n, TensorOptions options = {}, Site site = Site::current());
Tensor eye(std::int64_t n, std::int64_t m, TensorOptions options = {}, Site site = Site::current());
/// Uniform on [0, 1).
Tensor rand(IntArrayRef size, TensorOptions options = {}, Site site = Site::current());
/// Normal, mean 0 and variance 1.
Tensor randn(IntArrayRef size, TensorOptions options = {}, Site site = Site::current());
/// Normal, with the given mean and standard deviation (at least 0); of two tensors, or of a tensor
/// and a number, element by element.
Tensor normal(double mean, double std, IntArrayRef size,
              const std::optional<Generator>& generator = std::nullopt, TensorOptions options = {},
              Site site = Site::current());
template <std::convertible_to<TensorOptions> Options>
Tensor normal(double mean, double std, IntArrayRef size, const Options& options,
              Site site = Site::current()) {
  return normal(mean, std, size, std::optional<Generator>(), options, site);
}
Tensor normal(Arg mean, double std = 1);
Tensor normal(double mean, Arg std);
Tensor normal(Arg mean, const Tensor& std);
/// Uniform integers low … high - 1, at most 2^31 different ones; i64 unless a dtype is given.
Tensor randint(std::int64_t high, IntArrayRef size, TensorOptions options = {},
               Site site = Site::current());
Tensor randint(std::int64_t low, std::int64_t high, IntArrayRef size, TensorOptions options = {},
               Site site = Site::current());
/// The integers 0 … n - 1 in random order; i64 unless a dtype is given. Ascending by one random
/// 64-bit key each, which is one draw.
Tensor randperm(std::int64_t n, TensorOptions options = {}, Site site = Site::current());
/// As randperm, into `out`, which must hold n elements.
Tensor& randperm_out(Tensor& out, std::int64_t n, Site site = Site::current());
/// 1 with the probability in each element of self, else 0.
Tensor bernoulli(Arg self);
/// 1 with probability p, in the shape and dtype of self.
Tensor bernoulli(Arg self, double p);
/// Positions (i64) drawn along the last axis with probability proportional to the weights in self,
/// [C] or [N, C]. Without replacement there must be enough positive weights.
Tensor multinomial(Arg self, std::int64_t num_samples, bool replacement = false);
/// Numbers of events: of the Poisson distribution at each rate; of `count` trials that each succeed
/// with probability `prob`, where both broadcast and have one floating dtype. No gradient.
Tensor poisson(Arg self);
Tensor binomial(Arg count, const Tensor& prob);

// The same, drawn from a generator.
Tensor rand(IntArrayRef size, const std::optional<Generator>& generator, TensorOptions options = {},
            Site site = Site::current());
Tensor randn(IntArrayRef size, const std::optional<Generator>& generator,
             TensorOptions options = {}, Site site = Site::current());
Tensor normal(Arg mean, double std, const std::optional<Generator>& generator);
Tensor normal(double mean, Arg std, const std::optional<Generator>& generator);
Tensor normal(Arg mean, const Tensor& std, const std::optional<Generator>& generator);
Tensor randint(std::int64_t high, IntArrayRef size, const std::optional<Generator>& generator,
               TensorOptions options = {}, Site site = Site::current());
Tensor randint(std::int64_t low, std::int64_t high, IntArrayRef size,
               const std::optional<Generator>& generator, TensorOptions options = {},
               Site site = Site::current());
Tensor randperm(std::int64_t n, const std::optional<Generator>& generator,
                TensorOptions options = {}, Site site = Site::current());
Tensor bernoulli(Arg self, const std::optional<Generator>& generator);
Tensor bernoulli(Arg self, double p, const std::optional<Generator>& generator);
Tensor multinomial(Arg self, std::int64_t num_samples, bool replacement,
                   const std::optional<Generator>& generator);
Tensor poisson(Arg self, const std::optional<Generator>& generator);
Tensor binomial(Arg count, const Tensor& prob, const std::optional<Generator>& generator);

/// Shape of `self`; dtype of `self` unless the options name one.
Tensor empty_like(Arg self, TensorOptions options = {});
Tensor zeros_like(Arg self, TensorOptions options = {});
Tensor ones_like(Arg self, TensorOptions options = {});
Tensor full_like(Arg self, Scalar value, TensorOptions options = {});
Tensor rand_like(Arg self, TensorOptions options = {});
Tensor randn_like(Arg self, TensorOptions options = {});
Tensor randint_like(Arg self, std::int64_t high, TensorOptions options = {});
Tensor randint_like(Arg self, std::int64_t low, std::int64_t high, TensorOptions options = {});

}  // namespace groove
