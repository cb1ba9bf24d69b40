#include "kernels/asmjit/register_scan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <span>
#include <utility>

namespace groove::kernels::assembly {
namespace {

using asmjit::BaseNode;
using asmjit::RegGroup;
using asmjit::RegMask;
namespace x86 = asmjit::x86;

constexpr RegMask kLow = 0xffff;  // vectors that every instruction knows

// Between a register and the stack, before a node or after it.
struct Move {
  std::uint32_t at;
  bool is_after, is_load;
  RegGroup group;
  std::uint32_t reg, slot;
};

class Scan {
 public:
  Scan(x86::Compiler& compiler, asmjit::FuncNode& function, std::uint32_t vector_bytes)
      : compiler_(compiler), function_(function), vector_bytes_(vector_bytes) {}

  bool run(const x86::Gp& argument, const std::vector<NewUse>& new_uses) {
    if (!live_.find(compiler_, function_, argument, new_uses)) return false;
    for (std::uint32_t i = 0; i < intervals_.size(); ++i)
      if (intervals_[i].fixed != kNone) fixed_.push_back(i);
    list_by_node();
    if (!assign(false)) {
      live_.weigh();
      if (!assign(true)) return false;
    }
    rewrite();
    return true;
  }

 private:
  static std::size_t index(RegGroup group) { return static_cast<std::size_t>(group); }

  // ---- who has what ----

  void list_by_node() {
    begins_.assign(live_.nodes.size() + 1, kNone);
    ends_ = begins_;
    next_begin_.resize(intervals_.size());
    next_end_.resize(intervals_.size());
    for (auto i = static_cast<std::uint32_t>(intervals_.size()); i-- > 0;) {
      next_begin_[i] = std::exchange(begins_[intervals_[i].first], i);
      next_end_[i] = std::exchange(ends_[intervals_[i].last], i);
    }
  }

  bool assign(bool may_use_stack) {
    may_use_stack_ = may_use_stack;
    free_ = taken_ = {};
    const bool is_wide = function_.frame().isAvx512Enabled();
    RegMask gps = kLow & ~(1u << x86::Gp::kIdSp);
    if (live_.stack_bytes > 0 || may_use_stack)
      gps &= ~(1u << x86::Gp::kIdBp);  // finds the stack's end
    free_[index(RegGroup::kGp)] = gps;
    free_[index(RegGroup::kVec)] = is_wide ? ~RegMask{0} : kLow;
    free_[index(RegGroup::kX86_K)] = 0xfe;  // as a mask, the first means that there is none
    for (Interval& interval : intervals_) interval.reg = kNone;
    moves_.clear();
    std::size_t next = 0;
    for (std::uint32_t at = 0; at < live_.nodes.size(); ++at) {
      const std::size_t first = next;
      while (next < uses_.size() && uses_[next].at == at) ++next;
      now_ = {uses_.data() + first, next - first};
      at_ = at;
      for (std::uint32_t i = begins_[at]; i != kNone; i = next_begin_[i])
        if (!take(i)) return false;
      if (may_use_stack && !fetch()) return false;
      for (std::uint32_t i = ends_[at]; i != kNone; i = next_end_[i])
        if (intervals_[i].last == at && has_register(intervals_[i]))
          free(intervals_[i].group, intervals_[i].reg);
      if (may_use_stack)
        for (const Use& use : now_) intervals_[use.interval].next_use = use.next;
    }
    return true;
  }

  static bool has_register(const Interval& interval) {
    return !interval.is_on_stack && interval.reg != kNone;
  }

  void free(RegGroup group, std::uint32_t reg) { free_[index(group)] |= RegMask{1} << reg; }

  void hold(RegGroup group, std::uint32_t reg, std::uint32_t holder) {
    const RegMask bit = RegMask{1} << reg;
    free_[index(group)] &= ~bit;
    taken_[index(group)] |= bit;
    holders_[index(group)][reg] = holder;
  }

