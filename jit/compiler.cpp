// The one Compiler: a recorded graph through the passes into a program.
#include "jit/pipeline.h"
#include "jit/program.h"

namespace groove::jit {
namespace {

class GraphCompiler final : public Compiler {
 public:
  std::unique_ptr<Executable> compile(Graph graph) override {
    run_pipeline(graph);
    return std::make_unique<Program>(std::move(graph));
  }
  std::unique_ptr<Executable> compile_for_many_sizes(Graph graph) override {
    run_pipeline_for_many_sizes(graph);
    ProgramOptions options;
    options.is_for_many_sizes = true;
    return std::make_unique<Program>(std::move(graph), options);
  }
  std::unique_ptr<Executable> compile_fast(Graph graph) override {
    run_fast_passes(graph);
    run_pipeline(graph);
    ProgramOptions options;
    options.is_fast = true;
    return std::make_unique<Program>(std::move(graph), options);
  }
};

const bool is_registered = [] {
  static GraphCompiler& compiler = *new GraphCompiler;  // used until the process is gone
  register_compiler(compiler);
  return true;
}();

}  // namespace
}  // namespace groove::jit
