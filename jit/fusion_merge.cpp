// Groups that are cheaper as one. Placing looks at one node and what it reads; that leaves groups
// apart which read the same memory or each other's results:
//
//     chain        a ──► b       b reads what a made, others do as well
//     diamond      a ──► x ──► b   and   a ──► y ──► b: none of them may join b alone
//     siblings     v ──► a   and   v ──► b, neither reads the other
//
// For each group what lies between it and its immediate post-dominator, or a group that reads it,
// is proposed, and each sibling. Of the proposals the one that saves most by the cost model
// (fusion_cost.cpp) is taken, until none saves anything. Maps and rows over one loop may become
// one; all that lies on paths between two groups may, without a circle arising.
#include <algorithm>
#include <cmath>
#include <limits>

#include "jit/costs.h"
#include "jit/fuser.h"
#include "src/core/faults.h"
#include "src/core/hash.h"

namespace groove::jit {
namespace {

constexpr std::size_t kMostMembers = 8;  // of a proposal
constexpr int kMostRounds = 4;
constexpr std::int32_t kMostLevels = 16;  // that a member may come to run later
// Instructions of a map up to which two copies of its body find registers and LLVM compiles it in
// tier_policy().most_milliseconds, and the part of its time that both save.
constexpr double kLongBody = 110, kShortSaves = 0.15;
// Memory that may be alive for longer.
constexpr std::int64_t kMostKept = 64 << 10;

std::uint64_t hash_of(const std::vector<std::int32_t>& groups) {
  return mixed_all(groups.size(), groups);
}

}  // namespace

void Fuser::merge_groups() {
  GroupGraph order = group_graph();
  changed_.assign(fusion_.groups.size(), 0);
  versions_.assign(fusion_.groups.size(), 0);
  runs_.assign(fusion_.groups.size(), -1);
  costs_.assign(fusion_.groups.size(), -1);
  for (round_ = 1; round_ <= kMostRounds; ++round_) {
    bool has_merged = false;
    if (round_ > 1) order.find_levels();
    const Groups dominators = order.post_dominators();
    const auto count = static_cast<std::int32_t>(fusion_.groups.size());
    for (std::int32_t id = 0; id < count; ++id) {
      while (may_merge(id) && merges(order, id, dominators[static_cast<std::size_t>(id)]))
        has_merged = true;
    }
    if (!has_merged) return;
  }
}

GroupGraph Fuser::group_graph() const {
  std::vector<Groups> after(fusion_.groups.size());
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    const std::int32_t from = fusion_.group_of[i];
    if (from < 0) continue;
    Groups& list = after[static_cast<std::size_t>(from)];
    for (const ValueId id : graph_.nodes[i].outputs) {
      for (const std::int32_t reader : uses_.readers[static_cast<std::size_t>(id)]) {
        const std::int32_t to = fusion_.group_of[static_cast<std::size_t>(reader)];
        if (to < 0 || to == from) continue;
        if (std::find(list.begin(), list.end(), to) == list.end()) list.push_back(to);
      }
    }
  }
  return GroupGraph(std::move(after));
}

bool Fuser::merges(GroupGraph& order, std::int32_t id, std::int32_t post_dominator) {
  std::vector<Groups> proposed = proposals(order, id, post_dominator);
  std::erase_if(proposed, [&](const Groups& members) {
    const bool is_new = std::any_of(members.begin(), members.end(), [&](std::int32_t member) {
      return changed_[static_cast<std::size_t>(member)] >= round_ - 1;
    });
    return !is_new || !may_become_one(members);
  });
  const std::int32_t version = versions_[static_cast<std::size_t>(id)];
  const std::uint64_t choice = chosen(Choices::Of::kMerge, {round_, id, version}, [&] {
    std::uint64_t best = 0;
    double most = 0;
    for (const Groups& members : proposed) {
      const double saved = gain(order, members);
      if (saved <= most + kNoDifference) continue;
      most = saved;
      best = hash_of(members);
    }
    return best;
  });
  const auto best = std::find_if(proposed.begin(), proposed.end(), [&](const Groups& members) {
    return choice == hash_of(members) && std::isfinite(joint_cost(members));
  });
  if (best == proposed.end()) return false;
  const std::int32_t home = home_of(*best);
  move(*best, home);
  order.merge(*best, home);
  forget(home);
  changed_[static_cast<std::size_t>(home)] = round_;
  return true;
}

