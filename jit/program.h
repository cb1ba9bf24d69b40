// A compiled segment: what is left at run time is patching pointers, converting the run-time
// numbers and calling one launch after the other, in one parallel region a stage.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "jit/pace.h"
#include "jit/plan_memory.h"
#include "jit/relay.h"
#include "jit/rematerialise.h"
#include "jit/rooms.h"
#include "jit/tiered_kernel.h"
#include "kernels/nest_driver.h"
#include "tracer/cache/compiler.h"

namespace groove::jit {

struct ProgramOptions {
  bool is_fused = true;
  // Tests: memory that holds nothing yet or nothing any more is full of signalling NaN.
  bool fills_freed_memory = false;
  bool is_never_serial = false;    // tests: all threads take part however small the work is
  bool is_for_many_sizes = false;  // matrix products by code that any size may use
  bool takes_numbers = false;      // whoever has it may set what follows from sizes …
  Choices choices = {};            // … and may have another one made by the same choices
  bool is_fast = false;            // the graph went through the fast passes, too
  RematerialiseOptions rematerialise = {};
  kernels::Machine machine = kernels::this_machine();  // whose isa this one must have, to run it
};

class Program final : public Executable {
 public:
  /// The graph must have been through the pipeline.
  explicit Program(Graph graph, const ProgramOptions& options = {});

  std::size_t arena_bytes() const override { return static_cast<std::size_t>(arena_bytes_); }
  std::int64_t output_place(std::size_t output) const override {
    return output < output_places_.size() ? output_places_[output] : -1;
  }
  std::size_t kept_bytes() const override;
  std::int32_t run(void* const* buffers, const std::int64_t* sizes, const std::uint64_t* scalars,
                   ProgramContext& context) const noexcept override;
  std::string describe() const override;
  void inspect(const Graph& recorded, SegmentView& view) const override;
  void promote() noexcept override;
  bool is_quick() const override { return operators_to_unroll_ > 0; }
  double promotion_milliseconds() const override;
  double expected_milliseconds() const override;
  std::size_t memory_bytes() const override;
  bool list_numbers(ProgramNumbers& list) override;
  std::int32_t settle(const NumbersSet& set) override;
  std::size_t launch_count() const { return steps_.size(); }
  const Choices& choices() const { return options_.choices; }
  /// What is compiled, and its launches, made again.
  const Graph& graph() const { return graph_; }
  Lowered lowered() const;
  /// What threads do between two barriers, of all stages.
  std::size_t turn_count() const;

 private:
  struct AddressSlot {  // where in the arena an address goes, and what it is of
    static constexpr std::int32_t kValues = -1, kControl = -2;  // parts of the arena
    std::int64_t at;
    std::int32_t base;  // index of a buffer, or a part
    std::int64_t offset;
  };
  struct MovingAddress {  // by a run-time start number
    std::int64_t at;
    std::int32_t entry;
    std::int64_t stride, size;  // stride in bytes
  };
  struct EntryScalar {
    std::int32_t slot, entry;
    ScalarType dtype;
  };
  struct Instance {
    kernels::Launch launch;  // without pointers and scalars
    std::int32_t plan = -1;
    std::int32_t pointers = -1;  // in the table; -1: in the arguments of its calls
    std::int32_t scalars = 0;
    std::int32_t first_call = 0;
    std::int64_t points = 0;
  };
  // What host code is told that no run changes.
  struct HostCall {
    std::vector<Type> types;           // of its operands
    std::vector<Scalar> numbers;       // as recorded
    std::vector<Geometry> geometries;  // of its operands, then of its results
    // With takes_numbers: words of the attributes and bits of `numbers`, from which settle() makes
    // them.
    std::vector<std::int64_t> words;
    std::vector<std::uint64_t> bits;
    bool is_stale = false;
  };
  struct Step {
    std::int32_t plan = -1;  // the first of its instances
    LaunchPlan::Kind kind = LaunchPlan::Kind::kKernel;
    kernels::Order order = kernels::Order::kMap;
    const kernels::Callable* callable = nullptr;
    std::shared_ptr<TieredKernel> tiered;  // the callable, if its share of the time is large
    const kernels::ContractionCallable* contraction = nullptr;
    kernels::ContractionLaunch matrices;
    const Relay* relay = nullptr;  // its rows are the callable
    std::int64_t scratch = 0, scratch_bytes = 0;
    std::vector<Instance> instances;        // one, or a table of equal kernels over other buffers
    std::vector<std::int32_t> row_buffers;  // which of its pointers differ from thread to thread
    std::int64_t points = 0;
    std::int32_t node = -1;  // host code
    HostCall host;
    bool fails_late = false;     // Schedule::fails_late
    std::int32_t max_parts = 1;  // 1: one thread runs it
    bool is_shared = false;      // by all threads of a region, unless the stage runs on one
    std::int32_t level = 0;
    double nanoseconds = 0;
  };
  // What one thread does for a step whose calls were told ahead.
  struct Ready {
    std::int32_t first = 0, last = 0;         // calls; none: the step is driven
    const kernels::NestCode* code = nullptr;  // kernels; else each call has a function
    const TieredKernel* tiered = nullptr;     // whose code it is instead
  };
  struct Call {
    kernels::BoundFunction function;
    std::int64_t at;  // its arguments, in the arena
  };
  // Levels that run one after the other without a barrier: all on one thread, or each thread its
  // part of every level.
  struct Turn {
    std::int32_t first = 0, last = 0;
    bool is_alone = true;
    bool is_outside = true;  // not within a parallel region
  };
  struct Stage {
    std::vector<std::int32_t> first_steps;  // of each level, then one more: they lie in order
    std::vector<Turn> turns;                // with more than one thread
    std::int32_t first_fixed = 0;
    std::int32_t first_moved = 0, last_moved = 0;
    std::int32_t first_moving = 0, last_moving = 0;
    std::int32_t first_entry = 0, last_entry = 0;
    std::int32_t first_level = 0;
    bool is_serial = true;
    bool has_host_code = false;
    std::vector<std::int32_t> alone;  // levels with host code that has parallel regions of its own
    std::unique_ptr<Pace> pace;       // where one thread may well be as fast; else null

