// Other orders, pieces, and copies with a part written anew.
#include "cases.h"

using namespace agreement;
using torch::Tensor;

namespace {

Tensor copy(const Tensor& x) { return x.detach().clone(); }
void show_all(const std::string& name, const std::vector<Tensor>& pieces) {
  for (std::size_t i = 0; i < pieces.size(); ++i) show(name + " " + std::to_string(i), pieces[i]);
}

}  // namespace

CASE(turned) {
  const Tensor x = leaf({2, 3, 4}, 0), y = leaf({3, 4}, 1);
  show_gradients("adjoint", torch::adjoint(x), {x});
  show_gradients("mT", x.mT(), {x});
  show_gradients("mH", x.mH(), {x});
  show_gradients("matrix_H", y.matrix_H(), {y});
  show_gradients("numpy_T", x.numpy_T(), {x});
  show_gradients("fliplr", torch::fliplr(x), {x});
  show_gradients("flipud", y.flipud(), {y});
  for (const int k : {0, 1, 2, 3, -1, 5}) {
    show_gradients("rot90 " + std::to_string(k), torch::rot90(x, k, {1, 2}), {x});
    show("rot90 of first " + std::to_string(k), y.rot90(k));
  }
  show_gradients("movedim", torch::movedim(x, {0, 1}, {2, 0}), {x});
  show("movedim back", x.movedim({-1}, {0}));
  show("moveaxis", x.moveaxis(0, 2));
  const Tensor z = leaf({1, 3, 1, 2}, 2);
  show_gradients("squeeze", torch::squeeze(z, {0, 1, 2}), {z});
  show("squeeze one", z.squeeze(torch::IntArrayRef({2})));
  show_gradients("trace", torch::trace(y), {y});
  show("trace method", y.trace());
  show("msort", torch::msort(x));
  show_gradients("msort method", y.msort(), {y});
  show("argwhere", torch::argwhere(y > 0.5));
  show("argwhere method", (y > 0.5).argwhere());
  show_error("mT of a vector", [&] { filled({3}).mT(); });
  show_error("rot90 of one axis", [&] { torch::rot90(x, 1, {1, 1}); });
  show_error("fliplr of a vector", [&] { torch::fliplr(filled({3})); });
  show_error("movedim", [&] { torch::movedim(x, {0, 1}, {2}); });
}

CASE(pieces) {
  const Tensor x = leaf({4, 5, 6}, 0);
  show_all("tensor_split", torch::tensor_split(x, 3, 1));
  show_all("tensor_split at", x.tensor_split({1, 3, 9}, 2));
  show_all("tensor_split wrapped", x.tensor_split({-2, 2}, 1));
  show_all("hsplit", torch::hsplit(x, 5));
  show_all("hsplit at", x.hsplit({1, 4}));
  show_all("hsplit of a vector", filled({6}).hsplit(3));
  show_all("vsplit", torch::vsplit(x, 2));
  show_all("vsplit at", x.vsplit({1}));
  show_all("dsplit", torch::dsplit(x, 3));
  show_all("dsplit at", x.dsplit({2, 3}));
  show_gradients("gradient", x.tensor_split(4, 1)[1], {x});
  show_error("hsplit", [&] { x.hsplit(3); });
  show_error("vsplit of a vector", [&] { filled({6}).vsplit(2); });
}

CASE(as_strided) {
  const auto x = leaf({3, 4}, 0), row = leaf({9}, 1);
  show_gradients("transposed", x.as_strided({4, 3}, {1, 4}), {x});
  show_gradients("overlapping", torch::as_strided(row, {4, 3}, {2, 1}), {row});
  show_gradients("from", row.as_strided({2, 2}, {3, 2}, 1), {row});
  show_gradients("repeated", row.as_strided({3, 2}, {0, 4}), {row});
  show_gradients("of a transpose", (x * 2).t().as_strided({2, 5}, {4, 1}), {x});
  show_gradients("one", row.as_strided({}, {}, 3), {row});
  show("empty", row.detach().as_strided({0, 2}, {2, 1}));
  auto written = filled({8}, 2).clone();
  written.as_strided({2, 2}, {4, 1}, 1).mul_(10);
  show("written", written);
  show("strides", static_cast<double>(x.as_strided({2, 2}, {5, 1}).stride(0)));
  show_error("lengths", [&] { row.as_strided({2, 2}, {1}); });
  show_error("too far", [&] { row.as_strided({4, 4}, {4, 1}); });
  show_error("negative", [&] { row.as_strided({2, 2}, {-1, 1}); });
}

