// Who reads what, and when: the facts about a graph that fusion starts from.
#pragma once

#include <vector>

#include "jit/fusion.h"

namespace groove::jit {

struct Uses {
  std::vector<std::int32_t> stage_of;              // per node; -1: dead
  std::vector<std::vector<std::int32_t>> readers;  // per root value: live nodes, views aside
  std::vector<char> is_output;                     // per value
  std::vector<char> feeds_more_than_updates;       // per node
};

Uses find_uses(const Graph& graph);

/// Puts each group after those it reads from and drops empty ones.
void order_groups(const Graph& graph, const Uses& uses, Fusion& fusion);

}  // namespace groove::jit
