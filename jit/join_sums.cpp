// The value of each product is a chunk of a list (numerics.md §4): the first may have any number of
// chunks of its own, each further one is one chunk, because ((a + b) + c) + d is added in this
// order and (a + b) + (c + d) is not.
//
//     p = mm(x, u)     q = add(p, mm(y, v))     r = add(q, mm(z, w))     →     mm | mm | mm
//
#include "jit/join_sums.h"

#include <algorithm>
#include <optional>

#include "jit/gather_launches.h"
#include "kernels/bound_call.h"
#include "kernels/contraction/epilogue.h"
#include "kernels/contraction/generator.h"

namespace groove::jit {
namespace {

using kernels::Instr;
using kernels::Kernel;
using kernels::Prim;

// The epilogue of a product that adds an operand to its sums before it does anything else.
struct Addition {
  std::int32_t sum, operand, add;  // instructions
  std::size_t access;              // of the operand
};

std::optional<Addition> find_addition(const Kernel& kernel, std::size_t access) {
  Addition found{-1, -1, -1, access};
  for (std::size_t i = 0; i < kernel.code.size(); ++i) {
    const Instr& instr = kernel.code[i];
    const auto id = static_cast<std::int32_t>(i);
    const bool is_load = instr.prim == Prim::kLoad || instr.prim == Prim::kLoadAt;
    if (is_load && (instr.imm == 0 || instr.imm == access)) {
      std::int32_t& load = instr.imm == 0 ? found.sum : found.operand;
      if (load >= 0 || instr.prim != Prim::kLoad) return std::nullopt;
      load = id;
    }
    for (int arg = 0; arg < kernels::arg_count(instr.prim); ++arg) {
      const std::int32_t of = instr.args[arg];
      if (of < 0 || (of != found.sum && of != found.operand)) continue;
      if (instr.prim != Prim::kAdd || (found.add >= 0 && found.add != id)) return std::nullopt;
      found.add = id;
    }
  }
  if (found.sum < 0 || found.operand < 0 || found.add < 0) return std::nullopt;
  const Instr& add = kernel.code[static_cast<std::size_t>(found.add)];
  const bool has_both =
      add.args[0] + add.args[1] == found.sum + found.operand && add.args[0] != add.args[1];
  return has_both ? std::optional(found) : std::nullopt;
}

// The same epilogue over sums that hold the operand already.
Kernel without(const Kernel& kernel, const Addition& addition) {
  Kernel result = kernel;
  result.accesses.erase(result.accesses.begin() + static_cast<std::ptrdiff_t>(addition.access));
  result.code.clear();
  std::vector<std::int32_t> renamed(kernel.code.size(), -1);
  for (std::size_t i = 0; i < kernel.code.size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    if (id == addition.operand) continue;
    if (id == addition.add) {
      renamed[i] = renamed[static_cast<std::size_t>(addition.sum)];
      continue;
    }
    Instr instr = kernel.code[i];
    for (int arg = 0; arg < kernels::arg_count(instr.prim); ++arg)
      if (instr.args[arg] >= 0)
        instr.args[arg] = renamed[static_cast<std::size_t>(instr.args[arg])];
    const bool has_access =
        instr.prim == Prim::kLoad || instr.prim == Prim::kLoadAt || instr.prim == Prim::kStore;
    if (has_access && instr.imm > addition.access) --instr.imm;
    renamed[i] = static_cast<std::int32_t>(result.code.size());
    result.code.push_back(instr);
  }
  result.phases = {{0, static_cast<std::int32_t>(result.code.size())}};
  return result;
}

class Joiner {
 public:
  Joiner(const Graph& graph, Lowered& lowered, const std::vector<char>* is_again)
      : lowered_(lowered), is_again_(is_again), is_output_(graph.values.size(), 0) {
    for (const GraphOutput& output : graph.outputs) {
      is_output_[static_cast<std::size_t>(output.value)] = 1;
    }
  }

  void run() {
    find_accesses();
    for (std::size_t at = 0; at < lowered_.launches.size(); ++at) {
      if (!is_candidate(at) || !is_plain(launch(at))) continue;
      if (join(static_cast<std::int32_t>(at))) {
        find_accesses();
        --at;  // another launch is there now
      }
    }
  }