    std::int32_t levels() const { return static_cast<std::int32_t>(first_steps.size()) - 1; }
    std::int32_t begin(std::int32_t level) const {
      return first_steps[static_cast<std::size_t>(level)];
    }
    std::int32_t end(std::int32_t level) const { return begin(level + 1); }
  };
  struct Run;

  // With takes_numbers, the choices that are kept or followed; otherwise null.
  Fusion fused(Choices* choices) const;
  void repeat_where_less_moves(Fusion& fusion, Choices* choices);
  ScheduleOptions schedule_options(Choices* choices) const;
  LoweringOptions lowering_options() const;
  std::string name_of(const Step& step) const;
  std::string shape_text(const Step& step) const;
  std::string launch_text(const Step& step) const;  // both, for logs and traces
  void find_hot_kernels();
  void add_stage(const Lowered& lowered, const Schedule& schedule, std::int32_t stage);
  void add_instance(Step& step, const LaunchPlan& plan, std::int32_t index);
  void describe_host_call(Step& step) const;
  void find_turns(Stage& stage);
  void join_turns(const std::vector<Buffer>& buffers);
  static std::uint64_t new_mark();
  void bind(std::int32_t step);
  void lay_out_control(const std::vector<LaunchPlan>& plans);
  std::int64_t control_bytes() const;
  /// Of this stage and those after it; of those before it they are there.
  void place_addresses(const std::vector<Buffer>& buffers, std::size_t first_stage = 0);
  void place_address(const std::vector<Buffer>& buffers, const Operand& operand, std::int64_t at,
                     std::int64_t offset);
  char* values_of(const ProgramContext& context) const noexcept;
  void prepare(ProgramContext& context) const noexcept;
  void patch(const Stage& stage, const Run& run) const noexcept;
  void run_levels_alone(const Stage& stage, const Run& run, int first, int last) const noexcept;
  void run_shared(const Stage& stage, const Run& run, int threads) const noexcept;
  void run_turns(const Stage& stage, const Run& run, std::size_t first, std::size_t last,
                 int threads) const noexcept;
  void run_level(const Stage& stage, const Run& run, int level, int part, int parts) const noexcept;
  void run_alone(std::int32_t step, const Run& run) const noexcept;
  // Host code lacked memory: the run is to be left.
  void fail(const Step& step, const Run& run) const noexcept;
  void run_step(const Step& step, const Run& run, int part, int parts) const noexcept;
  void* const* pointers_of(const Instance& instance, const Run& run, void** own) const noexcept;
  void run_with_row_buffers(const Step& step, kernels::Launch& launch, int part) const noexcept;
  void run_table(const Step& step, const Run& run, int part, int parts) const noexcept;
  void run_host_code(const Step& step, const Run& run, int part, int parts) const;
  void fill_arena(const Run& run) const noexcept;
  void fill_freed(std::int32_t level, const Run& run) const noexcept;

  Graph graph_;
  ProgramOptions options_;
  std::vector<char> is_again_;     // per node, or empty: computed a second time
  std::vector<LaunchPlan> plans_;  // own the code and the strides that launches point to
  std::vector<Step> steps_;
  std::vector<Ready> ready_;  // per step
  std::vector<Call> calls_;
  std::vector<kernels::BoundCall> bound_;  // per call; empty once addresses are placed
  std::vector<Stage> stages_;
  std::vector<AddressSlot> fixed_, moved_;  // of the arena itself; of buffers, by stage
  std::vector<MovingAddress> moving_;
  std::vector<std::uint64_t> scalars_;
  std::vector<EntryScalar> entries_;
  std::vector<MemoryPlan::Freed> freed_;
  std::vector<std::int64_t> output_places_;
  // The start of the arena: a table of addresses for steps that are driven, scalars, arguments of
  // calls. All of it but addresses and run-time numbers is here.
  std::vector<char> control_;
  std::int32_t table_size_ = 0;
  std::int64_t scalars_at_ = 0;
  std::int64_t arena_bytes_ = 0;
  bool are_bytes_stale_ = false;          // of buffers
  std::int64_t operators_to_unroll_ = 0;  // that dear passes would make
  std::uint64_t mark_;                    // of arenas that were prepared for this program as it is
  // With ProgramOptions::takes_numbers.
  std::vector<Buffer> buffers_;
  std::vector<MemoryPlan::Home> homes_;       // per buffer
  std::vector<std::int32_t> first_stage_of_;  // per buffer
  Rooms rooms_;
};

}  // namespace groove::jit
