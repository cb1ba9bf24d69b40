// What lives from where to where in a function of virtual registers: the half of register
// allocation that chooses nothing.
#pragma once

#include <asmjit/x86.h>

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace groove::kernels::assembly {

constexpr std::uint32_t kNone = ~0u;
constexpr std::uint32_t kStackAlignment = 64;

// From here on, the next node after `after`, a virtual register holds something new.
struct NewUse {
  const asmjit::BaseNode* after;
  std::uint32_t id;
};

// What one virtual register holds between two times that it gets something new.
struct Interval {
  std::uint32_t first, last;  // nodes by number, both included
  asmjit::InstNode* begins;   // the first; null for the argument
  asmjit::RegGroup group;
  std::uint32_t before = kNone, after = kNone;  // what the same virtual register holds then
  std::uint32_t fixed = kNone;                  // the one register that an instruction takes
  bool is_low = false;                          // instructions know half of the vectors
  bool is_first_operand = false;                // where it begins
  // Where it waits while others have its register. One without labels and jumps has been stored
  // then, and what follows is an interval that is loaded when it begins; of another, each use goes
  // to the stack.
  std::uint32_t slot = kNone;
  bool is_straight = false, is_loaded = false, is_on_stack = false;
  std::uint32_t reg = kNone;
  std::uint32_t next_use = kNone;  // that was not looked at yet
  float weight = 0;                // of its uses, those in loops counting more
};

// Where an instruction names an interval: an operand, a part of its address, or its mask.
struct Use {
  enum Part : std::uint8_t { kRegister, kBase, kIndex, kMask } part;
  std::uint8_t operand;
  asmjit::InstNode* node;
  std::uint32_t at, interval;
  std::uint32_t reg = kNone;     // that holds it here if it lies on the stack
  std::uint32_t bytes_read = 0;  // from the stack by the instruction itself
  std::uint32_t next = kNone;    // of the same interval
};

// Memory of the function's own.
struct Home {
  asmjit::BaseMem* memory;
  std::uint32_t offset;
};

// The nodes of a loop, by number: from the label that is jumped back to, to the jump.
struct Loop {
  std::uint32_t first, last;
};

/// What one instruction does with a use of it; for one that asmjit does not know, all.
struct Effects {
  bool reads = true, writes = true;
  std::uint32_t memory_bytes = 0;  // that it can read in the register's place
};
Effects effects_of(const Use& use);

// All of them, in the order in which they begin, and their uses, in the order of the nodes.
struct LiveIntervals {
  /// False for what there is no rule for. The function's argument is the first interval.
  bool find(asmjit::x86::Compiler& compiler, asmjit::FuncNode& function,
            const asmjit::x86::Gp& argument, const std::vector<NewUse>& new_uses);
  /// What each use is worth, and which uses and intervals follow each other. Once, if at all.
  void weigh();
  /// Room on the stack.
  std::uint32_t reserve(std::uint32_t bytes);

  std::vector<Interval> intervals;
  std::vector<Use> uses;
  std::vector<asmjit::BaseNode*> nodes;
  std::vector<float> weights;  // [node]
  std::vector<Home> homes;
  std::uint32_t stack_bytes = 0;

 private:
  bool note(asmjit::InstNode& node);
  bool note_use(asmjit::InstNode& node, std::uint32_t operand, Use::Part part, std::uint32_t id,
                asmjit::RegGroup group, bool is_low);
  bool fix(std::uint32_t interval, std::uint32_t reg);
  void note_home(asmjit::BaseMem& memory);
  void find_loops();
  void stay_through_loops();
  bool is_alone(const Interval& interval, const Loop& loop) const;
  bool writes_first(const Interval& interval) const;
  std::uint32_t now() const { return static_cast<std::uint32_t>(nodes.size()); }

  asmjit::x86::Compiler* compiler_ = nullptr;
  std::vector<std::uint32_t> current_, before_;  // [virtual register] interval
  std::unordered_map<std::uint32_t, std::uint32_t> labels_, offsets_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> jumps_;  // from which node, to which label
  std::vector<Loop> loops_;
  std::vector<std::uint32_t> turns_;  // [node] labels and jumps so far
};

}  // namespace groove::kernels::assembly