  bool take(std::uint32_t id) {
    if (intervals_[id].is_loaded && is_read_in_place(intervals_[id])) return true;
    std::uint32_t reg = find_free(intervals_[id]);
    if (reg == kNone) reg = make_room(intervals_[id], id);
    Interval& interval = intervals_[id];
    if (interval.is_on_stack) return true;
    if (reg == kNone) return false;
    interval.reg = reg;
    hold(interval.group, reg, id);
    if (interval.is_loaded)
      moves_.push_back({at_, false, true, interval.group, reg, interval.slot});
    return true;
  }

  // It needs no register for its one use.
  bool is_read_in_place(Interval& interval) {
    Use& use = uses_[interval.next_use];
    if (use.next != kNone) return false;
    use.bytes_read = readable_bytes(use);
    return interval.is_on_stack = use.bytes_read > 0;
  }

  // Those that no instruction chooses meanwhile. Low vectors are left for those that need them, and
  // a caller's registers for when others are used up.
  RegMask allowed(const Interval& interval) const {
    if (interval.fixed != kNone) return RegMask{1} << interval.fixed;
    RegMask all = interval.is_low ? kLow : ~RegMask{0};
    if (interval.group == RegGroup::kGp)
      for (const std::uint32_t id : fixed_) {
        const Interval& other = intervals_[id];
        if (other.first <= interval.last && other.last >= interval.first)
          all &= ~(RegMask{1} << other.fixed);
      }
    return all;
  }

  std::uint32_t find_free(const Interval& interval) const {
    const RegMask from = free_[index(interval.group)] & allowed(interval);
    RegMask better = 0;
    if (interval.group == RegGroup::kVec)
      better = from & ~kLow;
    else if (interval.group == RegGroup::kGp)
      better = from & ~function_.frame().preservedRegs(RegGroup::kGp);
    const RegMask chosen = better != 0 ? better : from;
    return chosen == 0 ? kNone : static_cast<std::uint32_t>(std::countr_zero(chosen));
  }

  // Whatever is used least, or last, goes to the stack: what has a register that fits, or the one
  // that is wanted for (kNone: not that).
  std::uint32_t make_room(const Interval& wanted, std::uint32_t wanting) {
    const std::size_t group = index(wanted.group);
    if (!may_use_stack_ || wanted.group == RegGroup::kX86_K) return kNone;
    std::uint32_t least = kNone;
    float price = 0;
    const auto consider = [&](std::uint32_t id) {
      const float asked = price_of(intervals_[id]);
      if (least == kNone || asked < price) least = id, price = asked;
    };
    if (wanting != kNone && may_wait(wanted) && !wanted.is_straight) consider(wanting);
    const RegMask held = allowed(wanted) & ~free_[group] & taken_[group];
    for (RegMask rest = held; rest != 0; rest &= rest - 1) {
      const auto reg = static_cast<std::size_t>(std::countr_zero(rest));
      const std::uint32_t id = holders_[group][reg];
      if (id == kNone) continue;
      const Interval& holder = intervals_[id];
      const bool holds_it = has_register(holder) && holder.reg == reg && holder.last >= at_;
      if (holds_it && !is_used_now(id) && may_wait(holder)) consider(id);
    }
    if (least == kNone) return kNone;
    const std::uint32_t reg = intervals_[least].reg;
    send_to_stack(least);
    if (least == wanting) return kNone;
    free_[group] |= RegMask{1} << reg;
    return reg;
  }

  // Of its way to the stack and back, for each node that others have its register.
  float price_of(const Interval& interval) const {
    if (!interval.is_straight) return interval.weight;
    const std::uint32_t next = uses_[interval.next_use].at;
    return (interval.is_loaded ? 1.0f : 2.0f) * live_.weights[at_] /
           static_cast<float>(next - at_ + 1);
  }

