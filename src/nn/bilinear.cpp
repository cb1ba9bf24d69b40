#include "groove/nn/bilinear.h"

#include <cmath>
#include <ostream>

#include "groove/nn/init.h"
#include "groove/ops/contractions.h"
#include "groove/ops/creation.h"
#include "src/core/check.h"
#include "src/nn/printed.h"

namespace groove::nn {

Tensor functional::bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                            const Tensor& bias, Site site) {
  return groove::bilinear(Arg(input1, site), input2, weight, bias);
}

BilinearImpl::BilinearImpl(const BilinearOptions& options_) : options(options_) { reset(); }

void BilinearImpl::reset() {
  GROOVE_CHECK(
      options.in1_features() > 0 && options.in2_features() >= 0 && options.out_features() >= 0,
      "Bilinear: in1_features {} must be positive, in2_features {} and out_features {} "
      "not negative",
      options.in1_features(), options.in2_features(), options.out_features());
  weight = register_parameter(
      "weight", empty({options.out_features(), options.in1_features(), options.in2_features()}));
  bias = options.bias() ? register_parameter("bias", empty({options.out_features()}))
                        : register_parameter("bias", Tensor(), false);
  reset_parameters();
}

void BilinearImpl::reset_parameters() {
  const double bound = 1 / std::sqrt(static_cast<double>(weight.size(1)));
  init::uniform_(weight, -bound, bound);
  if (bias.defined()) init::uniform_(bias, -bound, bound);
}

Tensor BilinearImpl::forward(const Tensor& input1, const Tensor& input2, Site site) {
  return functional::bilinear(input1, input2, weight, bias, site);
}

void BilinearImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Bilinear(in1_features=" << options.in1_features()
         << ", in2_features=" << options.in2_features()
         << ", out_features=" << options.out_features() << ", bias=" << text(options.bias()) << ")";
}

template class Cloneable<BilinearImpl>;

}  // namespace groove::nn
