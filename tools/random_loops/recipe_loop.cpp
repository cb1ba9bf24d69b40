// What stands around the plain step.
#include "tools/random_loops/recipe_loop.h"

#include <stdexcept>

#include "tools/random_loops/child.h"

namespace groove::random_loops {

bool Loop::next() {
  ++step;
  if (is_first && step == steps / 2) note_half();
  return step < steps;
}

std::int64_t Loop::rows() {
  const bool is_ragged = recipe.control == Control::kRaggedBatches;
  return is_ragged && step % 8 == 7 ? std::max(2, recipe.batch * 5 / 8) : recipe.batch;
}

void Loop::may_throw(const Tensor& x) {
  if (recipe.control != Control::kRetry || !is_time()) return;
  if (recipe.seed % 2 == 0) throw std::runtime_error("a sample that cannot be read");
  groove::matmul(x, groove::zeros({x.size(1) + 1, 2}));
}

void Loop::make_optimizer(std::vector<Tensor> trained, double with_rate) {
  parameters = std::move(trained);
  rate = with_rate;
  optimizer.make(recipe.optimizer, parameters, rate);  // there is one for SGD by hand, not used
  averages.clear();
  if (recipe.averages)
    for (const Tensor& parameter : parameters) averages.push_back(parameter.detach().clone());
}

void Loop::step_by_hand() {
  const NoGradGuard no_grad;
  for (const Tensor& parameter : parameters)
    if (parameter.grad().defined()) parameter.sub_(parameter.grad() * rate);
}

void Loop::update(const Tensor& loss) {
  const bool is_by_hand = recipe.optimizer == kSgdByHand;
  const int parts = recipe.control == Control::kAccumulation ? 2 + recipe.every % 3 : 1;
  if (micro_steps == 0) {
    if (!is_by_hand) {
      optimizer.now().zero_grad();
    } else {
      for (const Tensor& parameter : parameters)
        if (parameter.grad().defined()) parameter.mutable_grad().zero_();
    }
  }
  if (parts > 1)
    (loss / parts).backward();
  else
    loss.backward();
  if (++micro_steps < parts) return;
  micro_steps = 0;
  if (recipe.clips) nn::utils::clip_grad_norm_(parameters, 1.0);
  if (is_by_hand)
    step_by_hand();
  else
    optimizer.now().step();
  if (recipe.has_schedule && is_time()) {
    rate *= 0.97;
    for (auto& group : optimizer.now().param_groups()) group.options().set_lr(rate);
  }
  if (recipe.averages) {
    const NoGradGuard no_grad;
    for (std::size_t at = 0; at < averages.size(); ++at)
      averages[at].mul_(0.99).add_(parameters[at], 0.01);
  }
}

void Loop::read(const Tensor& loss) {
  switch (recipe.reads) {
    case Reads::kEach:
      std::fprintf(log, "%d: %a\n", step, loss.item<double>());
      break;
    case Reads::kSome:
      if (step % 10 == 0) std::fprintf(log, "%d: %a\n", step, loss.item<double>());
      break;
    case Reads::kRare:
      if (step % 200 == 199) std::fprintf(log, "%d: %a\n", step, loss.item<double>());
      break;
    case Reads::kRunning:
      running = running.defined() ? running + loss.detach() : loss.detach();
      if (step % 20 == 19) {
        std::fprintf(log, "%d: mean %a\n", step, running.item<double>() / 20);
        running = groove::zeros({});
      }
      break;
  }
}

void Loop::caught(const std::exception& error) {
  ++errors;
  micro_steps = 0;
  std::fprintf(log, "%d: %s\n", step, error.what());
}

void Loop::finish() {
  for (const auto* all : {&parameters, &averages, &best_parameters}) {
    for (const Tensor& each : *all) {
      std::fprintf(log, "%016llx", static_cast<unsigned long long>(hash_of(each, Site::current())));
      if (all == &parameters)
        std::fprintf(log, " %016llx",
                     static_cast<unsigned long long>(hash_of(each.grad(), Site::current())));
      std::fprintf(log, "\n");
    }
  }
  if (running.defined()) std::fprintf(log, "running %a\n", running.item<double>());
}

std::int64_t run(const Recipe& recipe, int steps, std::FILE* log) {
  manual_seed(recipe.seed);
  Loop loop(recipe, steps, log);
  switch (recipe.learning) {
    case Learning::kSupervised:
      train_supervised(loop);
      break;
    case Learning::kAutoencoder:
      train_autoencoder(loop);
      break;
    case Learning::kGan:
      train_pair(loop);
      break;
    case Learning::kSequences:
      train_sequences(loop);
      break;
    case Learning::kText:
      train_text(loop);
      break;
    case Learning::kQValues:
      train_q_values(loop);
      break;
    case Learning::kEpisodes:
      train_episodes(loop);
      break;
    case Learning::kSolver:
      train_solver(loop);
      break;
    case Learning::kExperts:
      train_experts(loop);
      break;
    case Learning::kNumbers:
      compute_numbers(loop);
      break;
    case Learning::kDerivatives:
      train_derivatives(loop);
      break;
    case Learning::kWords:
      train_words(loop);
      break;
  }
  loop.finish();
  return loop.errors;
}

}  // namespace groove::random_loops