CASE(unfold) {
  const Tensor x = leaf({2, 7}, 0), y = leaf({5, 2, 3}, 1);
  show_gradients("overlapping", x.unfold(1, 3, 2), {x});
  show_gradients("apart", x.unfold(1, 2, 3), {x});
  show_gradients("first", y.unfold(0, 2, 1), {y});
  show_gradients("negative", y.unfold(-1, 3, 1) * 2, {y});
  show("of 0-d", filled({}).unfold(0, 1, 1));
  Tensor z = copy(x);
  z.unfold(1, 2, 2).fill_(3);
  show("written", z);
  show("strides", static_cast<double>(x.unfold(1, 3, 2).stride(1)));
  show_error("size", [&] { x.unfold(0, 3, 1); });
  show_error("step", [&] { x.unfold(1, 3, 0); });
}

CASE(diagonals) {
  const Tensor x = leaf({2, 3}, 0), v = leaf({3}, 1), m = leaf({4, 3}, 2);
  for (const int offset : {0, 1, -2}) {
    const std::string name = " " + std::to_string(offset);
    show_gradients("diag_embed" + name, torch::diag_embed(x, offset), {x});
    show_gradients("diag_embed axes" + name, x.diag_embed(offset, 0, 2), {x});
    show_gradients("diag_embed turned" + name, x.diag_embed(offset, 2, 0), {x});
    show_gradients("diagflat" + name, torch::diagflat(x, offset), {x});
  }
  show("diagflat of a vector", v.diagflat());
  show_gradients("diagonal_scatter", torch::diagonal_scatter(m, v), {m, v});
  show_gradients("diagonal_scatter below", m.diagonal_scatter(v, -1), {m, v});
  show("fill_diagonal_", copy(m).fill_diagonal_(5));
  show("fill_diagonal_ wide", filled({2, 5}).fill_diagonal_(5));
  show("fill_diagonal_ wrap", filled({9, 3}).fill_diagonal_(5, true));
  show("fill_diagonal_ no wrap", filled({9, 3}).fill_diagonal_(5, false));
  show("fill_diagonal_ cube", filled({3, 3, 3}).fill_diagonal_(5));
  show_gradients("block_diag", torch::block_diag({x, v, m}), {x, v, m});
  show("block_diag of numbers", torch::block_diag({filled({}), torch::ones({2, 2})}));
  show_error("axes", [&] { x.diag_embed(0, 1, 1); });
  show_error("cuboid", [&] { filled({3, 3, 2}).fill_diagonal_(1); });
  show_error("diagonal", [&] { m.diagonal_scatter(filled({2})); });
}

CASE(tuples) {
  const Tensor x = leaf({3}, 0), y = leaf({2}, 1), z = leaf({2}, 2);
  show_gradients("cartesian_prod", torch::cartesian_prod({x, y, z}), {x, y, z});
  show("cartesian_prod of one", torch::cartesian_prod({x}));
  show_gradients("combinations", torch::combinations(x), {x});
  const Tensor w = leaf({5}, 3);
  show("three", torch::combinations(w, 3));
  show("with_replacement", torch::combinations(w, 2, true));
  show("three with_replacement", torch::combinations(x, 3, true));
  show("one", torch::combinations(x, 1));
  show("none", torch::combinations(x, 0));
  show("too many", torch::combinations(y, 3));
  show_error("matrix", [&] { torch::combinations(filled({2, 2})); });
  show_error("negative", [&] { torch::combinations(x, -1); });
}

