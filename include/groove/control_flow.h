// Control flow whose course is known only when it runs, as operators: in a compiled loop nothing
// stops to look at the predicate. Named and ordered as PyTorch's higher-order operators and
// jax.lax. All three are differentiable and give the bits of the loop or branch written by hand.
//
// The functions are called once, with tensors that stand for values and have none: what they do to
// tensors is recorded. They may close over tensors, whose gradients flow, too. They must not look
// at values (item, data_ptr), write to tensors that they were given, or give results whose shape
// depends on data; groove::Error says where.
//
// What they draw (rand, dropout, …) depends on the random state at the call alone, and how far the
// call advances that state does not depend on values: a scan draws as the loop written by hand does,
// a cond advances as far as the function that draws more, a while_loop as far as one turn, and draws
// with another key in each further turn.
//
// Values are tensors, lists (std::vector), tuples and pairs of values, and structs for which there
// is a groove_fields(value) that gives std::tie(…) of the fields. A tuple may also be taken apart
// into arguments.
#pragma once

#include "groove/detail/structure.h"

namespace groove {

struct WhileLoopOptions {
  std::int64_t max_iterations = -1;  // more throw groove::Error; -1: no limit
};
struct ScanOptions {
  std::int64_t dim = 0;      // the axis of xs and ys that is walked along
  bool reverse = false;      // from the last slice to the first
  std::int64_t length = -1;  // number of steps where there are no xs
};

namespace detail {

using TensorFunction = std::function<Tensors(const Tensors&)>;
Tensors run_cond(const Tensor& predicate, const TensorFunction& if_true,
                 const TensorFunction& if_false, const Tensors& operands, const Site& site);
Tensors run_while(const TensorFunction& condition, const TensorFunction& body,
                  const Tensors& carried, const WhileLoopOptions& options, const Site& site);
/// `body` is given carried values and slices, and gives carried values and results.
Tensors run_scan(const TensorFunction& body, const Tensors& init, const Tensors& xs,
                 const ScanOptions& options, const Site& site);

template <typename F, typename T>
decltype(auto) call_with(const F& function, const T& value) {
  if constexpr (std::is_invocable_v<const F&, const T&>)
    return function(value);
  else
    return std::apply(function, value);
}

}  // namespace detail

/// true_fn(operands) where the one element of `pred` is not 0, else false_fn(operands). Both give
/// the same types. An operand that only the function not taken reads gets the gradient 0.
template <typename TrueFn, typename FalseFn, typename Operands = std::tuple<>>
auto cond(const Tensor& pred, const TrueFn& true_fn, const FalseFn& false_fn,
          const Operands& operands = {}, Site site = Site::current()) {
  using Result = std::decay_t<decltype(detail::call_with(true_fn, operands))>;
  Result like;
  const Tensors results = detail::run_cond(
      pred,
      [&](const Tensors& given) {
        like = detail::call_with(true_fn, detail::unpacked(operands, given));
        return detail::packed(like);
      },
      [&](const Tensors& given) {
        const Result other = detail::call_with(false_fn, detail::unpacked(operands, given));
        return detail::packed(other);
      },
      detail::packed(operands), site);
  return detail::unpacked(like, results);
}

/// carried = body_fn(carried) while the one element of cond_fn(carried) is not 0. Types of carried
/// values stay. The gradient, and its gradient, run the loop once more and keep its values; third
/// derivatives throw.
template <typename CondFn, typename BodyFn, typename Carried>
Carried while_loop(const CondFn& cond_fn, const BodyFn& body_fn, const Carried& carried,
                   WhileLoopOptions options = {}, Site site = Site::current()) {
  const Tensors results = detail::run_while(
      [&](const Tensors& given) {
        return Tensors{detail::call_with(cond_fn, detail::unpacked(carried, given))};
      },
      [&](const Tensors& given) {
        const Carried next = detail::call_with(body_fn, detail::unpacked(carried, given));
        return detail::packed(next);
      },
      detail::packed(carried), options, site);
  return detail::unpacked(carried, results);
}

/// For every slice x of xs: {carried, y} = f(carried, x), a pair or a tuple of two. Gives the last
/// carried values and all ys, stacked along the axis walked.
template <typename F, typename Carried, typename Xs>
auto scan(const F& f, const Carried& init, const Xs& xs, ScanOptions options = {},
          Site site = Site::current()) {
  using Step = std::decay_t<decltype(f(init, xs))>;
  using Ys = std::decay_t<std::tuple_element_t<1, Step>>;
  Ys like;
  const Tensors first = detail::packed(init);
  const Tensors results = detail::run_scan(
      [&](const Tensors& given) {
        const Step step =
            f(detail::unpacked(init, given), detail::unpacked(xs, given, first.size()));
        const Carried carried = std::get<0>(step);
        like = std::get<1>(step);
        Tensors packed = detail::packed(carried);
        detail::Structure<Ys>::pack(packed, like);
        return packed;
      },
      first, detail::packed(xs), options, site);
  return std::pair<Carried, Ys>(detail::unpacked(init, results),
                                detail::unpacked(like, results, first.size()));
}

}  // namespace groove
