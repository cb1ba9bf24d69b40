// Mistakes with tensors: shapes, dtypes, dims, indices, devices.
#include "tests/errors/mistakes.h"

namespace groove::errors {
namespace {

Tensor a() { return ones({2, 3}); }
Tensor b() { return ones({4, 5}); }
Tensor whole() { return ones({2, 3}, kLong); }

// ---- products ----
MISTAKE("matmul", ({"[2, 3]", "[4, 5]"}), matmul(a(), b()));
MISTAKE("matmul", ({"[2, 3]", "[4, 5]"}), a().matmul(b()));
MISTAKE("matmul", ({"Float", "Long"}), matmul(a(), ones({3, 2}, kLong)));
MISTAKE("matmul", ({"0-d"}), a().matmul(tensor(2.0)));
MISTAKE("matmul", ({"[2, 3]", "[4"}), a().matmul(ones({4})));
MISTAKE("mm", ({"[2, 3]", "[3]"}), a().mm(ones({3})));
MISTAKE("bmm", ({"[2, 3]"}), a().bmm(b()));
MISTAKE("dot", ({"[2, 3]", "1-d"}), a().dot(a()));
MISTAKE("mv", ({"[2, 3]", "[2]"}), a().mv(ones({2})));
MISTAKE("addmm", ({"[2, 3]", "[4, 5]"}), ones({2, 5}).addmm(a(), b()));
// ---- operators and elementwise functions ----
MISTAKE("+", ({"[2, 3]", "[4, 5]"}), a() + b());
MISTAKE("-", ({"[2, 3]", "[4, 5]"}), a() - b());
MISTAKE("*", ({"[2, 3]", "[4, 5]"}), a() * b());
MISTAKE("/", ({"[2, 3]", "[4, 5]"}), a() / b());
MISTAKE("<", ({"[2, 3]", "[4, 5]"}), a() < b());
MISTAKE("+=", ({"[2, 3]", "[4, 5]"}), Tensor x = a(); x += b());
MISTAKE("add", ({"[2, 3]", "[4, 5]"}), a().add(b()));
MISTAKE("add_", ({"[2, 3]", "[4, 5]"}), a().add_(b()));
MISTAKE("add_", ({"Float", "Long"}), whole().add_(0.5));
MISTAKE("mul_", ({"[3]", "[2, 3]"}), ones({3}).mul_(a()));
MISTAKE("maximum", ({"[2, 3]", "[4, 5]"}), maximum(a(), b()));
MISTAKE("where", ({"[2, 3]", "[4, 5]"}), where(a() > 0, a(), b()));
MISTAKE("clamp", ({"min", "max"}), a().clamp(std::optional<Scalar>()));
MISTAKE("+", ({"undefined"}), Tensor() + a());
MISTAKE("exp", ({"undefined"}), Tensor().exp());
MISTAKE("copy_", ({"[2, 3]", "[4, 5]"}), a().copy_(b()));
// ---- reductions ----
MISTAKE("sum", ({"5", "2"}), a().sum(5));
MISTAKE("mean", ({"Long"}), whole().mean());
MISTAKE("max", ({"2"}), a().max(2));
MISTAKE("max", ({"[0]"}), zeros({0}).max());
MISTAKE("argmax", ({"-3"}), a().argmax(-3));
MISTAKE("softmax", ({"2"}), a().softmax(2));
MISTAKE("sort", ({"3"}), a().sort(3));
MISTAKE("topk", ({"7"}), a().topk(7));
MISTAKE("cumsum", ({"2"}), a().cumsum(2));
MISTAKE("var", ({"4"}), a().var(IntArrayRef{4}));
// ---- shapes ----
MISTAKE("view", ({"[2, 3]", "[4, 2]"}), a().view({4, 2}));
MISTAKE("view", ({"[3, 2]"}), a().t().view({6}));
MISTAKE("reshape", ({"[2, 3]", "-1"}), a().reshape({4, -1}));
MISTAKE("squeeze", ({"3"}), a().squeeze(3));
MISTAKE("unsqueeze", ({"4"}), a().unsqueeze(4));
MISTAKE("transpose", ({"2"}), a().transpose(0, 2));
MISTAKE("permute", ({"[2, 3]"}), a().permute({0}));
MISTAKE("expand", ({"[2, 3]", "[2, 4]"}), a().expand({2, 4}));
MISTAKE("flatten", ({"3"}), a().flatten(3));
MISTAKE("cat", ({"[2, 3]", "[4, 5]"}), cat({a(), b()}));
MISTAKE("cat", ({"empty"}), cat(std::vector<Tensor>()));
MISTAKE("stack", ({"[2, 3]", "[4, 5]"}), stack({a(), b()}));
MISTAKE("split", ({"0"}), a().split(0));
MISTAKE("narrow", ({"4"}), a().narrow(0, 1, 4));
MISTAKE("select", ({"2"}), a().select(0, 2));
MISTAKE("size", ({"2"}), a().size(2));
// ---- indices ----
MISTAKE("[]", ({"2"}), a()[2]);
MISTAKE("index", ({"2"}), a().index({2, 0}));
MISTAKE("index", ({"Float"}), a().index({ones({2})}));
MISTAKE("gather", ({"Float"}), a().gather(1, ones({2, 1})));
MISTAKE("gather", ({"3"}), a().gather(1, full({2, 1}, 3)));
MISTAKE("index_select", ({"Float"}), a().index_select(0, ones({1})));
MISTAKE("scatter_", ({"7"}), a().scatter_(1, full({2, 1}, 7), 1.0));
MISTAKE("masked_fill", ({"Float", "Bool"}), a().masked_fill(a(), 0));
MISTAKE("one_hot", ({"3"}), one_hot(tensor({0, 3}), 3));
MISTAKE("item", ({"6", "[2, 3]"}), a().item<float>());
MISTAKE("data_ptr", ({"Float", "Double"}), a().data_ptr<double>());
MISTAKE("accessor", ({"1", "2"}), Tensor x = a(); x.accessor<float, 1>());
// ---- making tensors ----
MISTAKE("zeros", ({"-2"}), zeros({-2, 3}));
MISTAKE("ones", ({"-2"}), ones({2, -2}));
MISTAKE("zeros", ({"cuda"}), zeros({2}, kCUDA));
MISTAKE("to", ({"cuda"}), a().to(kCUDA));
MISTAKE("tensor", ({"cuda"}), tensor({1, 2}, kCUDA));
MISTAKE("arange", ({"0"}), arange(0, 5, 0));
MISTAKE("randn", ({"Long"}), randn({2}, kLong));
MISTAKE("full", ({"-1"}), full({-1}, 2));
MISTAKE("Device", ({"gpu"}), Device("gpu"));
MISTAKE("from_blob", ({"null"}), from_blob(nullptr, {2}));
// ---- gradients ----
MISTAKE("backward", ({"scalar"}), Tensor x = a().requires_grad_(); (x * 2).backward());
MISTAKE("backward", ({"require"}), a().sum().backward());
MISTAKE("backward", ({"second time"}), Tensor x = a().requires_grad_(); Tensor y = (x * x).sum();
        y.backward(); y.backward());
MISTAKE("add_", ({"leaf"}), Tensor x = a().requires_grad_(); x.add_(1));
MISTAKE("requires_grad_", ({"Long"}), whole().requires_grad_());
MISTAKE("retain_grad", ({"require"}), a().retain_grad());
MISTAKE("register_hook", ({"require"}), a().register_hook([](const Tensor&) {}));
MISTAKE("grad", ({"no inputs"}), Tensor x = a().requires_grad_(); autograd::grad({x.sum()}, {}));

}  // namespace
}  // namespace groove::errors
