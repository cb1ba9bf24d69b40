// Options of the modules, with LibTorch's names and defaults.
#pragma once

#include <concepts>

#include "groove/arg.h"
#include "groove/enums.h"
#include "groove/tensor.h"

namespace groove::nn {

struct LinearOptions {
  LinearOptions(std::int64_t in_features, std::int64_t out_features)
      : in_features_(in_features), out_features_(out_features) {}
  GROOVE_ARG(std::int64_t, in_features);
  GROOVE_ARG(std::int64_t, out_features);
  GROOVE_ARG(bool, bias) = true;
};

struct FlattenOptions {
  GROOVE_ARG(std::int64_t, start_dim) = 1;
  GROOVE_ARG(std::int64_t, end_dim) = -1;
};

struct ReLUOptions {
  ReLUOptions(bool inplace = false) : inplace_(inplace) {}
  GROOVE_ARG(bool, inplace);
};

struct SoftmaxOptions {
  SoftmaxOptions(std::int64_t dim) : dim_(dim) {}
  GROOVE_ARG(std::int64_t, dim);
};
using LogSoftmaxOptions = SoftmaxOptions;

struct DropoutOptions {
  DropoutOptions(double p = 0.5) : p_(p) {}
  GROOVE_ARG(double, p);
  GROOVE_ARG(bool, inplace) = false;
};

struct MSELossOptions {
  using reduction_t = groove::reduction_t;
  MSELossOptions() = default;
  MSELossOptions(std::convertible_to<reduction_t> auto reduction) : reduction_(reduction) {}
  GROOVE_ARG(reduction_t, reduction) = kMean;
};

struct NLLLossOptions {
  using reduction_t = groove::reduction_t;
  GROOVE_ARG(Tensor, weight) = {};
  GROOVE_ARG(std::int64_t, ignore_index) = -100;
  GROOVE_ARG(reduction_t, reduction) = kMean;
};

struct CrossEntropyLossOptions {
  using reduction_t = groove::reduction_t;
  GROOVE_ARG(Tensor, weight) = {};
  GROOVE_ARG(std::int64_t, ignore_index) = -100;
  GROOVE_ARG(reduction_t, reduction) = kMean;
  GROOVE_ARG(double, label_smoothing) = 0.0;
};

namespace functional {

using ReLUFuncOptions = ReLUOptions;
using MSELossFuncOptions = MSELossOptions;
using CrossEntropyFuncOptions = CrossEntropyLossOptions;
using NLLLossFuncOptions = NLLLossOptions;

struct SoftmaxFuncOptions {
  SoftmaxFuncOptions(std::int64_t dim) : dim_(dim) {}
  GROOVE_ARG(std::int64_t, dim);
  GROOVE_ARG(std::optional<ScalarType>, dtype) = std::nullopt;
};
using LogSoftmaxFuncOptions = SoftmaxFuncOptions;

class pad_mode_t {
 public:
  constexpr pad_mode_t(enumtype::kConstant) : name_("constant") {}
  constexpr pad_mode_t(enumtype::kReflect) : name_("reflect") {}
  constexpr pad_mode_t(enumtype::kReplicate) : name_("replicate") {}
  constexpr pad_mode_t(enumtype::kCircular) : name_("circular") {}
  constexpr const char* name() const { return name_; }

 private:
  const char* name_;
};
struct PadFuncOptions {
  PadFuncOptions(std::vector<std::int64_t> pad) : pad_(std::move(pad)) {}
  /// Pairs (before, after) from the last axis on.
  GROOVE_ARG(std::vector<std::int64_t>, pad);
  GROOVE_ARG(pad_mode_t, mode) = kConstant;
  GROOVE_ARG(double, value) = 0;
};

struct DropoutFuncOptions {
  GROOVE_ARG(double, p) = 0.5;
  GROOVE_ARG(bool, training) = true;
  GROOVE_ARG(bool, inplace) = false;
};

}  // namespace functional
}  // namespace groove::nn
