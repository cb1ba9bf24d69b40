// Enumerators that are types of their own, so that each option takes only those it knows.
#pragma once

#include <variant>

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

using reduction_t = std::variant<enumtype::kMean, enumtype::kNone, enumtype::kSum>;

}  // namespace groove
