// Upsample, and nn::functional::interpolate.
#pragma once

#include <optional>
#include <vector>

#include "groove/nn/cloneable.h"
#include "groove/nn/holder.h"
#include "groove/nn/options.h"
#include "groove/ops/interpolation.h"

namespace groove {

namespace nn {

// One of the enumerators of an interpolation, with the rank of input that it is for (0: any).
class interpolation_t {
 public:
  constexpr interpolation_t(enumtype::kNearest) : interpolation_t("kNearest", 0, How::kNearest) {}
  constexpr interpolation_t(enumtype::kNearestExact)
      : interpolation_t("kNearestExact", 0, How::kNearestExact) {}
  constexpr interpolation_t(enumtype::kLinear) : interpolation_t("kLinear", 3, How::kLinear) {}
  constexpr interpolation_t(enumtype::kBilinear) : interpolation_t("kBilinear", 4, How::kLinear) {}
  constexpr interpolation_t(enumtype::kBicubic) : interpolation_t("kBicubic", 4, How::kCubic) {}
  constexpr interpolation_t(enumtype::kTrilinear)
      : interpolation_t("kTrilinear", 5, How::kLinear) {}
  constexpr interpolation_t(enumtype::kArea) : interpolation_t("kArea", 0, How::kArea) {}
  constexpr const char* name() const { return name_; }
  constexpr std::int64_t rank() const { return rank_; }
  constexpr Interpolation how() const { return how_; }

 private:
  using How = Interpolation;
  constexpr interpolation_t(const char* name, std::int64_t rank, How how)
      : name_(name), rank_(rank), how_(how) {}
  const char* name_;
  std::int64_t rank_;
  How how_;
};

struct UpsampleOptions {
  /// Either sizes or factors, one for each axis behind [N, C].
  GROOVE_ARG(std::optional<std::vector<std::int64_t>>, size) = std::nullopt;
  GROOVE_ARG(std::optional<std::vector<double>>, scale_factor) = std::nullopt;
  GROOVE_ARG(interpolation_t, mode) = kNearest;
  /// For the linear and cubic modes; false unless given.
  GROOVE_ARG(std::optional<bool>, align_corners) = std::nullopt;
};

namespace functional {

struct InterpolateFuncOptions {
  /// Either sizes or factors, one for each axis behind [N, C].
  GROOVE_ARG(std::optional<std::vector<std::int64_t>>, size) = std::nullopt;
  GROOVE_ARG(std::optional<std::vector<double>>, scale_factor) = std::nullopt;
  GROOVE_ARG(interpolation_t, mode) = kNearest;
  GROOVE_ARG(std::optional<bool>, align_corners) = std::nullopt;
  /// Positions from the sizes that the factors gave, not from the factors.
  GROOVE_ARG(std::optional<bool>, recompute_scale_factor) = std::nullopt;
  /// For kBilinear and kBicubic: means over all that an element of a smaller image covers.
  GROOVE_ARG(bool, antialias) = false;
};

/// input [N, C, L], [N, C, H, W] or [N, C, D, H, W] at the sizes asked for.
Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& options = {},
                   Site site = Site::current());

}  // namespace functional

class UpsampleImpl : public Cloneable<UpsampleImpl> {
 public:
  explicit UpsampleImpl(const UpsampleOptions& options = {}) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  UpsampleOptions options;
};
GROOVE_MODULE(Upsample);
extern template class Cloneable<UpsampleImpl>;

}  // namespace nn
}  // namespace groove
