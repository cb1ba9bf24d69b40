// clone: a contiguous copy; contiguous() copies only when strides ask for it.
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "clone",
    .body = [](kernels::Expr x) { return x; },
    .gradient = [](const Grad& g) { return Tensors{g.cotangent()}; },
    .complex = complex_rules::on_pairs,
    .reference = [](double x) { return x; },
    .type = same_as_input,
    .dtypes = all_dtypes(),
    .tolerance_ulp = 0,
    .range = first_range,
});

}  // namespace

Tensor clone(Arg self) { return call(op, self); }
Tensor MathMethods::clone(Site site) const { return call(op, {self(), site}); }
Tensor MathMethods::clone(std::optional<MemoryFormat> format, Site site) const {
  const CallFrame frame(site);
  detail::check_memory_format("clone", format);
  return clone(site);
}
Tensor MathMethods::contiguous(MemoryFormat format, Site site) const {
  const CallFrame frame(site);
  detail::check_memory_format("contiguous", format);
  return contiguous(site);
}
Tensor MathMethods::contiguous(Site site) const {
  const CallFrame frame(site);
  return checked("contiguous", self()).is_contiguous ? self() : clone(site);
}

}  // namespace groove
