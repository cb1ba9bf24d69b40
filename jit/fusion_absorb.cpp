// Groups that become part of another one: map groups whose only readers are in it, and rows of the
// same loop.
#include <algorithm>

#include "jit/fuser.h"
#include "src/core/faults.h"

namespace groove::jit {

// The groups that must run after `from`. A sum of columns that another group takes on its way makes
// that group wait for what is summed, and the sum for it.
void Fuser::for_each_after(std::int32_t from, const std::function<void(std::int32_t)>& visit) {
  for (const std::int32_t columns : group(from).columns) visit(columns);
  for (const std::int32_t member : group(from).nodes) {
    for (const ValueId id : node(member).outputs) {
      for (const std::int32_t user : uses_.readers[static_cast<std::size_t>(id)]) {
        const std::int32_t next = fusion_.group_of[static_cast<std::size_t>(user)];
        if (next < 0) continue;
        visit(next);
        const std::int32_t home = group(next).accumulates_in;
        if (home >= 0 && user == group(next).seed) visit(home);
      }
    }
  }
}

bool Fuser::search(std::vector<std::int32_t> open, std::int32_t to) {
  seen_.resize(fusion_.groups.size(), 0);
  ++search_;
  while (!open.empty()) {
    const std::int32_t at = open.back();
    open.pop_back();
    if (at == to) return true;
    if (seen_[static_cast<std::size_t>(at)] == search_) continue;
    seen_[static_cast<std::size_t>(at)] = search_;
    for_each_after(at, [&](std::int32_t next) {
      if (seen_[static_cast<std::size_t>(next)] != search_) open.push_back(next);
    });
  }
  return false;
}

bool Fuser::is_acyclic(std::int32_t home, const std::vector<std::int32_t>& from) {
  for (const std::int32_t other : from) {
    if (other != home && reaches(home, other)) return has_fault(Fault::kCyclicFusion);
  }
  return true;
}

// Does group `to` depend on group `from`?
bool Fuser::reaches(std::int32_t from, std::int32_t to) { return search({from}, to); }

// Does it depend on it through a third group?
bool Fuser::reaches_around(std::int32_t from, std::int32_t to) {
  std::vector<std::int32_t> open;
  for_each_after(from, [&](std::int32_t next) {
    if (next != from && next != to) open.push_back(next);
  });
  return search(std::move(open), to);
}

// Moves the nodes of map group `from` into `home`, which reads from it, where nothing in between
// reads them too.
bool Fuser::absorb(std::int32_t from, std::int32_t home) {
  if (group(from).stage != group(home).stage) return false;
  if (group(from).is_update != group(home).is_update || group(from).is_fours) return false;
  if (is_too_early(group(from), group(home).seed)) return false;
  if (group(from).kind == GroupKind::kRow) return join_rows(from, home);
  if (group(from).kind != GroupKind::kMap) return false;
  const bool stores_nothing = group(home).kind == GroupKind::kColumn ||
                              group(home).kind == GroupKind::kContraction || group(home).is_split;
  const std::size_t limit =
      group(home).kind == GroupKind::kContraction ? kMaxEpilogueNodes : kMaxNodes;
  if (group(from).nodes.size() + group(home).nodes.size() > limit) return false;
  const bool is_product = group(home).kind == GroupKind::kContraction;
  for (const std::int32_t member : group(from).nodes) {
    if (is_product && wants_flat_loop(group(home), member)) return false;
    for (const ValueId id : node(member).outputs) {
      if (stores_nothing && uses_.is_output[static_cast<std::size_t>(id)]) return false;
      for (const std::int32_t user : uses_.readers[static_cast<std::size_t>(id)]) {
        const std::int32_t reader = fusion_.group_of[static_cast<std::size_t>(user)];
        if (reader != from && reader != home) return false;
        // The product itself reads memory, not what its epilogue has.
        if (user == group(home).seed && group(home).kind == GroupKind::kContraction) return false;
      }
    }
  }
  if (reaches(home, from) || crowds(home, group(from).nodes)) return false;
  // Try it; take it back when some read does not fit.
  const std::vector<std::int32_t> moved = group(from).nodes;
  const std::vector<std::int32_t> before = group(home).nodes;
  bool fits = true;
  for (const std::int32_t member : moved) {
    Span span = Span::kFull;
    fits = fits && find_span(group(home), member, span);
    fusion_.group_of[static_cast<std::size_t>(member)] = home;
    fusion_.span_of[static_cast<std::size_t>(member)] = span;
  }
  group(home).nodes.insert(group(home).nodes.end(), moved.begin(), moved.end());
  std::sort(group(home).nodes.begin(), group(home).nodes.end());
  fits = fits && members_fit(home);
  if (fits) {
    group(from).nodes.clear();
    return true;
  }
  for (const std::int32_t member : moved) {
    fusion_.group_of[static_cast<std::size_t>(member)] = from;
    fusion_.span_of[static_cast<std::size_t>(member)] = Span::kFull;
  }
  group(home).nodes = before;
  return false;
}

// Two groups of rows over the same loop, of which `home` reads the other one: one walk over memory.
bool Fuser::join_rows(std::int32_t from, std::int32_t home) {
  const Group& rows = group(from);
  if (group(home).kind != GroupKind::kRow || !(rows.loop == group(home).loop)) return false;
  if (rows.is_short || rows.is_split || group(home).is_short || group(home).is_split) return false;
  if (rows.nodes.size() + group(home).nodes.size() > kMaxNodes) return false;
  if (reaches_around(from, home)) return false;
  const std::vector<std::int32_t> moved = rows.nodes, before = group(home).nodes;
  for (const std::int32_t member : moved) {
    fusion_.group_of[static_cast<std::size_t>(member)] = home;
  }
  group(home).nodes.insert(group(home).nodes.end(), moved.begin(), moved.end());
  std::sort(group(home).nodes.begin(), group(home).nodes.end());
  if (members_fit(home)) {
    group(from).nodes.clear();
    return true;
  }
  for (const std::int32_t member : moved) {
    fusion_.group_of[static_cast<std::size_t>(member)] = from;
  }
  group(home).nodes = before;
  return false;
}

}  // namespace groove::jit
