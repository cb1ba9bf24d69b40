// unsqueeze_, squeeze_, transpose_ and t_: the tensor itself, in every handle, takes the geometry
// of a view of it. The tape knows tensors by what they were when it saw them, so one that has a
// gradient, is saved or has tracked views keeps its geometry. The tape does not know complex
// tensors, only the pairs behind them: one takes the pair of the view, and its own stays.
#include <utility>

#include "groove/detail/untraced.h"
#include "groove/ops/views.h"
#include "src/core/autograd_meta.h"
#include "src/core/check.h"
#include "src/core/complex.h"
#include "src/core/dispatch.h"

namespace groove {
namespace {

void take_pair(TensorImpl& impl, const Tensor& view) {
  impl.complex->pair = pair_of(view);
  impl.storage = view.impl()->storage;
  impl.set_geometry(view.impl()->geometry);
  ++impl.metadata_epoch;
}

template <typename View>
Tensor& take_geometry(const Tensor& self, const char* op, const View& view_of) {
  GROOVE_CHECK(self.defined(), "{}_: the tensor is undefined; assign it a tensor first", op);
  TensorImpl& impl = *self.impl();
  GROOVE_CHECK(!taped(self).impl()->requires_grad || (impl.complex && !self.is_leaf()),
               "{0}_: the shape {1} of a tensor that requires a gradient cannot change in place; "
               "assign the result of {0}()",
               op, to_string(impl.geometry.sizes));
  if (impl.complex) {
    take_pair(impl, view_of(self));
    return const_cast<Tensor&>(self);
  }
  GROOVE_CHECK(impl.tape_references == 0,
               "{0}_: the shape {1} cannot change in place while other tensors are views of this "
               "one or backward() needs it; assign the result of {0}()",
               op, to_string(impl.geometry.sizes));
  if (state_hooks().on_metadata_change) state_hooks().on_metadata_change(impl);
  const detail::UntracedScope untraced;
  const Tensor view = view_of(self);
  // A view of another tensor goes on being one, by the way that now has one step more.
  if (impl.autograd && impl.autograd->view_base.defined() && !view.is_same(self))
    std::swap(impl.autograd, view.impl()->autograd);
  impl.set_geometry(view.impl()->geometry);
  ++impl.metadata_epoch;
  impl.trace_session = 0;
  impl.trace_id = -1;
  return const_cast<Tensor&>(self);
}

}  // namespace

Tensor& ViewMethods::unsqueeze_(std::int64_t dim, Site site) const {
  const CallFrame frame(site);
  return take_geometry(self(), "unsqueeze", [&](const Tensor& x) {
    return groove::unsqueeze({x, site}, dim);
  });
}
Tensor& ViewMethods::squeeze_(Site site) const {
  const CallFrame frame(site);
  return take_geometry(self(), "squeeze", [&](const Tensor& x) {
    return groove::squeeze({x, site});
  });
}
Tensor& ViewMethods::squeeze_(std::int64_t dim, Site site) const {
  const CallFrame frame(site);
  return take_geometry(self(), "squeeze", [&](const Tensor& x) {
    return groove::squeeze({x, site}, dim);
  });
}
Tensor& ViewMethods::squeeze_(IntArrayRef dims, Site site) const {
  const CallFrame frame(site);
  return take_geometry(self(), "squeeze", [&](const Tensor& x) {
    return groove::squeeze({x, site}, dims);
  });
}
Tensor& ViewMethods::transpose_(std::int64_t dim0, std::int64_t dim1, Site site) const {
  const CallFrame frame(site);
  return take_geometry(self(), "transpose", [&](const Tensor& x) {
    return groove::transpose({x, site}, dim0, dim1);
  });
}
Tensor& ViewMethods::t_(Site site) const {
  const CallFrame frame(site);
  return take_geometry(self(), "t", [&](const Tensor& x) { return groove::t({x, site}); });
}

}  // namespace groove
