// multinomial: positions drawn with probability proportional to weights. A binary tree of sums over
// the weights is descended by a uniform number in [0, total); without replacement the drawn weight
// is then taken out of the tree. Sums are in f64 and go up the tree, so the order is fixed.
#include <bit>
#include <cmath>

#include "groove/ops/index.h"
#include "kernels/ops/indices.h"
#include "kernels/ops/random.h"
#include "kernels/ops/ranking.h"
#include "kernels/ops/reference.h"

namespace groove {
namespace {

enum { kSamples, kReplacement };

std::int64_t row_length(const Shape& sizes) { return sizes.back(); }

template <typename T>
double as_double(T weight) {
  if constexpr (std::is_same_v<T, double>)
    return weight;
  else
    return static_cast<float>(weight);
}

// Leaf i is node first + i; node 1 is the root.
class Tree {
 public:
  explicit Tree(std::int64_t leaves)
      : first_(std::bit_ceil(static_cast<std::size_t>(leaves))), sums_(2 * first_, 0.0) {}
  void set(std::int64_t leaf, double weight) {
    sums_[first_ + static_cast<std::size_t>(leaf)] = weight;
  }
  void sum() {
    for (std::size_t node = first_; node-- > 1;)
      sums_[node] = sums_[2 * node] + sums_[2 * node + 1];
  }
  // Rounding never leads to a leaf without weight, as long as there is one with.
  std::int64_t find(double uniform) const {
    double at = uniform * sums_[1];
    std::size_t node = 1;
    while (node < first_) {
      const double left = sums_[2 * node];
      node *= 2;
      if ((at < left && left > 0) || sums_[node + 1] == 0) continue;
      at -= left;
      ++node;
    }
    return static_cast<std::int64_t>(node - first_);
  }
  void take_out(std::int64_t leaf) {
    std::size_t node = first_ + static_cast<std::size_t>(leaf);
    sums_[node] = 0;
    while (node /= 2) sums_[node] = sums_[2 * node] + sums_[2 * node + 1];
  }

 private:
  std::size_t first_;
  std::vector<double> sums_;
};

void run(const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs, int part,
         int parts) {
  const Type& type = s.inputs[0];
  const std::int64_t length = row_length(type.sizes), samples = s.attr().integer(kSamples);
  const std::int64_t rows = type.sizes.size() == 2 ? type.sizes[0] : 1;
  auto* drawn = static_cast<std::int64_t*>(outputs[0].impl()->data());
  Tree tree(length);
  for (std::int64_t row = rows * part / parts; row < rows * (part + 1) / parts; ++row) {
    with_element(type.dtype, [&](auto kind) {
      const auto* weights = static_cast<const decltype(kind)*>(inputs[0].impl()->data());
      for (std::int64_t i = 0; i < length; ++i) tree.set(i, as_double(weights[row * length + i]));
    });
    tree.sum();
    for (std::int64_t i = 0; i < samples; ++i) {
      const std::int64_t found = tree.find(reference_uniform(s, 0, row * samples + i, kDouble));
      drawn[row * samples + i] = found;
      if (!s.attr().boolean(kReplacement)) tree.take_out(found);
    }
  }
}

const Op& op = define_random({
    .name = "multinomial",
    .kind = OpKind::kOpaque,
    .attributes = {{"num_samples", AttrType::kInt}, {"replacement", AttrType::kBool}},
    .number_names = {"seed", "draw"},
    .type = [](const Signature& s) -> TypeResult {
      Shape sizes = s.inputs[0].sizes;
      const std::int64_t samples = s.attr().integer(kSamples);
      GROOVE_CHECK(sizes.size() == 1 || sizes.size() == 2, "multinomial: weights of shape {}",
                   to_string(sizes));
      GROOVE_CHECK(samples >= 0 && (samples == 0 || sizes.back() > 0) &&
                       (s.attr().boolean(kReplacement) || samples <= sizes.back()),
                   "multinomial: {} samples of {} weights", samples, sizes.back());
      sizes.back() = samples;
      return {{{kLong, sizes}}, s.inputs[0].dtype};
    },
    .lowering = kernels::lower(kernels::OpaqueLowering{
        .run_part = run,
        .nanoseconds =
            [](const Signature& s) {
              return 500 + 5.0 * static_cast<double>(element_count(s.inputs[0].sizes));
            }}),
    .range = [](const Signature& s, ArrayRef<ValueRange>,
                int) { return positions_below(row_length(s.inputs[0].sizes)); },
    .has_inplace = false,
    // By walking the weights that are left.
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          const auto length = static_cast<std::size_t>(row_length(inputs[0].type.sizes));
          const std::int64_t samples = s.attr().integer(kSamples);
          std::vector<double> left = inputs[0].values;
          return std::vector<Reference>{
              make_reference(s.op.type(s).outputs[0], [&](const Shape& index) -> double {
                const std::int64_t row = index.size() == 2 ? index[0] : 0;
                double* const weights = left.data() + static_cast<std::size_t>(row) * length;
                double total = 0;
                for (std::size_t i = 0; i < length; ++i) total += weights[i];
                double at = total * reference_uniform(s, 0, row * samples + index.back(), kDouble);
                std::size_t found = 0;
                while (found + 1 < length && at >= weights[found]) at -= weights[found++];
                if (!s.attr().boolean(kReplacement)) weights[found] = 0;
                return static_cast<double>(found);
              })};
        },
    .domain = {0.1, 2},
    .dtypes = floating_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples;
          for (const bool replaces : {true, false}) {
            for (const Shape& sizes : {Shape{9}, Shape{3, 5}, Shape{1}, Shape{40, 7}, Shape{0, 4}})
              samples.push_back({{{dtype, sizes}},
                                 Attrs().add(sizes.back() > 1 ? 3 : 1).add(replaces),
                                 {Scalar(12345), Scalar(7)}});
          }
          return samples;
        },
    .tolerance_ulp = 0,
});

