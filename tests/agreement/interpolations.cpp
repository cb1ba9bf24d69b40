// Every way to make images larger or smaller.
#include "cases.h"

namespace F = torch::nn::functional;
namespace nn = torch::nn;
using namespace agreement;
using Options = F::InterpolateFuncOptions;
using Sizes = std::vector<std::int64_t>;
using Factors = std::vector<double>;

namespace {

const std::vector<torch::Tensor>& inputs() {
  static const std::vector<torch::Tensor> all = {leaf({2, 2, 5}, 0), leaf({1, 2, 4, 5}, 1),
                                                 leaf({1, 2, 3, 4, 3}, 2)};
  return all;
}
const Sizes kSizes[][3] = {
    {{8}, {7, 3}, {5, 3, 6}}, {{3}, {2, 9}, {2, 6, 1}}, {{5}, {4, 5}, {3, 4, 3}}};
const Factors kFactors[][3] = {{{2}, {2, 3}, {2, 1, 2}},
                               {{1.7}, {0.6, 1.3}, {1.4, 0.7, 2.4}},
                               {{0.5}, {0.5, 0.5}, {0.7, 0.5, 1.9}}};

template <typename Mode>
void show_mode(const std::string& mode_name, const Mode& mode, std::size_t first, std::size_t last,
               bool can_align) {
  for (std::size_t i = first; i <= last; ++i) {
    const auto& x = inputs()[i];
    for (int corners = 0; corners < (can_align ? 2 : 1); ++corners) {
      const auto options = [&] {
        Options all = Options().mode(mode);
        if (can_align) all.align_corners(corners == 1);
        return all;
      };
      const std::string name =
          mode_name + " " + std::to_string(i + 1) + "d" + (corners ? " aligned" : "");
      for (const auto& sizes : kSizes)
        show_gradients(name + " size " + std::to_string(sizes[i][0]),
                       F::interpolate(x, options().size(sizes[i])), {x});
      for (const auto& factors : kFactors) {
        const std::string with = name + " factor " + std::to_string(factors[i][0]);
        show_gradients(with, F::interpolate(x, options().scale_factor(factors[i])), {x});
        show_gradients(
            with + " again",
            F::interpolate(x, options().scale_factor(factors[i]).recompute_scale_factor(true)),
            {x});
      }
    }
  }
}

}  // namespace

CASE(interpolate_nearest) { show_mode("nearest", torch::kNearest, 0, 2, false); }
CASE(interpolate_nearest_exact) { show_mode("nearest exact", torch::kNearestExact, 0, 2, true); }
CASE(interpolate_area) { show_mode("area", torch::kArea, 0, 2, false); }
CASE(interpolate_linear) {
  show_mode("linear", torch::kLinear, 0, 0, true);
  show_mode("bilinear", torch::kBilinear, 1, 1, true);
  show_mode("trilinear", torch::kTrilinear, 2, 2, true);
}
CASE(interpolate_bicubic) { show_mode("bicubic", torch::kBicubic, 1, 1, true); }

CASE(interpolate_filtered) {
  const auto x = leaf({1, 2, 9, 7}, 3);
  for (const bool aligned : {false, true})
    for (const Sizes& size : {Sizes{4, 3}, Sizes{12, 5}, Sizes{3, 9}, Sizes{1, 1}}) {
      const std::string name = (aligned ? "aligned " : "") + std::to_string(size[0]);
      const Options options = Options().size(size).align_corners(aligned).antialias(true);
      show_gradients("bilinear " + name, F::interpolate(x, Options(options).mode(torch::kBilinear)),
                     {x});
      show_gradients("bicubic " + name, F::interpolate(x, Options(options).mode(torch::kBicubic)),
                     {x});
    }
  show_gradients("factor",
                 F::interpolate(x, Options()
                                       .scale_factor(Factors{0.4, 0.7})
                                       .align_corners(false)
                                       .mode(torch::kBilinear)
                                       .antialias(true)),
                 {x});
  show_gradients(
      "name", torch::_upsample_bicubic2d_aa(x, torch::IntArrayRef(kSizes[0][1]), false, 0.4), {x});
  show_error("mode", [&] {
    F::interpolate(x, Options().size(Sizes{2, 2}).mode(torch::kNearest).antialias(true));
  });
}

