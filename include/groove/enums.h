// Enumerators that are types of their own, so that each option takes only those it knows.
#pragma once

#include <cstdint>

namespace groove {

namespace enumtype {
struct kNone {};
struct kMean {};
struct kSum {};
struct kFanIn {};
struct kFanOut {};
struct kLinear {};
struct kSigmoid {};
struct kTanh {};
struct kReLU {};
struct kLeakyReLU {};
struct kBatchMean {};
struct kConstant {};
struct kReflect {};
struct kReplicate {};
struct kCircular {};
struct kGELU {};
struct kNearest {};
struct kNearestExact {};
struct kBilinear {};
struct kBicubic {};
struct kTrilinear {};
struct kArea {};
struct kBorder {};
struct kReflection {};
struct kMax {};
struct Convolution {};
struct kConv1D : Convolution {};
struct kConv2D : Convolution {};
struct kConv3D : Convolution {};
struct kConvTranspose1D : Convolution {};
struct kConvTranspose2D : Convolution {};
struct kConvTranspose3D : Convolution {};
struct kSiLU {};
struct kMish {};
}  // namespace enumtype

inline constexpr enumtype::kNone kNone{};
inline constexpr enumtype::kMean kMean{};
inline constexpr enumtype::kSum kSum{};
inline constexpr enumtype::kFanIn kFanIn{};
inline constexpr enumtype::kFanOut kFanOut{};
inline constexpr enumtype::kLinear kLinear{};
inline constexpr enumtype::kSigmoid kSigmoid{};
inline constexpr enumtype::kTanh kTanh{};
inline constexpr enumtype::kReLU kReLU{};
inline constexpr enumtype::kLeakyReLU kLeakyReLU{};
inline constexpr enumtype::kBatchMean kBatchMean{};
inline constexpr enumtype::kConstant kConstant{};
inline constexpr enumtype::kReflect kReflect{};
inline constexpr enumtype::kReplicate kReplicate{};
inline constexpr enumtype::kCircular kCircular{};
inline constexpr enumtype::kGELU kGELU{};
inline constexpr enumtype::kNearest kNearest{};
inline constexpr enumtype::kNearestExact kNearestExact{};
inline constexpr enumtype::kBilinear kBilinear{};
inline constexpr enumtype::kBicubic kBicubic{};
inline constexpr enumtype::kTrilinear kTrilinear{};
inline constexpr enumtype::kArea kArea{};
inline constexpr enumtype::kBorder kBorder{};
inline constexpr enumtype::kReflection kReflection{};
inline constexpr enumtype::kMax kMax{};
inline constexpr enumtype::kConv1D kConv1D{};
inline constexpr enumtype::kConv2D kConv2D{};
inline constexpr enumtype::kConv3D kConv3D{};
inline constexpr enumtype::kConvTranspose1D kConvTranspose1D{};
inline constexpr enumtype::kConvTranspose2D kConvTranspose2D{};
inline constexpr enumtype::kConvTranspose3D kConvTranspose3D{};
inline constexpr enumtype::kSiLU kSiLU{};
inline constexpr enumtype::kMish kMish{};

// One of the enumerators of an option.
class reduction_t {
 public:
  constexpr reduction_t(enumtype::kNone) : code_(0) {}
  constexpr reduction_t(enumtype::kMean) : code_(1) {}
  constexpr reduction_t(enumtype::kSum) : code_(2) {}
  /// As the values of enum Reduction.
  constexpr std::int64_t code() const { return code_; }

 private:
  std::int64_t code_;
};

}  // namespace groove