std::vector<Fuser::Groups> Fuser::proposals(const GroupGraph& order, std::int32_t id,
                                            std::int32_t post_dominator) {
  std::vector<Groups> found;
  const auto propose = [&](Groups members) {
    if (members.size() > 1 && std::find(found.begin(), found.end(), members) == found.end())
      found.push_back(std::move(members));
  };
  const auto propose_up_to = [&](std::int32_t last) {
    if (order.level(last) - order.level(id) <= kMostLevels && may_become_one({id, last}))
      propose(order.between(id, last, kMostMembers));
  };
  if (post_dominator != GroupGraph::kExit) propose_up_to(post_dominator);
  for (const std::int32_t next : order.after(id)) propose_up_to(next);
  // Maps that walk in rows are unrolled further alone, and equal ones are one launch anyway.
  const Group& of = fusion_.groups[static_cast<std::size_t>(id)];
  std::int64_t& run = runs_[static_cast<std::size_t>(id)];
  if (of.kind == GroupKind::kMap && run < 0) run = run_length(id);
  if (of.kind == GroupKind::kMap && run != of.loop.points()) return found;
  for (const std::int32_t member : of.nodes) {
    for (const ValueId input : node(member).inputs) {
      if (input == kNoValue) continue;
      const ValueId root = root_of(input);
      if (group_of_value(root) == id) continue;
      if (element_count(graph_.type(root).sizes) != of.loop.points()) continue;
      for (const std::int32_t reader : uses_.readers[static_cast<std::size_t>(root)]) {
        const std::int32_t other = fusion_.group_of[static_cast<std::size_t>(reader)];
        if (other <= id || !may_become_one({id, other})) continue;
        if (std::abs(order.level(other) - order.level(id)) > kMostLevels) continue;
        const bool is_apart = !order.reaches(id, other) && !order.reaches(other, id);
        if (is_apart || has_fault(Fault::kMergedAroundOthers)) propose({id, other});
      }
    }
  }
  return found;
}

// Updates stay apart: equal ones of all parameters are one launch.
bool Fuser::may_merge(std::int32_t id) const {
  const Group& of = fusion_.groups[static_cast<std::size_t>(id)];
  if (of.kind != GroupKind::kMap && of.kind != GroupKind::kRow) return false;
  return !of.nodes.empty() && !of.is_update && !of.is_short && !of.is_split && !of.is_fours;
}

bool Fuser::may_become_one(const Groups& members) const {
  const Group& home = fusion_.groups[static_cast<std::size_t>(home_of(members))];
  std::size_t nodes = 0;
  for (const std::int32_t id : members) {
    if (!may_merge(id)) return false;
    const Group& of = fusion_.groups[static_cast<std::size_t>(id)];
    if (of.stage != home.stage || is_again(of.seed) != is_again(home.seed)) return false;
    const bool is_alike = of.kind == home.kind ? of.loop == home.loop
                                               : of.loop.sizes == home.loop.sizes ||
                                                     of.loop.sizes == kept_sizes(home.loop);
    if (!is_alike) return false;
    nodes += of.nodes.size();
  }
  return nodes <= kMaxNodes;
}

// Rows take in maps.
std::int32_t Fuser::home_of(const Groups& members) const {
  const auto rows = std::find_if(members.begin(), members.end(), [&](std::int32_t id) {
    return fusion_.groups[static_cast<std::size_t>(id)].kind == GroupKind::kRow;
  });
  return rows == members.end() ? members[0] : *rows;
}

// What the members save as one; not above 0 where they may not be.
double Fuser::gain(const GroupGraph& order, const Groups& members) {
  if (bytes_kept(order, members) > kMostKept) return 0;
  double before = -delay(order, members) - too_long(members);
  for (const std::int32_t id : members) before += known_cost(id);
  return before - joint_cost(members);
}

// Of the members as one; infinite where they do not fit. Only a change of theirs changes it, so a
// proposal that others were preferred to need not be tried again.
double Fuser::joint_cost(const Groups& members) {
  std::int32_t version = 0;
  for (const std::int32_t id : members) version += versions_[static_cast<std::size_t>(id)];
  Joint& known = joints_[members];
  if (known.version == version) return known.cost;
  std::vector<Groups> nodes;
  std::vector<std::vector<Span>> spans;
  for (const std::int32_t id : members) {
    nodes.push_back(group(id).nodes);
    spans.emplace_back();
    for (const std::int32_t member : nodes.back())
      spans.back().push_back(fusion_.span_of[static_cast<std::size_t>(member)]);
  }
  const std::int32_t home = home_of(members);
  const bool fits = move(members, home) && members_fit(home);
  known = {version, fits ? cost(home) : std::numeric_limits<double>::infinity()};
  restore(members, nodes, spans);
  return known.cost;
}

double Fuser::known_cost(std::int32_t id) {
  double& known = costs_[static_cast<std::size_t>(id)];
  if (known < 0) known = cost(id);
  return known;
}

void Fuser::forget(std::int32_t id) {
  costs_[static_cast<std::size_t>(id)] = -1;
  runs_[static_cast<std::size_t>(id)] = -1;
  ++versions_[static_cast<std::size_t>(id)];
}