CASE(part_writes) {
  const Tensor x = leaf({3, 4}, 0), row = leaf({4}, 1), two = leaf({2, 4}, 2),
               two_columns = leaf({3, 2}, 3);
  show_gradients("select_scatter", torch::select_scatter(x, row, 0, -1), {x, row});
  show_gradients("slice_scatter", torch::slice_scatter(x, two, 0, 1), {x, two});
  show_gradients("slice_scatter step", x.slice_scatter(two_columns, 1, 0, 4, 2), {x, two_columns});
  show_error("select_scatter", [&] { x.select_scatter(filled({3}), 0, 0); });
  show_error("slice_scatter", [&] { x.slice_scatter(filled({3, 3}), 1, 0, 4, 2); });

  const Tensor rows = torch::tensor({0, 2, 0}, torch::kLong),
               columns = torch::tensor({1, 3, 1}, torch::kLong);
  const Tensor values = leaf({3}, 4);
  show_gradients("index_put", x.index_put({rows, columns}, values, true), {x, values});
  const Tensor distinct = torch::tensor({0, 2, 1}, torch::kLong);
  show_gradients("index_put over", torch::index_put(x, {distinct, columns}, values), {x, values});

  const Tensor places = torch::tensor({1, -1, 6}, torch::kLong);
  show_gradients("put", x.put(places, values), {x, values});
  show_gradients("put add", torch::put(x, torch::tensor({1, 1, -3}, torch::kLong), values, true),
                 {x, values});
  show("put_", copy(x).put_(places, values.detach()));
  show_error("put sizes", [&] { x.put(places, filled({2})); });
  show_gradients("take", torch::take(x, torch::tensor({{1, -1}, {6, 1}}, torch::kLong)), {x});
  show_error("take", [&] { x.take(torch::tensor({12}, torch::kLong)); });

  const Tensor order = std::get<1>(x.detach().sort(1));
  show_gradients("take_along_dim", torch::take_along_dim(x, order, 1), {x});
  show_gradients("take_along_dim flat", x.take_along_dim(torch::tensor({3, 11, 3}, torch::kLong)),
                 {x});
  show_gradients("take_along_dim broadcast",
                 x.take_along_dim(torch::tensor({{0, 3}}, torch::kLong), 1), {x});
  show_error("take_along_dim rank", [&] { x.take_along_dim(rows, 1); });

  const Tensor source = leaf({20}, 5), mask = x.detach() > 0;
  show_gradients("masked_scatter", torch::masked_scatter(x, mask, source), {x, source});
  show_gradients("masked_scatter broadcast",
                 x.masked_scatter(torch::tensor({true, false, true, true}), source), {x, source});
  show("masked_scatter_", copy(x).masked_scatter_(mask, source.detach()));
  show_error("masked_scatter", [&] { x.masked_scatter(mask, filled({2})); });
  show_gradients("sum_to_size", x.sum_to_size({1, 4}), {x});
  show_gradients("sum_to_size row", x.sum_to_size({4}), {x});
  show_error("sum_to_size", [&] { x.sum_to_size({2, 4}); });
  show_gradients("renorm", torch::renorm(x, 2, 0, 0.9), {x});
  show_gradients("renorm columns", x.renorm(1, 1, 1.2), {x});
  show("renorm_", copy(x).renorm_(2, 0, 0.5));
  show_error("renorm of a vector", [&] { row.renorm(2, 0, 1); });
}

CASE(scatter_reductions) {
  const Tensor x = (filled({3, 4}, 0) + 2).requires_grad_();
  const Tensor y = (filled({2, 4}, 1) + 2).requires_grad_();
  const Tensor index = torch::tensor({{0, 2, 1, 1}, {0, 1, 1, 2}}, torch::kLong);
  for (const char* reduce : {"sum", "prod", "mean", "amax", "amin"})
    for (const bool include_self : {true, false}) {
      const std::string name = std::string(reduce) + (include_self ? "" : " without self");
      show_gradients(name, torch::scatter_reduce(x, 0, index, y, reduce, include_self), {x, y});
      show(name + " in place", copy(x).scatter_reduce_(0, index, y.detach(), reduce, include_self));
      const Tensor n = (x.detach() * 5).to(torch::kInt), m = (y.detach() * 5).to(torch::kInt);
      show(name + " of integers", n.scatter_reduce(0, index, m, reduce, include_self));
    }
  const Tensor tie = torch::tensor({{1.0, 2.0, 2.0, 0.0}}, torch::kDouble).requires_grad_();
  const Tensor there = torch::tensor({{2.0, 0.0}}, torch::kDouble).requires_grad_();
  const Tensor to = torch::tensor({{0, 0, 0, 1}}, torch::kLong);
  show_gradients("ties", torch::scatter_reduce(there, 1, to, tie, "amax"), {there, tie});
  show_gradients("product of 0", torch::scatter_reduce(there, 1, to, tie, "prod", false),
                 {there, tie});
  show("add", torch::scatter(x.detach(), 0, index, y.detach(), "add"));
  show("multiply", x.detach().scatter(0, index, y.detach(), "multiply"));
  show("add number", torch::scatter(x.detach(), 0, index, 2, "add"));
  show("multiply number", x.detach().scatter(0, index, 3, "multiply"));
  show("add_", copy(x).scatter_(0, index, y.detach(), "add"));
  show("multiply_", copy(x).scatter_(0, index, 2, "multiply"));
  show("smaller index", x.detach().scatter_reduce(1, index.slice(1, 0, 2), y.detach(), "amax"));
  show_error("reduce", [&] { x.scatter_reduce(0, index, y, "median"); });
  show_error("dtype", [&] { x.scatter_reduce(0, index, index, "sum"); });

  const Tensor slices = torch::tensor({2, 0, 2}, torch::kLong),
               z = (filled({3, 4}, 2) + 2).requires_grad_();
  for (const char* reduce : {"prod", "mean", "amax", "amin"}) {
    show_gradients(std::string("index ") + reduce, torch::index_reduce(x, 0, slices, z, reduce),
                   {x, z});
    show(std::string("index without self ") + reduce,
         copy(x).index_reduce_(0, slices, z.detach(), reduce, false));
  }
  show_error("index sum", [&] { x.index_reduce(0, slices, z, "sum"); });
}