  void send_to_stack(std::uint32_t id) {
    Interval& interval = intervals_[id];
    const bool is_vector = interval.group == RegGroup::kVec;
    if (interval.slot == kNone)
      interval.slot = live_.reserve(is_vector ? vector_bytes_ : sizeof(std::uint64_t));
    if (!interval.is_straight) {
      interval.is_on_stack = true;
      return;
    }
    if (!interval.is_loaded || was_written(interval))
      moves_.push_back({at_, false, false, interval.group, interval.reg, interval.slot});
    Interval rest = interval;
    rest.is_loaded = true;
    rest.reg = kNone;
    rest.first = uses_[rest.next_use].at;
    interval.last = at_ - 1;
    const auto fresh = static_cast<std::uint32_t>(intervals_.size());
    for (std::uint32_t u = rest.next_use; u != kNone; u = uses_[u].next) uses_[u].interval = fresh;
    intervals_.push_back(rest);
    next_begin_.push_back(std::exchange(begins_[rest.first], fresh));
    next_end_.push_back(std::exchange(ends_[rest.last], fresh));
  }

  // Since it was loaded?
  bool was_written(const Interval& interval) const {
    const auto id = static_cast<std::uint32_t>(&interval - intervals_.data());
    for (const Use& use : uses_)
      if (use.interval == id && use.at < at_ && effects_of(use).writes) return true;
    return false;
  }

  // One that is over at once gains nothing.
  static bool may_wait(const Interval& interval) {
    return interval.fixed == kNone && interval.last > interval.first + 1 &&
           (!interval.is_straight || interval.next_use != kNone);
  }

  bool is_used_now(std::uint32_t id) const {
    return std::any_of(now_.begin(), now_.end(),
                       [&](const Use& use) { return use.interval == id; });
  }

  // What lies on the stack is in a register for as long as one node.
  bool fetch() {
    std::array<std::pair<RegGroup, std::uint32_t>, 8> lent;
    std::size_t count = 0;
    for (std::size_t u = 0; u < now_.size(); ++u) {
      if (!intervals_[now_[u].interval].is_on_stack || now_[u].bytes_read > 0) continue;
      now_[u].bytes_read = readable_bytes(now_[u]);
      if (now_[u].bytes_read > 0) continue;
      const auto same =
          std::find_if(now_.begin(), now_.begin() + static_cast<std::ptrdiff_t>(u),
                       [&](const Use& use) { return use.interval == now_[u].interval; });
      if (same != now_.begin() + static_cast<std::ptrdiff_t>(u)) {
        now_[u].reg = same->reg;
        continue;
      }
      const Interval interval = intervals_[now_[u].interval];
      std::uint32_t reg = find_free(interval);
      if (reg == kNone) reg = make_room(interval, kNone);
      if (reg == kNone || count == lent.size()) return false;
      now_[u].reg = reg;
      hold(interval.group, reg, kNone);
      lent[count++] = {interval.group, reg};
    }
    for (std::size_t i = 0; i < count; ++i) free(lent[i].first, lent[i].second);
    return true;
  }

  // How much of an operand the instruction can read from memory in a register's place.
  std::uint32_t readable_bytes(const Use& use) const {
    const bool is_once = std::count_if(now_.begin(), now_.end(), [&](const Use& other) {
                           return other.interval == use.interval;
                         }) == 1;
    const bool reads_another = std::any_of(now_.begin(), now_.end(),
                                           [](const Use& other) { return other.bytes_read > 0; });
    if (use.part != Use::kRegister || !is_once || reads_another) return 0;
    return effects_of(use).memory_bytes;
  }

  // ---- what comes of it ----

  void rewrite() {
    asmjit::FuncFrame& frame = function_.frame();
    for (const RegGroup group : {RegGroup::kGp, RegGroup::kVec, RegGroup::kX86_K})
      frame.addDirtyRegs(group, taken_[index(group)]);
    if (live_.stack_bytes > 0) {
      frame.setPreservedFP();
      frame.setLocalStackSize(live_.stack_bytes);
      frame.setLocalStackAlignment(kStackAlignment);
    }
    frame.finalize();
    for (const Use& use : uses_) use_stack(use);
    for (const Use& use : uses_) put_register(use);
    std::stable_sort(moves_.begin(), moves_.end(),
                     [](const Move& a, const Move& b) { return a.at < b.at; });
    std::uint32_t at = kNone;
    BaseNode* before = nullptr;
    for (const Move& move : moves_) {
      if (at != move.at) before = live_.nodes[move.at]->prev();
      at = move.at;
      compiler_.setCursor(move.is_after ? live_.nodes[at] : before);
      emit(move);
      if (!move.is_after) before = compiler_.cursor();
    }
    for (const Home& home : live_.homes) {
      home.memory->clearRegHome();
      home.memory->setBase(x86::rsp);
      home.memory->addOffset(static_cast<std::int64_t>(frame.localStackOffset()) + home.offset);
    }
    BaseNode* const cursor = compiler_.setCursor(&function_);
    compiler_.emitProlog(frame);
    compiler_.setCursor(function_.exitNode());
    compiler_.emitEpilog(frame);
    compiler_.setCursor(cursor);
  }

