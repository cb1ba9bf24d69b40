// What a group becomes: launches over buffers. Everything but addresses and run-time numbers is
// fixed here, at compile time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "jit/fusion.h"
#include "kernels/backend.h"
#include "kernels/launch.h"
#include "kernels/machine.h"

namespace groove::jit {

class Relay;
using BufferId = std::int32_t;

/// For how many threads there is room where each needs `bytes` of its own: where that is much, for
/// those that the machine runs at once.
int threads_with_scratch(const kernels::Machine& machine, std::int64_t bytes);

// One contiguous piece of memory a program reads or writes.
struct Buffer {
  enum class Place : std::uint8_t { kArena, kInput, kOutput };
  Place place = Place::kArena;
  std::int32_t index = -1;  // which input, or which non-writing output
  std::int64_t bytes = 0;
  std::int64_t offset = -1;  // in the arena, once planned
  ValueId value = kNoValue;  // what it holds; temporaries hold none
  BufferId same_as = -1;     // the buffer whose memory it takes over, partly overwritten
};

struct Operand {
  ScalarType dtype = kFloat;
  bool is_store = false;
  BufferId buffer = -1;
  std::int64_t offset = 0;  // in elements
  std::vector<Start> starts;
  bool is_identity = false;    // element i of the buffer at point i of the loop, and nothing else
  bool is_row_buffer = false;  // one row of a launch, and each thread has its own
  bool is_own_sum = false;     // nothing is read but what the launch wrote itself
};

struct ScalarSlot {
  std::int32_t entry = -1;     // entry number; -1: constant
  ScalarType dtype = kDouble;  // what the kernel wants
  std::uint64_t bits = 0;      // of a constant, in that dtype
  bool operator==(const ScalarSlot&) const = default;
};

struct LaunchPlan {
  enum class Kind : std::uint8_t { kKernel, kContraction, kOpaque, kRelay };
  Kind kind = Kind::kKernel;
  // Which points of the box, which has one axis unless it is all of them: one for every four
  // elements, or those left over. Their numbers are no polynomials of sizes; the box's are.
  enum class Part : std::uint8_t { kWhole, kFours, kRest };
  Part part = Part::kWhole;
  std::int32_t stage = 0;
  std::vector<std::int32_t> nodes;  // for listings and host code
  kernels::Order order = kernels::Order::kMap;
  std::shared_ptr<const kernels::Callable> callable;
  std::shared_ptr<const kernels::ContractionCallable> contraction;
  kernels::ContractionShape shape;
  // That `contraction` is the code of; none for a block product, which reads its operands whole.
  std::shared_ptr<const kernels::Contraction> product;
  kernels::Box box;               // strides per operand (contractions: of the epilogue)
  std::vector<Operand> operands;  // contractions: A, B, then those of the epilogue
  std::vector<ScalarSlot> scalars;
  BufferId scratch = -1;  // contractions and row buffers: a piece of `scratch_bytes` per thread
  std::int64_t scratch_bytes = 0;
  int most_parts = 0;         // that may run side by side; 0: as many as there are threads
  bool is_splittable = true;  // among threads; host code may not be
  bool overwrites = false;    // must run after earlier writers of what it stores to
  bool copies_base = false;   // the whole base of an overwrite; the launch after it overwrites
  bool is_dropped = false;    // found to be needless
  std::shared_ptr<const kernels::Kernel> kernel;  // contractions: the epilogue; host code: none
  // Relays (their kernel, box and callable are those of the rows) and joined products: the launches
  // they consist of.
  std::shared_ptr<const Relay> relay;
  std::vector<LaunchPlan> parts;
  double nanoseconds = 0;  // a rough estimate on one thread
  bool is_stale = false;   // numbers in it were set since they were taken over

  /// The points that it runs, and the launch of them without pointers and scalars, which holds as
  /// long as the box.
  std::int64_t points() const;
  kernels::Launch launch() const;
  /// A single product of two matrices: neither joined with others nor host code.
  bool is_one_contraction() const { return kind == Kind::kContraction && product && parts.empty(); }
};

/// Whether it can come to nothing: host code may lack memory. Kernels and products never fail.
bool may_fail(const LaunchPlan& launch);

struct Lowered {
  kernels::Machine machine;     // that the launches are made for
  bool has_many_sizes = false;  // and sizes may be others than the graph's
  std::vector<Buffer> buffers;
  std::vector<BufferId> buffer_of;   // per value; -1: none
  std::vector<LaunchPlan> launches;  // in an order that respects dependencies
};

struct LoweringOptions {
  bool is_shared = true;        // off: groups of one form (jit/group_form.h) are lowered one by one
  bool has_many_sizes = false;  // matrix products get no code of their own for their sizes
  bool has_relays = true;       // off: every launch on its own (jit/join_relays.h)
  bool has_siblings = true;     // off: every product on its own (jit/join_siblings.h)
  const std::vector<char>* is_again = nullptr;  // as in FusionOptions
  kernels::Machine machine = kernels::this_machine();
};

/// Lowers every group; stored values get arena buffers, inputs theirs.
Lowered lower_groups(const Graph& graph, const Fusion& fusion, const LoweringOptions& options = {});

/// Scratch memory of a product, for every number of threads that a run may have.
void reserve_scratch(Lowered& lowered, LaunchPlan& plan);

/// A launch that copies between memory of two geometries (same sizes, same dtype).
LaunchPlan copy_launch(ScalarType dtype, const Geometry& from, BufferId source, const Geometry& to,
                       BufferId target);

}  // namespace groove::jit
