// A compiled segment: what is left at run time is patching pointers, converting the run-time
// numbers and calling one launch after the other, in one parallel region a stage.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "jit/plan_memory.h"
#include "jit/tiered_kernel.h"
#include "tracer/compiler.h"

namespace groove::jit {

struct ProgramOptions {
  bool is_fused = true;
  bool fills_freed_memory = false;  // tests: with NaN, after the last use
  bool is_never_serial = false;     // tests: all threads take part however small the work is
};

class Program final : public Executable {
 public:
  /// The graph must have been through the pipeline.
  explicit Program(Graph graph, const ProgramOptions& options = {});

  std::size_t arena_bytes() const override { return static_cast<std::size_t>(arena_bytes_); }
  std::int32_t run(void* const* buffers, const std::int64_t* sizes, const std::uint64_t* scalars,
                   ProgramContext& context) const noexcept override;
  std::string describe() const override;
  void inspect(const Graph& recorded, SegmentView& view) const override;
  void promote() noexcept override;
  std::size_t memory_bytes() const override;
  std::size_t launch_count() const { return steps_.size(); }

 private:
  struct PointerSlot {
    std::int32_t base;  // index of a buffer; -1: the arena
    std::int64_t offset;
  };
  struct MovingPointer {  // by a run-time start number
    std::int32_t slot, entry;
    std::int64_t stride, size;  // stride in bytes
  };
  struct EntryScalar {
    std::int32_t slot, entry;
    ScalarType dtype;
  };
  struct Instance {
    kernels::Launch launch;  // without pointers and scalars
    std::int32_t pointers = 0, scalars = 0;
    std::int32_t pointer_count = 0;
    std::int64_t points = 0;
  };
  struct Step {
    std::int32_t plan = -1;  // the first of its instances
    LaunchPlan::Kind kind = LaunchPlan::Kind::kKernel;
    kernels::Order order = kernels::Order::kMap;
    const kernels::Callable* callable = nullptr;
    std::shared_ptr<TieredKernel> tiered;  // the callable, if its share of the time is large
    const kernels::ContractionCallable* contraction = nullptr;
    kernels::ContractionLaunch matrices;
    std::int64_t scratch = 0, scratch_bytes = 0;
    std::vector<Instance> instances;        // one, or a table of equal kernels over other buffers
    std::vector<std::int32_t> row_buffers;  // which of its pointers differ from thread to thread
    std::int64_t points = 0;
    std::int32_t node = -1;      // host code
    std::int32_t max_parts = 1;  // 1: one thread runs it
    std::int32_t level = 0;
    double nanoseconds = 0;
  };
  struct Stage {
    std::vector<std::vector<std::int32_t>> levels;
    std::int32_t first_pointer = 0, last_pointer = 0;
    std::int32_t first_moving = 0, last_moving = 0;
    std::int32_t first_scalar = 0, last_scalar = 0;
    std::int32_t first_entry = 0, last_entry = 0;
    std::int32_t first_level = 0;
    bool is_serial = true;
    bool has_host_code = false;
    std::vector<std::int32_t> alone;  // levels with host code that has parallel regions of its own
  };
  struct Run;

  std::string name_of(const Step& step) const;
  static std::string shape_text(const Step& step);
  void find_hot_kernels();
  void add_stage(const Lowered& lowered, const Schedule& schedule, std::int32_t stage);
  void add_instance(Step& step, const LaunchPlan& plan, const Lowered& lowered);
  void patch(const Stage& stage, const Run& run) const noexcept;
  void run_levels_alone(const Stage& stage, const Run& run, int first, int last) const noexcept;
  void run_levels_together(const Stage& stage, const Run& run, int first, int last,
                           int threads) const noexcept;
  void run_level(const Stage& stage, const Run& run, int level, int part, int parts) const
      noexcept;
  void run_step(const Step& step, const Run& run, int part, int parts) const noexcept;
  void run_with_row_buffers(const Step& step, kernels::Launch& launch, const Run& run,
                            int part) const noexcept;
  void run_table(const Step& step, const Run& run, int part, int parts) const noexcept;
  void run_host_code(const Step& step, const Run& run, int part, int parts) const;
  void fill_freed(std::int32_t level, const Run& run) const noexcept;

  Graph graph_;
  ProgramOptions options_;
  std::vector<LaunchPlan> plans_;  // own the code and the strides that launches point to
  std::vector<Step> steps_;
  std::vector<Stage> stages_;
  std::vector<PointerSlot> pointers_;
  std::vector<MovingPointer> moving_;
  std::vector<std::uint64_t> scalars_;
  std::vector<EntryScalar> entries_;
  std::vector<MemoryPlan::Freed> freed_;
  std::int64_t control_bytes_ = 0;  // pointer and scalar tables at the start of the arena
  std::int64_t arena_bytes_ = 0;
};

}  // namespace groove::jit
