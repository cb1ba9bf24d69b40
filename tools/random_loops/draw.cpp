// Draws programs; everything depends on the seed alone.
#include <algorithm>
#include <cstring>

#include "tools/random_loops/machine.h"
#include "tools/random_loops/program.h"
#include "tools/random_loops/random.h"

namespace groove::random_loops {
namespace {

struct Maker {
  Random random;
  Program program;
  std::vector<Rule> rules;
  bool themes[kThemes] = {};

  explicit Maker(std::uint64_t seed) : random(seed), rules(all_rules()) { program.seed = seed; }

  int value() {  // mostly plain ones
    if (themes[static_cast<int>(Theme::kAliases)] && random.one_in(4))
      return kValues + random.below(kAliases);
    if (themes[static_cast<int>(Theme::kMemory)] && random.one_in(6))
      return kValues + kAliases + random.below(kBlobs);
    return random.below(kValues);
  }

  Condition condition(Phase phase) {
    Condition when;
    const bool is_core = phase == Phase::kBackward || phase == Phase::kStep;
    const int kind = random.below(is_core ? 40 : 20);
    static constexpr int periods[] = {2, 3, 4, 5, 7, 10, 17, 20, 32, 37};
    when.period = periods[random.below(10)];
    if (kind < 4) {
      when.kind = Condition::kEach;
      when.phase = random.below(when.period);
    } else if (kind < 6) {
      when.kind = Condition::kPart;
      when.phase = 1 + random.below(when.period);
    } else if (kind < 7) {
      when.kind = Condition::kOnce;
      when.phase = random.below(program.length);
    } else if (kind < 8) {
      when.kind = random.one_in(2) ? Condition::kFrom : Condition::kUntil;
      when.phase = random.below(program.length);
    } else if (kind < 9) {
      when.kind = Condition::kValue;
      when.bound = (random.below(9) - 4) * 0.1;
    }
    return when;
  }

  // What happens now and then makes iterations differ: hooks and handles that change, escapes,
  // errors, objects made again.
  Condition condition_of(const Rule& rule) {
    const bool is_rare =
        rule.theme == Theme::kEscapes || rule.theme == Theme::kErrors ||
        ((rule.theme == Theme::kHooks || rule.theme == Theme::kPast) &&
         rule.phase == Phase::kAnywhere) ||
        (rule.theme == Theme::kAliases && std::strncmp(rule.text, "$w = ", 5) == 0) ||
        (rule.theme == Theme::kTraining && rule.phase == Phase::kStep);
    if (!is_rare || random.one_in(3)) return condition(rule.phase);
    Condition when;
    static constexpr int periods[] = {5, 7, 10, 17, 23, 32, 37};
    when.kind = random.one_in(8) ? Condition::kOnce : Condition::kEach;
    when.period = periods[random.below(7)];
    when.phase = random.below(when.kind == Condition::kOnce ? program.length : when.period);
    return when;
  }

  Statement statement(const Rule& rule) {
    Statement s;
    s.rule = rule;
    s.a = value();
    s.b = value();
    s.c = value();
    s.w = random.below(kAliases);
    s.k = random.below(kBlobs);
    s.p = random.below(kParameters);
    s.q = (s.p + 1 + random.below(kParameters - 1)) % kParameters;
    s.h = random.below(kHistories);
    s.g = random.below(kHistories);
    const int readable = random.below(6);
    s.r = readable < 3   ? value()
          : readable < 5 ? kValues + kAliases + kBlobs + random.below(kHistories)
                         : kValues + kAliases + kBlobs + kHistories + random.below(kParameters);
    s.o = random.below(kOptimizers);
    s.m = random.below(kModels);
    s.n = 1 + random.below(program.size - 1);
    s.j = random.below(program.size);
    s.x = (random.below(25) - 12) * 0.1;
    return s;
  }

  const Rule& rule(Phase first, Phase last) {
    const auto fits = [&](const Rule& rule) {
      return themes[static_cast<int>(rule.theme)] && (rule.phase >= first && rule.phase <= last);
    };
    int total = 0;
    // A program of a theme is mostly about it.
    const auto weight = [&](const Rule& rule) {
      return rule.weight * (rule.theme == Theme::kPlain ? 1 : 2);
    };
    for (const Rule& rule : rules)
      if (fits(rule)) total += weight(rule);
    int at = random.below(std::max(total, 1));
    for (const Rule& rule : rules) {
      if (!fits(rule)) continue;
      at -= weight(rule);
      if (at < 0) return rule;
    }
    return rules.front();
  }

  const Rule& rule_of(const char* text) {
    for (const Rule& rule : rules)
      if (std::strcmp(rule.text, text) == 0) return rule;
    return rules.front();
  }

