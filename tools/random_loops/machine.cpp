// The interpreter of drawn programs.
#include "tools/random_loops/machine.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <sstream>
#include <string>
#include <thread>

#include "tools/random_loops/child.h"

namespace groove::random_loops {
namespace {

// Every call of every statement has a place of its own, as if it stood in a source file.
struct Place {
  const char *file, *function;
  std::uint_least32_t line, column;
};
Site place(int line, int column) {
  static const auto places = [] {
    std::vector<Place> all;
    for (int at = 0; at < kPlaces * kPlaces; ++at)
      all.push_back({"program.cpp", "main", static_cast<std::uint_least32_t>(at / kPlaces),
                     static_cast<std::uint_least32_t>(at % kPlaces)});
    return all;
  }();
  return Site::current(
      &places[static_cast<std::size_t>(line % kPlaces * kPlaces + column % kPlaces)]);
}

// Every NaN counts as the same.
std::uint32_t bits_of(float number) {
  return std::isnan(number) ? 0x7FC00000u : std::bit_cast<std::uint32_t>(number);
}
std::uint64_t bits_of(double number) {
  return std::bit_cast<std::uint64_t>(std::isnan(number) ? NAN : number);
}

// Lines of the frame around the drawn statements.
constexpr int kSetUp = 0, kHead = 1, kDump = 2;

}  // namespace

std::uint64_t hash_of(const Tensor& tensor, const Site& site) {
  if (!tensor.defined()) return 0;
  if (is_complex(tensor.scalar_type()))
    return hash_of(groove::view_as_real({tensor.detach(site), site}), site);
  const auto flat = tensor.detach(site).contiguous(site);
  std::uint64_t hash = 1469598103934665603u;
  const auto mix = [&](std::uint64_t value) { hash = (hash ^ value) * 1099511628211u; };
  for (const std::int64_t size : flat.sizes()) mix(static_cast<std::uint64_t>(size));
  const auto mix_numbers = [&]<typename Number>(const Number* data) {
    for (std::int64_t e = 0; e < flat.numel(); ++e) mix(bits_of(data[e]));
  };
  if (flat.scalar_type() == kFloat) {
    mix_numbers(flat.const_data_ptr<float>(site));
  } else if (flat.scalar_type() == kDouble) {
    mix_numbers(flat.const_data_ptr<double>(site));
  } else {
    const auto* const data = static_cast<const unsigned char*>(flat.const_data_ptr(site));
    for (std::size_t e = 0; e < flat.nbytes(); ++e) mix(data[e]);
  }
  return hash;
}

Step::Step(Machine& machine, const Statement& statement, int iteration)
    : m(machine),
      s(statement),
      a(m.values[s.a]),
      b(m.values[s.b]),
      c(m.values[s.c]),
      w(m.values[kValues + s.w]),
      k(m.values[kValues + kAliases + s.k]),
      p(m.parameters[s.p]),
      q(m.parameters[s.q]),
      h(m.histories[s.h]),
      g(m.histories[s.g]),
      r(s.r < kValues + kAliases + kBlobs ? m.values[s.r]
        : s.r < kValues + kAliases + kBlobs + kHistories
            ? m.histories[s.r - kValues - kAliases - kBlobs]
            : m.parameters[s.r - kValues - kAliases - kBlobs - kHistories]),
      opt(m.optimizers[s.o].now()),
      net(*m.models[s.m]),
      n(s.n % m.n),
      j(s.j % m.n),
      size(m.n),
      x(s.x),
      i(iteration) {}

Site Step::at() { return place(s.number, ++calls_); }

void Step::add_loss(const Tensor& more) { m.loss = m.loss.add(more, 1, at()); }

void Step::show(const char* what, double value) {
  std::fprintf(m.log, "%d:%d %s %a\n", s.number, i, what, std::isnan(value) ? NAN : value);
}

void Step::show(const Tensor& tensor) {
  std::fprintf(m.log, "%d:%d %016llx\n", s.number, i,
               static_cast<unsigned long long>(hash_of(tensor, at())));
}

Machine::Machine(const Program& drawn, std::FILE* to) : program(drawn), log(to), n(drawn.size) {
  const Site site = place(kSetUp, 0);
  manual_seed(program.seed);
  for (int v = 0; v < kValues + kAliases; ++v) values.push_back(groove::randn({n, n}, {}, site));
  for (int b = 0; b < kBlobs + kParameters; ++b) {
    memory.emplace_back();
    for (std::int64_t e = 0; e < n * n; ++e)
      memory.back().push_back(static_cast<float>((e * 13 + b) % 17) * 0.1f - 0.8f);
  }
  for (int b = 0; b < kBlobs; ++b)
    values.push_back(
        groove::from_blob(memory[static_cast<std::size_t>(b)].data(), {n, n}, {}, site));
  for (int b = 0; b < kBlobs; ++b) {
    wide.push_back(values[b].to(kDouble, false, false, site));
    whole.push_back(values[b].mul(5, site).to(kLong, false, false, site));
  }
  const bool has_complexes = std::ranges::any_of(
      program.body, [](const Statement& s) { return s.rule.theme == Theme::kComplex; });
  for (int b = 0; has_complexes && b < kBlobs; ++b)
    complexes.push_back(groove::complex({values[b], site}, values[b + 1]));
  for (int p = 0; p < kParameters; ++p)
    parameters.push_back(groove::randn({n, n}, {}, site).mul(0.5, site).requires_grad_(true, site));
  for (int h = 0; h < kHistories; ++h) histories.push_back(groove::zeros({n, n}, {}, site));
  for (Tensor& leaf : leaves) leaf = groove::randn({n, n}, {}, site).requires_grad_(true, site);
  base = groove::randn({2 * n * n}, {}, site);
  loss = groove::zeros({}, {}, site);
  for (const int kind : program.models)
    models.push_back(std::make_unique<Model>(kind, static_cast<int>(n)));
}

void Machine::begin_iteration(int iteration) {
  GradMode::set_enabled(true);
  if (iteration == program.length / 2) note_half();
  loss = groove::zeros({}, {}, place(kHead, 1));
  for (int h = 0; h < kHistories; ++h) histories[h] = values[h].clone(place(kHead, 2 + h));
  if (kept.size() > 40) kept.pop_front();
  if (iteration % program.dump_every == 0) dump(iteration);
}

bool Machine::holds(const Statement& statement, int i) {
  const Condition& when = statement.when;
  switch (when.kind) {
    case Condition::kAlways:
      return true;
    case Condition::kEach:
      return i % when.period == when.phase;
    case Condition::kPart:
      return i % when.period < when.phase;
    case Condition::kOnce:
      return i == when.phase;
    case Condition::kFrom:
      return i >= when.phase;
    case Condition::kUntil:
      return i < when.phase;
    case Condition::kValue: {
      const int line = statement.number;
      const auto value = values[statement.b].mean(place(line, kPlaces - 1));
      return value.item<double>(place(line, kPlaces - 2)) < when.bound;
    }
  }
  return true;
}

void Machine::step(const Statement& statement, int iteration) {
  try {
    if (!holds(statement, iteration)) return;
    Step step(*this, statement, iteration);
    statement.rule.run(step);
    if (program.is_clamped && statement.rule.phase == Phase::kValues) {
      if (std::strncmp(statement.rule.text, "$a = ", 5) == 0)
        step.a = step.a.clamp(-3, 3, place(statement.number, kPlaces - 3));
    } else if (statement.rule.phase == Phase::kValues) {
      step.a.clamp_(-3, 3, place(statement.number, kPlaces - 3));
    }
  } catch (const std::exception& error) {
    ++errors;
    std::fprintf(log, "%d:%d error %s\n", statement.number, iteration, error.what());
  }
}

void Machine::run() {
  for (int o = 0; o < kOptimizers; ++o) {
    std::vector<Tensor> trained = parameters;
    if (o == 1) {
      trained.clear();
      for (const auto& model : models)
        for (const auto& parameter : model->parameters()) trained.push_back(parameter);
    }
    optimizers[o].make(program.optimizers[o], trained, 0.02);
  }
  for (const Statement& statement : program.before) {
    step(statement, 0);
    // Optimizers know the parameters that the set-up leaves.
    optimizers[0].make(program.optimizers[0], parameters, 0.02);
  }
  if (program.has_threads) return run_on_two_threads();
  for (int i = 0; i < program.length; ++i) {
    begin_iteration(i);
    for (const Statement& statement : program.body) step(statement, i);
  }
  dump(program.length);
}

// Both threads walk through the same iterations, each does its own statements, and a turn is handed
// over through a condition variable: the program has no race, whatever either leaves pending.
void Machine::run_on_two_threads() {
  std::mutex mutex;
  std::condition_variable moved;
  std::size_t turn = 0;
  const std::size_t turns = program.body.size() + 1;  // the first: begin_iteration()
  const auto walk = [&](Statement::Thread own) {
    for (int i = 0; i < program.length; ++i) {
      for (std::size_t at = 0; at < turns; ++at) {
        const bool is_second = at > 0 && program.body[at - 1].thread == Statement::kSecond;
        if (is_second != (own == Statement::kSecond)) continue;
        std::unique_lock lock(mutex);
        const std::size_t mine = static_cast<std::size_t>(i) * turns + at;
        moved.wait(lock, [&] { return turn == mine; });
        if (at == 0) {
          begin_iteration(i);
        } else if (program.body[at - 1].thread == Statement::kNew) {
          std::thread([&] {
            step(program.body[at - 1], i);
            note_thread_end();
          }).join();
        } else {
          step(program.body[at - 1], i);
        }
        ++turn;
        moved.notify_all();
      }
    }
    if (own == Statement::kSecond) note_thread_end();
  };
  std::thread second([&] { walk(Statement::kSecond); });
  walk(Statement::kMain);
  second.join();
  dump(program.length);
}

void Machine::dump(int iteration) {
  const Site site = place(kDump, 0);
  const auto tell = [&](const char* name, std::size_t number, const Tensor& tensor) {
    if (!tensor.defined()) return;
    std::fprintf(log, "at %d: %s%zu %016llx %d%d %lld\n", iteration, name, number,
                 static_cast<unsigned long long>(hash_of(tensor, site)), tensor.requires_grad(),
                 tensor.is_leaf(), static_cast<long long>(tensor._version()));
  };
  for (std::size_t v = 0; v < values.size(); ++v) tell("v", v, values[v]);
  for (std::size_t k = 0; k < wide.size(); ++k) {
    tell("d", k, wide[k]);
    tell("z", k, whole[k]);
  }
  for (std::size_t k = 0; k < complexes.size(); ++k) tell("c", k, complexes[k]);
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    tell("p", p, parameters[p]);
    tell("grad", p, parameters[p].grad());
  }
  for (std::size_t k = 0; k < kept.size(); ++k) tell("kept", k, kept[k]);
  for (std::size_t k = 0; k < pool.size(); ++k) tell("pool", k, pool[k]);
  tell("base", 0, base);
  for (std::size_t number = 0; number < models.size(); ++number) {
    for (const auto& parameter : models[number]->parameters()) {
      tell("weight", number, parameter);
      tell("weight grad", number, parameter.grad());
    }
    tell("hidden", number, models[number]->hidden);
  }
  for (std::size_t o = 0; o < optimizers.size(); ++o) {
    auto& states = optimizers[o].now().state();
    for (auto& group : optimizers[o].now().param_groups()) {
      for (const auto& parameter : group.params()) {
        const auto found = states.find(parameter.unsafeGetTensorImpl());
        if (found == states.end()) continue;
        serialize::OutputArchive archive;
        found->second->serialize(archive);
        std::ostringstream bytes;
        archive.save_to(bytes);
        std::fprintf(log, "at %d: state%zu %016zx\n", iteration, o,
                     std::hash<std::string>()(bytes.str()));
      }
    }
  }
  std::uint64_t bytes = 0;
  for (const auto& block : memory)
    for (const float element : block) bytes = (bytes ^ bits_of(element)) * 1099511628211u;
  std::fprintf(log, "at %d: memory %016llx, %lld calls of hooks, %lld errors\n", iteration,
               static_cast<unsigned long long>(bytes), static_cast<long long>(hook_calls),
               static_cast<long long>(errors));
  std::fflush(log);
}

}  // namespace groove::random_loops
