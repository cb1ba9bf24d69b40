// The pass table, and what happens around each pass.
#include "jit/pipeline.h"

#include <fmt/format.h>

#include <atomic>

#include "jit/log.h"
#include "jit/passes/passes.h"
#include "jit/shared_programs.h"
#include "jit/user_passes.h"
#include "src/core/check.h"
#include "src/core/environment.h"

namespace groove::jit {
namespace {

std::vector<Pass>& chosen_passes() {
  static auto& chosen = *new std::vector<Pass>;  // never destroyed: see passes()
  return chosen;
}

const std::vector<Pass>& passes_to_run() {
  return chosen_passes().empty() ? passes() : chosen_passes();
}

}  // namespace

void choose_passes(std::vector<Pass> chosen) {
  chosen_passes() = std::move(chosen);
  forget_shared_programs();
}

const std::vector<Pass>& passes() {
  // Never destroyed: the compile thread may still run while the process exits.
  static const auto& order = *new std::vector<Pass>{
      {"unroll_scans", unroll_scans, "scans of short steps become these steps", kAnyGraph,
       kAnyGraph, Serves::kLongRuns},
      {"expand_composites", expand_composites, "losses, softmax and the like become their parts",
       kAnyGraph, kNoComposites},
      {"widen_halves", widen_halves, "matrix products of 16-bit floats compute in f32",
       kNoComposites, kWideProducts},
      {"merge_duplicates", merge_duplicates, "what is computed twice is computed once", kAnyGraph},
      {"fold_constants", fold_constants, "operators on constants become constants", kAnyGraph},
      {"replace_expressions", replace_expressions,
       "expressions become cheaper ones of the same bits"},
      {"replace_divisions", replace_divisions, "divisions by powers of two become products",
       kNoComposites, kAnyGraph, Serves::kTheseSizes},
      {"turn_products", turn_products, "products that are only read transposed are made so"},
      {"skip_reductions", skip_reductions, "reductions of one element become views"},
      {"join_axes", join_axes, "what a view with divided axes is read for is computed before it"},
      {"simplify", simplify, "operators and views that change nothing go"},
      {"join_slices", join_slices, "sums of pieces put into zeros become one concatenation"},
      {"remove_dead_code", remove_dead_code, "results that nobody reads are not computed",
       kAnyGraph},
      {"insert_copies", insert_copies, "values that need memory of their own get it",
       kNoComposites | kWideProducts, kOwnMemory},
  };
  return order;
}

const std::vector<Pass>& fast_passes() {
  static const auto& order = *new std::vector<Pass>{
      {"expand_composites", expand_composites, "losses, softmax and the like become their parts"},
      {"merge_duplicates", merge_duplicates, "what is computed twice is computed once"},
      {"replace_expressions_fast", replace_expressions_fast, "expressions become cheaper ones"},
      {"scale_products", scale_products, "products are scaled instead of what they read"},
      {"fold_into_weights", fold_into_weights, "weights are scaled instead of convolutions"},
  };
  return order;
}

void run_fast_passes(Graph& graph) {
  for (const Pass& pass : fast_passes()) pass.run(graph);
}

namespace {

void run_one(Graph& graph, const Pass& pass) {
  pass.run(graph);
#ifndef NDEBUG
  const std::string problem = verify(graph);
  GROOVE_ASSERT(problem.empty(), "after {}: {}\n{}", pass.name, problem, print(graph));
#endif
}

}  // namespace

void run_own_passes(Graph& graph) {
  for (const Pass& pass : passes_to_run()) run_one(graph, pass);
}

void observe_pipeline(Graph& graph, const PassObserver& observer, Serves most) {
  run_user_passes(graph, kRecordedPlace, observer);
  for (const Pass& pass : passes_to_run()) {
    if (pass.serves > most) continue;
    if (pass.run == insert_copies) run_user_passes(graph, kOptimizedPlace, observer);
    run_one(graph, pass);
    observer(pass.name, pass.about, graph);
    if (pass.run == expand_composites) run_user_passes(graph, kExpandedPlace, observer);
  }
}

void run_pipeline(Graph& graph, Serves most) {
  const auto nobody = [](const std::string&, const char*, const Graph&) {};
  if (environment().dump.empty()) return observe_pipeline(graph, nobody, most);
  static std::atomic<int> graphs{0};
  const int number = graphs.fetch_add(1, std::memory_order_relaxed);
  int step = 0;
  const auto dump = [&](const std::string& name, const char*, const Graph& after) {
    const std::string file = fmt::format("graph{}_{}_{}", number, step++, name);
    dump_text(file + ".graph", print(after));
    dump_picture(file, dot(after));
  };
  dump("recorded", "", graph);
  observe_pipeline(graph, dump, most);
}

}  // namespace groove::jit
