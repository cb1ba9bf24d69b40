// Loops that ask about results after a backward has used up their history: what they are called,
// and for which gradients.
#include <groove/groove.h>

#include "src/core/autograd_meta.h"
#include "tests/tracer/loop_log.h"
#include "tests/tracer/loops.h"

namespace groove::testing {
namespace {

void ask_names(const std::vector<Tensor>& results, Log& log) {
  for (const Tensor& result : results) {
    const std::shared_ptr<autograd::Node> node = result.grad_fn();
    log.line(node ? node->name() : "none");
    log.integer(result.output_nr());
    log.integer(result.is_leaf());
    log.integer(result.requires_grad());
    for (const Tensor& other : results) log.integer(other.grad_fn() == node);
  }
}

// Both with and without leave to be unused.
void ask_gradients(const std::vector<Tensor>& results, const std::vector<Tensor>& inputs,
                   Log& log) {
  std::vector<Tensor> cotangents;
  for (const Tensor& result : results) cotangents.push_back(groove::ones_like(result));
  for (const bool allow_unused : {false, true}) {
    try {
      for (const Tensor& gradient :
           autograd::grad(results, inputs, cotangents, true, false, allow_unused))
        log.tensor(gradient);
    } catch (const Error& error) {
      log.line(error.what());
    }
  }
}

struct Step {
  Tensor product, largest, place, squares, half, sum, loss;
  explicit Step(const Tensor& weight, const Tensor& bias) {
    product = weight * groove::randn({3, 4});
    std::tie(largest, place) = product.exp().max(1);
    squares = (weight * bias).square();
    half = squares + 0.5;
    sum = largest.sum() + half.mean();
    loss = sum.square();
  }
  std::vector<Tensor> results() const { return {product, largest, squares, half, sum, loss}; }
};

struct Net {
  Tensor weight = groove::randn({3, 4}).requires_grad_(),
         bias = groove::randn({4}).requires_grad_();
  optim::SGD optimizer{{weight, bias}, optim::SGDOptions(0.05).momentum(0.5)};
  Step step() {
    optimizer.zero_grad();
    Step made(weight, bias);
    made.loss.backward();
    optimizer.step();
    return made;
  }
  // Of which nothing is kept but the loss.
  Tensor loss() {
    optimizer.zero_grad();
    const Tensor made = ((weight * groove::randn({3, 4})).tanh() * bias).square().mean();
    made.backward();
    optimizer.step();
    return made;
  }
};

void names_after_each_step(int steps, Log& log) {
  Net net;
  for (int i = 0; i < steps; ++i) {
    const Step made = net.step();
    ask_names(made.results(), log);
    log.number(made.loss.item<double>());
  }
  log.parameters({net.weight, net.bias});
}

void names_once_in_a_while(int steps, Log& log) {
  Net net;
  for (int i = 0; i < steps; ++i) {
    const Step made = net.step();
    if (i % 3 == 2) ask_names(made.results(), log);
    log.number(made.loss.item<double>());
  }
  log.parameters({net.weight, net.bias});
}

// Each run has nodes of its own.
void names_of_what_was_kept(int steps, Log& log) {
  Net net;
  std::vector<Tensor> kept;
  for (int i = 0; i < 2 * steps; ++i) {
    const Tensor loss = net.loss();
    log.number(loss.item<double>());
    if (i % 4 != 2) kept.push_back(loss);
    if (i % 7 == 6) ask_names({loss}, log);
    if (i % 9 == 8) ask_gradients({loss, loss * loss}, {loss}, log);
  }
  ask_names(kept, log);
  for (const Tensor& loss : kept) ask_gradients({kept[4], loss, kept[7]}, {loss, kept[7]}, log);
}

// Several results of one operator, a view that was written in place and its base, a custom
// function's.
struct Twice : autograd::Function<Twice> {
  static Tensor forward(autograd::AutogradContext* context, const Tensor& x) {
    context->save_for_backward({x});
    return x * 2.0;
  }
  static autograd::variable_list backward(autograd::AutogradContext*,
                                          const autograd::variable_list& gradients) {
    return {gradients[0] * 2.0};
  }
};

void names_of_odd_results(int steps, Log& log) {
  auto weight = groove::randn({4, 6}).requires_grad_();
  for (int i = 0; i < steps; ++i) {
    const auto parts = groove::tanh(weight * groove::randn({4, 6})).chunk(2, 1);
    auto written = weight * 1.5;
    auto row = written.select(0, 1);
    row.mul_(row.sigmoid());
    auto sorted = weight.sort(1);
    auto twice = Twice::apply(parts[1] * parts[0]);
    auto loss = twice.sum() + written.square().sum() + (std::get<0>(sorted) * written).sum();
    loss.backward();
    ask_names({parts[0], parts[1], written, row, std::get<0>(sorted), twice, loss}, log);
    log.number(loss.item<double>());
    NoGradGuard guard;
    weight.sub_(weight.grad(), 0.01);
    weight.mutable_grad() = Tensor();
  }
  log.parameter(weight);
}

void gradients_of_themselves(int steps, Log& log) {
  Net net;
  for (int i = 0; i < steps; ++i) {
    const Step made = net.step();
    log.number(made.loss.item<double>());
    for (const Tensor& result : made.results()) ask_gradients({result}, {result}, log);
  }
}

void gradients_of_one_another(int steps, Log& log) {
  Net net;
  std::vector<Step> kept;
  for (int i = 0; i < steps; ++i) {
    kept.push_back(net.step());
    log.number(kept.back().loss.item<double>());
  }
  const jit::EagerGuard guard;
  std::vector<Tensor> all = {net.weight, net.bias};
  for (const Step& made : kept)
    for (const Tensor& result : made.results()) all.push_back(result);
  for (std::size_t i = 2; i < all.size(); i += i < 8 || i + 7 > all.size() ? 1 : 5)
    for (std::size_t k = 0; k < all.size(); k += k < 8 || k + 7 > all.size() ? 1 : 5) {
      ask_gradients({all[i]}, {all[k]}, log);
      ask_gradients({all[i], all[7]}, {all[k]}, log);
      ask_gradients({all[i]}, {all[i], all[k]}, log);
      ask_gradients({all[i] + all[i], all[i]}, {all[i]}, log);
    }
}

// What is used up leads to an input with a history, and to a result of which a part is left.
void gradients_past_what_is_used_up(int steps, Log& log) {
  auto weight = groove::randn({3}).requires_grad_(), bias = groove::randn({3}).requires_grad_();
  std::vector<std::vector<Tensor>> kept;
  for (int i = 0; i < steps; ++i) {
    const Tensor carried = weight * groove::randn({3});
    log.number(carried.sum().item<double>());
    const Tensor middle = carried + bias;
    const Tensor squares = middle.square();
    const Tensor loss = squares.sum(), other = squares + middle;
    loss.backward();
    log.number(loss.item<double>());
    kept.push_back({carried, middle, squares, loss, other});
    log.tensor(weight.grad());
    weight.mutable_grad() = bias.mutable_grad() = Tensor();
  }
  const jit::EagerGuard guard;
  for (const std::vector<Tensor>& results : kept) {
    ask_names(results, log);
    std::vector<Tensor> all = results;
    all.insert(all.end(), {weight, bias});
    for (const Tensor& of : results)
      for (const Tensor& input : all) {
        ask_gradients({of}, {input}, log);
        ask_gradients({of, results[2]}, {results[2], input}, log);
      }
  }
}

// A run of which less is kept than of the one that was recorded.
void gradients_past_what_is_dropped(int steps, Log& log) {
  auto weight = groove::randn({3}).requires_grad_(), bias = groove::randn({3}).requires_grad_();
  optim::SGD optimizer({weight, bias}, optim::SGDOptions(0.05));
  std::vector<std::vector<Tensor>> kept;
  for (int i = 0; i < steps; ++i) {
    optimizer.zero_grad();
    Tensor middle = weight + bias;
    Tensor squares = middle.square();
    const Tensor loss = squares.sum();
    loss.backward();
    if (i % 5 == 4) squares = Tensor();
    if (i % 3 == 2 && i > 2) middle = Tensor();
    optimizer.step();
    log.number(loss.item<double>());
    kept.push_back({loss});
    if (middle.defined()) kept.back().push_back(middle);
    if (squares.defined()) kept.back().push_back(squares);
  }
  const jit::EagerGuard guard;
  for (const std::vector<Tensor>& results : kept) {
    ask_names(results, log);
    for (const Tensor& of : results) {
      ask_gradients({of}, {weight}, log);
      ask_gradients({of}, {bias, of}, log);
      ask_gradients({of, results[0]}, {results.back()}, log);
    }
  }
}

// A result's hook has part in each of its gradients, also in the one with respect to itself.
void hooks_of_what_is_used_up(int steps, Log& log) {
  auto weight = groove::randn({3}).requires_grad_();
  std::vector<Tensor> kept;
  double scale = 2;
  for (int i = 0; i < steps; ++i) {
    const Tensor middle = weight * groove::randn({3});
    middle.register_hook([&](const Tensor& gradient) {
      log.number(gradient.sum().item<double>());
      return gradient * scale;
    });
    const Tensor loss = middle.square().sum();
    loss.register_hook([&](const Tensor& gradient) { log.number(gradient.item<double>()); });
    loss.backward();
    log.tensor(weight.grad());
    weight.mutable_grad() = Tensor();
    log.number(loss.item<double>());
    if (i % 3 == 1) ask_gradients({middle}, {middle}, log);
    if (i % 4 == 3) ask_gradients({loss}, {loss}, log);
    if (i % 4 == 2) ask_names({middle, loss}, log);
    kept.push_back(middle);
    kept.push_back(loss);
  }
  scale = 3;
  for (const Tensor& result : kept) ask_gradients({result}, {result}, log);
}

// A result that was looked at in the midst of a run has no history yet, but a name.
void names_after_a_look(int steps, Log& log) {
  auto weight = groove::randn({3}).requires_grad_();
  for (int i = 0; i < steps; ++i) {
    const Tensor middle = weight * groove::randn({3});
    const Tensor half = middle.square() * 0.5;
    log.number(half[1].item<double>());
    if (i % 5 == 4) ask_names({middle, half}, log);
    const Tensor loss = half.sum() + middle.mean();
    log.number(loss.item<double>());
    if (i % 7 == 6) ask_names({half, loss}, log);
    loss.backward();
    log.tensor(weight.grad());
    weight.mutable_grad() = Tensor();
  }
}

// … also in that of one that was kept, long after the iteration that hung it there.
void hooks_of_what_was_kept(int steps, Log& log) {
  auto weight = groove::randn({3}).requires_grad_();
  optim::SGD optimizer({weight}, optim::SGDOptions(0.05));
  std::vector<Tensor> kept;
  double scale = 2;
  for (int i = 0; i < steps; ++i) {
    optimizer.zero_grad();
    const Tensor middle = weight * groove::randn({3});
    middle.register_hook([&](const Tensor& gradient) { return gradient * scale; });
    const Tensor loss = middle.square().sum();
    loss.backward();
    optimizer.step();
    if (i % 2 == 1) kept.push_back(middle);
  }
  scale = 3;
  const jit::EagerGuard guard;
  for (const Tensor& result : kept) {
    ask_gradients({result}, {result}, log);
    ask_gradients({result}, {weight}, log);
    ask_names({result}, log);
  }
  log.parameter(weight);
}

// A total of what was used up is no more used up than eager mode says.
void sums_of_what_is_used_up(int steps, Log& log) {
  Net net;
  Tensor total = groove::zeros({}), added = groove::zeros({});
  for (int i = 0; i < steps; ++i) {
    const Step made = net.step();
    total = total + made.loss * 0.5;
    added = added + made.loss;
    log.number(total.item<double>());
    if (i % 4 == 3) {
      ask_gradients({total}, {made.loss}, log);
      ask_gradients({added}, {made.loss}, log);
      ask_gradients({added, made.loss}, {made.loss, total}, log);
      ask_gradients({added}, {net.bias}, log);
      ask_names({total, added, made.loss}, log);
    }
  }
}

}  // namespace

const std::vector<Loop>& used_up_loops() {
  static const std::vector<Loop>& all = *new std::vector<Loop>{
      {"names_after_each_step", names_after_each_step},
      {"names_once_in_a_while", names_once_in_a_while},
      {"names_of_what_was_kept", names_of_what_was_kept},
      {"names_of_odd_results", names_of_odd_results},
      {"gradients_of_themselves", gradients_of_themselves},
      {"gradients_of_one_another", gradients_of_one_another},
      {"gradients_past_what_is_used_up", gradients_past_what_is_used_up},
      {"gradients_past_what_is_dropped", gradients_past_what_is_dropped},
      {"hooks_of_what_is_used_up", hooks_of_what_is_used_up},
      {"names_after_a_look", names_after_a_look},
      {"hooks_of_what_was_kept", hooks_of_what_was_kept},
      {"sums_of_what_is_used_up", sums_of_what_is_used_up},
  };
  return all;
}

}  // namespace groove::testing
