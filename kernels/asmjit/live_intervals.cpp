#include "kernels/asmjit/live_intervals.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>

namespace groove::kernels::assembly {
namespace {

using asmjit::BaseNode;
using asmjit::InstNode;
using asmjit::Operand;
using asmjit::Operand_;
using asmjit::RegGroup;
using asmjit::RegMask;
namespace x86 = asmjit::x86;
namespace InstDB = asmjit::x86::InstDB;

// Does it know vectors 16 to 31, where the machine has them?
bool knows_all_vectors(const InstNode& node) {
  const InstDB::InstInfo& info = InstDB::infoById(node.id());
  if (!info.isEvex()) return false;
  if (!info.isVex() || info.isEvexCompatible()) return true;
  if (info.isEvexKRegOnly()) return node.op(0).isReg(asmjit::RegType::kX86_KReg);
  return info.isEvexTwoOpOnly() && node.opCount() == 2;
}

bool fits(const InstDB::InstSignature& form, const InstNode& node) {
  if (form.opCount() != node.opCount()) return false;
  for (std::uint32_t i = 0; i < form.opCount(); ++i) {
    const InstDB::OpSignature& wanted = form.opSignature(i);
    const Operand_& operand = node.op(i);
    if (operand.isReg() ? !wanted.hasReg() : operand.isMem() ? !wanted.hasMem() : !wanted.hasImm())
      return false;
  }
  return true;
}

// The one register that an operand may be; kNone: any.
std::uint32_t fixed_register(const InstNode& node, std::uint32_t operand) {
  const InstDB::InstInfo& info = InstDB::infoById(node.id());
  std::uint32_t fixed = kNone;
  for (const auto* form = info.signatureData(); form != info.signatureEnd(); ++form) {
    const RegMask mask = form->opSignature(operand).regMask();
    if (!fits(*form, node)) continue;
    if (mask == 0) return kNone;
    fixed = static_cast<std::uint32_t>(std::countr_zero(mask));
  }
  return fixed;
}

// What asmjit's tables say of instructions is the same each time, and slow to find: asked once.
enum Answer : std::uint8_t { kUnknown, kNo, kYes };
bool remembered(std::atomic<std::uint8_t>& answer, const auto& ask) {
  std::uint8_t known = answer.load(std::memory_order_relaxed);
  if (known == kUnknown) {
    known = ask() ? kYes : kNo;
    answer.store(known, std::memory_order_relaxed);
  }
  return known == kYes;
}

// Has any form of it such an operand?
bool may_fix_registers(const InstNode& node) {
  static std::array<std::atomic<std::uint8_t>, x86::Inst::_kIdCount> answers{};
  return remembered(answers[node.id()], [&] {
    const InstDB::InstInfo& info = InstDB::infoById(node.id());
    bool may = false;
    for (const auto* form = info.signatureData(); form != info.signatureEnd(); ++form)
      for (std::uint32_t i = 0; i < form->opCount(); ++i)
        may |= form->opSignature(i).regMask() != 0;
    return may;
  });
}

// Lanes outside of its mask stay.
bool keeps_lanes(const InstNode& node) {
  return node.hasExtraReg() &&
         !asmjit::Support::test(node.options(), asmjit::InstOptions::kX86_ZMask);
}

// A register; it depends on the instruction, how many operands it has, and whether the first two
// are one, which may give zeros.
bool only_writes_first_operand(InstNode& node) {
  static std::array<std::atomic<std::uint8_t>, 16 * x86::Inst::_kIdCount> answers{};
  if (keeps_lanes(node)) return false;
  const bool is_twice = node.opCount() > 1 && node.op(0) == node.op(1);
  return remembered(answers[16 * node.id() + 2 * node.opCount() + is_twice], [&] {
    const Effects effects = effects_of({Use::kRegister, 0, &node, 0, 0});
    return effects.writes && !effects.reads;
  });
}

}  // namespace

Effects effects_of(const Use& use) {
  if (use.part != Use::kRegister) return {.reads = true, .writes = false};
  const InstNode& node = *use.node;
  asmjit::InstRWInfo info;
  if (asmjit::InstAPI::queryRWInfo(asmjit::Arch::kX64, node.baseInst(), node.operands(),
                                   node.opCount(), &info) != asmjit::kErrorOk)
    return {};
  const asmjit::OpRWInfo& operand = info.operand(use.operand);
  bool has_memory = false;
  for (std::uint32_t i = 0; i < node.opCount(); ++i) has_memory |= node.op(i).isMem();
  const bool can_read_memory = operand.isRm() && operand.isReadOnly() && !has_memory;
  return {operand.isRead() || keeps_lanes(node), operand.isWrite(),
          can_read_memory ? operand.rmSize() : 0u};
}

bool LiveIntervals::find(x86::Compiler& compiler, asmjit::FuncNode& function,
                         const x86::Gp& argument, const std::vector<NewUse>& new_uses) {
  compiler_ = &compiler;
  current_.assign(compiler.virtRegs().size(), kNone);
  before_ = current_;
  intervals.push_back({.first = 0, .last = 0, .begins = nullptr, .group = RegGroup::kGp});
  intervals.back().fixed = x86::Gp::kIdDi;
  current_[Operand::virtIdToIndex(argument.id())] = 0;
  auto next = new_uses.begin();
  const BaseNode* const end = function.endNode();
  for (BaseNode* node = &function; node && node != end; node = node->next()) {
    const bool is_straight = !node->isLabel() && node->type() != asmjit::NodeType::kJump;
    turns_.push_back((turns_.empty() ? 0 : turns_.back()) + (is_straight ? 0 : 1));
    if (node->isLabel()) labels_[node->as<asmjit::LabelNode>()->labelId()] = now();
    if (node->isInst() && !note(*node->as<InstNode>())) return false;
    for (; next != new_uses.end() && next->after == node; ++next) {
      const std::uint32_t reg = Operand::virtIdToIndex(next->id);
      if (current_[reg] != kNone) before_[reg] = std::exchange(current_[reg], kNone);
    }
    nodes.push_back(node);
  }
  if (next != new_uses.end()) return false;
  find_loops();
  stay_through_loops();
  return true;
}

void LiveIntervals::find_loops() {
  for (const auto& [at, label] : jumps_) {
    const auto to = labels_.find(label);
    if (to != labels_.end() && to->second <= at) loops_.push_back({to->second, at});
  }
  std::sort(loops_.begin(), loops_.end(),
            [](const Loop& a, const Loop& b) { return a.last < b.last; });
}

bool LiveIntervals::note(InstNode& node) {
  const bool is_plain =
      node.type() == asmjit::NodeType::kInst || node.type() == asmjit::NodeType::kJump;
  if (!is_plain) return false;  // a call, a return
  const bool is_low = !knows_all_vectors(node), may_fix = may_fix_registers(node);
  for (std::uint32_t i = 0; i < node.opCount(); ++i) {
    Operand_& operand = node.op(i);
    if (operand.isReg()) {
      const auto& reg = operand.as<asmjit::BaseReg>();
      if (!note_use(node, i, Use::kRegister, reg.id(), reg.group(), is_low)) return false;
      if (may_fix && !fix(current_[Operand::virtIdToIndex(reg.id())], fixed_register(node, i)))
        return false;
    } else if (operand.isMem()) {
      auto& memory = operand.as<asmjit::BaseMem>();
      if (memory.isRegHome())
        note_home(memory);
      else if (memory.hasBaseReg() &&
               !note_use(node, i, Use::kBase, memory.baseId(), RegGroup::kGp, false))
        return false;
      if (!memory.hasIndexReg()) continue;
      const bool is_vector = memory.indexType() >= asmjit::RegType::kX86_Xmm &&
                             memory.indexType() <= asmjit::RegType::kX86_Zmm;
      if (!note_use(node, i, Use::kIndex, memory.indexId(),
                    is_vector ? RegGroup::kVec : RegGroup::kGp, is_low))
        return false;
    } else if (operand.isLabel()) {
      jumps_.push_back({now(), operand.id()});
    }
  }
  return !node.hasExtraReg() ||
         note_use(node, 0, Use::kMask, node.extraReg().id(), RegGroup::kX86_K, false);
}

bool LiveIntervals::note_use(InstNode& node, std::uint32_t operand, Use::Part part,
                             std::uint32_t id, RegGroup group, bool is_low) {
  if (!Operand::isVirtId(id)) return false;
  const std::uint32_t reg = Operand::virtIdToIndex(id);
  std::uint32_t& current = current_[reg];
  if (current == kNone) {
    current = static_cast<std::uint32_t>(intervals.size());
    Interval& begun = intervals.emplace_back(
        Interval{.first = now(), .last = now(), .begins = &node, .group = group});
    begun.is_first_operand = part == Use::kRegister && operand == 0;
    begun.before = before_[reg];
    if (begun.before != kNone) intervals[begun.before].after = current;
  }
  Interval& interval = intervals[current];
  interval.last = now();
  interval.is_low |= is_low && group == RegGroup::kVec;
  uses.push_back({part, static_cast<std::uint8_t>(operand), &node, now(), current});
  return true;
}

bool LiveIntervals::fix(std::uint32_t interval, std::uint32_t reg) {
  if (reg == kNone) return true;
  std::uint32_t& fixed = intervals[interval].fixed;
  if (fixed != kNone && fixed != reg) return false;
  fixed = reg;
  return true;
}

void LiveIntervals::note_home(asmjit::BaseMem& memory) {
  const auto [known, is_new] = offsets_.try_emplace(memory.baseId(), stack_bytes);
  if (is_new) reserve(compiler_->virtRegById(memory.baseId())->virtSize());
  homes.push_back({&memory, known->second});
}

std::uint32_t LiveIntervals::reserve(std::uint32_t bytes) {
  return std::exchange(
      stack_bytes, stack_bytes + (bytes + kStackAlignment - 1) / kStackAlignment * kStackAlignment);
}

// What was there before a loop, and is used in it, is used in its next turn again; and what a
// loop reads before it writes it was written in the turn before. Not where the same virtual
// register holds something else in the loop.
void LiveIntervals::stay_through_loops() {
  for (Interval& interval : intervals) {
    const bool is_written_first = writes_first(interval);
    for (const Loop& loop : loops_) {
      const bool is_used = interval.first <= loop.last && interval.last >= loop.first;
      if (!is_used || !is_alone(interval, loop)) continue;
      if (interval.first >= loop.first) {
        if (is_written_first) continue;
        interval.first = loop.first;
      }
      interval.last = std::max(interval.last, loop.last);
    }
  }
}

bool LiveIntervals::is_alone(const Interval& interval, const Loop& loop) const {
  return (interval.before == kNone || intervals[interval.before].last < loop.first) &&
         (interval.after == kNone || intervals[interval.after].first > loop.last);
}

bool LiveIntervals::writes_first(const Interval& interval) const {
  const bool is_in_loop = std::any_of(loops_.begin(), loops_.end(), [&](const Loop& loop) {
    return interval.first >= loop.first && interval.first <= loop.last;
  });
  if (!is_in_loop || !interval.begins) return true;
  return interval.is_first_operand && only_writes_first_operand(*interval.begins);
}

void LiveIntervals::weigh() {
  // A loop has so many turns, and what is jumped over without being one runs as rarely.
  constexpr float kTurns = 8;
  std::vector<int> depth(now() + 1);
  for (const Loop& loop : loops_) ++depth[loop.first], --depth[loop.last + 1];
  for (const auto& [at, label] : jumps_) {
    const auto known = labels_.find(label);
    const std::uint32_t to = known == labels_.end() ? 0 : known->second;
    const bool has_loop = std::any_of(
        loops_.begin(), loops_.end(),
        [&, from = at](const Loop& loop) { return loop.first > from && loop.last < to; });
    if (to > at && !has_loop) --depth[at + 1], ++depth[to];
  }
  for (std::size_t i = 1; i < depth.size(); ++i) depth[i] += depth[i - 1];
  for (std::uint32_t at = 0; at < now(); ++at)
    weights.push_back(std::pow(kTurns, static_cast<float>(depth[at])));
  for (auto u = static_cast<std::uint32_t>(uses.size()); u-- > 0;) {
    Interval& interval = intervals[uses[u].interval];
    uses[u].next = std::exchange(interval.next_use, u);
    interval.weight += weights[uses[u].at];
  }
  for (Interval& interval : intervals) {
    interval.weight /= static_cast<float>(interval.last - interval.first + 1);
    interval.is_straight = turns_[interval.first] == turns_[interval.last];
  }
}

}  // namespace groove::kernels::assembly
