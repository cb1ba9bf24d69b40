// The gradient of while_loop_backward, for second derivatives. The loop runs forward and backward
// once more, and each turn's values are kept; then the way back is differentiated from the first
// turn to the last, and the loop itself from the last to the first:
//
//   turn t:   state, kept = body(state, closed)            forward
//             sums, cotangents = backward(closed, kept, seeds, sums, cotangents)     back
#include <algorithm>

#include "kernels/derivative.h"
#include "kernels/lowering.h"
#include "kernels/ops/while_run.h"
#include "src/core/check.h"

namespace groove {
namespace {

// Operands: those of while_loop_backward, then a cotangent for each of its results. Results: the
// gradients of the floating carried values, of the wanted closed over ones, of seeds, of cotangents.
struct Parts {
  std::size_t carried, floating, closed, seeds, loop_inputs, wanted;
};
Parts parts_of(const Signature& s) {
  const AttrReader attr = s.attr();
  Parts parts{};
  parts.carried = static_cast<std::size_t>(attr.integer(6));
  parts.floating = static_cast<std::size_t>(attr.integer(7));
  parts.seeds = interned_graph(attr.integer(3)).outputs.size();
  const std::size_t others = 2 * parts.seeds + parts.floating;
  const std::size_t results = static_cast<std::size_t>(attr.integer(0));
  const bool fits = s.inputs.size() >= others + parts.carried &&
                    results >= 2 * parts.floating + parts.seeds &&
                    parts.floating <= parts.seeds && parts.floating <= parts.carried;
  GROOVE_CHECK(fits, "while_loop_second: the attributes do not fit the operands");
  parts.loop_inputs = s.inputs.size() - others;
  parts.closed = parts.loop_inputs - parts.carried;
  parts.wanted = results - 2 * parts.floating - parts.seeds;
  return parts;
}

std::vector<Type> joined_types(std::initializer_list<ArrayRef<Type>> lists) {
  std::vector<Type> all;
  for (const ArrayRef<Type>& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

std::vector<Type> types_at(const Graph& graph, IntArrayRef outputs) {
  std::vector<Type> types;
  for (const std::int64_t k : outputs) {
    GROOVE_CHECK(k >= 0 && k < static_cast<std::int64_t>(graph.outputs.size()),
                 "while_loop_second: the body has no output {}", k);
    types.push_back(graph.type(graph.outputs[static_cast<std::size_t>(k)].value));
  }
  return types;
}

TypeResult type_of(const Signature& s) {
  const AttrReader attr = s.attr();
  const Parts parts = parts_of(s);
  const Graph& body = interned_graph(attr.integer(2));
  const ArrayRef<Type> loop = s.inputs.slice(0, parts.loop_inputs);
  const ArrayRef<Type> closed = loop.slice(parts.carried, parts.closed);
  const ArrayRef<Type> seeds = s.inputs.slice(parts.loop_inputs, parts.seeds);
  const ArrayRef<Type> cotangents =
      s.inputs.slice(parts.loop_inputs + parts.seeds, parts.floating);
  const std::vector<Type> kept = types_at(body, attr.integers(8)),
                          floating = types_at(body, attr.integers(9));
  std::vector<Type> wanted = output_types(interned_graph(attr.integer(5)));
  GROOVE_CHECK(wanted.size() == parts.floating + parts.wanted,
               "while_loop_second: the attributes do not fit the operands");
  wanted.erase(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(parts.floating));
  check_operands(s, interned_graph(attr.integer(1)), 0, loop);
  check_operands(s, body, 0, loop);
  check_operands(s, interned_graph(attr.integer(3)), 0,
                 joined_types({closed, kept, seeds, cotangents}));
  check_operands(s, interned_graph(attr.integer(4)), 0,
                 joined_types({closed, kept, seeds, cotangents, wanted, seeds}));
  check_operands(s, interned_graph(attr.integer(5)), 0,
                 joined_types({loop, wanted, cotangents, floating}));
  std::vector<Type> results = joined_types({cotangents, wanted, seeds, cotangents});
  return {results, results.empty() ? kFloat : results[0].dtype};
}

class Run {
 public:
  Run(const Signature& s, ArrayRef<Tensor> inputs)
      : s_(s),
        parts_(parts_of(s)),
        loop_inputs_(inputs.slice(0, parts_.loop_inputs)),
        closed_(inputs.slice(parts_.carried, parts_.closed)),
        seeds_(inputs.slice(parts_.loop_inputs, parts_.seeds)),
        cotangents_(inputs.slice(parts_.loop_inputs + parts_.seeds, parts_.floating)),
        given_(inputs.slice(parts_.loop_inputs + parts_.seeds + parts_.floating, parts_.seeds)) {
    const std::size_t first = interned_graph(s.attr().integer(1)).numbers.size();
    numbers_ = s.numbers.slice(first, s.numbers.size() - first);
    for (std::size_t k = 0; k < parts_.floating; ++k) nothing_.push_back(nothing_like(seeds_[k]));
  }

  void run(ArrayRef<Tensor> outputs) {
    forward();
    back();
    Tensors sums = differentiate_back();
    differentiate_forward(sums);
    for (std::size_t k = 0; k < results_.size(); ++k) copy_bytes(results_[k], outputs[k]);
  }

 private:
  struct Turn {
    Tensors state;             // carried values before it
    Tensors kept;              // what its derivative reads
    Tensors sums, cotangents;  // that the way back comes to it with
    Tensors of_kept;           // gradients of the floating ones
  };

  static Tensor nothing_like(const Tensor& tensor) {
    Tensor nothing = make_empty(tensor.impl()->geometry.sizes, tensor.impl()->dtype);
    fill_with_nothing(nothing);
    return nothing;
  }
  static Tensors joined(std::initializer_list<ArrayRef<Tensor>> lists) {
    Tensors all;
    for (const ArrayRef<Tensor>& list : lists) all.insert(all.end(), list.begin(), list.end());
    return all;
  }
  static Tensors part_of(const Tensors& all, std::size_t first, std::size_t count) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
  }
  // The seeds of carried values count in the first turn only, which comes last on the way back.
  ArrayRef<Tensor> carried_seeds(std::size_t turn) const {
    return turn == 0 ? seeds_.slice(0, parts_.floating) : ArrayRef<Tensor>(nothing_);
  }

  // Gradients of what is kept come in the order in which it is kept.
  Tensors in_body_order(const Tensors& of_kept) const {
    const IntArrayRef floating = s_.attr().integers(9);
    Tensors ordered(of_kept.size());
    std::size_t next = 0;
    for (const std::int64_t k : s_.attr().integers(8)) {
      const auto* const at = std::find(floating.begin(), floating.end(), k);
      if (at != floating.end())
        ordered[static_cast<std::size_t>(at - floating.begin())] = of_kept[next++];
    }
    return ordered;
  }

  void forward() {
    WhileRun loop(s_.attr().integer(1), s_.attr().integer(2), parts_.carried,
                  s_.attr().integer(10), s_.numbers);
    const IntArrayRef kept = s_.attr().integers(8);
    Tensors state(loop_inputs_.begin(),
                  loop_inputs_.begin() + static_cast<std::ptrdiff_t>(parts_.carried));
    loop.run(loop_inputs_, [&](ArrayRef<Tensor> results) {
      Turn& turn = turns_.emplace_back();
      turn.state = state;
      for (const std::int64_t k : kept) turn.kept.push_back(results[static_cast<std::size_t>(k)]);
      state.assign(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(parts_.carried));
    });
  }

  void back() {
    kernels::SubgraphRun backward(s_.attr().integer(3), numbers_);
    Tensors sums(seeds_.begin() + static_cast<std::ptrdiff_t>(parts_.floating), seeds_.end());
    Tensors cotangents(cotangents_.begin(), cotangents_.end());
    for (std::size_t t = turns_.size(); t-- > 0;) {
      Turn& turn = turns_[t];
      turn.sums = sums;
      turn.cotangents = cotangents;
      if (t == 0) break;  // what it gives nobody reads
      const Tensors results = kernels::make_outputs(backward.graph());
      backward.key_draws(t);
      backward(joined({closed_, turn.kept, carried_seeds(t), sums, cotangents}), results);
      cotangents = part_of(results, 0, parts_.floating);
      sums = part_of(results, parts_.floating, sums.size());
    }
  }

  // From the first turn on. Gives the gradients of closed over values so far.
  Tensors differentiate_back() {
    kernels::SubgraphRun derivative(s_.attr().integer(4), numbers_);
    const std::size_t kept = s_.attr().integers(9).size();
    Tensors of_closed;
    const std::vector<Type> types = output_types(derivative.graph());
    for (std::size_t i = 0; i < parts_.wanted; ++i) {
      of_closed.push_back(make_empty(types[i].sizes, types[i].dtype));
      fill_with_nothing(of_closed.back());
    }
    Tensors of_seeds(given_.begin(),
                     given_.begin() + static_cast<std::ptrdiff_t>(parts_.floating));
    Tensors given(given_.begin(), given_.end());
    for (std::size_t t = 0; t < turns_.size(); ++t) {
      Turn& turn = turns_[t];
      const Tensors results = kernels::make_outputs(derivative.graph());
      derivative.key_draws(t);
      derivative(joined({closed_, turn.kept, carried_seeds(t), turn.sums, turn.cotangents,
                         of_closed, given}),
                 results);
      of_closed = part_of(results, 0, parts_.wanted);
      turn.of_kept = part_of(results, parts_.wanted, kept);
      const std::size_t seeds = parts_.wanted + kept;
      if (t == 0) of_seeds = part_of(results, seeds, parts_.floating);
      given = joined(
          {part_of(results, seeds + parts_.seeds, parts_.floating),
           part_of(results, seeds + parts_.floating, parts_.seeds - parts_.floating)});
    }
    of_seeds_ = joined({of_seeds, part_of(given, parts_.floating, parts_.seeds - parts_.floating)});
    of_cotangents_ = part_of(given, 0, parts_.floating);
    return of_closed;
  }

  void differentiate_forward(Tensors of_closed) {
    kernels::SubgraphRun derivative(s_.attr().integer(5), numbers_);
    Tensors of_carried = nothing_;
    for (std::size_t t = turns_.size(); t-- > 0;) {
      Turn& turn = turns_[t];
      const Tensors results = kernels::make_outputs(derivative.graph());
      derivative.key_draws(t);
      derivative(joined({turn.state, closed_, of_closed, of_carried, in_body_order(turn.of_kept)}),
                 results);
      of_carried = part_of(results, 0, parts_.floating);
      of_closed = part_of(results, parts_.floating, parts_.wanted);
      turn = Turn();
    }
    results_ = joined({of_carried, of_closed, of_seeds_, of_cotangents_});
  }

  const Signature& s_;
  Parts parts_;
  ArrayRef<Tensor> loop_inputs_, closed_, seeds_, cotangents_, given_;
  ArrayRef<Scalar> numbers_;
  Tensors nothing_;
  std::vector<Turn> turns_;
  Tensors of_seeds_, of_cotangents_, results_;
};

void run(const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs) {
  Run(s, inputs).run(outputs);
}

const Op& second_op() {
  static const Op& op = define(
      {.name = "while_loop_second",
       .kind = OpKind::kOpaque,
       .inputs = -1,
       .outputs = -1,
       .attributes = {{"outputs", AttrType::kInt},
                      {"condition", AttrType::kGraph},
                      {"body", AttrType::kGraph},
                      {"backward", AttrType::kGraph},
                      {"backward_derivative", AttrType::kGraph},
                      {"body_derivative", AttrType::kGraph},
                      {"carried", AttrType::kInt},
                      {"cotangents", AttrType::kInt},
                      {"residuals", AttrType::kInts},
                      {"floating_residuals", AttrType::kInts},
                      {"max_iterations", AttrType::kInt}},
       .type = type_of,
       .lowering = kernels::lower(kernels::OpaqueLowering{
           .run = run,
           .nanoseconds =
               [](const Signature& s) {
                 constexpr double kGuess = 128;
                 return kGuess * subgraph_nanoseconds(interned_graph(s.attr().integer(2)));
               },
           .takes_halves = true,
           .has_regions = true}),
       .gradient = [](const Grad&) -> Tensors {
         throw_error(
             "while_loop: third derivatives through a loop of unknown length are not built; use "
             "scan, or a loop of the program");
       },
       .mutates = {},
       .has_inplace = false});
  return op;
}
[[maybe_unused]] const Op& registered = second_op();

}  // namespace

Tensors while_backward_gradient(const WhileBackward& loop, const Grad& g) {
  const Graph& body = interned_graph(loop.body);
  const Graph& backward = interned_graph(loop.backward);
  const std::size_t inputs = body.inputs.size(), closed = inputs - loop.carried,
                    seeds = backward.outputs.size(), kept = loop.residuals.size();
  const std::size_t first = interned_graph(loop.condition).numbers.size();
  const ArrayRef<Scalar> numbers = g.numbers.slice(first, g.numbers.size() - first);

  kernels::DerivativeRequest back, forward;
  back.graph = loop.backward;
  back.given.assign(seeds, 1);
  forward.graph = loop.body;
  forward.given.assign(body.outputs.size(), 0);
  std::vector<std::int64_t> floating;  // of what is kept, in the order of the body's outputs
  for (std::size_t i = 0; i < loop.carried; ++i) {
    const bool is_wanted = is_floating(g.input_types[i].dtype);
    forward.wanted.push_back(is_wanted);
    forward.given[i] = is_wanted;
  }
  for (std::size_t i = loop.carried; i < inputs; ++i) {
    forward.wanted.push_back(g.needs[i] && is_floating(g.input_types[i].dtype));
    back.wanted.push_back(forward.wanted.back());
  }
  for (const std::int64_t k : loop.residuals) {
    const ValueId value = body.outputs[static_cast<std::size_t>(k)].value;
    const bool is_wanted = is_floating(body.type(value).dtype);
    back.wanted.push_back(is_wanted);
    forward.given[static_cast<std::size_t>(k)] = is_wanted;
    if (is_wanted) floating.push_back(k);
  }
  std::sort(floating.begin(), floating.end());
  back.wanted.resize(closed + kept + seeds + loop.cotangents, 1);
  back.seeded.assign(back.wanted.size(), 0);
  std::copy_n(back.wanted.begin(), closed, back.seeded.begin());
  forward.seeded.assign(inputs, 0);
  std::copy_n(back.wanted.begin(), closed,
              forward.seeded.begin() + static_cast<std::ptrdiff_t>(loop.carried));

  Tensors operands = g.all_inputs();
  for (std::size_t k = 0; k < seeds; ++k)
    operands.push_back(g.cotangents[k].defined() ? g.cotangents[k]
                                                 : nothing_yet(g.output_types[k]));
  const auto wanted = static_cast<std::size_t>(
      std::count(back.wanted.begin(), back.wanted.begin() + static_cast<std::ptrdiff_t>(closed), 1));
  const std::size_t count = 2 * loop.cotangents + wanted + seeds;
  const Attrs attrs = Attrs()
                          .add(static_cast<std::int64_t>(count))
                          .add(loop.condition)
                          .add(loop.body)
                          .add(loop.backward)
                          .add(kernels::derivative(back, numbers))
                          .add(kernels::derivative(forward, numbers))
                          .add(static_cast<std::int64_t>(loop.carried))
                          .add(static_cast<std::int64_t>(loop.cotangents))
                          .add(IntArrayRef(loop.residuals))
                          .add(IntArrayRef(floating))
                          .add(loop.max_iterations);
  Tensors results(count);
  dispatch(Call{&second_op(), operands, &attrs, g.numbers, Site::current()}, results.data());

  std::vector<char> places = forward.wanted;
  places.resize(inputs + seeds + loop.cotangents, 1);
  return in_their_places(results, places, 0);
}

}  // namespace groove
