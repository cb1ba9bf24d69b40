// scan: a function applied to the slices of tensors, one after the other, carrying values along.
//
//   carried, x[t], closed over  ->  carried, y[t]
//
// Its gradient is a scan the other way over the derivative of the function. What a step adds to the
// gradient of a tensor that all steps read is added to the sum so far, one contribution after the
// other, which is the order of the tape of the loop written by hand.
#include "groove/ops/creation.h"
#include "groove/ops/math.h"
#include "groove/ops/views.h"
#include "kernels/derivative.h"
#include "kernels/lowering.h"
#include "kernels/node_values.h"
#include "kernels/ops/control_flow.h"
#include "src/core/autograd_meta.h"
#include "src/core/check.h"

namespace groove {
namespace {

const Op& scan_op();

ScanCall read(const Op& op, const Attrs& attrs) {
  const AttrReader attr(op, attrs);
  return {attr.integer(1),
          attr.integer(2),
          static_cast<std::size_t>(attr.integer(3)),
          static_cast<std::size_t>(attr.integer(4)),
          static_cast<std::size_t>(attr.integer(5)),
          attr.boolean(6),
          static_cast<std::uint64_t>(attr.integer(7)),
          attr.boolean(8)};
}

Type stacked(const Type& type, std::int64_t steps) {
  Type result{type.dtype, {steps}};
  result.sizes.append(type.sizes.data(), type.sizes.size());
  return result;
}

TypeResult type_of(const Signature& s) {
  const ScanCall call = read(s.op, s.attrs);
  const Graph& body = interned_graph(call.body);
  const std::size_t inputs = s.inputs.size(), results = body.outputs.size();
  GROOVE_CHECK(call.carried <= inputs && call.scanned <= inputs - call.carried &&
                   call.carried <= results && call.residuals <= results - call.carried &&
                   call.steps >= 0 && s.numbers.size() == body.numbers.size() &&
                   static_cast<std::int64_t>(results) == s.attr().integer(0),
               "scan: the attributes do not fit the operands");
  std::vector<Type> slices(s.inputs.begin(), s.inputs.end());
  for (std::size_t i = 0; i < call.scanned; ++i) {
    Shape& sizes = slices[call.carried + i].sizes;
    GROOVE_CHECK(!sizes.empty() && sizes[0] == call.steps,
                 "scan: scanned tensor {} has shape {}, but there are {} steps", i,
                 to_string(sizes), call.steps);
    sizes = Shape(IntArrayRef(sizes.data() + 1, sizes.size() - 1));
  }
  check_operands(s, body, 0, slices);
  std::vector<Type> outputs = output_types(body);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (k >= call.carried)
      outputs[k] = stacked(outputs[k], call.steps);
    else
      GROOVE_CHECK(outputs[k] == s.inputs[k], "scan: carried value {} changes its type", k);
  }
  return {outputs, outputs.empty() ? kFloat : outputs[0].dtype};
}

// The last step writes the carried results; the steps before it take turns on two sets of buffers.
void run(const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs) {
  const ScanCall call = read(s.op, s.attrs);
  kernels::SubgraphRun body(call.body, s.numbers);
  if (call.steps == 0)
    for (std::size_t k = 0; k < call.carried; ++k) copy_bytes(inputs[k], outputs[k]);
  Tensors turns[2];
  for (Tensors& turn : turns)
    for (std::size_t k = 0; k < call.carried && call.steps > 1; ++k)
      turn.push_back(make_empty(s.inputs[k].sizes, s.inputs[k].dtype));
  Tensors from(inputs.begin(), inputs.end()), to(outputs.begin(), outputs.end());
  for (std::int64_t step = 0; step < call.steps; ++step) {
    const std::int64_t at = call.is_reverse ? call.steps - 1 - step : step;
    for (std::size_t i = call.carried; i < call.carried + call.scanned; ++i)
      from[i] = kernels::row_of(inputs[i], at);
    for (std::size_t k = 0; k < to.size(); ++k) {
      if (k >= call.carried)
        to[k] = kernels::row_of(outputs[k], at);
      else
        to[k] = step + 1 == call.steps ? outputs[k] : turns[step % 2][k];
    }
    const std::int64_t drawn = call.has_last_draws_first ? call.steps - 1 - step : step;
    if (call.draws > 0) body.skip_draws(call.draws * static_cast<std::uint64_t>(drawn));
    body(from, to);
    for (std::size_t k = 0; k < call.carried; ++k) from[k] = to[k];
  }
}

// ---- the gradient ----

kernels::SplitRequest request_of(const ScanCall& call, std::size_t inputs) {
  const Graph& body = interned_graph(call.body);
  kernels::SplitRequest request;
  request.whole.graph = call.body;
  request.whole.wanted.assign(inputs, 0);
  request.whole.seeded.assign(inputs, 0);
  request.whole.given.assign(body.outputs.size(), 0);
  for (std::size_t i = 0; i < inputs; ++i) {
    request.later.push_back(i < call.carried                  ? kernels::Later::kGone
                            : i < call.carried + call.scanned ? kernels::Later::kThere
                                                              : kernels::Later::kInvariant);
    // A carried value may get a history in the loop.
    if (i < call.carried)
      request.whole.wanted[i] = is_floating(body.type(body.inputs[i].value).dtype);
  }
  for (std::size_t k = 0; k < call.carried; ++k) request.whole.given[k] = request.whole.wanted[k];
  request.first_kept = static_cast<std::int32_t>(call.carried);
  return request;
}

class Backward {
 public:
  explicit Backward(const Grad& g)
      : g_(g), call_(read(g.op, g.attrs)), operands_(g.all_inputs()), outputs_(g.all_outputs()) {}

