#include "groove/nn/local_response.h"

#include <ostream>

#include "groove/detail/call_scope.h"
#include "groove/ops/math.h"
#include "groove/ops/views.h"
#include "src/core/check.h"
#include "src/core/small_vector.h"

namespace groove::nn {
namespace {

// The sum of each channel (axis 1), `before` before it and `after` behind it.
Tensor window_sum(const Tensor& x, std::int64_t before, std::int64_t after) {
  const std::int64_t channels = x.size(1);
  std::vector<std::int64_t> around(2 * static_cast<std::size_t>(x.dim() - 2), 0);
  around.insert(around.end(), {before, after});
  const Tensor padded = constant_pad_nd(x, around);
  Tensor total = narrow(padded, 1, 0, channels);
  for (std::int64_t i = 1; i <= before + after; ++i)
    total = add(total, narrow(padded, 1, i, channels));
  return total;
}

void check_input(const char* name, const Tensor& input, std::int64_t size, std::int64_t rank) {
  GROOVE_CHECK(input.dim() >= rank, "{}: input {} must have at least {} axes", name,
               to_string(input.sizes()), rank);
  GROOVE_CHECK(size > 0, "{}: size is {}; it must be positive", name, size);
}

}  // namespace

Tensor functional::local_response_norm(const Tensor& input,
                                       const LocalResponseNormFuncOptions& options, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  const std::int64_t size = options.size();
  check_input("local_response_norm", input, size, 3);
  const Tensor average = div(window_sum(square(input), size / 2, (size - 1) / 2), size);
  return div(input, pow(add(mul(average, options.alpha()), options.k()), options.beta()));
}

Tensor LocalResponseNormImpl::forward(const Tensor& input, Site site) {
  return functional::local_response_norm(input, options, site);
}
void LocalResponseNormImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::LocalResponseNorm(" << options.size()
         << ", alpha=" << options.alpha() << ", beta=" << options.beta() << ", k=" << options.k()
         << ")";
}

Tensor CrossMapLRN2dImpl::forward(const Tensor& input, Site site) {
  const groove::detail::CallScope scope(site, "cross_map_lrn2d");
  GROOVE_CHECK(input.dim() == 4, "CrossMapLRN2d: input {} must be [N, C, H, W]",
               to_string(input.sizes()));
  check_input("CrossMapLRN2d", input, options.size(), 4);
  const std::int64_t side = (options.size() - 1) / 2, channels = input.size(1);
  const Tensor squares = square(input);
  Tensor total = window_sum(squares, side, side);
  if (channels > side + 1) {  // the first channel is never taken out again
    const std::int64_t rest = channels - side - 1;
    const Tensor first = expand(narrow(squares, 1, 0, 1), {-1, rest, -1, -1});
    total = add(total, constant_pad_nd(first, {0, 0, 0, 0, side + 1, 0}));
  }
  const double share = options.alpha() / static_cast<double>(options.size());
  const Tensor scale = add(mul(total, share), options.k());
  return mul(input, pow(scale, -options.beta()));
}
void CrossMapLRN2dImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::CrossMapLRN2d(" << options.size()
         << ", alpha=" << options.alpha() << ", beta=" << options.beta() << ", k=" << options.k()
         << ")";
}

template class Cloneable<LocalResponseNormImpl>;
template class Cloneable<CrossMapLRN2dImpl>;

}  // namespace groove::nn
