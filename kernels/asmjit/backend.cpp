// The "asmjit" backend: compiles kernels to loop nests and keeps one per instruction set.
#include <atomic>
#include <memory>
#include <mutex>

#include "groove/error.h"
#include "kernels/asmjit/code_memory.h"
#include "kernels/asmjit/nest.h"
#include "kernels/asmjit/transposing_copy.h"
#include "kernels/backend.h"
#include "kernels/contraction/generator.h"
#include "kernels/nest_driver.h"
#include "src/core/fork.h"

namespace groove::kernels {
namespace {

// Code is made on first use per instruction set, so a later change of the limit is honoured by
// kernels that were compiled (and cached) before it.
class NestCallable final : public Callable, public BindableKernel {
 public:
  explicit NestCallable(const Kernel& kernel) : kernel_(kernel), driver_(kernel) {
    function(isa());
  }
  ~NestCallable() override {
    for (const auto& function : code_.functions) {
      assembly::release_code(reinterpret_cast<const void*>(function.load()));
    }
  }
  void run(const Launch& launch) const noexcept override {
    driver_.run(function(isa()), launch);
  }
  const NestCode& code() const noexcept override { return code_; }
  bool bind(const Launch& launch, std::vector<BoundCall>& calls) const override {
    return driver_.bind(launch, calls);
  }
  std::string listing() const override {
    assembly::Listing listing;
    listing.add_comment(std::string("loop nest by asmjit, ") + name(isa()));
    assembly::generate_nest(kernel_, isa());
    return listing.text();
  }

 private:
  NestFunction function(Isa isa) const {
    std::atomic<NestFunction>& slot = code_.functions[static_cast<std::size_t>(isa)];
    NestFunction found = slot.load(std::memory_order_acquire);
    if (found) return found;
    const ForkGate gate;
    const std::lock_guard lock(mutex_);
    if (!slot.load()) slot.store(assembly::generate_nest(kernel_, isa), std::memory_order_release);
    return slot.load();
  }

  Kernel kernel_;
  NestDriver driver_;
  mutable std::mutex mutex_;
  mutable NestCode code_;
};

class AsmjitBackend final : public Backend {
 public:
  const char* name() const override { return "asmjit"; }
  std::string unavailable() const override {
    return has_isa(Isa::kAvx2) ? "" : "generated code needs a CPU with AVX2, FMA and F16C";
  }
  std::shared_ptr<const Callable> compile(const Kernel& kernel) override {
    const std::string problem = verify(kernel);
    if (!problem.empty()) throw Error("asmjit: " + problem + "\n" + print(kernel));
    auto nest = std::make_shared<NestCallable>(kernel);
    if (may_transpose(kernel)) return make_transposing_copy(kernel, std::move(nest));
    return nest;
  }
  std::shared_ptr<const ContractionCallable> compile(const Contraction& contraction,
                                                     Isa isa) override {
    return make_asmjit_contraction(contraction, isa);
  }
};

const bool is_registered = [] {
  register_backend(*new AsmjitBackend);
  return true;
}();

}  // namespace
}  // namespace groove::kernels
