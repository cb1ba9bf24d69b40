// Heads of one trunk, say:
//
//     h ── linear [64, 4] ── policy          h ── linear [64, 4 | 1] ── policy
//       └─ linear [64, 1] ── value     →                             └─ value
//
// Products of whole vectors gain nothing and stay apart: their left matrix is in a near cache, and
// products of one level run without a barrier between them.
#include "jit/join_siblings.h"

#include <algorithm>
#include <atomic>

#include "jit/gather_launches.h"
#include "kernels/contraction/joined.h"
#include "src/core/faults.h"

namespace groove::jit {
namespace {

constexpr std::size_t kMostPieces = 16;
constexpr double kWorthJoining = 0.9;  // of the time that the products take apart

std::atomic<bool> joins_all{false};

class Joiner {
 public:
  Joiner(Lowered& lowered, const std::vector<char>* is_again)
      : lowered_(lowered), is_again_(is_again) {}

  void run() {
    level_ = launch_levels(lowered_);
    for (std::size_t at = 0; at < lowered_.launches.size(); ++at) {
      if (!is_candidate(at)) continue;
      std::vector<std::int32_t> family{static_cast<std::int32_t>(at)};
      for (std::size_t i = at + 1; i < lowered_.launches.size(); ++i) {
        if (is_candidate(i) && are_siblings(at, i)) family.push_back(static_cast<std::int32_t>(i));
      }
      if (family.size() < 2 || !join(std::move(family))) continue;
      level_ = launch_levels(lowered_);
      --at;  // another launch is there now
    }
  }

 private:
  const LaunchPlan& launch(std::size_t index) const { return lowered_.launches[index]; }
  const LaunchPlan& launch(std::int32_t index) const {
    return launch(static_cast<std::size_t>(index));
  }

  bool is_candidate(std::size_t index) const {
    const LaunchPlan& plan = launch(index);
    return plan.is_one_contraction() && plan.shape.k > 0 &&
           plan.product->order == kernels::OrderClass::kChain &&
           (plan.product->dtype == kFloat || plan.product->dtype == kDouble);
  }

  bool are_siblings(std::size_t one, std::size_t other) const {
    const LaunchPlan &a = launch(one), &b = launch(other);
    const Operand &left = a.operands[0], &right = b.operands[0];
    const kernels::ContractionShape &s = a.shape, &t = b.shape;
    return left.buffer == right.buffer && left.offset == right.offset &&
           left.dtype == right.dtype && left.starts == right.starts && s.batch == t.batch &&
           s.m == t.m && s.k == t.k && s.a_batch == t.a_batch && s.a_row == t.a_row &&
           s.a_col == t.a_col && a.product->dtype == b.product->dtype && a.stage == b.stage &&
           (level_[one] == level_[other] || has_fault(Fault::kDependentSiblings)) &&
           runs_again(a, is_again_) == runs_again(b, is_again_);
  }

  // The narrowest of the family, as many of them as gain most.
  bool join(std::vector<std::int32_t> family) {
    std::stable_sort(family.begin(), family.end(), [&](std::int32_t a, std::int32_t b) {
      return launch(a).shape.n < launch(b).shape.n;
    });
    family.resize(std::min(family.size(), kMostPieces));
    std::vector<std::int32_t> best;
    if (joins_all.load(std::memory_order_relaxed)) best = family;
    double most_saved = 0;
    for (std::size_t count = 2; best.size() < family.size() && count <= family.size(); ++count) {
      std::vector<std::int32_t> members(family.begin(),
                                        family.begin() + static_cast<std::ptrdiff_t>(count));
      const kernels::JoinedCycles cycles =
          kernels::joined_cycles(pieces_of(members), lowered_.machine.isa);
      if (cycles.joined > kWorthJoining * cycles.apart) continue;
      if (cycles.apart - cycles.joined <= most_saved) continue;
      most_saved = cycles.apart - cycles.joined;
      best = std::move(members);
    }
    if (best.empty()) return false;
    std::sort(best.begin(), best.end());
    std::vector<std::int32_t> later;
    if (!may_gather(lowered_, best, later)) return false;
    gather(lowered_, best, later, joined(best));
    return true;
  }

  // A launch's operands are the left matrix, then each piece's right matrix and epilogue; its
  // pointers begin behind the first right matrix.
  std::vector<kernels::JoinedPiece> pieces_of(const std::vector<std::int32_t>& members) const {
    std::vector<kernels::JoinedPiece> pieces;
    std::ptrdiff_t pointer = -1, scalar = 0;
    for (const std::int32_t index : members) {
      const LaunchPlan& part = launch(index);
      pieces.push_back({*part.product, part.shape, pointer, pointer + 1, scalar});
      pointer += static_cast<std::ptrdiff_t>(part.operands.size()) - 1;
      scalar += static_cast<std::ptrdiff_t>(part.scalars.size());
    }
    return pieces;
  }

  LaunchPlan joined(const std::vector<std::int32_t>& members) {
    std::vector<kernels::JoinedPiece> pieces = pieces_of(members);
    const kernels::JoinedCycles cycles = kernels::joined_cycles(pieces, lowered_.machine.isa);
    const LaunchPlan& first = launch(members[0]);
    LaunchPlan plan;
    plan.kind = first.kind;
    plan.stage = first.stage;
    plan.shape = first.shape;
    plan.shape.n = 0;
    plan.operands.push_back(first.operands[0]);
    for (const std::int32_t index : members) {
      const LaunchPlan& part = launch(index);
      plan.shape.n += part.shape.n;
      plan.nanoseconds += part.nanoseconds * cycles.joined / cycles.apart;
      plan.nodes.insert(plan.nodes.end(), part.nodes.begin(), part.nodes.end());
      plan.scalars.insert(plan.scalars.end(), part.scalars.begin(), part.scalars.end());
      plan.operands.insert(plan.operands.end(), part.operands.begin() + 1, part.operands.end());
      if (index != members[0]) plan.box.strides.emplace_back();  // of its right matrix: unused
      plan.box.strides.insert(plan.box.strides.end(), part.box.strides.begin(),
                              part.box.strides.end());
      plan.parts.push_back(part);
    }
    // One piece may be done with a row before another begins: no memory is shared element by
    // element.
    for (Operand& operand : plan.operands) operand.is_identity = false;
    plan.contraction = kernels::join_contractions(std::move(pieces), kernels::current_backend(),
                                                  lowered_.machine.isa);
    reserve_scratch(lowered_, plan);
    return plan;
  }

  Lowered& lowered_;
  const std::vector<char>* is_again_;
  std::vector<std::int32_t> level_;  // per launch
};

}  // namespace

void join_siblings(Lowered& lowered, const std::vector<char>* is_again) {
  Joiner(lowered, is_again).run();
}

void set_joins_all_siblings(bool is_on) { joins_all.store(is_on, std::memory_order_relaxed); }

}  // namespace groove::jit
