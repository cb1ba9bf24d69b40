// Ranks, quantiles, histograms, unique elements and differences.
#include "cases.h"

#include <cmath>

using namespace agreement;

namespace {

torch::Tensor with_nan(torch::IntArrayRef sizes, std::int64_t j) {
  auto x = filled(sizes, j).clone();
  x.view({-1}).slice(0, 1, torch::nullopt, 4).fill_(NAN);
  return x.requires_grad_();
}

}  // namespace

CASE(running) {
  const auto a = leaf({3, 4}, 0), n = with_nan({3, 4}, 1);
  for (const std::int64_t dim : {0, 1}) {
    const std::string name = "dim " + std::to_string(dim);
    const auto [most, where] = torch::cummax(a, dim);
    show_gradients("cummax " + name, most, {a});
    show("cummax positions " + name, where);
    const auto [least, there] = a.cummin(dim);
    show_gradients("cummin " + name, least, {a});
    show("cummin positions " + name, there);
    show("cummax NaN " + name, std::get<0>(torch::cummax(n, dim)));
    show("cummin NaN " + name, std::get<1>(torch::cummin(n, dim)));
    show_gradients("logcumsumexp " + name, torch::logcumsumexp(a, dim), {a});
  }
  show("ties", std::get<1>(torch::cummax(torch::tensor({1, 2, 2, 1, 2}), 0)));
  show("ties min", std::get<1>(torch::tensor({3, 2, 2, 3, 2}).cummin(0)));
  show_gradients("method", (a * 300).logcumsumexp(-1), {a});
  show_error("axis", [&] { torch::cummax(a, 2); });
  show_error("integers", [&] { torch::logcumsumexp(torch::arange(3), 0); });
}

CASE(median) {
  const auto a = leaf({3, 4}, 0), n = with_nan({3, 4}, 1), odd = leaf({5}, 2);
  show_gradients("all", torch::median(a), {a});
  show_gradients("odd", odd.median(), {odd});
  show_gradients("ties", torch::median(torch::cat({a, a}) * 1), {a});
  show_gradients("NaN", torch::median(n), {});
  show_gradients("nanmedian", torch::nanmedian(n), {n});
  const auto [values, positions] = torch::median(a, 1);
  show_gradients("dim", values, {a});
  show("positions", positions);
  show_gradients("keepdim", std::get<0>(a.median(0, true)), {a});
  show("NaN dim", std::get<0>(torch::median(n, 1)));
  show("NaN positions", std::get<1>(torch::median(n, 1)));
  const auto [number, there] = torch::nanmedian(n, 0);
  show_gradients("nanmedian dim", number, {n});
  show("nanmedian positions", there);
  show("nanmedian method", n.nanmedian());
  show("integers", torch::median(torch::tensor({4, 1, 3, 2})));
  const auto [third, place] = torch::kthvalue(a, 3);
  show_gradients("kthvalue", third, {a});
  show("kthvalue positions", place);
  show_gradients("kthvalue keepdim", std::get<0>(a.kthvalue(2, 0, true)), {a});
  const auto repeated = (leaf({3, 4}, 0).detach() * 2).round().requires_grad_();
  const auto [often, last] = torch::mode(repeated);
  show_gradients("mode", often, {repeated});
  show_gradients("mode keepdim", std::get<0>(repeated.mode(0, true)), {});
  const auto [least, most] = torch::aminmax(a);
  show_gradients("aminmax least", least, {a});
  const auto [low, high] = a.aminmax(1, true);
  show_gradients("aminmax most", high, {a});
  show_error("k", [&] { torch::kthvalue(a, 5); });
  show_error("axis", [&] { torch::median(a, 2); });
}

CASE(quantile) {
  const auto a = leaf({3, 5}, 0), n = with_nan({3, 5}, 1);
  const auto q = torch::tensor({0.1, 0.5, 0.77, 1.0}, torch::kDouble);
  for (const char* way : {"linear", "lower", "higher", "midpoint", "nearest"}) {
    const std::string name = way;
    show_gradients(name, torch::quantile(a, 0.3, torch::nullopt, false, way), {a});
    show_gradients(name + " list", torch::quantile(a, q, 1, false, way), {a});
    show_gradients(name + " NaN", torch::nanquantile(n, q, 0, true, way), {n});
  }
  show_gradients("method", a.quantile(q), {a});
  show_gradients("keepdim", a.quantile(q, torch::nullopt, true), {a});
  show_gradients("number", a.quantile(0.25, 0), {a});
  show("NaN", torch::quantile(n, 0.5, 1));
  show("nanquantile", n.nanquantile(0.5, 1));
  show_error("q", [&] { torch::quantile(a, 1.5); });
  show_error("way", [&] { torch::quantile(a, 0.5, 0, false, "other"); });
  show_error("dtype", [&] { torch::quantile(a, torch::tensor({0.5f})); });
}

