#include "groove/nn/dropouts.h"

#include <ostream>

#include "groove/detail/call_scope.h"
#include "groove/ops/dropouts.h"
#include "groove/ops/views.h"
#include "src/core/check.h"
#include "src/nn/printed.h"

namespace groove::nn {
namespace {

// [C, …] is one image.
Tensor dropped(const Tensor& input, double p, bool training, bool is_inplace, std::int64_t rank) {
  const bool is_batch = input.dim() == rank;
  const Tensor images = is_batch ? input : unsqueeze(input, 0);
  const Tensor result =
      is_inplace ? feature_dropout_(images, p, training) : feature_dropout(images, p, training);
  if (is_inplace || result.is_same(images)) return input;
  return is_batch ? result : squeeze(result, 0);
}

void check_probability(const char* name, double p) {
  GROOVE_CHECK(p >= 0 && p <= 1, "{}: p is {}; a probability lies between 0 and 1", name, p);
}

void describe(std::ostream& stream, const char* name, const DropoutOptions& options) {
  stream << "torch::nn::" << name << "(p=" << options.p() << ", inplace=" << text(options.inplace())
         << ")";
}

functional::DropoutFuncOptions in_mode(const DropoutOptions& options, bool is_training) {
  return functional::DropoutFuncOptions()
      .p(options.p())
      .training(is_training)
      .inplace(options.inplace());
}

}  // namespace

namespace functional {

Tensor dropout2d(Tensor input, const Dropout2dFuncOptions& options, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  return dropped(input, options.p(), options.training(), options.inplace(), 4);
}
Tensor dropout3d(Tensor input, const Dropout3dFuncOptions& options, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  return dropped(input, options.p(), options.training(), options.inplace(), 5);
}
Tensor alpha_dropout(Tensor input, const AlphaDropoutFuncOptions& options, Site site) {
  const Arg self(input, site);
  return options.inplace() ? alpha_dropout_(self, options.p(), options.training())
                           : groove::alpha_dropout(self, options.p(), options.training());
}
Tensor feature_alpha_dropout(Tensor input, const FeatureAlphaDropoutFuncOptions& options,
                             Site site) {
  const Arg self(input, site);
  return options.inplace() ? feature_alpha_dropout_(self, options.p(), options.training())
                           : groove::feature_alpha_dropout(self, options.p(), options.training());
}

}  // namespace functional

Dropout2dImpl::Dropout2dImpl(const Dropout2dOptions& options_) : options(options_) {
  check_probability("Dropout2d", options.p());
}
Tensor Dropout2dImpl::forward(Tensor input, Site site) {
  return functional::dropout2d(std::move(input), in_mode(options, is_training()), site);
}
void Dropout2dImpl::pretty_print(std::ostream& stream) const {
  describe(stream, "Dropout2d", options);
}

Dropout3dImpl::Dropout3dImpl(const Dropout3dOptions& options_) : options(options_) {
  check_probability("Dropout3d", options.p());
}
Tensor Dropout3dImpl::forward(Tensor input, Site site) {
  return functional::dropout3d(std::move(input), in_mode(options, is_training()), site);
}
void Dropout3dImpl::pretty_print(std::ostream& stream) const {
  describe(stream, "Dropout3d", options);
}

// Never in place, whatever the options say, as in LibTorch.
AlphaDropoutImpl::AlphaDropoutImpl(const AlphaDropoutOptions& options_) : options(options_) {
  check_probability("AlphaDropout", options.p());
}
Tensor AlphaDropoutImpl::forward(const Tensor& input, Site site) {
  return groove::alpha_dropout(Arg(input, site), options.p(), is_training());
}
void AlphaDropoutImpl::pretty_print(std::ostream& stream) const {
  describe(stream, "AlphaDropout", options);
}

FeatureAlphaDropoutImpl::FeatureAlphaDropoutImpl(const FeatureAlphaDropoutOptions& options_)
    : options(options_) {
  check_probability("FeatureAlphaDropout", options.p());
}
Tensor FeatureAlphaDropoutImpl::forward(const Tensor& input, Site site) {
  return groove::feature_alpha_dropout(Arg(input, site), options.p(), is_training());
}
void FeatureAlphaDropoutImpl::pretty_print(std::ostream& stream) const {
  describe(stream, "FeatureAlphaDropout", options);
}

template class Cloneable<Dropout2dImpl>;
template class Cloneable<Dropout3dImpl>;
template class Cloneable<AlphaDropoutImpl>;
template class Cloneable<FeatureAlphaDropoutImpl>;

}  // namespace groove::nn