// What maps lose of which each has a long body, and together one that is too long.
double Fuser::too_long(const Groups& members) {
  double all = 0, most = 0;
  for (const std::int32_t id : members) {
    if (group(id).kind != GroupKind::kMap) return 0;
    double own = 0;
    for (const std::int32_t member : group(id).nodes) own += bodies_.instructions(member);
    all += own;
    most = std::max(most, own);
  }
  // Short ones beside a body that is too long anyway change nothing.
  if (all <= kLongBody || (most > kLongBody && all - most < kLongBody / 4)) return 0;
  const auto points = static_cast<double>(group(members[0]).loop.points());
  return kShortSaves * costs::kInstruction * all * points;
}

// What waits for the members waits for all that they read.
double Fuser::delay(const GroupGraph& order, const Groups& members) const {
  const auto is_member = [&](std::int32_t id) {
    return std::find(members.begin(), members.end(), id) != members.end();
  };
  std::int32_t level = 0, levels = 0;
  for (const std::int32_t id : members) {
    for (const std::int32_t earlier : order.before(id)) {
      if (!is_member(earlier)) level = std::max(level, order.level(earlier) + 1);
    }
  }
  for (const std::int32_t id : members) {
    for (const std::int32_t later : order.after(id)) {
      if (!is_member(later)) levels = std::max(levels, level + 1 - order.level(later));
    }
  }
  return costs::kBarrier * levels;
}

// Bytes that are alive for longer since some members run later, less those that need no memory any
// more.
std::int64_t Fuser::bytes_kept(const GroupGraph& order, const Groups& members) const {
  std::int32_t level = 0;
  for (const std::int32_t id : members) level = std::max(level, order.level(id));
  const auto bytes = [&](ValueId value) {
    const Type& type = graph_.type(value);
    return element_count(type.sizes) * static_cast<std::int64_t>(element_size(type.dtype));
  };
  const auto is_member = [&](std::int32_t id) {
    return std::find(members.begin(), members.end(), id) != members.end();
  };
  // The last level that reads it, and whether only members do.
  const auto last_read = [&](ValueId value) {
    std::pair<std::int32_t, bool> last{-1, true};
    for (const std::int32_t reader : uses_.readers[static_cast<std::size_t>(value)]) {
      const std::int32_t id = fusion_.group_of[static_cast<std::size_t>(reader)];
      if (id < 0) continue;
      last.first = std::max(last.first, order.level(id));
      last.second &= is_member(id);
    }
    return last;
  };
  std::vector<ValueId> counted;
  std::int64_t kept = 0;
  for (const std::int32_t id : members) {
    for (const std::int32_t member : fusion_.groups[static_cast<std::size_t>(id)].nodes) {
      for (const ValueId output : node(member).outputs) {
        const auto at = static_cast<std::size_t>(output);
        if (leaves(id, output) && !uses_.is_output[at] && last_read(output).second)
          kept -= bytes(output);
      }
      for (const ValueId input : node(member).inputs) {
        if (input == kNoValue) continue;
        const ValueId root = root_of(input);
        const std::int32_t from = group_of_value(root);
        if (from < 0 || is_member(from) || uses_.is_output[static_cast<std::size_t>(root)])
          continue;
        if (std::find(counted.begin(), counted.end(), root) != counted.end()) continue;
        counted.push_back(root);
        if (last_read(root).first < level) kept += bytes(root);
      }
    }
  }
  return kept;
}

// Moves all nodes into `home`; false where one has no place in its loop.
bool Fuser::move(const Groups& members, std::int32_t home) {
  std::vector<std::int32_t> all;
  for (const std::int32_t id : members) {
    for (const std::int32_t member : group(id).nodes) {
      all.push_back(member);
      fusion_.group_of[static_cast<std::size_t>(member)] = home;
    }
    group(id).nodes.clear();
  }
  std::sort(all.begin(), all.end());
  group(home).nodes = all;
  for (const std::int32_t member : all) {
    if (lowering_as<kernels::ReductionLowering>(node(member))) continue;
    if (!find_span(group(home), member, fusion_.span_of[static_cast<std::size_t>(member)]))
      return false;
  }
  return true;
}

void Fuser::restore(const Groups& members, const std::vector<Groups>& nodes,
                    const std::vector<std::vector<Span>>& spans) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    group(members[i]).nodes = nodes[i];
    for (std::size_t k = 0; k < nodes[i].size(); ++k) {
      const auto member = static_cast<std::size_t>(nodes[i][k]);
      fusion_.group_of[member] = members[i];
      fusion_.span_of[member] = spans[i][k];
    }
  }
}

}  // namespace groove::jit
