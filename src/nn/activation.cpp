#include "groove/nn/activation.h"

#include <ostream>

#include "groove/ops/activations.h"
#include "groove/ops/creation.h"
#include "groove/ops/math.h"
#include "src/core/check.h"
#include "src/nn/printed.h"

namespace groove::nn {
namespace functional {
Tensor gelu(const Tensor& input, const GELUFuncOptions& options, Site site) {
  return groove::gelu(Arg(input, site), options.approximate().c_str());
}
Tensor silu(const Tensor& input, Site site) { return groove::silu(Arg(input, site)); }
Tensor mish(const Tensor& input, Site site) { return groove::mish(Arg(input, site)); }
Tensor leaky_relu(Tensor input, const LeakyReLUFuncOptions& options, Site site) {
  const Arg self(input, site);
  return options.inplace() ? leaky_relu_(self, options.negative_slope())
                           : groove::leaky_relu(self, options.negative_slope());
}
Tensor elu(Tensor input, const ELUFuncOptions& options, Site site) {
  const Arg self(input, site);
  return options.inplace() ? elu_(self, options.alpha()) : groove::elu(self, options.alpha());
}
Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options, Site site) {
  return groove::softplus(Arg(input, site), options.beta(), options.threshold());
}
Tensor hardtanh(Tensor input, const HardtanhFuncOptions& options, Site site) {
  const Arg self(input, site);
  return options.inplace() ? hardtanh_(self, options.min_val(), options.max_val())
                           : groove::hardtanh(self, options.min_val(), options.max_val());
}
Tensor relu6(Tensor input, const ReLU6FuncOptions& options, Site site) {
  const Arg self(input, site);
  return options.inplace() ? relu6_(self) : groove::relu6(self);
}

Tensor prelu(const Tensor& input, const Tensor& weight, Site site) {
  return groove::prelu(Arg(input, site), weight);
}

Tensor glu(const Tensor& input, const GLUFuncOptions& options, Site site) {
  return groove::glu(Arg(input, site), options.dim());
}

}  // namespace functional

Tensor GELUImpl::forward(const Tensor& input, Site site) {
  return functional::gelu(input, options, site);
}
void GELUImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::GELU()"; }

Tensor SiLUImpl::forward(const Tensor& input, Site site) { return functional::silu(input, site); }
void SiLUImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::SiLU()"; }

Tensor MishImpl::forward(const Tensor& input, Site site) { return functional::mish(input, site); }
void MishImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Mish()"; }

Tensor LeakyReLUImpl::forward(Tensor input, Site site) {
  return functional::leaky_relu(std::move(input), options, site);
}
void LeakyReLUImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::LeakyReLU(negative_slope=" << options.negative_slope()
         << later_inplace_text(options.inplace()) << ")";
}

Tensor ELUImpl::forward(Tensor input, Site site) {
  return functional::elu(std::move(input), options, site);
}
void ELUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::ELU(alpha=" << options.alpha() << later_inplace_text(options.inplace())
         << ")";
}

Tensor SoftplusImpl::forward(const Tensor& input, Site site) {
  return functional::softplus(input, options, site);
}
void SoftplusImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Softplus(beta=" << options.beta() << ", threshold=" << options.threshold()
         << ")";
}

HardtanhImpl::HardtanhImpl(const HardtanhOptions& options_) : options(options_) {
  GROOVE_CHECK(options.max_val() > options.min_val(),
               "Hardtanh: max_val {} must be greater than min_val {}", options.max_val(),
               options.min_val());
}
Tensor HardtanhImpl::forward(Tensor input, Site site) {
  return functional::hardtanh(std::move(input), options, site);
}
void HardtanhImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::Hardtanh(min_val=" << options.min_val()
         << ", max_val=" << options.max_val() << later_inplace_text(options.inplace()) << ")";
}

Tensor ReLU6Impl::forward(Tensor input, Site site) {
  return functional::relu6(std::move(input), options, site);
}
void ReLU6Impl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::ReLU6(" << inplace_text(options.inplace()) << ")";
}

PReLUImpl::PReLUImpl(const PReLUOptions& options_) : options(options_) { reset(); }
void PReLUImpl::reset() {
  GROOVE_CHECK(options.num_parameters() > 0, "PReLU: num_parameters is {}; it must be positive",
               options.num_parameters());
  weight = register_parameter("weight", full({options.num_parameters()}, options.init()));
}
Tensor PReLUImpl::forward(const Tensor& input, Site site) {
  return functional::prelu(input, weight, site);
}
void PReLUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::PReLU(num_parameters=" << options.num_parameters() << ")";
}

Tensor GLUImpl::forward(const Tensor& input, Site site) {
  return functional::glu(input, options, site);
}
void GLUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::GLU(dim=" << options.dim() << ")";
}

template class Cloneable<GELUImpl>;
template class Cloneable<SiLUImpl>;
template class Cloneable<MishImpl>;
template class Cloneable<LeakyReLUImpl>;
template class Cloneable<ELUImpl>;
template class Cloneable<SoftplusImpl>;
template class Cloneable<HardtanhImpl>;
template class Cloneable<ReLU6Impl>;
template class Cloneable<PReLUImpl>;
template class Cloneable<GLUImpl>;

}  // namespace groove::nn
