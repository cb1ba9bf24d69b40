#include "groove/nn/padding.h"

#include <ostream>

#include "groove/detail/call_scope.h"
#include "groove/ops/image_views.h"
#include "groove/ops/views.h"
#include "src/core/check.h"
#include "src/core/small_vector.h"

namespace groove::nn {
namespace {

template <std::size_t D>
Tensor padded(const Tensor& x, const ReflectionPadOptions<D>& options) {
  if constexpr (D == 1) return reflection_pad1d(x, options.padding());
  if constexpr (D == 2) return reflection_pad2d(x, options.padding());
  return reflection_pad3d(x, options.padding());
}
template <std::size_t D>
Tensor padded(const Tensor& x, const ReplicationPadOptions<D>& options) {
  if constexpr (D == 1) return replication_pad1d(x, options.padding());
  if constexpr (D == 2) return replication_pad2d(x, options.padding());
  return replication_pad3d(x, options.padding());
}
template <std::size_t D>
Tensor padded(const Tensor& x, const ZeroPadOptions<D>& options) {
  return constant_pad_nd(x, options.padding(), 0);
}
template <std::size_t D>
Tensor padded(const Tensor& x, const ConstantPadOptions<D>& options) {
  return constant_pad_nd(x, options.padding(), options.value());
}

template <std::size_t D>
void describe(std::ostream& stream, const ReflectionPadOptions<D>&) {
  stream << "ReflectionPad" << D;
}
template <std::size_t D>
void describe(std::ostream& stream, const ReplicationPadOptions<D>&) {
  stream << "ReplicationPad" << D;
}
template <std::size_t D>
void describe(std::ostream& stream, const ZeroPadOptions<D>&) {
  stream << "ZeroPad" << D;
}
template <std::size_t D>
void describe(std::ostream& stream, const ConstantPadOptions<D>&) {
  stream << "ConstantPad" << D;
}

}  // namespace

template <typename Options>
Tensor PadImpl<Options>::forward(const Tensor& input, Site site) {
  const groove::detail::CallScope scope(site, "pad");
  return padded(input, options);
}

template <typename Options>
void PadImpl<Options>::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::";
  describe(stream, options);
  stream << "d(padding=" << IntArrayRef(options.padding());
  if constexpr (requires { options.value(); }) stream << ", value=" << options.value();
  stream << ")";
}

template class PadImpl<ReflectionPad1dOptions>;
template class PadImpl<ReflectionPad2dOptions>;
template class PadImpl<ReflectionPad3dOptions>;
template class PadImpl<ReplicationPad1dOptions>;
template class PadImpl<ReplicationPad2dOptions>;
template class PadImpl<ReplicationPad3dOptions>;
template class PadImpl<ZeroPad1dOptions>;
template class PadImpl<ZeroPad2dOptions>;
template class PadImpl<ZeroPad3dOptions>;
template class PadImpl<ConstantPad1dOptions>;
template class PadImpl<ConstantPad2dOptions>;
template class PadImpl<ConstantPad3dOptions>;

template class Cloneable<ReflectionPad1dImpl, PadImpl<ReflectionPad1dOptions>>;
template class Cloneable<ReflectionPad2dImpl, PadImpl<ReflectionPad2dOptions>>;
template class Cloneable<ReflectionPad3dImpl, PadImpl<ReflectionPad3dOptions>>;
template class Cloneable<ReplicationPad1dImpl, PadImpl<ReplicationPad1dOptions>>;
template class Cloneable<ReplicationPad2dImpl, PadImpl<ReplicationPad2dOptions>>;
template class Cloneable<ReplicationPad3dImpl, PadImpl<ReplicationPad3dOptions>>;
template class Cloneable<ZeroPad1dImpl, PadImpl<ZeroPad1dOptions>>;
template class Cloneable<ZeroPad2dImpl, PadImpl<ZeroPad2dOptions>>;
template class Cloneable<ZeroPad3dImpl, PadImpl<ZeroPad3dOptions>>;
template class Cloneable<ConstantPad1dImpl, PadImpl<ConstantPad1dOptions>>;
template class Cloneable<ConstantPad2dImpl, PadImpl<ConstantPad2dOptions>>;
template class Cloneable<ConstantPad3dImpl, PadImpl<ConstantPad3dOptions>>;

}  // namespace groove::nn