CASE(moments) {
  const auto a = leaf({3, 4}, 0), n = with_nan({3, 4}, 1);
  show_gradients("nansum", torch::nansum(n), {n});
  show_gradients("nansum dim", n.nansum({1}, true), {n});
  show_gradients("nanmean", torch::nanmean(n), {n});
  show_gradients("nanmean dim", n.nanmean(torch::IntArrayRef({1})), {n});
  show("nansum integers", torch::nansum(torch::arange(4)));
  show_gradients("std_mean", std::get<0>(torch::std_mean(a)), {a});
  show_gradients("std_mean biased", std::get<0>(torch::std_mean(a, false)), {a});
  show_gradients("std_mean dim", std::get<0>(torch::std_mean(a, {1}, true, true)), {a});
  show_gradients("std_mean mean", std::get<1>(torch::std_mean(a, {1}, true)), {a});
  show_gradients(
      "std_mean correction",
      std::get<0>(torch::std_mean(a, torch::IntArrayRef({0}), c10::optional<torch::Scalar>(2))),
      {a});
  show_gradients("var_mean", std::get<0>(torch::var_mean(a)), {a});
  show_gradients("var_mean biased", std::get<0>(torch::var_mean(a, false)), {a});
  show_gradients("var_mean dim", std::get<0>(torch::var_mean(a, {0}, false, true)), {a});
  show_gradients("cov", torch::cov(a), {a});
  show_gradients("cov 1-d", a[0].cov(), {a});
  show_gradients("cov correction", torch::cov(a, 0), {a});
  const auto f = torch::tensor({1, 2, 3, 1}), w = leaf({4}, 3).detach().abs();
  show_gradients("cov fweights", torch::cov(a, 1, f), {a});
  show_gradients("cov both", a.cov(1, f, w), {a});
  show_gradients("cov aweights", torch::cov(a, 1, {}, w), {a});
  show_gradients("corrcoef", torch::corrcoef(a), {a});
  show("corrcoef 1-d", a[0].corrcoef());
  show_error("cov axes", [&] { torch::cov(leaf({2, 3, 4}, 0)); });
  show_error("cov weights", [&] { torch::cov(a, 1, w); });
}

CASE(searching) {
  const auto line = torch::tensor({1.0, 3.0, 3.0, 5.0, 7.0}, torch::kDouble);
  const auto lines = torch::stack({line, line * 2});
  const auto values = torch::tensor({{0.5, 3.0, 9.0}, {6.0, double{NAN}, 10.5}}, torch::kDouble);
  show("one", torch::searchsorted(line, values));
  show("lines", torch::searchsorted(lines, values));
  show("right", torch::searchsorted(lines, values, false, true));
  show("side right", torch::searchsorted(lines, values, true, false, "right"));
  show("number", torch::searchsorted(line, 3));
  const auto mixed = torch::tensor({5.0, 1.0, 3.0}, torch::kDouble);
  show("sorter", torch::searchsorted(mixed, values, false, false, torch::nullopt, mixed.argsort()));
  show("bucketize", torch::bucketize(values, line));
  show("bucketize right", torch::bucketize(values, line, true, true));
  show("bucketize number", torch::bucketize(3.0, line));
  show("integers", torch::searchsorted(torch::tensor({1, 4, 9}), torch::tensor({4, 5})));
  show("dtypes", torch::searchsorted(line, torch::tensor({1, 2})));
  show_error("shapes", [&] { torch::searchsorted(lines, leaf({3, 2}, 0)); });
  show_error("side", [&] { torch::searchsorted(line, values, false, true, "left"); });
  const auto numbers = torch::tensor({3, 1, 1, 5, 0});
  show("bincount", torch::bincount(numbers));
  show("bincount length", numbers.bincount({}, 8));
  show("bincount weights", torch::bincount(numbers, filled({5}, 0)));
  show("bincount float",
       torch::bincount(numbers, filled({5}, 0).to(torch::kFloat)).to(torch::kDouble) * 0);
  show_error("bincount negative", [&] { torch::bincount(torch::tensor({-1, 2})); });
  show_error("bincount dtype", [&] { torch::bincount(line); });
  show("histc", torch::histc(filled({40}, 0), 7));
  show("histc bounds", filled({40}, 0).histc(5, -0.5, 0.5));
  show("histc point", torch::histc(torch::ones({3}, torch::kDouble), 4));
  show_error("histc bins", [&] { torch::histc(line, 0); });
  show_error("histc order", [&] { torch::histc(line, 4, 2, 1); });
}

