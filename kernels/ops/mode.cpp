// mode: the most frequent element along an axis, the smallest of several, and where it stands last.
#include "groove/ops/statistics.h"
#include "groove/ops/views.h"
#include "kernels/ops/axis.h"
#include "kernels/ops/ranking.h"
#include "kernels/ops/reference.h"

namespace groove {
namespace {

enum { kDim };

// Of equally frequent ones the smallest; where it stands last. By counting, for each, its equals.
std::size_t reference_position(const Signature&, const std::vector<double>& line) {
  std::ptrdiff_t most = 0;
  std::size_t best = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::ptrdiff_t count = std::count(line.begin(), line.end(), line[i]);
    if (count < most || (count == most && line[i] > line[best])) continue;
    most = count;
    best = i;
  }
  return best;
}

void keep_most_frequent(std::vector<Ranked>& ranked, std::int64_t) {
  if (ranked.empty()) return;
  std::sort(ranked.begin(), ranked.end());
  std::size_t best = 0, most = 0;
  for (std::size_t begin = 0, end = 0; begin < ranked.size(); begin = end) {
    while (end < ranked.size() && ranked[end].key == ranked[begin].key) ++end;
    if (end - begin <= most) continue;
    most = end - begin;
    best = end - 1;
  }
  ranked[0] = ranked[best];
}

const Op& op = define({
    .name = "mode",
    .kind = OpKind::kOpaque,
    .outputs = 2,
    .attributes = {{"dim", AttrType::kInt}},
    .type = [](const Signature& s) -> TypeResult {
      const Shape& sizes = s.inputs[0].sizes;
      GROOVE_CHECK(sizes.empty() || sizes[axis_of(s, kDim)] > 0,
                   "mode: no elements along dim {} of {}", s.attr().integer(kDim),
                   to_string(sizes));
      const Shape kept = picked_shape(s, 1);
      return {{{s.inputs[0].dtype, kept}, {kLong, kept}}, s.inputs[0].dtype};
    },
    .lowering = kernels::lower(kernels::OpaqueLowering{
        .run_part =
            [](const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs, int part,
               int parts) {
              write_ranked(s, inputs[0], outputs, false, part, parts, keep_most_frequent);
            },
        .nanoseconds =
            [](const Signature& s) {
              return 500 + 25.0 * static_cast<double>(element_count(s.inputs[0].sizes));
            }}),
    .gradient = picked_gradient,
    .saves_outputs = 2,
    .range = range_of_picked,
    .has_inplace = false,
    .reference = picked_reference(reference_position),
    .dtypes = all_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples;
          const auto add = [&](const Shape& sizes, std::int64_t dim) {
            samples.push_back({{{dtype, sizes}}, Attrs().add(dim), {}});
          };
          add({}, 0);
          add({1}, 0);
          add({40}, 0);
          add({3, 5}, 1);
          add({2, 6, 3}, 1);
          add({0, 3}, 1);
          return samples;
        },
    .tolerance_ulp = 0,
});

}  // namespace

std::tuple<Tensor, Tensor> mode(Arg self, std::int64_t dim, bool keepdim) {
  const SiteScope scope(self.site);
  const std::int64_t axis = ranked_axis("mode", *self.tensor, dim);
  auto [values, positions] = call_ranked(op, self, Attrs().add(axis));
  if (keepdim || self.tensor->dim() == 0) return {values, positions};
  return {squeeze(values, axis), squeeze(positions, axis)};
}
std::tuple<Tensor, Tensor> StatisticsMethods::mode(std::int64_t dim, bool keepdim,
                                                   Site site) const {
  return groove::mode({self(), site}, dim, keepdim);
}

}  // namespace groove
