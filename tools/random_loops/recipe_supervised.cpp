// Drawn programs that learn from pairs: most of what the drawn choices are about.
#include <memory>

#include "tools/random_loops/child.h"
#include "tools/random_loops/recipe_loop.h"

namespace groove::random_loops {
namespace {

struct Rounded : autograd::Function<Rounded> {
  static Tensor forward(autograd::AutogradContext* context, Tensor x, double scale) {
    context->save_for_backward({x});
    context->saved_data["scale"] = scale;
    return groove::round(x * scale) / scale;
  }
  static autograd::tensor_list backward(autograd::AutogradContext* context,
                                        autograd::tensor_list gradients) {
    const auto x = context->get_saved_variables()[0];
    const double scale = context->saved_data["scale"].toDouble();
    return {gradients[0] * (x.abs() < scale).to(groove::kFloat), Tensor()};
  }
};

Tensor loss_of(const Recipe& recipe, const Tensor& out, const Tensor& y) {
  if (recipe.is_classifier) return nn::functional::cross_entropy(out, y);
  return groove::mse_loss(out, y);
}

void evaluate(Loop& loop, Network& net, const Batch& held_out) {
  const NoGradGuard no_grad;
  net->eval();
  const auto out = net(held_out.x);
  const auto loss = loss_of(loop.recipe, out, held_out.y).item<double>();
  std::fprintf(loop.log, "%d: held out %a\n", loop.step, loss);
  if (loop.recipe.is_classifier) {
    const auto right = out.argmax(1).eq(held_out.y).sum().item<std::int64_t>();
    std::fprintf(loop.log, "%d: right %lld\n", loop.step, static_cast<long long>(right));
  }
  net->train();
}

void be_patient(Loop& loop, double value) {
  if (value < loop.best * 0.999) {
    loop.best = value;
    loop.bad = 0;
    loop.best_parameters.clear();
    for (const Tensor& parameter : loop.parameters)
      loop.best_parameters.push_back(parameter.detach().clone());
  } else if (++loop.bad > 4 * loop.recipe.every) {
    loop.bad = 0;
    loop.best = value;
    loop.rate *= 0.5;
    for (auto& group : loop.optimizer.now().param_groups()) group.options().set_lr(loop.rate);
  }
}

// A copy of the network that a thread looks at while training goes on.
struct Evaluator {
  Network net;
  std::thread thread;
  double loss = 0;
  void start(const Recipe& recipe, const Network& of, const Batch& held_out) {
    {
      const NoGradGuard no_grad;
      const auto from = of->parameters(), to = net->parameters();
      for (std::size_t at = 0; at < to.size(); ++at) to[at].copy_(from[at]);
      net->eval();
    }
    thread = std::thread([this, &recipe, &held_out] {
      const NoGradGuard no_grad;
      loss = loss_of(recipe, net(held_out.x), held_out.y).item<double>();
      note_thread_end();
    });
  }
  void join(Loop& loop) {
    if (!thread.joinable()) return;
    thread.join();
    std::fprintf(loop.log, "%d: evaluator %a\n", loop.step, loss);
  }
};

std::int64_t columns_of(const Recipe& recipe) {
  const std::int64_t side = recipe.inputs <= 8 ? 8 : 12;
  return recipe.body == Body::kConvolution ? side * side
         : recipe.body == Body::kAttention ? std::min(recipe.inputs, 16)
                                           : recipe.inputs;
}
Network make_net(const Recipe& recipe) {
  return Network(recipe, columns_of(recipe), recipe.outputs, recipe.body);
}

void train(Loop& loop, Network net, bool is_alone) {
  const Recipe& recipe = loop.recipe;
  loop.make_optimizer(net->parameters(), 0.01);
  Source source(recipe, columns_of(recipe)), other(recipe, columns_of(recipe));
  const Batch held_out = other.next(1000, 16);
  const bool has_loader = is_alone && recipe.threads == Threads::kLoader;
  std::unique_ptr<Loader> loader;
  if (has_loader) loader = std::make_unique<Loader>(source, loop.steps, recipe.batch);
  Evaluator evaluator{nullptr, {}, 0};
  if (is_alone && recipe.threads == Threads::kEvaluator) evaluator.net = make_net(recipe);
  std::int64_t zeros = 0;
  while (loop.next()) {
    try {
      if (recipe.phases == Phases::kPretraining && loop.is_at(0.3))
        loop.make_optimizer(net->parameters(), 0.002);
      if (recipe.phases == Phases::kFreezing && loop.is_at(0.3)) {
        auto trained = net->parameters();
        for (int frozen = 0; frozen < 2; ++frozen) {
          trained.front().requires_grad_(false);
          trained.erase(trained.begin());
        }
        loop.make_optimizer(trained, 0.005);
      }
      if (recipe.phases == Phases::kSweep &&
          (loop.is_at(0.25) || loop.is_at(0.5) || loop.is_at(0.75))) {
        net = make_net(recipe);
        loop.make_optimizer(net->parameters(), 0.01 + 0.01 * loop.random.part());
      }
      const Batch batch = has_loader ? loader->next() : source.next(loop.step, loop.rows());
      Tensor x = batch.x;
      if (recipe.reads_labels && recipe.is_classifier) {
        const auto labels = batch.y.accessor<std::int64_t, 1>();
        for (std::int64_t row = 0; row < labels.size(0); ++row) zeros += labels[row] == 0;
      }
      if (recipe.control == Control::kCoin && loop.random.one_in(2)) x = x * 0.9 + 0.05;
      if (recipe.seed % 3 == 0) loop.may_throw(x);
      auto out = net(x);
      if (recipe.has_function) out = Rounded::apply(out, 16.0);
      if (recipe.has_hook && out.requires_grad())
        out.register_hook([](const Tensor& gradient) { return gradient.clamp(-1, 1); });
      if (recipe.seed % 3 != 0) loop.may_throw(out);
      auto loss = loss_of(recipe, out, batch.y);
      loop.update(loss);
      loop.read(loss);
      if (recipe.control == Control::kBranchOnLoss && loss.item<double>() > loop.best) {
        const NoGradGuard no_grad;
        for (const Tensor& parameter : loop.parameters) parameter.mul_(0.999);
        loop.best *= 1.01;
      } else if (recipe.control == Control::kBranchOnLoss) {
        loop.best = loss.item<double>();
      }
      if (recipe.control == Control::kPatience) be_patient(loop, loss.item<double>());
      if (recipe.control == Control::kEvaluation && loop.is_time()) evaluate(loop, net, held_out);
      if (is_alone && recipe.threads == Threads::kEvaluator && loop.is_time()) {
        evaluator.join(loop);
        evaluator.start(recipe, net, held_out);
      }
    } catch (const std::exception& error) {
      loop.caught(error);
    }
  }
  evaluator.join(loop);
  std::fprintf(loop.log, "zeros %lld\n", static_cast<long long>(zeros));
}

}  // namespace

void train_supervised(Loop& loop) {
  const Recipe& recipe = loop.recipe;
  Network net = make_net(recipe);
  if (recipe.threads != Threads::kTwoTrainers) return train(loop, net, true);
  // Both at the same time, with the same code; the second's lines follow the first's.
  std::FILE* const log = std::tmpfile();
  Loop second(recipe, loop.steps, log);
  second.is_first = false;
  std::thread other([&, own = make_net(recipe)] {
    train(second, own, false);
    note_thread_end();
  });
  train(loop, net, false);
  other.join();
  second.finish();
  std::rewind(log);
  char line[256];
  while (std::fgets(line, sizeof line, log)) std::fputs(line, loop.log);
  std::fclose(log);
  loop.errors += second.errors;
}

}  // namespace groove::random_loops