  void draw_body() {
    const bool trains = !random.one_in(4);
    const int count = 5 + random.below(trains ? 8 : 10);
    std::vector<Statement> body;
    bool has_loss = false;
    const auto add = [&](const Rule& rule) {
      if (!trains && rule.phase >= Phase::kZero && rule.phase <= Phase::kAfter) return;
      body.push_back(statement(rule));
      body.back().when = condition_of(rule);
      has_loss = has_loss || std::strncmp(rule.text, "loss = ", 7) == 0;
    };
    while (static_cast<int>(body.size()) < count) add(rule(Phase::kValues, Phase::kAnywhere));
    if (trains) {
      for (int tries = 0; !has_loss && tries < 60; ++tries) {
        const Rule& drawn = rule(Phase::kForward, Phase::kForward);
        if (std::strncmp(drawn.text, "loss = ", 7) == 0) add(drawn);
      }
      add(rule_of("if (loss.requires_grad()) loss.backward()"));
      add(rule_of("$o.zero_grad()"));
      body.back().o = 0;
      add(rule_of("$o.step()"));
      body.back().o = 0;
      if (random.one_in(3)) {
        add(rule_of("$o.zero_grad()"));
        body.back().o = 1;
        add(rule_of("$o.step()"));
        body.back().o = 1;
      }
    }
    // In good order, what may stand anywhere at a drawn place; now and then in none.
    const auto key = [&](const Statement& s) {
      return s.rule.phase == Phase::kAnywhere ? random.below(7) + 1
                                              : static_cast<int>(s.rule.phase);
    };
    std::vector<std::pair<int, Statement>> keyed;
    for (const Statement& s : body) keyed.emplace_back(key(s), s);
    const bool is_shifted = random.one_in(3);  // values change after the step
    for (auto& [place, s] : keyed)
      if (is_shifted && s.rule.phase == Phase::kValues) place = 8;
    std::stable_sort(keyed.begin(), keyed.end(),
                     [](const auto& x, const auto& y) { return x.first < y.first; });
    if (random.one_in(4) && keyed.size() > 2)
      std::swap(keyed[static_cast<std::size_t>(random.below(static_cast<int>(keyed.size())))],
                keyed[static_cast<std::size_t>(random.below(static_cast<int>(keyed.size())))]);
    int number = 10;
    for (auto& [place, s] : keyed) {
      s.number = number++;
      if (program.has_threads) {
        const int thread = random.below(10);
        s.thread = thread == 0  ? Statement::kNew
                   : thread < 5 ? Statement::kSecond
                                : Statement::kMain;
      }
      program.body.push_back(s);
    }
  }

  void draw(const Drawing& drawing) {
    program.has_threads = drawing.has_threads;
    const bool is_long = random.one_in(10) || drawing.is_long;
    program.length = is_long ? 1500 + random.below(1000) : 50 + random.below(350);
    if (drawing.length) program.length = drawing.length;
    static constexpr int sizes[] = {3, 4, 4, 4, 8};
    program.size = sizes[random.below(5)];
    for (int& kind : program.models) kind = random.below(6);
    for (int& kind : program.optimizers) kind = random.below(OptimizerPlace::kKinds);
    program.is_clamped = random.one_in(3);
    themes[static_cast<int>(Theme::kPlain)] = true;
    for (int count = random.below(4); count > 0; --count)
      themes[1 + random.below(drawing.first_themes - 1)] = drawing.themes.empty();
    for (const std::string& name : drawing.themes)
      for (int theme = 0; theme < kThemes; ++theme)
        if (name == kThemeNames[theme]) themes[theme] = true;
    const int before = random.below(5);
    for (int count = 0; count < before; ++count) {
      const Rule& drawn = rule(Phase::kBefore, Phase::kBefore);
      if (drawn.phase != Phase::kBefore) break;
      program.before.push_back(statement(drawn));
      program.before.back().number = 3 + count;
    }
    draw_body();
  }
};

}  // namespace

std::vector<Rule> all_rules() {
  std::vector<Rule> all;
  for (const auto rules :
       {value_rules(), alias_rules(), memory_rules(), training_rules(), hook_rules(),
        escape_rules(), past_rules(), size_rules(), dtype_rules(), state_rules(), pool_rules(),
        complex_rules()})
    all.insert(all.end(), rules.begin(), rules.end());
  return all;
}

Program draw(std::uint64_t seed, const Drawing& drawing) {
  Maker maker(seed);
  maker.draw(drawing);
  return std::move(maker.program);
}

}  // namespace groove::random_loops
