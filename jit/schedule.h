// When launches run: outputs get their memory, dependencies become levels, and the launches of one
// level run side by side between two barriers.
#pragma once

#include <string>
#include <vector>

#include "jit/choices.h"
#include "jit/launch_plan.h"

namespace groove::jit {

struct Schedule {
  struct Level {
    std::vector<std::int32_t> launches;
  };
  std::vector<Level> levels;              // of all stages, in order
  std::vector<std::int32_t> stage_begin;  // first level of each stage, and the end
  std::vector<std::int32_t> level_of;     // per launch
  // Per launch: it may fail when memory of the inputs has been overwritten, which nothing undoes.
  // All others that may fail come before anything is overwritten.
  std::vector<char> fails_late;
};

struct ScheduleOptions {
  std::int64_t least_bytes = std::int64_t{4} << 20;  // of the arena; below, order saves no memory
  // Per node, or null: it runs a second time (jit/rematerialise.h), as late as it can.
  const std::vector<char>* is_again = nullptr;
  Choices* choices = nullptr;  // see FusionOptions::choices
};

/// Gives outputs their memory (straight into it, or by a copy at the end of the stage where an old
/// value is still read) and orders the launches. May append copies to `lowered`, also of the old
/// value of an input that is overwritten in an earlier stage than it is last read in.
Schedule schedule(const Graph& graph, Lowered& lowered, const ScheduleOptions& options = {});

/// Inputs are bound by the calls that use them: no launch may touch one before the first stage in
/// which a call did. Empty when none does, otherwise what is wrong.
std::string check_stages(const Graph& graph, const Lowered& lowered);

}  // namespace groove::jit
