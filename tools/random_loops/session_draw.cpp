// Draws training sessions, and says what was drawn.
#include <fmt/format.h>

#include "tools/random_loops/random.h"
#include "tools/random_loops/session.h"

namespace groove::random_loops {

Session draw_session(std::uint64_t seed) {
  Random random(seed);
  const auto one_of = [&random](std::initializer_list<int> choices) {
    return choices.begin()[random.below(static_cast<int>(choices.size()))];
  };
  // Most programs do not do most things.
  const auto now_and_then = [&](int odds, std::initializer_list<int> choices) {
    const int chosen = one_of(choices);
    return random.one_in(odds) ? chosen : 0;
  };
  Session s;
  s.is_used = true;
  s.seed = seed;
  s.network = static_cast<Session::Network>(
      random.one_in(3) ? 0 : random.below(static_cast<int>(Session::Network::kCount)));
  s.data = static_cast<Session::Data>(random.below(static_cast<int>(Session::Data::kCount)));
  s.sizes =
      random.one_in(4) ? static_cast<Session::Sizes>(1 + random.below(2)) : Session::Sizes::kFixed;
  s.second =
      random.one_in(5) ? static_cast<Session::Second>(1 + random.below(3)) : Session::Second::kNone;
  s.inputs = one_of({4, 8, 12, 16, 32, 64});
  s.outputs = one_of({1, 2, 4, 10});
  s.hidden = one_of({8, 16, 32, 64, 128});
  s.layers = 1 + random.below(3);
  s.batch = one_of({1, 4, 8, 16, 32, 64});
  s.length = one_of({4, 6, 8, 12});
  s.activation = random.below(6);
  s.norm = random.below(4);
  s.optimizer = random.below(8);
  s.loss = random.below(3);
  s.has_dropout = random.one_in(6);
  s.has_function = random.one_in(8);
  s.has_hook = random.one_in(12);
  s.clips = random.one_in(6);
  s.has_data_thread = random.one_in(10);
  s.reads_loss = one_of({0, 1, 1, 10, 10, 50, 100});
  s.evaluates = now_and_then(2, {20, 50, 100, 200});
  s.accumulates = random.one_in(8) ? one_of({2, 4}) : 1;
  s.schedules = now_and_then(4, {1, 25, 100});
  s.fails = now_and_then(10, {7, 40, 150});
  s.keeps_best = now_and_then(6, {1, 25});
  s.prints_norm = now_and_then(8, {5, 30, 100});
  s.solves = random.one_in(10) ? 1 : 0;
  s.freezes_at = random.one_in(6) ? 50 : 0;
  return s;
}

std::string print(const Session& s) {
  static constexpr const char* networks[] = {"MLP",       "convolutions", "LSTMCell", "GRUCell",
                                             "embedding", "attention",    "factors"};
  static constexpr const char* datas[] = {"pointer into empty",
                                          "pointer into zeros",
                                          "accessor",
                                          "from_blob",
                                          "from_blob().clone()",
                                          "tensor(vector)",
                                          "rows",
                                          "stack",
                                          "elements",
                                          "mask of a random tensor",
                                          "index_select",
                                          "randn"};
  static constexpr const char* sizes[] = {"", ", the last batch of ten smaller",
                                          ", any batch size up to it"};
  static constexpr const char* seconds[] = {"", "; an adversary", "; a moving average",
                                            "; a teacher without gradients"};
  std::string text = fmt::format(
      "{} {}-{}x{}-{}, activation {}, norm {}, optimizer {}, loss {}; batch {} of length {} by "
      "{}{}{}",
      networks[static_cast<int>(s.network)], s.inputs, s.hidden, s.layers, s.outputs, s.activation,
      s.norm, s.optimizer, s.loss, s.batch, s.length, datas[static_cast<int>(s.data)],
      sizes[static_cast<int>(s.sizes)], seconds[static_cast<int>(s.second)]);
  const auto add = [&text](int every, const char* what) {
    if (every > 0) text += fmt::format("; {} each {}", what, every);
  };
  add(s.reads_loss, "item()");
  add(s.evaluates, "evaluates");
  if (s.accumulates > 1) add(s.accumulates, "step()");
  add(s.schedules, "new rate");
  add(s.fails, "throws");
  add(s.keeps_best, "keeps the best");
  add(s.prints_norm, "prints a norm");
  if (s.has_dropout) text += "; dropout";
  if (s.has_function) text += "; a function of its own";
  if (s.has_hook) text += "; a hook in each step";
  if (s.clips) text += "; clips";
  if (s.has_data_thread) text += "; data by another thread";
  if (s.solves) text += "; solves to a tolerance";
  if (s.freezes_at) text += fmt::format("; freezes a part after {} %", s.freezes_at);
  return text;
}

}  // namespace groove::random_loops
