// The interpreter backend: correct everywhere and the oracle for generated code. It also folds
// constants and runs what no code generator takes.
#include <memory>

#include "kernels/backend.h"
#include "kernels/contraction/reference.h"
#include "kernels/interpreter/run.h"
#include "src/core/check.h"

namespace groove::kernels::interpreter {
namespace {

class InterpretedKernel final : public Callable {
 public:
  explicit InterpretedKernel(const Kernel& kernel) : plan_(make_plan(kernel)) {}
  void run(const Launch& launch) const noexcept override { interpreter::run(plan_, launch); }

 private:
  Plan plan_;
};

class Interpreter final : public Backend {
 public:
  const char* name() const override { return "interpreter"; }
  std::shared_ptr<const Callable> compile(const Kernel& kernel) override {
    const std::string problem = verify(kernel);
    GROOVE_CHECK(problem.empty(), "interpreter: {}\n{}", problem, print(kernel));
    return std::make_shared<InterpretedKernel>(kernel);
  }
  std::shared_ptr<const ContractionCallable> compile(const Contraction& contraction, Isa) override {
    return make_reference_contraction(contraction, *this);
  }
};

// Never destroyed, as the cache of compiled code refers to it for the life of the process.
const bool is_registered = [] {
  register_backend(*new Interpreter);
  return true;
}();

}  // namespace
}  // namespace groove::kernels::interpreter
