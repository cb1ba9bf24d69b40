// Products of matrices.
#include "cases.h"

using torch::Tensor;

void products(Measure& measure, const Operands& on) {
  const Tensor &x = on.x, &y = on.y, &row = on.row, &whole = on.whole;
  const std::int64_t n = on.n;
  measure.forward("mm", [&] { return x.mm(y); });
  measure.forward("matmul t", [&] { return x.matmul(y.t()); });
  measure.forward("mv", [&] { return x.mv(row); });
  measure.forward("dot", [&] { return row.dot(row); });
  measure.forward("outer", [&] { return torch::outer(row, row); });
  measure.forward("addmm", [&] { return torch::addmm(row, x, y); });
  measure.forward("bmm", [&] { return torch::bmm(x.view({n / 8, 8, n}), x.view({n / 8, n, 8})); });
  measure.forward("einsum", [&] { return torch::einsum("ij,kj->ik", {x, y}); });
  measure.forward("cdist", [&] { return torch::cdist(x.slice(1, 0, 16), y.slice(1, 0, 16)); });
  measure.forward("double mm", [&] { return x.to(torch::kDouble).mm(y.to(torch::kDouble)); });
  measure.forward("int mm", [&] {
    return whole.slice(0, 0, 64).slice(1, 0, 64).contiguous().mm(
        whole.slice(0, 0, 64).slice(1, 0, 64).contiguous());
  });
}