  Tensors run() {
    const std::size_t inputs = g_.input_types.size();
    Tensors result(inputs);
    if (call_.steps == 0) return without_steps();
    keep_residuals();
    request_ = request_of(call_, inputs);
    for (std::size_t i = call_.carried; i < inputs; ++i) request_.whole.wanted[i] = g_.needs[i];
    find_seeds();
    for (std::size_t k = call_.carried; k < g_.cotangents.size(); ++k)
      request_.whole.given[k] = g_.cotangents[k].defined() && seed_of_[k] < 0;
    const kernels::SplitDerivative split = kernels::split_derivative(request_, g_.numbers);
    const Tensors gradients = scan_back(split);

    std::size_t next = 0;
    for (std::size_t k = 0; k < call_.carried; ++k)
      if (request_.whole.wanted[k]) result[k] = gradients[next++];
    for (std::size_t i = call_.carried + call_.scanned; i < inputs; ++i)
      if (request_.whole.wanted[i]) result[i] = gradients[next++];
    for (std::size_t i = call_.carried; i < call_.carried + call_.scanned; ++i)
      if (request_.whole.wanted[i]) result[i] = summed(gradients[next++], g_.accumulated[i]);
    for (const std::size_t i : unreached_) result[i] = g_.accumulated[i];
    return result;
  }

 private:
  // Slices of a tensor put into zeros and added up: where there are several, 0.0 is added to each.
  Tensor summed(Tensor slices, const Tensor& so_far) const {
    if (call_.steps > 1) slices = add(slices, Scalar(0.0));
    return so_far.defined() ? add(so_far, slices) : slices;
  }

  Tensors without_steps() const {
    Tensors result(g_.accumulated.begin(), g_.accumulated.end());
    for (std::size_t k = 0; k < call_.carried; ++k)
      if (g_.cotangents[k].defined())
        result[k] = result[k].defined() ? add(result[k], g_.cotangents[k]) : g_.cotangents[k];
    return result;
  }

