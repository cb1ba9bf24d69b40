#include "groove/nn/upsampling.h"

#include <cmath>
#include <ostream>

#include "groove/detail/call_scope.h"
#include "src/core/check.h"
#include "src/core/small_vector.h"

namespace groove::nn {
namespace functional {

Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& options, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  const interpolation_t mode = options.mode();
  GROOVE_CHECK(input.defined(), "interpolate: the input is undefined");
  const std::int64_t rank = input.dim();
  GROOVE_CHECK(rank >= 3 && rank <= 5 && (mode.rank() == 0 || mode.rank() == rank),
               "interpolate: mode {} is not for an input of shape {}", mode.name(),
               to_string(input.sizes()));
  GROOVE_CHECK(options.size().has_value() != options.scale_factor().has_value(),
               "interpolate: give either size or scale_factor");
  GROOVE_CHECK(!options.antialias() || (rank == 4 && mode.rank() == 4),
               "interpolate: antialias goes with kBilinear and kBicubic, not with {}", mode.name());
  // The exact nearest has no use for it, but LibTorch takes it.
  const bool can_align =
      mode.how() != Interpolation::kNearest && mode.how() != Interpolation::kArea;
  GROOVE_CHECK(can_align || !options.align_corners().has_value(),
               "interpolate: align_corners goes with linear and cubic modes, not with {}",
               mode.name());
  const auto axes = static_cast<std::size_t>(rank - 2);
  const std::size_t given =
      options.size() ? options.size()->size() : options.scale_factor()->size();
  GROOVE_CHECK(given == axes, "interpolate: {} {} are given for an input of shape {}", given,
               options.size() ? "sizes" : "scale factors", to_string(input.sizes()));
  std::vector<std::int64_t> sizes;
  std::vector<std::optional<double>> scales(axes);
  for (std::size_t i = 0; i < axes; ++i) {
    if (options.size()) {
      sizes.push_back((*options.size())[i]);
      continue;
    }
    const double factor = (*options.scale_factor())[i];
    const auto own = static_cast<double>(input.size(static_cast<std::int64_t>(i) + 2));
    sizes.push_back(static_cast<std::int64_t>(std::floor(own * factor)));
    if (!options.recompute_scale_factor().value_or(false)) scales[i] = factor;
  }
  if (options.antialias()) {
    const auto filtered =
        mode.how() == Interpolation::kCubic ? _upsample_bicubic2d_aa : _upsample_bilinear2d_aa;
    return filtered(input, sizes, options.align_corners().value_or(false), scales[0], scales[1]);
  }
  return groove::interpolate(input, sizes, mode.how(), options.align_corners().value_or(false),
                             scales);
}

}  // namespace functional

Tensor UpsampleImpl::forward(const Tensor& input, Site site) {
  return functional::interpolate(input,
                                 functional::InterpolateFuncOptions()
                                     .size(options.size())
                                     .scale_factor(options.scale_factor())
                                     .mode(options.mode())
                                     .align_corners(options.align_corners()),
                                 site);
}

void UpsampleImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Upsample(";
  if (options.scale_factor())
    stream << "scale_factor=" << ArrayRef<double>(*options.scale_factor());
  else if (options.size())
    stream << "size=" << IntArrayRef(*options.size());
  stream << ", mode=" << options.mode().name() << ")";
}

template class Cloneable<UpsampleImpl>;

}  // namespace groove::nn
