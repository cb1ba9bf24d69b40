// Runs tapes backwards: the largest position first, each node when all its cotangents are there.
#pragma once

#include "autodiff/tape.h"

namespace groove::autodiff {

struct BackwardRun {
  std::vector<Edge> roots;
  Tensors root_cotangents;
  bool retain_graph = false;
  bool create_graph = false;
  // Empty: every leaf reached accumulates. Otherwise only paths to these are run …
  std::vector<Edge> targets;
  bool accumulate = true;  // … and they accumulate, or their gradients land in `captured`.
  Tensors captured;
};
void run(BackwardRun& backward);

}  // namespace groove::autodiff
