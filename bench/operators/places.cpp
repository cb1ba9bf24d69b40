// Shapes, copies, indices.
#include "cases.h"

using torch::Tensor;

void places(Measure& measure, const Operands& on) {
  const Tensor &x = on.x, &y = on.y, &row = on.row, &mask = on.mask, &whole = on.whole,
               &index = on.index;
  const std::int64_t n = on.n;
  measure.forward("cat0", [&] { return torch::cat({x, y}, 0); });
  measure.forward("cat1", [&] { return torch::cat({x, y}, 1); });
  measure.forward("stack", [&] { return torch::stack({x, y}); });
  measure.forward("stack -1", [&] { return torch::stack({x, y}, -1); });
  measure.forward("t contiguous", [&] { return x.t().contiguous(); });
  measure.forward("repeat", [&] { return x.repeat({2, 2}); });
  measure.forward("repeat_interleave", [&] { return x.repeat_interleave(2, 0); });
  measure.forward("flip", [&] { return x.flip(1); });
  measure.forward("roll", [&] { return x.roll(3, 1); });
  measure.forward("tril", [&] { return x.tril(); });
  measure.forward("expand contiguous", [&] { return row.expand({n, n}).contiguous(); });
  measure.forward("pad", [&] { return torch::constant_pad_nd(x, {1, 1, 1, 1}); });
  measure.forward("view", [&] { return x.view({-1}); });
  measure.forward("slice", [&] { return x.slice(1, 2, 9); });
  measure.forward("x[3]", [&] { return x[3]; });
  measure.forward("unsqueeze", [&] { return x.unsqueeze(0); });
  measure.forward("permute3", [&] {
    return x.view({n / 4, 4, n}).permute({2, 0, 1}).contiguous();
  });
  measure.forward("chunk", [&] { return x.chunk(4, 1)[2]; });
  measure.forward("split", [&] { return x.split(8, 0)[1]; });
  measure.forward("unfold", [&] { return x.unfold(1, 8, 4).contiguous(); });
  measure.forward("meshgrid", [&] { return torch::meshgrid({row, row}, "ij")[0].contiguous(); });
  measure.forward("diag", [&] { return x.diag(); });
  measure.forward("diag_embed", [&] { return torch::diag_embed(row); });
  measure.forward("index_select", [&] { return x.index_select(0, index); });
  measure.forward("index_select1", [&] { return x.index_select(1, index); });
  measure.forward("index rows", [&] { return x.index({index}); });
  measure.forward("index mask", [&] { return x.index({mask}); });
  measure.forward("gather", [&] { return x.gather(1, whole); });
  measure.forward("scatter", [&] { return x.scatter(1, whole, y); });
  measure.forward("scatter_add", [&] { return x.scatter_add(1, whole, y); });
  measure.forward("index_add", [&] { return x.index_add(0, index, y); });
  measure.forward("index_put", [&] { return x.clone().index_put_({index}, y); });
  measure.forward("index_put acc", [&] { return x.clone().index_put_({index}, y, true); });
  measure.forward("mask put", [&] { return x.clone().index_put_({mask}, 0.0); });
  measure.forward("masked_select", [&] { return x.masked_select(mask); });
  measure.forward("nonzero", [&] { return mask.nonzero(); });
  measure.forward("one_hot", [&] { return torch::one_hot(index, n); });
  measure.forward("take_along", [&] { return torch::take_along_dim(x, whole, 1); });
  measure.forward("index 2", [&] { return x.index({index, index}); });
  measure.forward("searchsorted", [&] { return torch::searchsorted(std::get<0>(x.sort(1)), y); });
  measure.forward("bucketize", [&] { return torch::bucketize(x, torch::linspace(-2, 2, 20)); });
  measure.forward("isin", [&] { return torch::isin(whole, index); });
  measure.forward("masked_scatter", [&] { return x.masked_scatter(mask, y); });
  measure.forward("x[i][j] item", [&] { return torch::full({}, x[1][2].item<float>()); });
  measure.forward("slice copy_", [&] { return x.slice(0, 1, 5).copy_(y.slice(0, 1, 5)); });
}