 private:
  const LaunchPlan& launch(std::size_t index) const { return lowered_.launches[index]; }
  const LaunchPlan& launch(std::int32_t index) const {
    return launch(static_cast<std::size_t>(index));
  }
  const Buffer& buffer(BufferId id) const { return lowered_.buffers[static_cast<std::size_t>(id)]; }

  void find_accesses() {
    readers_.assign(lowered_.buffers.size(), {});
    writers_.assign(lowered_.buffers.size(), {});
    level_ = launch_levels(lowered_);
    for (std::size_t i = 0; i < lowered_.launches.size(); ++i) {
      for (const Operand& operand : launch(i).operands) {
        if (operand.buffer < 0) continue;
        const auto id = static_cast<std::size_t>(operand.buffer);
        (operand.is_store ? writers_ : readers_)[id].push_back(static_cast<std::int32_t>(i));
      }
    }
  }

  // By tiles: what the interpreter does is a loop of its own.
  bool is_candidate(std::size_t index) const {
    const LaunchPlan& plan = launch(index);
    return plan.is_one_contraction() && plan.shape.k > 0 &&
           plan.product->order == kernels::OrderClass::kChain &&
           (plan.product->dtype == kFloat || plan.product->dtype == kDouble) &&
           dynamic_cast<const kernels::BindableContraction*>(plan.contraction.get()) != nullptr;
  }
  // Nothing but the sums is stored, element by element.
  static bool is_plain(const LaunchPlan& plan) {
    return kernels::is_plain_epilogue(*plan.product) && lies_plainly(result_of(plan));
  }
  static const Operand& result_of(const LaunchPlan& plan) {
    return *std::find_if(plan.operands.begin(), plan.operands.end(),
                         [](const Operand& operand) { return operand.is_store; });
  }
  static bool lies_plainly(const Operand& operand) {
    return operand.is_identity && operand.offset == 0 && operand.starts.empty();
  }
  struct Step {
    std::int32_t launch = -1;
    std::size_t operand = 0;  // what it adds
    Addition addition = {};
  };

  // The only reader of a product's only result, where it adds that to its own.
  std::optional<Step> next(const LaunchPlan& first, const Operand& result) const {
    const Buffer& own = buffer(result.buffer);
    if (own.place != Buffer::Place::kArena || own.same_as >= 0 || own.value == kNoValue ||
        is_output_[static_cast<std::size_t>(own.value)])
      return std::nullopt;
    const auto& readers = readers_[static_cast<std::size_t>(result.buffer)];
    if (writers_[static_cast<std::size_t>(result.buffer)].size() != 1 || readers.size() != 1)
      return std::nullopt;
    Step step;
    step.launch = readers[0];
    const LaunchPlan& plan = launch(step.launch);
    if (!is_candidate(static_cast<std::size_t>(step.launch)) || plan.stage != first.stage ||
        plan.product->dtype != first.product->dtype ||
        runs_again(plan, is_again_) != runs_again(first, is_again_) ||
        plan.overwrites || !kernels::takes_in(first.shape, {plan.shape}))
      return std::nullopt;
    for (std::size_t i = 2; i < plan.operands.size(); ++i)
      if (!plan.operands[i].is_store && plan.operands[i].buffer == result.buffer) step.operand = i;
    if (step.operand == 0 || !lies_plainly(plan.operands[step.operand])) return std::nullopt;
    const auto addition = find_addition(plan.product->epilogue, step.operand - 1);
    if (!addition || plan.operands[step.operand].dtype != plan.product->dtype) return std::nullopt;
    step.addition = *addition;
    return step;
  }

  // Matrices that wait for the last product must not take more room than the sum they replace.
  bool may_wait(const LaunchPlan& plan, const Operand& sum) const {
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      const Buffer& matrix = buffer(plan.operands[i].buffer);
      if (matrix.place == Buffer::Place::kArena) bytes += matrix.bytes;
    }
    return bytes <= buffer(sum.buffer).bytes;
  }
  std::int32_t ready(const LaunchPlan& plan, BufferId without) const {
    std::int32_t level = 0;
    for (const Operand& operand : plan.operands) {
      if (operand.buffer < 0 || operand.is_store || operand.buffer == without) continue;
      for (const std::int32_t writer : writers_[static_cast<std::size_t>(operand.buffer)])
        level = std::max(level, level_[static_cast<std::size_t>(writer)] + 1);
    }
    return level;
  }