  void put_register(const Use& use) {
    if (use.bytes_read > 0) {
      x86::Mem slot = memory_at(intervals_[use.interval].slot);
      slot.setSize(use.bytes_read);
      use.node->setOp(use.operand, slot);
      return;
    }
    const std::uint32_t reg = register_of(use);
    switch (use.part) {
      case Use::kRegister:
        use.node->op(use.operand).as<asmjit::BaseReg>().setId(reg);
        break;
      case Use::kBase:
        use.node->op(use.operand).as<asmjit::BaseMem>().setBaseId(reg);
        break;
      case Use::kIndex:
        use.node->op(use.operand).as<asmjit::BaseMem>().setIndexId(reg);
        break;
      case Use::kMask:
        use.node->extraReg().setId(reg);
    }
  }

  std::uint32_t register_of(const Use& use) const {
    return use.reg != kNone ? use.reg : intervals_[use.interval].reg;
  }

  // Of an interval that lies there for good. Asked while operands are virtual registers.
  void use_stack(const Use& use) {
    const Interval& interval = intervals_[use.interval];
    if (!interval.is_on_stack || use.bytes_read > 0) return;
    const Effects effects = effects_of(use);
    const std::uint32_t reg = register_of(use);
    if (effects.reads) moves_.push_back({use.at, false, true, interval.group, reg, interval.slot});
    if (effects.writes) moves_.push_back({use.at, true, false, interval.group, reg, interval.slot});
  }

  void emit(const Move& move) {
    const x86::Mem slot = memory_at(move.slot);
    if (move.group == RegGroup::kGp) {
      const x86::Gp gp = x86::gpq(move.reg);
      move.is_load ? compiler_.mov(gp, slot) : compiler_.mov(slot, gp);
      return;
    }
    const x86::Vec vec =
        vector_bytes_ == 64 ? x86::Vec(x86::zmm(move.reg)) : x86::Vec(x86::ymm(move.reg));
    move.is_load ? compiler_.vmovups(vec, slot) : compiler_.vmovups(slot, vec);
  }

  x86::Mem memory_at(std::uint32_t slot) const {
    return x86::ptr(x86::rsp,
                    static_cast<std::int32_t>(function_.frame().localStackOffset() + slot));
  }

  x86::Compiler& compiler_;
  asmjit::FuncNode& function_;
  const std::uint32_t vector_bytes_;
  LiveIntervals live_;
  std::vector<Interval>& intervals_ = live_.intervals;
  std::vector<Use>& uses_ = live_.uses;
  std::vector<std::uint32_t> fixed_;                  // intervals
  std::vector<std::uint32_t> begins_, ends_;          // [node] the first interval …
  std::vector<std::uint32_t> next_begin_, next_end_;  // … and the one after each
  std::vector<Move> moves_;
  std::uint32_t at_ = 0;
  bool may_use_stack_ = false;
  std::span<Use> now_;                       // of the node that is looked at
  std::array<RegMask, 4> free_{}, taken_{};  // [group]
  std::array<std::array<std::uint32_t, 32>, 4> holders_{};
};

}  // namespace

bool assign_registers(x86::Compiler& compiler, asmjit::FuncNode& function, const x86::Gp& argument,
                      std::uint32_t vector_bytes, const std::vector<NewUse>& uses) {
  return Scan(compiler, function, vector_bytes).run(argument, uses);
}

}  // namespace groove::kernels::assembly