  // A scan that ran without its residuals (inside a function that is differentiated) runs again.
  void keep_residuals() {
    const std::size_t inputs = g_.input_types.size();
    kernels::SplitRequest request = request_of(call_, inputs);
    for (std::size_t i = call_.carried; i < inputs; ++i) request.whole.wanted[i] = g_.needs[i];
    for (std::size_t k = call_.carried; k < request.whole.given.size() - call_.residuals; ++k)
      request.whole.given[k] = is_floating(g_.output_types[k].dtype);
    if (call_.residuals > 0) return;
    const std::int64_t body = kernels::with_residuals(request, g_.numbers);
    if (body == call_.body) return;
    call_.residuals = interned_graph(body).outputs.size() - outputs_.size();
    call_.body = body;
    outputs_ = call_scan(call_, operands_, g_.numbers, Site::current());
    cotangents_.resize(outputs_.size());
  }

  // The cotangent of a result that is a carried value, too, comes before what the next step adds.
  void find_seeds() {
    const Graph& body = interned_graph(call_.body);
    cotangents_.assign(g_.cotangents.begin(), g_.cotangents.end());
    cotangents_.resize(outputs_.size());
    seed_of_.assign(outputs_.size(), -1);
    shared_.resize(call_.carried);
    for (std::size_t k = call_.carried; k < cotangents_.size(); ++k) {
      if (!cotangents_[k].defined()) continue;
      for (std::size_t c = 0; c < call_.carried && seed_of_[k] < 0; ++c) {
        if (body.outputs[c].value != body.outputs[k].value || !request_.whole.wanted[c]) continue;
        seed_of_[k] = static_cast<int>(c);
        shared_[c] = shared_[c].defined() ? add(shared_[c], cotangents_[k]) : cotangents_[k];
      }
    }
    for (std::size_t c = 0; c < call_.carried; ++c)
      request_.whole.seeded[c] =
          request_.whole.wanted[c] && (shared_[c].defined() || g_.accumulated[c].defined());
    for (std::size_t i = call_.carried + call_.scanned; i < request_.whole.wanted.size(); ++i)
      request_.whole.seeded[i] = request_.whole.wanted[i];
  }

  std::int64_t first_step() const { return call_.is_reverse ? call_.steps - 1 : 0; }
  std::int64_t last_step() const { return call_.steps - 1 - first_step(); }

  // What is already in the sum for the carried value that a step reads.
  Tensor carry_seeds(std::size_t c) const {
    const Type& type = g_.input_types[c];
    const Tensor first =
        unsqueeze(g_.accumulated[c].defined() ? g_.accumulated[c] : nothing_yet(type), 0);
    if (call_.steps == 1) return first;
    const Tensor rest = shared_[c].defined()
                            ? narrow(shared_[c], 0, call_.is_reverse ? 1 : 0, call_.steps - 1)
                            : nothing_yet(stacked(type, call_.steps - 1));
    return call_.is_reverse ? cat({rest, first}, 0) : cat({first, rest}, 0);
  }

  Tensor last_cotangent(std::size_t c) const {
    const Tensor& final_one = g_.cotangents[c];
    if (!shared_[c].defined())
      return final_one.defined() ? final_one : nothing_yet(g_.input_types[c]);
    const Tensor slice = select(shared_[c], 0, last_step());
    return final_one.defined() ? add(slice, final_one) : slice;
  }