  bool join(std::int32_t first) {
    std::vector<Step> steps;
    const LaunchPlan* last = &launch(first);
    std::int32_t begin = level_[static_cast<std::size_t>(first)];
    bool all_may_wait = may_wait(*last, result_of(*last));
    while (steps.size() < kernels::kMostFurtherProducts) {
      const Operand& result = result_of(*last);
      const std::optional<Step> step = next(launch(first), result);
      if (!step) break;
      const LaunchPlan& plan = launch(step->launch);
      const std::int32_t level = ready(plan, result.buffer);
      const bool may = may_wait(plan, result);
      if ((level > begin && !all_may_wait) || (level < begin && !may)) break;
      begin = std::max(begin, level);
      all_may_wait &= may;
      steps.push_back(*step);
      last = &plan;
      // Only the last one may do more than add.
      kernels::Contraction rest = *plan.product;
      rest.epilogue = without(plan.product->epilogue, step->addition);
      if (!kernels::is_plain_epilogue(rest) || !lies_plainly(result_of(plan))) break;
    }
    if (steps.empty()) return false;
    std::vector<std::int32_t> members{first};
    for (const Step& step : steps) members.push_back(step.launch);
    std::vector<std::int32_t> later;
    std::sort(members.begin(), members.end());
    if (!may_gather(lowered_, members, later)) return false;
    gather(lowered_, members, later, joined(first, steps));
    return true;
  }

  // Operands: the first product's matrices, the last one's epilogue without what it adds, then the
  // further products' matrices.
  LaunchPlan joined(std::int32_t first, const std::vector<Step>& steps) {
    const LaunchPlan& begin = launch(first);
    const Step& end = steps.back();
    const LaunchPlan& last = launch(end.launch);
    LaunchPlan plan;
    plan.kind = begin.kind;
    plan.stage = begin.stage;
    plan.shape = begin.shape;
    plan.operands = {begin.operands[0], begin.operands[1]};
    for (std::size_t i = 2; i < last.operands.size(); ++i) {
      if (i == end.operand) continue;
      plan.operands.push_back(last.operands[i]);
      plan.box.strides.push_back(last.box.strides[i - 2]);
    }
    plan.scalars = last.scalars;
    std::vector<kernels::FurtherProduct> further;
    plan.parts.push_back(begin);
    for (const Step& step : steps) {
      const LaunchPlan& part = launch(step.launch);
      const auto at = static_cast<std::ptrdiff_t>(plan.operands.size()) - 2;
      further.push_back({part.shape, at, at + 1});
      for (std::size_t i = 0; i < 2; ++i) {
        plan.operands.push_back(part.operands[i]);
        plan.box.strides.emplace_back();  // unused
      }
      plan.parts.push_back(part);
    }
    for (const LaunchPlan& part : plan.parts) {
      plan.nodes.insert(plan.nodes.end(), part.nodes.begin(), part.nodes.end());
      plan.nanoseconds += part.nanoseconds;
    }
    kernels::Contraction contraction = *begin.product;
    contraction.epilogue = without(last.product->epilogue, end.addition);
    plan.contraction =
        kernels::make_asmjit_sum(contraction, std::move(further), lowered_.machine.isa);
    plan.product = std::make_shared<const kernels::Contraction>(std::move(contraction));
    plan.kernel = {plan.product, &plan.product->epilogue};
    reserve_scratch(lowered_, plan);
    return plan;
  }

  Lowered& lowered_;
  const std::vector<char>* is_again_;
  std::vector<char> is_output_;                               // per value
  std::vector<std::vector<std::int32_t>> readers_, writers_;  // per buffer: launches
  std::vector<std::int32_t> level_;                           // per launch: longest path
};

}  // namespace

void join_sums(const Graph& graph, Lowered& lowered, const std::vector<char>* is_again) {
  Joiner(graph, lowered, is_again).run();
}

}  // namespace groove::jit