// The values decide whether there is an answer.
void check_weights(const Tensor& weights, std::int64_t samples, bool replaces) {
  TensorImpl& impl = *weights.impl();
  read_now(impl);
  const Geometry& geometry = impl.geometry;
  const std::int64_t rows = geometry.sizes.size() == 2 ? geometry.sizes[0] : 1;
  const std::int64_t row_stride = geometry.sizes.size() == 2 ? geometry.strides[0] : 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t positive = 0;
    with_element(impl.dtype, [&](auto kind) {
      const auto* weights = static_cast<const decltype(kind)*>(impl.data()) + row * row_stride;
      for (std::int64_t i = 0; i < row_length(geometry.sizes); ++i) {
        const double weight = as_double(weights[i * geometry.strides.back()]);
        GROOVE_CHECK(weight >= 0 && std::isfinite(weight),
                     "multinomial: weight {} at position {} of row {}; weights must be finite and "
                     "not negative",
                     std::isnan(weight) ? std::fabs(weight) : weight, i, row);
        positive += weight > 0;
      }
    });
    GROOVE_CHECK(positive >= (replaces ? 1 : samples),
                 "multinomial: row {} has {} positive weights; {} samples {} replacement need {}",
                 row, positive, samples, replaces ? "with" : "without", replaces ? 1 : samples);
  }
}

}  // namespace

Tensor multinomial(Arg self, std::int64_t num_samples, bool replacement) {
  const CallFrame frame(self.site);
  const TensorImpl& impl = checked("multinomial", *self.tensor);
  const Shape sizes = impl.geometry.sizes;
  GROOVE_CHECK(is_floating(impl.dtype), "multinomial: weights are {}; they must be floating",
               name(impl.dtype));
  GROOVE_CHECK((sizes.size() == 1 || sizes.size() == 2) && sizes.back() > 0,
               "multinomial: weights have shape {}, not [C] or [N, C]", to_string(sizes));
  GROOVE_CHECK(num_samples > 0, "multinomial: {} samples; there must be at least one", num_samples);
  check_weights(*self.tensor, num_samples, replacement);
  const DrawNumbers draw = next_draw();
  return call(drawn_by(op, draw), {*self.tensor}, self.site,
              Attrs().add(num_samples).add(replacement), {draw.seed, draw.draw});
}
Tensor IndexMethods::multinomial(std::int64_t num_samples, bool replacement, Site site) const {
  return groove::multinomial({self(), site}, num_samples, replacement);
}

}  // namespace groove
