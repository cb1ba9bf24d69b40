// Drawn programs that compute without a network or an optimizer: statistics, simulations, filters,
// chains; and two whose gradients are their own matter. What they print now and then is the loop's
// `every`.
#include <cmath>

#include "tools/random_loops/recipe_loop.h"

namespace groove::random_loops {
namespace {

void show(const Loop& loop, const char* what, const Tensor& value) {
  if (loop.is_time()) std::fprintf(loop.log, "%d: %s %a\n", loop.step, what, value.item<double>());
}

// Lloyd's algorithm, until the centres rest.
void means(Loop& loop) {
  const std::int64_t count = 8 * loop.recipe.batch, groups = 2 + loop.recipe.layers;
  const auto x = groove::randn({count, loop.recipe.inputs});
  auto centres = x.narrow(0, 0, groups).clone();
  while (loop.next()) {
    const auto distances = (x.unsqueeze(1) - centres.unsqueeze(0)).square().sum(2);
    const auto chosen = groove::one_hot(distances.argmin(1), groups).to(groove::kFloat);
    const auto next = chosen.t().mm(x) / chosen.sum(0).clamp_min(1).unsqueeze(1);
    const double moved = (next - centres).abs().max().item<double>();
    centres = moved < 1e-4 ? x.index_select(0, groove::randperm(count).narrow(0, 0, groups)) : next;
    show(loop, "spread", centres.square().mean());
  }
}

// A mixture of normal distributions, by expectation and maximisation.
void mixture(Loop& loop) {
  const std::int64_t half = 2 * loop.recipe.batch;
  const auto x = groove::cat({groove::randn({half, 2}), groove::randn({half, 2}) + 4});
  auto mean = groove::randn({2, 2}), variance = groove::ones({2, 2}),
       share = groove::full({2}, 0.5);
  while (loop.next()) {
    const auto apart = (x.unsqueeze(1) - mean.unsqueeze(0)).square();
    const auto logs =
        -0.5 * ((apart / variance.unsqueeze(0)).sum(2) + variance.log().sum(1)) + share.log();
    const auto weights = groove::softmax(logs, 1);
    const auto sizes = weights.sum(0);
    mean = weights.t().mm(x) / sizes.unsqueeze(1);
    const auto again = (x.unsqueeze(1) - mean.unsqueeze(0)).square();
    variance = (weights.unsqueeze(2) * again).sum(0) / sizes.unsqueeze(1) + 1e-3;
    share = sizes / (2 * half);
    show(loop, "likelihood", groove::logsumexp(logs, {1}).mean());
    if (loop.step % 50 == 49) mean = mean + 0.5 * groove::randn({2, 2});
  }
}

// The likelihood of sequences of any length under a hidden Markov model.
void chain(Loop& loop) {
  const std::int64_t states = 2 + loop.recipe.layers, symbols = 7;
  const auto moves = groove::softmax(groove::randn({states, states}), 1);
  const auto shows = groove::softmax(groove::randn({states, symbols}), 1);
  while (loop.next()) {
    const int length = 5 + loop.random.below(loop.recipe.every);
    auto alpha = shows.select(1, loop.random.below(symbols)) / states;
    auto likelihood = groove::zeros({});
    for (int t = 1; t < length; ++t) {
      alpha = groove::mv(moves.t(), alpha) * shows.select(1, loop.random.below(symbols));
      const auto scale = alpha.sum();
      alpha = alpha / scale;
      likelihood = likelihood + scale.log();
    }
    std::fprintf(loop.log, "%d: %a\n", loop.step, likelihood.item<double>());
  }
}

// A Kalman filter of a point that moves in a plane; some observations are missing.
void filter(Loop& loop) {
  auto moves = groove::eye(4);
  moves[0][2] = 0.1;
  moves[1][3] = 0.1;
  const auto sees = groove::eye(4).narrow(0, 0, 2).clone();
  const auto noise = groove::eye(4) * 0.01, error = groove::eye(2) * 0.1;
  auto state = groove::zeros({4}), spread = groove::eye(4);
  while (loop.next()) {
    state = groove::mv(moves, state);
    spread = moves.mm(spread).mm(moves.t()) + noise;
    if (loop.random.below(loop.recipe.every) == 0) continue;
    const double angle = 0.05 * loop.step;
    const auto seen = groove::tensor({std::cos(angle), std::sin(angle)}).to(groove::kFloat) +
                      0.1 * groove::randn({2});
    const auto s = sees.mm(spread).mm(sees.t()) + error;
    const auto determinant = s[0][0] * s[1][1] - s[0][1] * s[1][0];
    const auto inverse =
        groove::stack({groove::stack({s[1][1], -s[0][1]}), groove::stack({-s[1][0], s[0][0]})}) /
        determinant;
    const auto gain = spread.mm(sees.t()).mm(inverse);
    state = state + groove::mv(gain, seen - groove::mv(sees, state));
    spread = (groove::eye(4) - gain.mm(sees)).mm(spread);
    show(loop, "spread", spread.diag().sum());
  }
}

// Heat in a plate, by slices, and bodies that attract each other.
void simulation(Loop& loop) {
  const std::int64_t side = 2 + std::min(loop.recipe.width, 64), bodies = 4 + loop.recipe.inputs;
  auto heat = groove::zeros({side, side});
  heat.slice(0, 1, 4).fill_(1);
  auto position = groove::randn({bodies, 3}), velocity = groove::zeros({bodies, 3});
  const auto mass = groove::rand({bodies}) + 0.5;
  const bool is_plate = loop.recipe.outputs > 2;
  while (loop.next()) {
    if (is_plate) {
      auto inner = heat.slice(0, 1, -1).slice(1, 1, -1);
      const auto flow = heat.slice(0, 0, -2).slice(1, 1, -1) + heat.slice(0, 2).slice(1, 1, -1) +
                        heat.slice(0, 1, -1).slice(1, 0, -2) + heat.slice(0, 1, -1).slice(1, 2) -
                        4 * inner;
      inner.add_(flow, 0.1);
      show(loop, "heat", heat.sum());
    } else {
      const auto apart = position.unsqueeze(0) - position.unsqueeze(1);
      const auto square = apart.square().sum(2) + 0.01;
      const auto pull = (apart * (mass / (square * square.sqrt())).unsqueeze(2)).sum(1);
      velocity = velocity + 0.001 * pull;
      position = position + 0.001 * velocity;
      show(loop, "energy", (0.5 * mass * velocity.square().sum(1)).sum());
    }
  }
}

// A chain of states that are taken or refused by chance, as Metropolis and Hastings do.
void sampler(Loop& loop) {
  const std::int64_t size = loop.recipe.inputs;
  const auto log_density = [&](const Tensor& x) {
    return -0.5 * (x.square() + (3 * x).sin()).sum();
  };
  auto x = groove::randn({size}), total = groove::zeros({size});
  auto now = log_density(x);
  std::int64_t taken = 0;
  while (loop.next()) {
    const auto proposed = x + 0.5 * groove::randn({size});
    const auto there = log_density(proposed);
    if (std::log(loop.random.part() + 1e-9) < (there - now).item<double>()) {
      x = proposed;
      now = there;
      ++taken;
    }
    total = total + x;
    show(loop, "mean", total.mean());
  }
  std::fprintf(loop.log, "%lld taken\n", static_cast<long long>(taken));
}

// A map that organises itself.
void map(Loop& loop) {
  const auto places =
      groove::stack({groove::arange(8).repeat_interleave(8), groove::arange(8).repeat({8})}, 1)
          .to(groove::kFloat);
  auto weights = groove::rand({64, loop.recipe.inputs});
  while (loop.next()) {
    const auto x = groove::rand({loop.recipe.inputs});
    const auto best = (weights - x).square().sum(1).argmin();
    const auto apart = (places - places.index_select(0, best.unsqueeze(0))).square().sum(1);
    const double radius = 3 * std::exp(-loop.step / 400.0) + 0.3;
    const auto pull = (-apart / (2 * radius * radius)).exp().unsqueeze(1) * 0.1;
    weights += pull * (x - weights);
    show(loop, "mean", weights.mean());
  }
}

// Arms with rewards; values are elements that are written one by one.
void bandit(Loop& loop) {
  const int arms = 4 + loop.recipe.outputs;
  auto values = groove::zeros({arms}), counts = groove::zeros({arms});
  while (loop.next()) {
    std::int64_t arm = loop.random.below(arms);
    if (!loop.random.one_in(8))
      arm = (values + 0.1 * groove::rand({arms})).argmax().item<std::int64_t>();
    const double reward = 0.1 * static_cast<double>(arm) + 0.05 * loop.random.part();
    counts[arm] += 1;
    values[arm] += (reward - values[arm]) / counts[arm];
    show(loop, "best", values.max());
  }
}

}  // namespace

void compute_numbers(Loop& loop) {
  static constexpr void (*all[])(Loop&) = {means,      mixture, chain, filter,
                                           simulation, sampler, map,   bandit};
  all[loop.recipe.seed / 5 % std::size(all)](loop);
}

// A network that solves u'' = -u with u(0) = 1: derivatives of its output are in the loss.
void train_derivatives(Loop& loop) {
  const std::int64_t width = loop.recipe.width, batch = loop.recipe.batch;
  nn::Sequential network(nn::Linear(1, width), nn::Tanh(), nn::Linear(width, width), nn::Tanh(),
                         nn::Linear(width, 1));
  loop.make_optimizer(network->parameters(), 0.003);
  while (loop.next()) {
    const auto x = (groove::rand({batch, 1}) * 3.0).requires_grad_();
    const auto u = network->forward(x);
    const auto first = autograd::grad({u}, {x}, {groove::ones_like(u)}, true, true)[0];
    const auto second = autograd::grad({first}, {x}, {groove::ones_like(first)}, true, true)[0];
    const auto start = network->forward(groove::zeros({1, 1}));
    const auto loss = (second + u).square().mean() + (start - 1).square().mean();
    loop.update(loss);
    loop.read(loss);
  }
}

// Vectors of words from their neighbours and from others drawn at random.
void train_words(Loop& loop) {
  const std::int64_t words = 50 + 4 * loop.recipe.width, batch = loop.recipe.batch, others = 5;
  nn::Embedding inner(words, 16), outer(words, 16);
  loop.make_optimizer({inner->weight, outer->weight}, 0.01);
  while (loop.next()) {
    std::vector<std::int64_t> centre, near, far;
    for (std::int64_t at = 0; at < batch; ++at) {
      centre.push_back(loop.random.below(static_cast<int>(words)));
      near.push_back((centre.back() + 1) % words);
      for (std::int64_t other = 0; other < others; ++other)
        far.push_back(loop.random.below(static_cast<int>(words)));
    }
    const auto x = inner(groove::tensor(centre)), y = outer(groove::tensor(near));
    const auto z = outer(groove::tensor(far).view({batch, others}));
    const auto alike = nn::functional::softplus(-(x * y).sum(1));
    const auto apart = nn::functional::softplus(groove::bmm(z, x.unsqueeze(2)).squeeze(2)).sum(1);
    const auto loss = (alike + apart).mean();
    loop.update(loss);
    loop.read(loss);
  }
}

}  // namespace groove::random_loops
