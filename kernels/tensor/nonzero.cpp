// nonzero, where(condition) and masked_select: results whose shape depends on values. The values
// are read on the host, so work that is pending runs there; the elements are then read by
// index_select, which the tape and the compiler know.
#include "groove/ops/creation.h"
#include "groove/ops/index.h"
#include "groove/ops/math.h"
#include "groove/ops/views.h"
#include "kernels/ops/indices.h"
#include "kernels/pool.h"
#include "kernels/tensor/index_tensors.h"
#include "src/core/check.h"
#include "src/core/dispatch.h"
#include "src/core/promotion.h"
#include "src/core/state.h"

namespace groove {
namespace {

constexpr std::int64_t kWorthSharing = 1 << 16;  // elements

std::int64_t count_set(const std::uint8_t* mask, std::int64_t count) {
  std::int64_t set = 0;
  for (std::int64_t i = 0; i < count; ++i) set += mask[i] != 0;
  return set;
}

// Masks are hard to predict: every position is written, those not kept are written over.
void write_positions(const std::uint8_t* mask, std::int64_t first, std::int64_t* to,
                     const std::int64_t* end) {
  for (std::int64_t i = first; to != end; ++i) {
    *to = i;
    to += mask[i] != 0;
  }
}

// Row-major positions of the elements that are set, found by some threads and joined in order.
Tensor set_positions(const Tensor& mask) {
  TensorImpl& impl = *mask.impl();
  read_now(impl);
  const auto* data = static_cast<const std::uint8_t*>(impl.data());
  const std::int64_t count = impl.numel;
  const int parts = kernels::threads_for(count < kWorthSharing);
  std::vector<std::int64_t> starts(static_cast<std::size_t>(parts) + 1, 0);
  kernels::parallel(parts, [&](int part, int) {
    const std::int64_t begin = count * part / parts;
    starts[static_cast<std::size_t>(part) + 1] =
        count_set(data + begin, count * (part + 1) / parts - begin);
  });
  for (std::size_t part = 0; part < static_cast<std::size_t>(parts); ++part)
    starts[part + 1] += starts[part];
  Tensor result = make_empty({starts.back()}, kLong);
  note_given({starts.back()}, true);
  auto* const positions = static_cast<std::int64_t*>(result.impl()->data());
  kernels::parallel(parts, [&](int part, int) {
    const std::int64_t* const start = starts.data() + part;
    write_positions(data, count * part / parts, positions + start[0], positions + start[1]);
  });
  return result;
}

void check_defined(const char* op, const Tensor& tensor) {
  GROOVE_CHECK(tensor.defined(), "{}: the tensor is undefined; assign it a tensor first", op);
}

}  // namespace

Tensor selected_positions(const Tensor& mask, Site site) {
  Tensor dense = mask.scalar_type() == kBool ? mask : ne({mask, site}, Scalar(0));
  return set_positions(dense.contiguous(site));
}

Tensor nonzero_static(Arg self, std::int64_t size, std::int64_t fill_value) {
  const SiteScope scope(self.site);
  GROOVE_CHECK(size >= 0, "nonzero_static: size {} must not be negative", size);
  const Tensor found = nonzero(self);
  const std::int64_t count = found.size(0);
  if (count >= size) return clone(narrow(found, 0, std::int64_t{0}, size));
  return cat(Tensors{found, full({size - count, found.size(1)}, fill_value, kLong)});
}
Tensor IndexMethods::nonzero_static(std::int64_t size, std::int64_t fill_value, Site site) const {
  return groove::nonzero_static({self(), site}, size, fill_value);
}

Tensor nonzero(Arg self) {
  const CallFrame frame(self.site);
  check_defined("nonzero", *self.tensor);
  const SiteScope scope(self.site);
  const Shape sizes = self.tensor->sizes();
  const Tensor positions = selected_positions(*self.tensor, self.site);
  const auto rank = static_cast<std::int64_t>(sizes.size());
  const Tensor result = make_empty({positions.numel(), rank}, kLong);
  auto* to = static_cast<std::int64_t*>(result.impl()->data());
  // Positions ascend: of those in one line only the last index differs.
  const std::int64_t length = sizes.empty() ? 1 : sizes.back();
  std::int64_t line_start = -1;
  Shape at(sizes.size(), 0);
  for (std::int64_t n = 0; n < positions.numel(); ++n) {
    const std::int64_t position = index_at(positions, n);
    if (line_start < 0 || position >= line_start + length) {
      line_start = position / length * length;
      std::int64_t rest = position / length;
      for (std::size_t axis = sizes.size(); axis-- > 1; rest /= sizes[axis - 1])
        at[axis - 1] = rest % sizes[axis - 1];
    }
    if (rank > 0) at[sizes.size() - 1] = position - line_start;
    for (const std::int64_t index : at) *to++ = index;
  }
  return result;
}
Tensor IndexMethods::nonzero(Site site) const { return groove::nonzero({self(), site}); }

std::vector<Tensor> where(Arg condition) {
  const CallFrame frame(condition.site);
  check_defined("where", *condition.tensor);
  const SiteScope scope(condition.site);
  Tensor condition_or_one = *condition.tensor;
  if (condition_or_one.dim() == 0) condition_or_one = condition_or_one.unsqueeze(0, condition.site);
  return unbind({nonzero({condition_or_one, condition.site}), condition.site}, 1);
}

Tensor masked_select(Arg self, const Tensor& mask) {
  const CallFrame frame(self.site);
  check_defined("masked_select", *self.tensor);
  check_defined("masked_select", mask);
  GROOVE_CHECK(mask.scalar_type() == kBool,
               "masked_select: the mask is {}, not Bool; compare it with something or use "
               "to(kBool)",
               name(mask.scalar_type()));
  const SiteScope scope(self.site);
  const Shape joint = broadcast_shapes("masked_select", self.tensor->sizes(), mask.sizes());
  const bool is_wide = mask.sizes() == IntArrayRef(joint);
  const Tensor wide_mask = is_wide ? mask : expand({mask, self.site}, joint);
  const Tensor positions = selected_positions(wide_mask, self.site);
  const Tensor wide = expand(self, joint).reshape({element_count(joint)}, self.site);
  return wide.index_select(0, positions, self.site);
}
Tensor IndexMethods::masked_select(const Tensor& mask, Site site) const {
  return groove::masked_select({self(), site}, mask);
}

}  // namespace groove