CASE(upsample_names) {
  const auto &x = inputs()[0], &y = inputs()[1], &z = inputs()[2];
  show_gradients("nearest1d", torch::upsample_nearest1d(x, {8}), {x});
  show_gradients("nearest1d scale",
                 torch::upsample_nearest1d(x, torch::IntArrayRef(kSizes[0][0]), 1.7), {x});
  show_gradients("nearest2d", torch::upsample_nearest2d(y, {7, 3}), {y});
  show_gradients("nearest3d", torch::upsample_nearest3d(z, {5, 3, 6}), {z});
  show_gradients("linear1d", torch::upsample_linear1d(x, {8}, false), {x});
  show_gradients("bilinear2d", torch::upsample_bilinear2d(y, {7, 3}, true), {y});
  show_gradients("bilinear2d scale", torch::upsample_bilinear2d(y, {7, 3}, false, 1.8, 0.7), {y});
  show_gradients("bicubic2d", torch::upsample_bicubic2d(y, {7, 3}, false), {y});
  show_gradients("trilinear3d", torch::upsample_trilinear3d(z, {5, 3, 6}, true), {z});
  show_gradients("exact1d", torch::_upsample_nearest_exact1d(x, {8}), {x});
  show_gradients("exact2d",
                 torch::_upsample_nearest_exact2d(y, torch::IntArrayRef(kSizes[0][1]), 1.8), {y});
  show_gradients("exact3d", torch::_upsample_nearest_exact3d(z, {5, 3, 6}), {z});
  const Factors two = {1.5, 2}, three = {1.5, 2, 0.7}, one = {2.5};
  const auto factors = [](const Factors& values) {
    return std::optional<torch::ArrayRef<double>>(torch::ArrayRef<double>(values));
  };
  show_gradients("nearest2d factors", torch::upsample_nearest2d(y, torch::nullopt, factors(two)),
                 {y});
  show_gradients("nearest3d factors", torch::upsample_nearest3d(z, torch::nullopt, factors(three)),
                 {z});
  show_gradients("linear1d factors",
                 torch::upsample_linear1d(x, torch::nullopt, false, factors(one)), {x});
  show_gradients("bilinear2d factors",
                 torch::upsample_bilinear2d(y, torch::nullopt, false, factors(two)), {y});
  show_gradients("bicubic2d factors",
                 torch::upsample_bicubic2d(y, torch::nullopt, true, factors(two)), {y});
  show_gradients("trilinear3d factors",
                 torch::upsample_trilinear3d(z, torch::nullopt, false, factors(three)), {z});
  show_error("rank", [&] { torch::upsample_nearest2d(x, {7, 3}); });
  show_error("sizes", [&] { torch::upsample_nearest2d(y, {7, 0}); });
}

CASE(upsample) {
  const auto& y = inputs()[1];
  nn::Upsample sized(
      nn::UpsampleOptions().size(Sizes{6, 7}).mode(torch::kBilinear).align_corners(true));
  show("prints size", printed(*sized));
  show_gradients("size", sized(y), {y});
  nn::Upsample scaled(nn::UpsampleOptions().scale_factor(Factors{2, 1.5}));
  show("prints factor", printed(*scaled));
  show_gradients("factor", scaled(y), {y});
  show_error("neither", [&] { F::interpolate(y, Options()); });
  show_error("both", [&] {
    F::interpolate(y, Options().size(Sizes{2, 2}).scale_factor(Factors{1, 1}));
  });
  show_error("mode", [&] { F::interpolate(y, Options().size(Sizes{2, 2}).mode(torch::kLinear)); });
  show_error("corners", [&] {
    F::interpolate(y, Options().size(Sizes{2, 2}).mode(torch::kNearest).align_corners(true));
  });
}