CASE(unique) {
  const auto x = torch::tensor({3, 3, 1, 1, 1, 2, 3});
  const auto rows = torch::tensor({{2, 1}, {2, 1}, {1, 5}, {2, 1}, {1, 4}});
  const auto all = [](const std::string& name, const auto& result) {
    show(name, std::get<0>(result));
    show(name + " inverse", std::get<1>(result));
    show(name + " counts", std::get<2>(result));
  };
  all("consecutive", torch::unique_consecutive(x, true, true));
  all("consecutive plain", torch::unique_consecutive(x));
  all("consecutive matrix", torch::unique_consecutive(rows, true, true));
  all("consecutive rows", torch::unique_consecutive(rows, true, true, 0));
  all("consecutive columns", torch::unique_dim_consecutive(rows, 1, true, true));
  all("rows", torch::unique_dim(rows, 0, true, true, true));
  all("columns", torch::unique_dim(rows, 1, true, true, true));
  all("elements", torch::_unique2(rows, true, true, true));
  all("elements plain", torch::_unique2(x));
  show_error("axis", [&] { torch::unique_dim(rows, 2); });
}

CASE(differences) {
  const auto a = leaf({3, 5}, 0), y = leaf({3, 4}, 1);
  show_gradients("diff", torch::diff(a), {a});
  show_gradients("diff twice", torch::diff(a, 2, 0), {a});
  show_gradients("diff ends", a.diff(1, 1, y.narrow(1, 0, 1), y.narrow(1, 1, 2)), {a, y});
  show("diff bool", torch::diff(torch::tensor({true, true, false})).to(torch::kLong));
  for (const std::int64_t order : {1, 2}) {
    const std::string name = "order " + std::to_string(order);
    const auto both = torch::gradient(a, torch::nullopt, torch::nullopt, order);
    show_gradients(name + " rows", both[0], {a});
    show_gradients(name + " columns", torch::gradient(a, 2.0, torch::IntArrayRef({1}), order)[0],
                   {a});
    const auto places = torch::tensor({0.0, 1.0, 1.5, 3.0, 3.5}, torch::kDouble);
    show_gradients(
        name + " places",
        torch::gradient(a, torch::TensorList({places}), torch::IntArrayRef({1}), order)[0], {a});
  }
  show("spacings", torch::gradient(a, torch::ArrayRef<torch::Scalar>({2, 0.5}))[1]);
  show_error("too few", [&] { torch::gradient(leaf({1}, 0)); });
  show_error("order", [&] { torch::gradient(a, torch::nullopt, torch::nullopt, 3); });
  show_gradients("trapezoid", torch::trapezoid(a), {a});
  show_gradients("trapezoid dx", torch::trapezoid(a, 0.5, 0), {a});
  const auto places = leaf({5}, 4);
  show_gradients("trapezoid x", torch::trapezoid(a, places), {a, places});
  show_gradients("trapezoid wide x", torch::trapezoid(a, leaf({3, 5}, 5), 0), {a});
  show_gradients("trapz", torch::trapz(a, 2.0), {a});
  show_gradients("trapz x", torch::trapz(a, places), {a, places});
  show_gradients("cumulative", torch::cumulative_trapezoid(a), {a});
  show_gradients("cumulative x", torch::cumulative_trapezoid(a, places), {a, places});
  show_gradients("cumulative dx", torch::cumulative_trapezoid(a, 0.5, 0), {a});
}

CASE(deviations_by_axis) {
  const auto a = leaf({3, 4}, 0);
  const std::int64_t long_axis = 1;
  show_gradients("var int", a.var(0), {a});
  show_gradients("std int", a.std(1), {a});
  show_gradients("var negative", torch::var(a, -1), {a});
  show_gradients("std function", torch::std(a, 0), {a});
  show_gradients("var i64", torch::var(a, torch::IntArrayRef(long_axis)), {a});
  show_gradients("biased", a.var(0, false), {a});
  show_gradients("keepdim", a.std(1, true, true), {a});
  show_gradients("list", a.std({0, 1}), {a});
  show_gradients("bool", a.var(false), {a});
  show_gradients("bool function", torch::std(a, true), {a});
  show_gradients("all", a.std(), {a});
  show_gradients("var_mean int", std::get<0>(torch::var_mean(a, 0)), {a});
  show_gradients("std_mean int", std::get<1>(torch::std_mean(a, 1)), {a});
  show_gradients("std_mean bool", std::get<0>(torch::std_mean(a, false)), {a});
}
