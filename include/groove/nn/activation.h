// Activations as modules and functions, besides those of modules.h.
#pragma once

#include "groove/nn/cloneable.h"
#include "groove/nn/holder.h"
#include "groove/nn/options.h"

namespace groove::nn {

struct GELUOptions {
  /// "none" or "tanh"
  GROOVE_ARG(std::string, approximate) = "none";
};
struct LeakyReLUOptions {
  GROOVE_ARG(double, negative_slope) = 1e-2;
  GROOVE_ARG(bool, inplace) = false;
};
struct ELUOptions {
  GROOVE_ARG(double, alpha) = 1.0;
  GROOVE_ARG(bool, inplace) = false;
};
struct SoftplusOptions {
  GROOVE_ARG(double, beta) = 1.0;
  GROOVE_ARG(double, threshold) = 20.0;
};
struct HardtanhOptions {
  GROOVE_ARG(double, min_val) = -1.0;
  GROOVE_ARG(double, max_val) = 1.0;
  GROOVE_ARG(bool, inplace) = false;
};
using ReLU6Options = ReLUOptions;
struct PReLUOptions {
  GROOVE_ARG(std::int64_t, num_parameters) = 1;
  GROOVE_ARG(double, init) = 0.25;
};
struct GLUOptions {
  GLUOptions(std::int64_t dim = -1) : dim_(dim) {}
  GROOVE_ARG(std::int64_t, dim);
};

namespace functional {

using GELUFuncOptions = GELUOptions;
using LeakyReLUFuncOptions = LeakyReLUOptions;
using ELUFuncOptions = ELUOptions;
using SoftplusFuncOptions = SoftplusOptions;
using HardtanhFuncOptions = HardtanhOptions;
using ReLU6FuncOptions = ReLU6Options;
using GLUFuncOptions = GLUOptions;

Tensor gelu(const Tensor& input, const GELUFuncOptions& options = {}, Site site = Site::current());
Tensor silu(const Tensor& input, Site site = Site::current());
/// input * tanh(softplus(input)) (Misra 2019)
Tensor mish(const Tensor& input, Site site = Site::current());
Tensor leaky_relu(Tensor input, const LeakyReLUFuncOptions& options = {},
                  Site site = Site::current());
Tensor elu(Tensor input, const ELUFuncOptions& options = {}, Site site = Site::current());
Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options = {},
                Site site = Site::current());
/// input between min_val and max_val
Tensor hardtanh(Tensor input, const HardtanhFuncOptions& options = {}, Site site = Site::current());
/// input between 0 and 6
Tensor relu6(Tensor input, const ReLU6FuncOptions& options = {}, Site site = Site::current());
/// input where positive, else weight * input; weight has one element or one per channel (axis 1).
Tensor prelu(const Tensor& input, const Tensor& weight, Site site = Site::current());
/// The first half along `dim` times the sigmoid of the second (Dauphin et al. 2017).
Tensor glu(const Tensor& input, const GLUFuncOptions& options = {}, Site site = Site::current());

}  // namespace functional

class GELUImpl : public Cloneable<GELUImpl> {
 public:
  explicit GELUImpl(GELUOptions options = {}) : options(std::move(options)) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  GELUOptions options;
};
GROOVE_MODULE(GELU);
extern template class Cloneable<GELUImpl>;

class SiLUImpl : public Cloneable<SiLUImpl> {
 public:
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
};
GROOVE_MODULE(SiLU);
extern template class Cloneable<SiLUImpl>;

class MishImpl : public Cloneable<MishImpl> {
 public:
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
};
GROOVE_MODULE(Mish);
extern template class Cloneable<MishImpl>;

class LeakyReLUImpl : public Cloneable<LeakyReLUImpl> {
 public:
  explicit LeakyReLUImpl(const LeakyReLUOptions& options = {}) : options(options) {}
  void reset() override {}
  Tensor forward(Tensor input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  LeakyReLUOptions options;
};
GROOVE_MODULE(LeakyReLU);
extern template class Cloneable<LeakyReLUImpl>;

class ELUImpl : public Cloneable<ELUImpl> {
 public:
  explicit ELUImpl(const ELUOptions& options = {}) : options(options) {}
  void reset() override {}
  Tensor forward(Tensor input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  ELUOptions options;
};
GROOVE_MODULE(ELU);
extern template class Cloneable<ELUImpl>;

class SoftplusImpl : public Cloneable<SoftplusImpl> {
 public:
  explicit SoftplusImpl(const SoftplusOptions& options = {}) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  SoftplusOptions options;
};
GROOVE_MODULE(Softplus);
extern template class Cloneable<SoftplusImpl>;

class HardtanhImpl : public Cloneable<HardtanhImpl> {
 public:
  explicit HardtanhImpl(const HardtanhOptions& options = {});
  void reset() override {}
  Tensor forward(Tensor input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  HardtanhOptions options;
};
GROOVE_MODULE(Hardtanh);
extern template class Cloneable<HardtanhImpl>;

class ReLU6Impl : public Cloneable<ReLU6Impl> {
 public:
  explicit ReLU6Impl(const ReLU6Options& options = {}) : options(options) {}
  void reset() override {}
  Tensor forward(Tensor input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  ReLU6Options options;
};
GROOVE_MODULE(ReLU6);
extern template class Cloneable<ReLU6Impl>;

/// Learns the slope of the negative side (He et al. 2015).
class PReLUImpl : public Cloneable<PReLUImpl> {
 public:
  explicit PReLUImpl(const PReLUOptions& options = {});
  void reset() override;
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  PReLUOptions options;
  Tensor weight;
};
GROOVE_MODULE(PReLU);
extern template class Cloneable<PReLUImpl>;

class GLUImpl : public Cloneable<GLUImpl> {
 public:
  explicit GLUImpl(const GLUOptions& options = {}) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  GLUOptions options;
};
GROOVE_MODULE(GLU);
extern template class Cloneable<GLUImpl>;

}  // namespace groove::nn
