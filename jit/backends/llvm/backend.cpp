// The "llvm" backend, tier 2: kernels through LLVM, contractions as tier 1 makes them.
#include <array>
#include <atomic>
#include <memory>
#include <mutex>

#include "jit/backends/llvm/library.h"
#include "kernels/asmjit/code_memory.h"
#include "kernels/backend.h"
#include "src/core/check.h"
#include "src/core/fork.h"

namespace groove::llvm_tier {
namespace {

using kernels::Isa;
using kernels::NestFunction;

// One function per instruction set, made on first use: a later change of the limit is honoured.
class LlvmKernel final : public kernels::Callable, public kernels::BindableKernel {
 public:
  explicit LlvmKernel(const kernels::Kernel& kernel)
      : text_(print(kernel)), driver_(kernel), tier_1_(tier_1(kernel)) {
    publish(kernels::isa());
  }
  ~LlvmKernel() override {
    for (const void* memory : memory_) kernels::assembly::release_code(memory);
  }

  void run(const kernels::Launch& launch) const noexcept override {
    if (const NestFunction call = function(kernels::isa())) {
      driver_.run(call, launch);
    } else {
      tier_1_->run(launch);
    }
  }
  const kernels::NestCode& code() const noexcept override { return code_; }
  bool bind(const kernels::Launch& launch,
            std::vector<kernels::BoundCall>& calls) const override {
    return driver_.bind(launch, calls);
  }
  std::string listing() const override { return llvm_tier::listing(text_, kernels::isa()); }

 private:
  static std::shared_ptr<const kernels::Callable> tier_1(const kernels::Kernel& kernel) {
    return compile_cached(*kernels::find_backend("asmjit"), kernel);
  }

  NestFunction function(Isa isa) const noexcept {
    std::atomic<NestFunction>& slot = code_.functions[static_cast<std::size_t>(isa)];
    if (const NestFunction found = slot.load(std::memory_order_acquire)) return found;
    const ForkGate gate;
    const std::lock_guard lock(mutex_);
    if (!slot.load() && !has_failed_) {
      try {
        publish(isa);
      } catch (const Error&) {
        has_failed_ = true;
      }
    }
    return slot.load();
  }

  void publish(Isa isa) const {
    const Code code = compile(text_, isa);
    memory_[static_cast<std::size_t>(isa)] = code.memory;
    code_.functions[static_cast<std::size_t>(isa)].store(code.function, std::memory_order_release);
  }

  const std::string text_;
  const kernels::NestDriver driver_;
  const std::shared_ptr<const kernels::Callable> tier_1_;  // for an instruction set that fails
  mutable std::mutex mutex_;
  mutable bool has_failed_ = false;
  mutable std::array<const void*, 2> memory_{};
  mutable kernels::NestCode code_;
};

class LlvmBackend final : public kernels::Backend {
 public:
  const char* name() const override { return "llvm"; }
  std::string unavailable() const override {
    const kernels::Backend* const below = kernels::find_backend("asmjit");
    const std::string problem = below ? below->unavailable() : "tier 1 is missing";
    return problem.empty() ? llvm_tier::unavailable() : problem;
  }
  std::shared_ptr<const kernels::Callable> compile(const kernels::Kernel& kernel) override {
    const std::string problem = verify(kernel);
    GROOVE_CHECK(problem.empty(), "llvm: {}\n{}", problem, print(kernel));
    return std::make_shared<LlvmKernel>(kernel);
  }
  std::shared_ptr<const kernels::ContractionCallable> compile(
      const kernels::Contraction& contraction, kernels::Isa isa) override {
    return kernels::find_backend("asmjit")->compile(contraction, isa);
  }
};

const bool is_registered = [] {
  kernels::register_backend(*new LlvmBackend);
  return true;
}();

}  // namespace
}  // namespace groove::llvm_tier
