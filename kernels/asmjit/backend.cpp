// The "asmjit" backend: compiles kernels to loop nests and drives them over the outer axes.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "groove/error.h"
#include "kernels/asmjit/nest.h"
#include "kernels/backend.h"
#include "kernels/contraction/generator.h"

namespace groove::kernels {
namespace {

using assembly::NestArguments;
using assembly::NestFunction;

// Code is made on first use per instruction set, so a later change of the limit is honoured by
// kernels that were compiled (and cached) before it.
class NestCallable final : public Callable {
 public:
  explicit NestCallable(const Kernel& kernel) : kernel_(kernel) {
    for (const Access& access : kernel.accesses) {
      sizes_.push_back(static_cast<std::int64_t>(element_size(access.dtype)));
    }
    function(isa());
  }

  void run(const Launch& launch) const noexcept override {
    const NestFunction call = function(isa());
    const std::int64_t inner = launch.count[0];
    const std::int64_t rows = launch.rank > 1 ? launch.count[1] : 1;
    const bool walks_rows = kernel_.order == Order::kRow || kernel_.order == Order::kTree;
    if (inner == 0 && !walks_rows) return;
    NestArguments arguments;
    arguments.count[0] = inner;
    arguments.count[1] = rows;
    arguments.scalars = launch.scalars;
    for (int axis = 0; axis < kMaxAxes; ++axis) {
      arguments.index[axis] = axis < launch.rank ? launch.begin[axis] : 0;
    }
    for (std::size_t a = 0; a < sizes_.size(); ++a) {
      const std::int64_t* strides = launch.strides[a];
      std::int64_t offset = 0;
      for (int axis = 0; axis < launch.rank; ++axis) offset += launch.begin[axis] * strides[axis];
      assembly::NestAccess& access = arguments.accesses[a];
      access.pointer = static_cast<char*>(launch.pointers[a]) + offset * sizes_[a];
      access.stride[0] = strides[0] * sizes_[a];
      access.stride[1] = launch.rank > 1 ? strides[1] * sizes_[a] : 0;
    }
    const bool in_blocks = kernel_.order == Order::kMap && rows > 1 && jumps_lines(arguments);
    std::int64_t left = 1;
    for (int axis = kFirstOuter; axis < launch.rank; ++axis) left *= launch.count[axis];
    while (left > 0) {
      if (in_blocks) {
        run_blocks(call, launch, arguments);
      } else {
        call(&arguments);
      }
      if (--left == 0) return;
      for (int axis = kFirstOuter; axis < launch.rank; ++axis) {
        const bool wraps = ++arguments.index[axis] == launch.begin[axis] + launch.count[axis];
        move(launch, arguments, axis, wraps ? 1 - launch.count[axis] : 1);
        if (!wraps) break;
        arguments.index[axis] = launch.begin[axis];
      }
    }
  }

 private:
  static constexpr int kFirstOuter = 2;
  // Elements along axis 0 whose cache lines stay in the caches until the next row wants them, even
  // when all of them fall into the same sets. Short rows do so by themselves.
  static constexpr std::int64_t kBlock = 16, kShortRow = 128;

  // A transposed operand: axis 0 takes a new cache line for each element while its neighbours in
  // the line belong to the following rows.
  bool jumps_lines(const NestArguments& arguments) const {
    if (arguments.count[0] < kShortRow) return false;
    for (std::size_t a = 0; a < sizes_.size(); ++a) {
      const std::int64_t along = std::abs(arguments.accesses[a].stride[0]);
      if (along >= 64 && std::abs(arguments.accesses[a].stride[1]) < 64) return true;
    }
    return false;
  }

  void run_blocks(NestFunction call, const Launch& launch, NestArguments& arguments) const {
    const std::int64_t length = launch.count[0];
    for (std::int64_t done = 0; done < length; done += kBlock) {
      arguments.count[0] = std::min(kBlock, length - done);
      call(&arguments);
      arguments.index[0] += kBlock;
      move(launch, arguments, 0, kBlock);
    }
    const std::int64_t moved = (length + kBlock - 1) / kBlock * kBlock;
    arguments.count[0] = length;
    arguments.index[0] -= moved;
    move(launch, arguments, 0, -moved);
  }

  void move(const Launch& launch, NestArguments& arguments, int axis, std::int64_t steps) const {
    for (std::size_t a = 0; a < sizes_.size(); ++a) {
      void*& pointer = arguments.accesses[a].pointer;
      pointer = static_cast<char*>(pointer) + steps * launch.strides[a][axis] * sizes_[a];
    }
  }

  NestFunction function(Isa isa) const {
    std::atomic<NestFunction>& slot = functions_[static_cast<std::size_t>(isa)];
    NestFunction found = slot.load(std::memory_order_acquire);
    if (found) return found;
    const std::lock_guard lock(mutex_);
    if (!slot.load()) slot.store(assembly::generate_nest(kernel_, isa), std::memory_order_release);
    return slot.load();
  }

  Kernel kernel_;
  std::vector<std::int64_t> sizes_;
  mutable std::mutex mutex_;
  mutable std::array<std::atomic<NestFunction>, 2> functions_{};
};

class AsmjitBackend final : public Backend {
 public:
  const char* name() const override { return "asmjit"; }
  std::string unavailable() const override {
    return has_isa(Isa::kAvx2) ? "" : "generated code needs a CPU with AVX2 and FMA";
  }
  std::shared_ptr<const Callable> compile(const Kernel& kernel) override {
    const std::string problem = verify(kernel);
    if (!problem.empty()) throw Error("asmjit: " + problem + "\n" + print(kernel));
    return std::make_shared<NestCallable>(kernel);
  }
  std::shared_ptr<const ContractionCallable> compile(const Contraction& contraction) override {
    return make_asmjit_contraction(contraction);
  }
};

const bool is_registered = [] {
  register_backend(*new AsmjitBackend);
  return true;
}();

}  // namespace
}  // namespace groove::kernels
