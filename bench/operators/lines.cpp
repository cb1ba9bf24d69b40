// Reductions, scans, orders.
#include "cases.h"

using torch::Tensor;

void lines(Measure& measure, const Operands& on) {
  const Tensor &x = on.x, &mask = on.mask, &whole = on.whole, &index = on.index;
  measure.forward("sum", [&] { return x.sum(); });
  measure.forward("sum0", [&] { return x.sum(0); });
  measure.forward("sum1", [&] { return x.sum(1); });
  measure.forward("mean", [&] { return x.mean(); });
  measure.forward("mean1", [&] { return x.mean(1); });
  measure.forward("max", [&] { return x.max(); });
  measure.forward("max1", [&] { return std::get<0>(x.max(1)); });
  measure.forward("max0", [&] { return std::get<0>(x.max(0)); });
  measure.forward("argmax1", [&] { return x.argmax(1); });
  measure.forward("argmax0", [&] { return x.argmax(0); });
  measure.forward("argmax", [&] { return x.argmax(); });
  measure.forward("var1", [&] { return x.var(1); });
  measure.forward("std", [&] { return x.std(); });
  measure.forward("std0", [&] { return x.std(0); });
  measure.forward("norm", [&] { return x.norm(); });
  measure.forward("norm1", [&] { return x.norm(2, 1); });
  measure.forward("prod1", [&] { return x.prod(1); });
  measure.forward("all", [&] { return mask.all(); });
  measure.forward("any1", [&] { return mask.any(1); });
  measure.forward("logsumexp", [&] { return x.logsumexp(1); });
  measure.forward("cumsum1", [&] { return x.cumsum(1); });
  measure.forward("cumsum0", [&] { return x.cumsum(0); });
  measure.forward("cumprod", [&] { return x.cumprod(1); });
  measure.forward("median", [&] { return x.median(); });
  measure.forward("median1", [&] { return std::get<0>(x.median(1)); });
  measure.forward("sort1", [&] { return std::get<0>(x.sort(1)); });
  measure.forward("sort0", [&] { return std::get<0>(x.sort(0)); });
  measure.forward("argsort", [&] { return x.argsort(int64_t{1}); });
  measure.forward("topk", [&] { return std::get<0>(x.topk(5, 1)); });
  measure.forward("kthvalue", [&] { return std::get<0>(x.kthvalue(3, 1)); });
  measure.forward("quantile", [&] { return torch::quantile(x.slice(0, 0, 64), 0.3, 1); });
  measure.forward("unique", [&] { return std::get<0>(torch::_unique2(whole)); });
  measure.forward("bincount", [&] { return torch::bincount(index); });
  measure.forward("count_nonzero", [&] { return x.count_nonzero(); });
  measure.forward("int sum", [&] { return whole.sum(); });
  measure.forward("bool sum", [&] { return mask.sum(); });
  measure.forward("histc", [&] { return torch::histc(x, 50); });
  measure.forward("cummax", [&] { return std::get<0>(x.cummax(1)); });
  measure.forward("aminmax", [&] { return std::get<0>(torch::aminmax(x)); });
  measure.forward("equal", [&] { return torch::full({}, torch::equal(x, x) ? 1.0 : 0.0); });
  measure.forward("allclose", [&] { return torch::full({}, torch::allclose(x, x) ? 1.0 : 0.0); });
}
