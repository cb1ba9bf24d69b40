// A drawn program as text that reads like its source.
#include <fmt/format.h>

#include "tools/random_loops/machine.h"

namespace groove::random_loops {
namespace {

std::string value(int at) {
  if (at < kValues) return fmt::format("v{}", at);
  if (at < kValues + kAliases) return fmt::format("w{}", at - kValues);
  return fmt::format("b{}", at - kValues - kAliases);
}

std::string readable(int at) {
  constexpr int values = kValues + kAliases + kBlobs;
  if (at < values) return value(at);
  if (at < values + kHistories) return fmt::format("h{}", at - values);
  return fmt::format("p{}", at - values - kHistories);
}

std::string condition(const Condition& when) {
  switch (when.kind) {
    case Condition::kAlways:
      return "";
    case Condition::kEach:
      return fmt::format("if (i % {} == {}) ", when.period, when.phase);
    case Condition::kPart:
      return fmt::format("if (i % {} < {}) ", when.period, when.phase);
    case Condition::kOnce:
      return fmt::format("if (i == {}) ", when.phase);
    case Condition::kFrom:
      return fmt::format("if (i >= {}) ", when.phase);
    case Condition::kUntil:
      return fmt::format("if (i < {}) ", when.phase);
    case Condition::kValue:
      return "";  // names a tensor: print(statement)
  }
  return "";
}

}  // namespace

std::string print(const Statement& s) {
  std::string text = fmt::format("{:3}: ", s.number);
  if (s.thread == Statement::kSecond) text += "second thread: ";
  if (s.thread == Statement::kNew) text += "new thread: ";
  text += s.when.kind == Condition::kValue
              ? fmt::format("if ({}.mean().item() < {}) ", value(s.b), s.when.bound)
              : condition(s.when);
  for (const char* c = s.rule.text; *c; ++c) {
    if (*c != '$') {
      text += *c;
      continue;
    }
    const char letter = *++c;
    const bool is_other = c[1] == '\'';  // another number made from the same draw
    if (is_other) ++c;
    switch (letter) {
      case 'a':
        text += value(s.a);
        break;
      case 'b':
        text += value(s.b);
        break;
      case 'c':
        text += value(s.c);
        break;
      case 'w':
        text += fmt::format("w{}", s.w);
        break;
      case 'k':
        text += is_other ? std::to_string(7 + 5 * s.k) : std::to_string(s.k);
        break;
      case 'p':
        text += fmt::format("p{}", s.p);
        break;
      case 'q':
        text += fmt::format("p{}", s.q);
        break;
      case 'h':
        text += fmt::format("h{}", s.h);
        break;
      case 'g':
        text += fmt::format("h{}", s.g);
        break;
      case 'r':
        text += readable(s.r);
        break;
      case 'o':
        text += fmt::format("opt{}", s.o);
        break;
      case 'm':
        text += fmt::format("net{}", s.m);
        break;
      case 'n':
        text += std::to_string(s.n);
        break;
      case 'j':
        text += std::to_string(is_other ? s.j + 2 : s.j);
        break;
      case 'x':
        text += fmt::format("{:g}", s.x);
        break;
      default:
        text += letter;
    }
  }
  return text + ";";
}

std::string print(const Program& program) {
  static constexpr const char* models[] = {
      "Sequential(Linear, Tanh, Linear)",       "LSTMCell", "GRUCell", "Embedding", "Conv2d twice",
      "Linear, LayerNorm, BatchNorm1d, Dropout"};
  std::string text = fmt::format(
      "// seed {}: size {}; v0-4, w0-2 randn; b0-1 from_blob; p0-2, leaf0-1 leaves; "
      "base {{2*size*size}}\n"
      "// net0 {}, net1 {}; opt0(p) {}, opt1(nets) {}; {}\n",
      program.seed, program.size, models[program.models[0]], models[program.models[1]],
      OptimizerPlace::name(program.optimizers[0]), OptimizerPlace::name(program.optimizers[1]),
      program.is_clamped ? "after `a = …`: a = a.clamp(-3, 3)" : "after values: a.clamp_(-3, 3)");
  for (const Statement& s : program.before) text += print(s) + "\n";
  text += fmt::format(
      "for (int i = 0; i < {}; ++i) {{  // each statement in try; dump each {}\n"
      "     loss = zeros({{}}); h0 = v0.clone(); h1 = v1.clone();\n",
      program.length, program.dump_every);
  for (const Statement& s : program.body) text += print(s) + "\n";
  return text + "}\n";
}

}  // namespace groove::random_loops
