// The one Compiler: a recorded graph through the passes into a program.
#include "jit/pipeline.h"
#include "jit/program.h"
#include "jit/shared_programs.h"

namespace groove::jit {
namespace {

class GraphCompiler final : public Compiler {
 public:
  std::shared_ptr<Executable> compile(Graph graph) override {
    return shared_program(std::move(graph), true, [](Graph own) {
      run_pipeline(own, Serves::kTheseSizes);
      return std::make_shared<Program>(std::move(own));
    });
  }
  std::shared_ptr<Executable> compile_fully(Graph graph) override {
    return shared_program(std::move(graph), false, [](Graph own) {
      run_pipeline(own);
      return std::make_shared<Program>(std::move(own));
    });
  }
  std::shared_ptr<Executable> compile_for_many_sizes(Graph graph) override {
    run_pipeline_for_many_sizes(graph);
    ProgramOptions options;
    options.is_for_many_sizes = true;
    return std::make_shared<Program>(std::move(graph), options);
  }
  std::shared_ptr<Executable> compile_for_any_size(Graph graph, const Executable* like) override {
    run_pipeline_for_many_sizes(graph);
    ProgramOptions options;
    options.is_for_many_sizes = options.takes_numbers = true;
    if (const auto* const known = dynamic_cast<const Program*>(like))
      options.choices = known->choices().followed();
    return std::make_shared<Program>(std::move(graph), options);
  }
  std::shared_ptr<Executable> compile_fast(Graph graph) override {
    run_fast_passes(graph);
    run_pipeline(graph);
    ProgramOptions options;
    options.is_fast = true;
    return std::make_shared<Program>(std::move(graph), options);
  }
  void forget() override { forget_shared_programs(); }
};

const bool is_registered = [] {
  static GraphCompiler& compiler = *new GraphCompiler;  // used until the process is gone
  register_compiler(compiler);
  return true;
}();

}  // namespace
}  // namespace groove::jit
