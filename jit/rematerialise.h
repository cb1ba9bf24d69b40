// Which values are computed a second time, so that they need no memory in between.
#pragma once

#include <vector>

#include "jit/fusion.h"

namespace groove::jit {

struct RematerialiseOptions {
  std::int64_t least_bytes = std::int64_t{4} << 20;  // alive at once; below, nothing is done
  std::int64_t least_value = std::int64_t{32} << 10;
  double share = 1.0 / 8;  // of the program's time, that computing again may take
  double price = 1;        // nanoseconds that a byte less may cost
};

/// Where most bytes are alive, values that were read before and will be read again long after are
/// computed again for their late readers, out of what is alive anyway. `is_again` then says so of
/// each node; fusion must keep those apart from their originals (FusionOptions::is_again). False
/// when nothing changed.
/// Needs: insert_copies, and the fusion of this graph.  Keeps: inputs, outputs, places, stages,
/// bits.
bool rematerialise(Graph& graph, const Fusion& fusion, std::vector<char>& is_again,
                   const RematerialiseOptions& options = {});

}  // namespace groove::jit
