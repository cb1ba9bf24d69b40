#include "groove/nn/unpooling.h"

#include <ostream>

#include "groove/detail/call_scope.h"
#include "groove/ops/pooling.h"
#include "groove/ops/views.h"
#include "src/core/check.h"
#include "src/core/small_vector.h"

namespace groove::nn {
namespace {

// The spatial sizes of the result: those asked for, where they are near those that the pool's
// arguments lead to.
template <std::size_t D>
Shape output_size(const Tensor& input, const functional::MaxUnpoolFuncOptions<D>& options) {
  GROOVE_CHECK(input.defined() && input.dim() >= static_cast<std::int64_t>(D),
               "max_unpool{}d: the input must have {} dimensions", D, D + 2);
  const auto rank = static_cast<std::size_t>(input.dim());
  Shape sizes;
  for (std::size_t i = 0; i < D; ++i)
    sizes.push_back((input.size(static_cast<std::int64_t>(rank - D + i)) - 1) *
                        (*options.stride())[i] +
                    (*options.kernel_size())[i] - 2 * (*options.padding())[i]);
  if (!options.output_size()) return sizes;
  const IntArrayRef asked = *options.output_size();
  GROOVE_CHECK(asked.size() == D || asked.size() == D + 2,
               "max_unpool{}d: output_size {} must hold {} or {} numbers", D, to_string(asked), D,
               D + 2);
  for (std::size_t i = 0; i < D; ++i) {
    const std::int64_t size = asked[asked.size() - D + i], step = (*options.stride())[i];
    GROOVE_CHECK(size >= sizes[i] - step && size <= sizes[i] + step,
                 "max_unpool{}d: output_size {} asks for {} on axis {}; it must lie between {} "
                 "and {}",
                 D, to_string(asked), size, i, sizes[i] - step, sizes[i] + step);
    sizes[i] = size;
  }
  return sizes;
}

}  // namespace

namespace functional {

Tensor max_unpool1d(const Tensor& input, const Tensor& indices,
                    const MaxUnpool1dFuncOptions& options, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  Shape sizes = output_size<1>(input, options);
  sizes.push_back(1);
  return groove::max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), sizes).squeeze(-1);
}
Tensor max_unpool2d(const Tensor& input, const Tensor& indices,
                    const MaxUnpool2dFuncOptions& options, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  return groove::max_unpool2d(input, indices, output_size<2>(input, options));
}
Tensor max_unpool3d(const Tensor& input, const Tensor& indices,
                    const MaxUnpool3dFuncOptions& options, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  return groove::max_unpool3d(input, indices, output_size<3>(input, options), options.stride(),
                              options.padding());
}

}  // namespace functional

Tensor MaxUnpool1dImpl::forward(const Tensor& input, const Tensor& indices,
                                const std::optional<std::vector<std::int64_t>>& output_size,
                                Site site) {
  return functional::max_unpool1d(input, indices,
                                  functional::MaxUnpool1dFuncOptions(options.kernel_size())
                                      .stride(options.stride())
                                      .padding(options.padding())
                                      .output_size(output_size),
                                  site);
}
void MaxUnpool1dImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::MaxUnpool1d(kernel_size=" << options.kernel_size()
         << ", stride=" << options.stride() << ", padding=" << options.padding() << ")";
}

Tensor MaxUnpool2dImpl::forward(const Tensor& input, const Tensor& indices,
                                const std::optional<std::vector<std::int64_t>>& output_size,
                                Site site) {
  return functional::max_unpool2d(input, indices,
                                  functional::MaxUnpool2dFuncOptions(options.kernel_size())
                                      .stride(options.stride())
                                      .padding(options.padding())
                                      .output_size(output_size),
                                  site);
}
void MaxUnpool2dImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::MaxUnpool2d(kernel_size=" << options.kernel_size()
         << ", stride=" << options.stride() << ", padding=" << options.padding() << ")";
}

Tensor MaxUnpool3dImpl::forward(const Tensor& input, const Tensor& indices,
                                const std::optional<std::vector<std::int64_t>>& output_size,
                                Site site) {
  return functional::max_unpool3d(input, indices,
                                  functional::MaxUnpool3dFuncOptions(options.kernel_size())
                                      .stride(options.stride())
                                      .padding(options.padding())
                                      .output_size(output_size),
                                  site);
}
void MaxUnpool3dImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::MaxUnpool3d(kernel_size=" << options.kernel_size()
         << ", stride=" << options.stride() << ", padding=" << options.padding() << ")";
}

template class Cloneable<MaxUnpool1dImpl>;
template class Cloneable<MaxUnpool2dImpl>;
template class Cloneable<MaxUnpool3dImpl>;

}  // namespace groove::nn
