// cummax and cummin: the greatest or smallest element up to each along an axis and where it stands,
// of equal ones the last; NaN from the first one on.
#include <cmath>

#include "groove/ops/statistics.h"
#include "kernels/ops/ranking.h"
#include "kernels/ops/reference.h"

namespace groove {
namespace {

enum { kDim };

// Keys ascend with values but for that of NaN, which is greatest also where the least one wins.
std::uint64_t key_of_nan(ScalarType dtype) {
  return dtype == kDouble ? key_of(std::nan("")) : key_of(std::nanf(""));
}

template <bool kGreatest>
void run(const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs, int part,
         int parts) {
  const Type& type = s.inputs[0];
  const Lines lines(type.sizes, s.attr().integer(kDim));
  const void* source = inputs[0].impl()->data();
  void* const values = outputs[0].impl()->data();
  auto* const positions = static_cast<std::int64_t*>(outputs[1].impl()->data());
  const std::uint64_t nan = key_of_nan(type.dtype);
  const bool has_nan = is_floating(type.dtype);
  std::vector<Ranked> ranked;
  const auto [begin, end] = line_share(lines.count, part, parts);
  for (std::int64_t line = begin; line < end; ++line) {
    const std::int64_t offset = lines.offset(line);
    rank_line(type.dtype, source, offset, lines, false, ranked);
    std::int64_t best = 0, to = offset;
    for (std::int64_t i = 0; i < lines.length; ++i, to += lines.stride) {
      const std::uint64_t key = ranked[static_cast<std::size_t>(i)].key;
      const std::uint64_t kept = ranked[static_cast<std::size_t>(best)].key;
      const bool is_stuck = has_nan && kept == nan && key != nan;
      const bool wins = (has_nan && key == nan) || (kGreatest ? key >= kept : key <= kept);
      if (wins && !is_stuck) best = i;
      move_element(element_size(type.dtype), values, to, source, offset + best * lines.stride);
      positions[to] = best;
    }
  }
}

template <bool kGreatest>
std::vector<Reference> reference(const Signature& s, const std::vector<Reference>& inputs) {
  const Shape& sizes = inputs[0].type.sizes;
  std::vector<Reference> result(2, inputs[0]);
  result[1].type.dtype = kLong;
  const auto dim = static_cast<std::size_t>(s.attr().integer(kDim));
  for_each_index(sizes, [&](const Shape& index) {
    const auto at = static_cast<std::size_t>(flat_position(sizes, index));
    std::int64_t best = 0;
    double kept = 0;
    for (std::int64_t i = 0; i <= (index.empty() ? 0 : index[dim]); ++i) {
      Shape place = index;
      if (!place.empty()) place[dim] = i;
      const double x = inputs[0].values[static_cast<std::size_t>(flat_position(sizes, place))];
      if (i > 0 && !std::isnan(x) && (std::isnan(kept) || (kGreatest ? x < kept : x > kept)))
        continue;
      best = i;
      kept = x;
    }
    result[0].values[at] = kept;
    result[1].values[at] = static_cast<double>(best);
  });
  return result;
}

template <bool kGreatest>
const Op& define_running(const char* name) {
  return define({
      .name = name,
      .kind = OpKind::kOpaque,
      .outputs = 2,
      .attributes = {{"dim", AttrType::kInt}},
      .type = [](const Signature& s) -> TypeResult {
        return {{s.inputs[0], {kLong, s.inputs[0].sizes}}, s.inputs[0].dtype};
      },
      .lowering = kernels::lower(kernels::OpaqueLowering{.run_part = run<kGreatest>}),
      .gradient = picked_gradient,
      .saves_outputs = 2,
      .range = range_of_picked,
      .has_inplace = false,
      .reference = reference<kGreatest>,
      .dtypes = all_dtypes(),
      .samples =
          [](ScalarType dtype) {
            std::vector<Sample> samples;
            const auto add = [&](const Shape& sizes, std::int64_t dim) {
              samples.push_back({{{dtype, sizes}}, Attrs().add(dim), {}});
            };
            add({}, 0);
            add({9}, 0);
            add({3, 5}, 1);
            add({4, 3}, 0);
            add({2, 3, 4}, 1);
            add({0, 3}, 0);
            return samples;
          },
      .tolerance_ulp = 0,
  });
}

const Op& op_max = define_running<true>("cummax");
const Op& op_min = define_running<false>("cummin");

}  // namespace

std::tuple<Tensor, Tensor> cummax(Arg self, std::int64_t dim) {
  const CallFrame frame(self.site);
  return call_ranked(op_max, self, Attrs().add(ranked_axis("cummax", *self.tensor, dim)));
}
std::tuple<Tensor, Tensor> cummin(Arg self, std::int64_t dim) {
  const CallFrame frame(self.site);
  return call_ranked(op_min, self, Attrs().add(ranked_axis("cummin", *self.tensor, dim)));
}
std::tuple<Tensor, Tensor> StatisticsMethods::cummax(std::int64_t dim, Site site) const {
  return groove::cummax({self(), site}, dim);
}
std::tuple<Tensor, Tensor> StatisticsMethods::cummin(std::int64_t dim, Site site) const {
  return groove::cummin({self(), site}, dim);
}

}  // namespace groove
