// hstack, vstack, dstack, column_stack and the views that give their tensors enough axes.
#include "groove/ops/views.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

Tensors each(const char* op, TensorList tensors, Site site, Tensor (*widen)(Arg)) {
  GROOVE_CHECK(tensors.size() > 0, "{}: there are no tensors; give at least one", op);
  Tensors result;
  for (const Tensor& tensor : tensors) {
    checked(op, tensor);
    result.push_back(widen({tensor, site}));
  }
  return result;
}

Tensor as_column(Arg self) {
  const std::int64_t rank = self.tensor->dim();
  return rank > 1 ? *self.tensor : reshape(self, {self.tensor->numel(), 1});
}

}  // namespace

Tensor atleast_1d(Arg self) {
  const CallFrame frame(self.site);
  return checked("atleast_1d", *self.tensor).geometry.sizes.empty() ? reshape(self, {1})
                                                                    : *self.tensor;
}
Tensor atleast_2d(Arg self) {
  const CallFrame frame(self.site);
  const std::size_t rank = checked("atleast_2d", *self.tensor).geometry.sizes.size();
  if (rank == 0) return reshape(self, {1, 1});
  return rank == 1 ? unsqueeze(self, 0) : *self.tensor;
}
Tensor atleast_3d(Arg self) {
  const CallFrame frame(self.site);
  const std::size_t rank = checked("atleast_3d", *self.tensor).geometry.sizes.size();
  if (rank == 0) return reshape(self, {1, 1, 1});
  if (rank == 1) return unsqueeze({unsqueeze(self, 0), self.site}, -1);
  return rank == 2 ? unsqueeze(self, -1) : *self.tensor;
}

Tensor hstack(TensorList tensors, Site site) {
  const CallFrame frame(site);
  const Tensors wide = each("hstack", tensors, site, atleast_1d);
  return cat(wide, wide[0].dim() == 1 ? 0 : 1, site);
}
Tensor vstack(TensorList tensors, Site site) {
  const CallFrame frame(site);
  return cat(each("vstack", tensors, site, atleast_2d), 0, site);
}
Tensor dstack(TensorList tensors, Site site) {
  const CallFrame frame(site);
  return cat(each("dstack", tensors, site, atleast_3d), 2, site);
}
Tensor column_stack(TensorList tensors, Site site) {
  const CallFrame frame(site);
  return cat(each("column_stack", tensors, site, as_column), 1, site);
}

std::vector<Tensor> atleast_1d(const std::vector<Tensor>& tensors, Site site) {
  const CallFrame frame(site);
  return each("atleast_1d", tensors, site, atleast_1d);
}

std::vector<Tensor> atleast_2d(const std::vector<Tensor>& tensors, Site site) {
  const CallFrame frame(site);
  return each("atleast_2d", tensors, site, atleast_2d);
}

std::vector<Tensor> atleast_3d(const std::vector<Tensor>& tensors, Site site) {
  const CallFrame frame(site);
  return each("atleast_3d", tensors, site, atleast_3d);
}

}  // namespace groove