  // Inputs and outputs of the derivative in the order of a scan: carried, scanned, closed over.
  Tensors scan_back(const kernels::SplitDerivative& split) {
    const std::size_t inputs = request_.whole.wanted.size(),
                      closures = call_.carried + call_.scanned;
    std::vector<std::int32_t> carried, scanned, closed, results, slices;
    Tensors carried_tensors, scanned_tensors, closed_tensors;
    std::int32_t at = 0;
    for (std::size_t i = call_.carried; i < inputs; ++i) {
      (i < closures ? scanned : closed).push_back(at++);
      (i < closures ? scanned_tensors : closed_tensors).push_back(operands_[i]);
    }
    for (const std::int32_t k : split.residuals) {
      scanned.push_back(at++);
      scanned_tensors.push_back(outputs_[static_cast<std::size_t>(k)]);
    }
    std::vector<std::int32_t> sums;
    Tensors sums_tensors;
    for (std::size_t i = 0; i < inputs; ++i) {
      if (!request_.whole.seeded[i]) continue;
      if (i < call_.carried) {
        scanned.push_back(at++);
        scanned_tensors.push_back(carry_seeds(i));
      } else {
        sums.push_back(at++);
        sums_tensors.push_back(g_.accumulated[i].defined() ? g_.accumulated[i]
                                                           : nothing_yet(g_.input_types[i]));
      }
    }
    for (std::size_t k = 0; k < cotangents_.size(); ++k) {
      if (!request_.whole.given[k]) continue;
      (k < call_.carried ? carried : scanned).push_back(at++);
      (k < call_.carried ? carried_tensors : scanned_tensors)
          .push_back(k < call_.carried ? last_cotangent(k) : cotangents_[k]);
    }
    carried.insert(carried.end(), sums.begin(), sums.end());
    carried_tensors.insert(carried_tensors.end(), sums_tensors.begin(), sums_tensors.end());

    const Graph& derivative = interned_graph(split.backward);
    std::int32_t output = 0;
    std::vector<std::int32_t> sum_results;
    for (std::size_t i = 0; i < inputs; ++i) {
      if (!request_.whole.wanted[i]) continue;
      if (i < call_.carried) {
        results.push_back(output);
      } else if (i < closures) {
        slices.push_back(output);
      } else {
        const std::size_t seed = static_cast<std::size_t>(sums[sum_results.size()]);
        if (derivative.outputs[static_cast<std::size_t>(output)].value ==
            derivative.inputs[seed].value)
          unreached_.push_back(i);
        sum_results.push_back(output);
      }
      ++output;
    }
    results.insert(results.end(), sum_results.begin(), sum_results.end());
    results.insert(results.end(), slices.begin(), slices.end());

    ScanCall back;
    back.carried = carried.size();
    back.scanned = scanned.size();
    back.steps = call_.steps;
    back.is_reverse = !call_.is_reverse;
    back.draws = call_.draws;
    back.has_last_draws_first = !call_.has_last_draws_first;
    std::vector<std::int32_t> order = carried;
    order.insert(order.end(), scanned.begin(), scanned.end());
    order.insert(order.end(), closed.begin(), closed.end());
    back.body = rearranged(split.backward, order, results);
    Tensors operands = carried_tensors;
    operands.insert(operands.end(), scanned_tensors.begin(), scanned_tensors.end());
    operands.insert(operands.end(), closed_tensors.begin(), closed_tensors.end());
    return call_scan(back, operands, g_.numbers, Site::current());
  }

  const Grad& g_;
  ScanCall call_;
  Tensors operands_, outputs_, cotangents_;
  kernels::SplitRequest request_;
  std::vector<int> seed_of_;            // per output: the carried value it is, too; -1: none
  Tensors shared_;                      // per carried value: cotangents of such outputs
  std::vector<std::size_t> unreached_;  // inputs that no step reads
};

const Op& scan_op() {
  static const Op& op =
      define({.name = "scan",
              .kind = OpKind::kOpaque,
              .inputs = -1,
              .outputs = -1,
              .attributes = {{"outputs", AttrType::kInt},
                             {"body", AttrType::kGraph},
                             {"steps", AttrType::kInt},
                             {"carried", AttrType::kInt},
                             {"scanned", AttrType::kInt},
                             {"residuals", AttrType::kInt},
                             {"reverse", AttrType::kBool},
                             {"draws", AttrType::kInt},
                             {"last_draws_first", AttrType::kBool}},
              .type = type_of,
              .lowering = kernels::lower(kernels::OpaqueLowering{
                  .run = run,
                  .nanoseconds =
                      [](const Signature& s) {
                        return static_cast<double>(s.attr().integer(2)) *
                               subgraph_nanoseconds(interned_graph(s.attr().integer(1)));
                      },
                  .takes_halves = true,
                  .has_regions = true}),
              .gradient = [](const Grad& g) { return Backward(g).run(); },
              .saves_inputs = ~0u,
              .saves_outputs = ~0u,
              .accumulates = true,
              .mutates = {},
              .has_inplace = false});
  return op;
}
[[maybe_unused]] const Op& registered = scan_op();

bool is_on_tape(ArrayRef<Tensor> operands) {
  if (!grad_enabled()) return false;
  for (const Tensor& operand : operands)
    if (operand.impl()->requires_grad) return true;
  return false;
}

}  // namespace

