// Random programs as text, close to the C++ that a user would write.
#include <fmt/format.h>

#include "tools/random_programs/program.h"

namespace groove::random_programs {

std::string name_of(int number) {
  if (number == kNothing) return "-";
  if (number >= kFirstResult) return fmt::format("t{}", number - kFirstResult);
  if (number >= kFirstHeld) return fmt::format("h{}", number - kFirstHeld);
  if (number >= kFirstBuffer) return fmt::format("b{}", number - kFirstBuffer);
  return fmt::format("p{}", number);
}

namespace {

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kPure:
      return "pure";
    case Kind::kInplace:
      return "in place";
    case Kind::kBackward:
      return "backward(mean)";
    case Kind::kGrad:
      return "autograd::grad(mean)";
    case Kind::kZeroGrad:
      return "zero_grad";
    case Kind::kStep:
      return "step";
    case Kind::kRate:
      return "set_lr";
    case Kind::kSgd:
      return "sgd by hand";
    case Kind::kClear:
      return "clear grad";
    case Kind::kItem:
      return "log item(sum)";
    case Kind::kBranch:
      return "branch = item(sum) > x";
    case Kind::kRead:
      return "read all";
    case Kind::kPoke:
      return "write data_ptr[0]";
    case Kind::kBlob:
      return "from_blob * 2";
    case Kind::kKeep:
      return "keep";
    case Kind::kCarry:
      return "carry (b = a.detach)";
    case Kind::kLeaf:
      return "detach.clone.requires_grad_";
    case Kind::kVersion:
      return "log version";
    case Kind::kError:
      return "add [3, 97]";
    case Kind::kInput:
      return "randn [rows, …]";
    case Kind::kAssign:
      return "assign (b = a)";
    case Kind::kHold:
      return "hold (b = a)";
    case Kind::kScribble:
      return "write an old pointer";
  }
  return "?";
}

std::string moving(const char* name, std::int64_t value, std::int64_t by) {
  return by == 0 ? fmt::format(" {}={}", name, value)
                 : fmt::format(" {}={}{:+}*step", name, value, by);
}

}  // namespace

std::string print(const Instruction& each) {
  std::string text =
      fmt::format("t{} = {}(", each.id, each.op ? each.op->name : name_of(each.kind));
  for (int n = 0; n < 3 && each.operands[n] != kNothing; ++n)
    text += fmt::format("{}{}", n ? ", " : "", name_of(each.operands[n]));
  text += fmt::format("){}{} k={} x={}", moving("i", each.i, each.i_per_step),
                      moving("j", each.j, each.j_per_step), each.k, each.x);
  if (each.x_per_step != 0) text += fmt::format("{:+}*step", each.x_per_step);
  if (each.every > 1)
    text += fmt::format(" if step % {} == {}", each.every, each.phase % each.every);
  if (each.guard != 0) text += each.guard == 1 ? " if branch" : " if !branch";
  if (each.is_eager) text += " eager";
  if (each.has_no_grad) text += " no_grad";
  if (each.is_named) text += " named";
  if (each.inner != 0) text += fmt::format(" in loop {}", each.inner);
  return text;
}

std::string print(const Program& program) {
  std::string text =
      fmt::format("seed {}, {} steps, results die at the {} of an iteration\n", program.seed,
                  program.steps, program.clears_at_end ? "end" : "next start");
  const auto leaves = [&](const char* name, const std::vector<Leaf>& all) {
    for (std::size_t n = 0; n < all.size(); ++n)
      text += fmt::format("{}{}: {}[{}]\n", name, n, groove::name(all[n].dtype),
                          fmt::join(all[n].sizes, ", "));
  };
  leaves("p", program.parameters);
  leaves("b", program.buffers);
  if (program.held > 0) text += fmt::format("h0 … h{}: held\n", program.held - 1);
  for (std::size_t n = 0; n < program.inners.size(); ++n)
    text += fmt::format("loop {}: {} to {} turns\n", n + 1, program.inners[n].least,
                        program.inners[n].least + program.inners[n].spread - 1);
  static const char* const kinds[] = {"SGD", "SGD(momentum 0.9, decay 0.01)", "Adam", "AdamW"};
  for (const OptimizerSpec& spec : program.optimizers)
    text += fmt::format("{} lr {} over p{}\n", kinds[spec.kind], spec.rate,
                        fmt::join(spec.parameters, ", p"));
  for (const Instruction& each : program.body) text += fmt::format("  {}\n", print(each));
  return text;
}

}  // namespace groove::random_programs
