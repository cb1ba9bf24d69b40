// Bilinear: a bilinear form of two inputs for each output.
#pragma once

#include "groove/nn/cloneable.h"
#include "groove/nn/holder.h"
#include "groove/nn/options.h"

namespace groove::nn {

struct BilinearOptions {
  BilinearOptions(std::int64_t in1_features, std::int64_t in2_features, std::int64_t out_features)
      : in1_features_(in1_features), in2_features_(in2_features), out_features_(out_features) {}
  GROOVE_ARG(std::int64_t, in1_features);
  GROOVE_ARG(std::int64_t, in2_features);
  GROOVE_ARG(std::int64_t, out_features);
  GROOVE_ARG(bool, bias) = true;
};

namespace functional {

/// input1 [..., m], input2 [..., n], weight [o, m, n], bias [o] or undefined: [..., o]
Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                const Tensor& bias = {}, Site site = Site::current());

}  // namespace functional

/// weight [out, in1, in2] and bias [out], initially uniform within 1 / sqrt(in1).
class BilinearImpl : public Cloneable<BilinearImpl> {
 public:
  BilinearImpl(std::int64_t in1_features, std::int64_t in2_features, std::int64_t out_features)
      : BilinearImpl(BilinearOptions(in1_features, in2_features, out_features)) {}
  explicit BilinearImpl(const BilinearOptions& options);
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& input1, const Tensor& input2, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  BilinearOptions options;
  Tensor weight, bias;
};
GROOVE_MODULE(Bilinear);
extern template class Cloneable<BilinearImpl>;

}  // namespace groove::nn