std::optional<ScanCost> cost_to_unroll(const Op& op, const Attrs& attrs) {
  if (&op != &scan_op()) return std::nullopt;
  const ScanCall call = read(op, attrs);
  const Graph& body = interned_graph(call.body);
  const auto is_overwrite = [](const Node& node) {
    return node.op->lowering &&
           std::holds_alternative<kernels::OverwriteLowering>(node.op->lowering->how);
  };
  if (call.draws > 0 || call.steps == 0 || may_throw(body) ||
      std::any_of(body.nodes.begin(), body.nodes.end(), is_overwrite))
    return std::nullopt;
  return ScanCost{call.steps * static_cast<std::int64_t>(body.nodes.size()),
                  subgraph_nanoseconds(body)};
}

Tensors unroll_scan(const Signature& s, ArrayRef<Tensor> inputs) {
  const ScanCall call = read(s.op, s.attrs);
  const Graph& body = interned_graph(call.body);
  Tensors from(inputs.begin(), inputs.end());
  std::vector<Tensors> slices(body.outputs.size() - call.carried,
                              Tensors(static_cast<std::size_t>(call.steps)));
  for (std::int64_t step = 0; step < call.steps; ++step) {
    const std::int64_t at = call.is_reverse ? call.steps - 1 - step : step;
    for (std::size_t i = call.carried; i < call.carried + call.scanned; ++i)
      from[i] = select(inputs[i], 0, at);
    kernels::NodeValues values(body, from);
    for (const Node& node : body.nodes) {
      const Tensors operands = values.operands(node);
      const std::vector<Scalar> numbers = kernels::numbers_of(node, s.numbers);
      Tensors results(node.outputs.size());
      dispatch(Call{node.op, operands, &node.attrs, numbers, Site::current()}, results.data());
      values.finish(node, std::move(results));
    }
    for (std::size_t k = 0; k < body.outputs.size(); ++k) {
      const Tensor& result = values[body.outputs[k].value];
      if (k < call.carried)
        from[k] = result;
      else
        slices[k - call.carried][static_cast<std::size_t>(at)] = result;
    }
  }
  Tensors results(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(call.carried));
  for (const Tensors& each : slices) results.push_back(stack(each, 0));
  return results;
}

Tensors call_scan(ScanCall call, ArrayRef<Tensor> operands, ArrayRef<Scalar> numbers, Site site) {
  const std::size_t visible = interned_graph(call.body).outputs.size();
  if (call.residuals == 0 && is_on_tape(operands)) {
    kernels::SplitRequest request = request_of(call, operands.size());
    for (std::size_t i = call.carried; i < operands.size(); ++i)
      request.whole.wanted[i] = operands[i].impl()->requires_grad;
    const std::vector<Type> types = output_types(interned_graph(call.body));
    for (std::size_t k = call.carried; k < visible; ++k)
      request.whole.given[k] = is_floating(types[k].dtype);
    call.body = kernels::with_residuals(request, numbers);
    call.residuals = interned_graph(call.body).outputs.size() - visible;
  }
  const std::size_t count = interned_graph(call.body).outputs.size();
  const Attrs attrs = Attrs()
                          .add(static_cast<std::int64_t>(count))
                          .add(call.body)
                          .add(call.steps)
                          .add(static_cast<std::int64_t>(call.carried))
                          .add(static_cast<std::int64_t>(call.scanned))
                          .add(static_cast<std::int64_t>(call.residuals))
                          .add(std::int64_t{call.is_reverse})
                          .add(static_cast<std::int64_t>(call.draws))
                          .add(std::int64_t{call.has_last_draws_first});
  Tensors outputs(count);
  dispatch(Call{&scan_op(), operands, &attrs, numbers, site}, outputs.data());
  if (may_throw(interned_graph(call.body))) look_at(outputs);
  return outputs;
}

}  // namespace groove
