// Sums of columns over many rows: a group that walks the same rows anyway adds up their chunks on
// its way, and what is left of the sum is a tree over one row a chunk:
//
//     x, c ──► rows: layer norm backward ──► dx            x and c are read once, row by row
//                 └─ chunks of 128 rows ──► [chunk][column] ──► tree ──► dw
//
// The order stays that of the contract: rows ascend within a chunk, chunks combine pairwise.
// Without such a group a sum over much memory gets a loop over rows of its own, because walking
// down its columns would touch a page for every few of their elements.
#include <algorithm>

#include "groove/error.h"
#include "jit/fuser.h"

namespace groove::jit {
namespace {

// Shorter rows of partial sums take part of a few vectors; longer ones leave the near caches.
constexpr std::int64_t kLeastColumns = 64, kMostColumns = 16 << 10;
// Elements from which a sum is worth a loop over rows of its own: more than the near caches hold.
constexpr std::int64_t kOwnLoop = 1 << 20;

// The reduced axes come first and some are left.
std::size_t leading_axes(const LoopShape& loop) {
  std::size_t leading = 0;
  while (leading < loop.sizes.size() && loop.is_reduced[leading]) ++leading;
  return leading == loop.reduced_axes() && leading < loop.sizes.size() ? leading : 0;
}

}  // namespace

void Fuser::accumulate_columns() {
  const auto count = static_cast<std::int32_t>(fusion_.groups.size());
  for (std::int32_t id = 0; id < count; ++id) {
    if (!is_summed_in_chunks(group(id))) continue;
    for (std::int32_t home = 0; home < count && group(id).accumulates_in < 0; ++home) {
      if (shares_operand(id, home)) accumulates(id, home);
    }
    if (group(id).accumulates_in >= 0 || group(id).loop.points() < kOwnLoop) continue;
    if (!sums_full_rows(id)) continue;
    if (walks_in_rows(id, leading_axes(group(id).loop))) group(id).accumulates_in = id;
  }
}

// There are chunks enough for every thread to have about as many as the others.
bool Fuser::is_summed_in_chunks(const Group& columns) const {
  if (columns.kind != GroupKind::kColumn) return false;
  const std::size_t leading = leading_axes(columns.loop);
  const auto* how = lowering_as<kernels::ReductionLowering>(node(columns.seed));
  if (leading == 0 || !how) return false;
  for (const kernels::Prim prim : how->reductions) {
    if (prim != kernels::Prim::kReduceSum) return false;
  }
  std::int64_t rows = 1;
  for (std::size_t i = 0; i < leading; ++i) rows *= columns.loop.sizes[i];
  const std::int64_t wide = columns.loop.points() / std::max<std::int64_t>(rows, 1);
  return rows > kernels::order::kColumnChunk * (options_.machine.threads - 1) &&
         wide >= kLeastColumns && wide <= kMostColumns;
}

// Rows of the same loop, and something both read, or one reads of the other.
bool Fuser::shares_operand(std::int32_t columns, std::int32_t home) const {
  const Group& from = fusion_.groups[static_cast<std::size_t>(columns)];
  const Group& into = fusion_.groups[static_cast<std::size_t>(home)];
  if (into.nodes.empty() || into.stage != from.stage || into.is_update || into.is_fours)
    return false;
  if (into.kind != GroupKind::kMap && into.kind != GroupKind::kRow) return false;
  if (into.is_short || into.is_split || into.loop.sizes != from.loop.sizes) return false;
  for (std::size_t i = 0; i < into.loop.is_reduced.size(); ++i) {
    if (into.loop.is_reduced[i] == from.loop.is_reduced[i]) return false;
  }
  if (!into.columns.empty()) {
    const Group& first = fusion_.groups[static_cast<std::size_t>(into.columns[0])];
    if (first.loop.is_reduced != from.loop.is_reduced) return false;
  }
  const auto is_shared = [&](ValueId id) {
    if (group_of_value(id) == home) return true;
    const auto& readers = uses_.readers[static_cast<std::size_t>(id)];
    return element_count(graph_.type(id).sizes) == from.loop.points() &&
           std::any_of(readers.begin(), readers.end(), [&](std::int32_t reader) {
             return fusion_.group_of[static_cast<std::size_t>(reader)] == home;
           });
  };
  for (const std::int32_t member : from.nodes) {
    for (const ValueId id : node(member).inputs) {
      if (id != kNoValue && is_shared(root_of(id))) return true;
    }
  }
  return false;
}

// What is summed must not wait for what the group computes once a column.
bool Fuser::sums_full_rows(std::int32_t columns) {
  const auto span = [&](std::int32_t member) {
    return fusion_.span_of[static_cast<std::size_t>(member)];
  };
  for (const std::int32_t member : group(columns).nodes) {
    if (member != group(columns).seed && span(member) == Span::kKept) continue;
    for (const ValueId id : node(member).inputs) {
      if (id == kNoValue) continue;
      const ValueId root = root_of(id);
      if (group_of_value(root) == columns && span_of_value(root) == Span::kKept) return false;
    }
  }
  return true;
}

// Moves what the sum is taken of into `home`; takes it back when something does not fit.
bool Fuser::accumulates(std::int32_t columns, std::int32_t home) {
  if (!sums_full_rows(columns)) return false;
  if (reaches(columns, home) || reaches_around(home, columns)) return false;
  std::vector<std::int32_t> moved, left;
  for (const std::int32_t member : group(columns).nodes) {
    const bool is_of_rows = member != group(columns).seed &&
                            fusion_.span_of[static_cast<std::size_t>(member)] == Span::kFull;
    (is_of_rows ? moved : left).push_back(member);
  }
  const Group before = group(home), own = group(columns);
  if (before.nodes.size() + moved.size() + before.columns.size() + 1 > kMaxNodes) return false;
  for (const std::int32_t member : moved) {
    fusion_.group_of[static_cast<std::size_t>(member)] = home;
  }
  group(home).nodes.insert(group(home).nodes.end(), moved.begin(), moved.end());
  std::sort(group(home).nodes.begin(), group(home).nodes.end());
  group(home).columns.push_back(columns);
  group(columns).nodes = left;
  group(columns).accumulates_in = home;
  if (members_fit(home) && walks_in_rows(home, leading_axes(own.loop))) return true;
  for (const std::int32_t member : moved) {
    fusion_.group_of[static_cast<std::size_t>(member)] = columns;
  }
  group(home) = before;
  group(columns) = own;
  return false;
}

// Is all that the group walks, what it sums for others included, rows of one kind below each other?
bool Fuser::walks_in_rows(std::int32_t home, std::size_t leading) {
  const Group& into = group(home);
  std::vector<char> rows(into.loop.sizes.size(), 0);
  std::fill_n(rows.begin(), leading, 1);
  const std::size_t loop = loop_of(home);
  Chains& chains = loops_[loop].chains;
  const auto fits = [&](const Walk& walk) { return is_collapsible(into.loop, walk, rows); };
  const auto reads_in_rows = [&](std::int32_t index, Span span) {
    for (std::size_t i = 0; i < node(index).inputs.size(); ++i) {
      const Read* const read = read_of(home, loop, index, i, span);
      if (!read) continue;
      if (!read->is_walked) return false;
      // A picked row is not the loop's own.
      if (!read->walk.picked.empty() || !fits(read->walk)) return false;
      if (read->is_inside && !reads_inside(into, read->root, span, read->walk)) return false;
    }
    return true;
  };
  try {
    for (const std::int32_t member : into.nodes) {
      const Span span = fusion_.span_of[static_cast<std::size_t>(member)];
      const bool is_own_sum = into.kind == GroupKind::kColumn && member == into.seed;
      if (into.kind == GroupKind::kColumn && !is_own_sum && span == Span::kKept) continue;
      const bool reduces = lowering_as<kernels::ReductionLowering>(node(member)) != nullptr;
      if (!reads_in_rows(member, reduces ? Span::kFull : span)) return false;
      if (reduces) continue;
      for (const ValueId id : node(member).outputs) {
        if (!fits(chains.walk(memory_geometry(graph_, id), chains.end(span)))) return false;
      }
    }
    for (const std::int32_t columns : into.columns) {
      if (!reads_in_rows(group(columns).seed, Span::kFull)) return false;
    }
  } catch (const Error&) {
    return false;
  }
  return true;
}

}  // namespace groove::jit
