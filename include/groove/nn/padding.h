// Padding of the last one to three axes by a number or by the input's own elements. `padding` holds
// pairs (before, after) from the last axis on.
#pragma once

#include "groove/expanding_array.h"
#include "groove/nn/cloneable.h"
#include "groove/nn/holder.h"
#include "groove/nn/options.h"

namespace groove::nn {

template <std::size_t D>
struct ReflectionPadOptions {
  ReflectionPadOptions(ExpandingArray<D * 2> padding) : padding_(padding) {}
  GROOVE_ARG(ExpandingArray<D * 2>, padding);
};
using ReflectionPad1dOptions = ReflectionPadOptions<1>;
using ReflectionPad2dOptions = ReflectionPadOptions<2>;
using ReflectionPad3dOptions = ReflectionPadOptions<3>;

template <std::size_t D>
struct ReplicationPadOptions {
  ReplicationPadOptions(ExpandingArray<D * 2> padding) : padding_(padding) {}
  GROOVE_ARG(ExpandingArray<D * 2>, padding);
};
using ReplicationPad1dOptions = ReplicationPadOptions<1>;
using ReplicationPad2dOptions = ReplicationPadOptions<2>;
using ReplicationPad3dOptions = ReplicationPadOptions<3>;

template <std::size_t D>
struct ZeroPadOptions {
  ZeroPadOptions(ExpandingArray<D * 2> padding) : padding_(padding) {}
  GROOVE_ARG(ExpandingArray<D * 2>, padding);
};
using ZeroPad1dOptions = ZeroPadOptions<1>;
using ZeroPad2dOptions = ZeroPadOptions<2>;
using ZeroPad3dOptions = ZeroPadOptions<3>;

template <std::size_t D>
struct ConstantPadOptions {
  ConstantPadOptions(ExpandingArray<D * 2> padding, double value)
      : padding_(padding), value_(value) {}
  GROOVE_ARG(ExpandingArray<D * 2>, padding);
  GROOVE_ARG(double, value);
};
using ConstantPad1dOptions = ConstantPadOptions<1>;
using ConstantPad2dOptions = ConstantPadOptions<2>;
using ConstantPad3dOptions = ConstantPadOptions<3>;

/// forward() takes inputs with one or two more axes than are padded.
template <typename Options>
class PadImpl : public detail::Resettable {
 public:
  explicit PadImpl(const Options& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  Options options;
};
extern template class PadImpl<ReflectionPad1dOptions>;
extern template class PadImpl<ReflectionPad2dOptions>;
extern template class PadImpl<ReflectionPad3dOptions>;
extern template class PadImpl<ReplicationPad1dOptions>;
extern template class PadImpl<ReplicationPad2dOptions>;
extern template class PadImpl<ReplicationPad3dOptions>;
extern template class PadImpl<ZeroPad1dOptions>;
extern template class PadImpl<ZeroPad2dOptions>;
extern template class PadImpl<ZeroPad3dOptions>;
extern template class PadImpl<ConstantPad1dOptions>;
extern template class PadImpl<ConstantPad2dOptions>;
extern template class PadImpl<ConstantPad3dOptions>;

class ReflectionPad1dImpl : public Cloneable<ReflectionPad1dImpl, PadImpl<ReflectionPad1dOptions>> {
 public:
  ReflectionPad1dImpl(ExpandingArray<2> padding)
      : ReflectionPad1dImpl(ReflectionPad1dOptions(padding)) {}
  explicit ReflectionPad1dImpl(const ReflectionPad1dOptions& options) : Cloneable(options) {}
};
GROOVE_MODULE(ReflectionPad1d);
extern template class Cloneable<ReflectionPad1dImpl, PadImpl<ReflectionPad1dOptions>>;

class ReflectionPad2dImpl : public Cloneable<ReflectionPad2dImpl, PadImpl<ReflectionPad2dOptions>> {
 public:
  ReflectionPad2dImpl(ExpandingArray<4> padding)
      : ReflectionPad2dImpl(ReflectionPad2dOptions(padding)) {}
  explicit ReflectionPad2dImpl(const ReflectionPad2dOptions& options) : Cloneable(options) {}
};
GROOVE_MODULE(ReflectionPad2d);
extern template class Cloneable<ReflectionPad2dImpl, PadImpl<ReflectionPad2dOptions>>;

class ReflectionPad3dImpl : public Cloneable<ReflectionPad3dImpl, PadImpl<ReflectionPad3dOptions>> {
 public:
  ReflectionPad3dImpl(ExpandingArray<6> padding)
      : ReflectionPad3dImpl(ReflectionPad3dOptions(padding)) {}
  explicit ReflectionPad3dImpl(const ReflectionPad3dOptions& options) : Cloneable(options) {}
};
GROOVE_MODULE(ReflectionPad3d);
extern template class Cloneable<ReflectionPad3dImpl, PadImpl<ReflectionPad3dOptions>>;

class ReplicationPad1dImpl
    : public Cloneable<ReplicationPad1dImpl, PadImpl<ReplicationPad1dOptions>> {
 public:
  ReplicationPad1dImpl(ExpandingArray<2> padding)
      : ReplicationPad1dImpl(ReplicationPad1dOptions(padding)) {}
  explicit ReplicationPad1dImpl(const ReplicationPad1dOptions& options) : Cloneable(options) {}
};
GROOVE_MODULE(ReplicationPad1d);
extern template class Cloneable<ReplicationPad1dImpl, PadImpl<ReplicationPad1dOptions>>;

class ReplicationPad2dImpl
    : public Cloneable<ReplicationPad2dImpl, PadImpl<ReplicationPad2dOptions>> {
 public:
  ReplicationPad2dImpl(ExpandingArray<4> padding)
      : ReplicationPad2dImpl(ReplicationPad2dOptions(padding)) {}
  explicit ReplicationPad2dImpl(const ReplicationPad2dOptions& options) : Cloneable(options) {}
};
GROOVE_MODULE(ReplicationPad2d);
extern template class Cloneable<ReplicationPad2dImpl, PadImpl<ReplicationPad2dOptions>>;

class ReplicationPad3dImpl
    : public Cloneable<ReplicationPad3dImpl, PadImpl<ReplicationPad3dOptions>> {
 public:
  ReplicationPad3dImpl(ExpandingArray<6> padding)
      : ReplicationPad3dImpl(ReplicationPad3dOptions(padding)) {}
  explicit ReplicationPad3dImpl(const ReplicationPad3dOptions& options) : Cloneable(options) {}
};
GROOVE_MODULE(ReplicationPad3d);
extern template class Cloneable<ReplicationPad3dImpl, PadImpl<ReplicationPad3dOptions>>;

class ZeroPad1dImpl : public Cloneable<ZeroPad1dImpl, PadImpl<ZeroPad1dOptions>> {
 public:
  ZeroPad1dImpl(ExpandingArray<2> padding) : ZeroPad1dImpl(ZeroPad1dOptions(padding)) {}
  explicit ZeroPad1dImpl(const ZeroPad1dOptions& options) : Cloneable(options) {}
};
GROOVE_MODULE(ZeroPad1d);
extern template class Cloneable<ZeroPad1dImpl, PadImpl<ZeroPad1dOptions>>;

class ZeroPad2dImpl : public Cloneable<ZeroPad2dImpl, PadImpl<ZeroPad2dOptions>> {
 public:
  ZeroPad2dImpl(ExpandingArray<4> padding) : ZeroPad2dImpl(ZeroPad2dOptions(padding)) {}
  explicit ZeroPad2dImpl(const ZeroPad2dOptions& options) : Cloneable(options) {}
};
GROOVE_MODULE(ZeroPad2d);
extern template class Cloneable<ZeroPad2dImpl, PadImpl<ZeroPad2dOptions>>;

class ZeroPad3dImpl : public Cloneable<ZeroPad3dImpl, PadImpl<ZeroPad3dOptions>> {
 public:
  ZeroPad3dImpl(ExpandingArray<6> padding) : ZeroPad3dImpl(ZeroPad3dOptions(padding)) {}
  explicit ZeroPad3dImpl(const ZeroPad3dOptions& options) : Cloneable(options) {}
};
GROOVE_MODULE(ZeroPad3d);
extern template class Cloneable<ZeroPad3dImpl, PadImpl<ZeroPad3dOptions>>;

class ConstantPad1dImpl : public Cloneable<ConstantPad1dImpl, PadImpl<ConstantPad1dOptions>> {
 public:
  ConstantPad1dImpl(ExpandingArray<2> padding, double value)
      : ConstantPad1dImpl(ConstantPad1dOptions(padding, value)) {}
  explicit ConstantPad1dImpl(const ConstantPad1dOptions& options) : Cloneable(options) {}
};
GROOVE_MODULE(ConstantPad1d);
extern template class Cloneable<ConstantPad1dImpl, PadImpl<ConstantPad1dOptions>>;

class ConstantPad2dImpl : public Cloneable<ConstantPad2dImpl, PadImpl<ConstantPad2dOptions>> {
 public:
  ConstantPad2dImpl(ExpandingArray<4> padding, double value)
      : ConstantPad2dImpl(ConstantPad2dOptions(padding, value)) {}
  explicit ConstantPad2dImpl(const ConstantPad2dOptions& options) : Cloneable(options) {}
};
GROOVE_MODULE(ConstantPad2d);
extern template class Cloneable<ConstantPad2dImpl, PadImpl<ConstantPad2dOptions>>;

class ConstantPad3dImpl : public Cloneable<ConstantPad3dImpl, PadImpl<ConstantPad3dOptions>> {
 public:
  ConstantPad3dImpl(ExpandingArray<6> padding, double value)
      : ConstantPad3dImpl(ConstantPad3dOptions(padding, value)) {}
  explicit ConstantPad3dImpl(const ConstantPad3dOptions& options) : Cloneable(options) {}
};
GROOVE_MODULE(ConstantPad3d);
extern template class Cloneable<ConstantPad3dImpl, PadImpl<ConstantPad3dOptions>>;

}  // namespace groove::nn
