// cartesian_prod and combinations: tuples of elements of 1-d tensors.
#include <numeric>

#include "groove/factories.h"
#include "groove/ops/creation.h"
#include "groove/ops/parts.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

// The positions of all subsets of r out of n in lexical order, one after the other.
std::vector<std::int64_t> subsets(std::int64_t n, std::int64_t r, bool with_replacement) {
  std::vector<std::int64_t> all, chosen(static_cast<std::size_t>(r), 0);
  if (!with_replacement) std::iota(chosen.begin(), chosen.end(), 0);
  if (n == 0 || (!with_replacement && r > n)) return all;
  while (true) {
    all.insert(all.end(), chosen.begin(), chosen.end());
    // The last place that can move on; those behind it begin anew.
    std::size_t place = chosen.size();
    while (place > 0) {
      const auto behind = static_cast<std::int64_t>(chosen.size() - place);
      if (chosen[place - 1] < n - 1 - (with_replacement ? 0 : behind)) break;
      --place;
    }
    if (place == 0) return all;
    std::int64_t value = ++chosen[place - 1];
    for (; place < chosen.size(); ++place) chosen[place] = with_replacement ? value : ++value;
  }
}

}  // namespace

Tensor cartesian_prod(TensorList tensors, Site site) {
  const SiteScope scope(site);
  GROOVE_CHECK(!tensors.empty(), "cartesian_prod: there are no tensors; give at least one");
  for (const Tensor& tensor : tensors)
    GROOVE_CHECK(checked("cartesian_prod", tensor).geometry.sizes.size() == 1,
                 "cartesian_prod: shape {} is not 1-d", to_string(tensor.sizes()));
  if (tensors.size() == 1) return tensors[0];
  Tensors columns = meshgrid(tensors, "ij", site);
  for (Tensor& column : columns) column = column.reshape({-1}, site);
  return stack(columns, 1, site);
}

Tensor combinations(Arg self, std::int64_t r, bool with_replacement) {
  const SiteScope scope(self.site);
  const Shape& sizes = checked("combinations", *self.tensor).geometry.sizes;
  GROOVE_CHECK(sizes.size() == 1, "combinations: shape {} is not 1-d", to_string(sizes));
  GROOVE_CHECK(r >= 0, "combinations: {} elements; the number must not be negative", r);
  if (r == 0) return empty({0}, self.tensor->options(), self.site);
  const std::vector<std::int64_t> places = subsets(sizes[0], r, with_replacement);
  const Tensor index = tensor(places, kLong);
  return index_select(self, 0, index)
      .view({static_cast<std::int64_t>(places.size()) / r, r}, self.site);
}

}  // namespace groove
