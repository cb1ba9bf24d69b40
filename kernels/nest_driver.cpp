#include "kernels/nest_driver.h"

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <functional>

#include "kernels/machine.h"
#include "kernels/pool.h"

namespace groove::kernels {
namespace {

constexpr int kFirstOuter = 2;
// Elements along axis 0 whose cache lines stay in the caches until the next row wants them, even
// when all of them fall into the same sets. Short rows do so by themselves.
constexpr std::int64_t kBlock = 16, kShortRow = 128;
constexpr std::size_t kMostStreamed = 31;
// Instructions of the longest phase that make looking ahead worth it; the most accesses, for the
// sake of registers.
constexpr int kLeastAhead = 8;
constexpr std::size_t kMostAhead = 2;
// A small first cache takes what is on its way of so many rows that several phases walk: it has
// fewer places for that than the second. A roomy one takes any; where those that are asked for are
// this short together, the ones after the next, which then have twice the time to come.
constexpr std::int64_t kRoomyCache = 48 << 10, kShortAhead = 8 << 10;
constexpr std::ptrdiff_t kMostNear = 2;
// Phases that keep memory busy themselves have less time for it: the first, which waits for what
// has not come yet, and the last where it stores results past the caches. Others' work counts for
// so many times as much.
constexpr int kIdleFactor = 4, kRoomyIdleFactor = 3;

std::atomic<std::int64_t> least_set{0};  // by tests

std::int64_t least_streamed() {
  const std::int64_t set = least_set.load(std::memory_order_relaxed);
  return set > 0 ? set : this_machine().last_cache / 2;
}

struct PhaseWork {
  bool walks;        // along the row, with a result that is wanted
  int instructions;  // of each vector, if so
  bool is_busy;      // with memory
};
std::vector<PhaseWork> find_work(const Kernel& kernel, const std::vector<Level>& levels) {
  std::vector<PhaseWork> all;
  bool is_first = true;
  for (const Phase& phase : kernel.phases) {
    PhaseWork work{};
    bool may_stream = false;
    for (std::int32_t id = phase.begin; id < phase.end; ++id) {
      const Instr& instr = kernel.code[static_cast<std::size_t>(id)];
      may_stream |= instr.prim == Prim::kStore && streams(kernel, instr.imm);
      work.walks |=
          is_reduction(instr.prim) || (instr.prim == Prim::kStore &&
                                       kernel.accesses[instr.imm].inner != StrideClass::kBroadcast);
      if (levels[static_cast<std::size_t>(id)] == Level::kVector) ++work.instructions;
    }
    if (!work.walks) work.instructions = 0;
    const bool is_last = &phase == &kernel.phases.back();
    work.is_busy = (work.walks && is_first) || (is_last && may_stream);
    if (work.walks) is_first = false;
    all.push_back(work);
  }
  return all;
}

// The contiguous rows that are read, in the order in which they are.
std::vector<std::int32_t> rows_read(const Kernel& kernel) {
  std::vector<std::int32_t> accesses;
  for (const Instr& instr : kernel.code) {
    if (instr.prim != Prim::kLoad) continue;
    const Access& access = kernel.accesses[instr.imm];
    if (access.inner != StrideClass::kContiguous || element_size(access.dtype) < 2) continue;
    const auto index = static_cast<std::int32_t>(instr.imm);
    if (std::find(accesses.begin(), accesses.end(), index) == accesses.end()) {
      accesses.push_back(index);
    }
  }
  return accesses;
}

// The phases that load through it.
std::int64_t walks_of(const Kernel& kernel, std::int32_t access) {
  return std::count_if(kernel.phases.begin(), kernel.phases.end(), [&](const Phase& phase) {
    return std::any_of(kernel.code.begin() + phase.begin, kernel.code.begin() + phase.end,
                       [&](const Instr& instr) {
                         return instr.prim == Prim::kLoad &&
                                static_cast<std::int32_t>(instr.imm) == access;
                       });
  });
}

std::vector<int> shares(const std::vector<PhaseWork>& work, int idle_factor) {
  std::vector<int> all;
  for (const PhaseWork& phase : work)
    all.push_back(phase.is_busy ? phase.instructions : idle_factor * phase.instructions);
  return all;
}

// Whole rows, each in another phase while there are some: first where there is most work.
void ask_in_different_phases(const std::vector<std::int32_t>& accesses,
                             const std::vector<PhaseWork>& work, Lookahead& ahead) {
  const std::vector<int> share = shares(work, kRoomyIdleFactor);
  for (const std::int32_t access : accesses) {
    std::size_t best = work.size();
    for (std::size_t p = 0; p < work.size(); ++p) {
      if (!work[p].walks) continue;
      const std::size_t asked = ahead.phases[p].size();
      if (best == work.size() || asked < ahead.phases[best].size() ||
          (asked == ahead.phases[best].size() && share[p] > share[best])) {
        best = p;
      }
    }
    ahead.phases[best].push_back({access, Lookahead::Part::kWhole});
  }
}

// A half goes where there is most work for each that is asked for.
void ask_by_halves(const std::vector<std::int32_t>& accesses, const std::vector<PhaseWork>& work,
                   Lookahead& ahead) {
  const std::vector<int> share = shares(work, kIdleFactor);
  std::vector<int> halves(work.size(), 0);
  const auto next = [&] {
    std::size_t best = 0;
    for (std::size_t p = 1; p < work.size(); ++p) {
      if (share[p] * (halves[best] + 1) > share[best] * (halves[p] + 1)) best = p;
    }
    ++halves[best];
    return best;
  };
  for (const std::int32_t access : accesses) {
    const std::size_t first = next(), second = next();
    if (first == second) {
      ahead.phases[first].push_back({access, Lookahead::Part::kWhole});
    } else {
      ahead.phases[first].push_back({access, Lookahead::Part::kFirstHalf});
      ahead.phases[second].push_back({access, Lookahead::Part::kSecondHalf});
    }
  }
}

}  // namespace

Lookahead find_lookahead(const Kernel& kernel, const std::vector<Level>& levels,
                         std::int64_t first_cache) {
  Lookahead ahead;
  ahead.phases.resize(kernel.phases.size());
  if (kernel.order != Order::kRow) return ahead;
  const std::vector<PhaseWork> work = find_work(kernel, levels);
  const auto walks = [](const PhaseWork& phase) { return phase.walks; };
  const bool has_long = std::any_of(work.begin(), work.end(), [](const PhaseWork& phase) {
    return phase.instructions >= kLeastAhead;
  });
  if (!has_long || std::count_if(work.begin(), work.end(), walks) < 2) return ahead;
  std::vector<std::int32_t> accesses = rows_read(kernel);
  const auto is_walked_again = [&](std::int32_t access) { return walks_of(kernel, access) > 1; };
  const auto walked = std::count_if(accesses.begin(), accesses.end(), is_walked_again);
  // What one phase alone walks streams through it, as processors expect by themselves, and may be
  // no memory at all: a row of weights, one that an earlier phase stored.
  if (walked > 0) std::erase_if(accesses, std::not_fn(is_walked_again));
  if (accesses.size() > kMostAhead) accesses.resize(kMostAhead);
  if (accesses.empty()) return ahead;
  const bool is_roomy = first_cache >= kRoomyCache;
  ahead.is_near = is_roomy || walked <= kMostNear;
  ahead.rows = is_roomy || !ahead.is_near ? 2 : 1;
  if (is_roomy) {
    ahead.longest_skipped = kShortAhead / static_cast<std::int64_t>(accesses.size());
    ask_in_different_phases(accesses, work, ahead);
  } else {
    ask_by_halves(accesses, work, ahead);
  }
  return ahead;
}

bool streams(const Kernel& kernel, std::size_t access) {
  const Access& a = kernel.accesses[access];
  return (kernel.order == Order::kMap || kernel.order == Order::kRow) && access < kMostStreamed &&
         a.is_store && a.dtype == kFloat && a.inner == StrideClass::kContiguous;
}

void set_least_streamed(std::int64_t bytes) { least_set.store(bytes, std::memory_order_relaxed); }

std::vector<Level> nest_levels(const Kernel& kernel) {
  std::vector<Level> levels(kernel.code.size());
  const Level per_row = kernel.order == Order::kColumn ? Level::kVector : Level::kRow;
  for (std::size_t id = 0; id < kernel.code.size(); ++id) {
    const Instr& instr = kernel.code[id];
    Level level = Level::kLaunch;
    if (instr.prim == Prim::kIndex) {
      level = instr.imm == 0 ? Level::kVector : per_row;
    } else if (instr.prim == Prim::kLoad || instr.prim == Prim::kLoadAt) {
      const bool is_broadcast = kernel.accesses[instr.imm].inner == StrideClass::kBroadcast;
      level = is_broadcast ? per_row : Level::kVector;
    }
    for (std::int32_t argument : instr.args) {
      if (argument >= 0) level = std::max(level, levels[static_cast<std::size_t>(argument)]);
    }
    if (is_reduction(instr.prim)) level = per_row;
    if (instr.prim == Prim::kStore) level = Level::kVector;
    levels[id] = level;
  }
  // A region is entered once a vector unless its result is uniform; then it is a plain select.
  const std::vector<std::int32_t> match = match_if_any(kernel);
  for (std::size_t id = 0; id < kernel.code.size(); ++id) {
    if (kernel.code[id].prim == Prim::kIfAnyBegin) {
      levels[id] = levels[static_cast<std::size_t>(match[id])];
    }
  }
  return levels;
}

NestDriver::NestDriver(const Kernel& kernel) : order_(kernel.order) {
  for (const Access& access : kernel.accesses) {
    sizes_.push_back(static_cast<std::int64_t>(element_size(access.dtype)));
  }
  for (std::size_t a = 0; a < kernel.accesses.size(); ++a) {
    if (streams(kernel, a)) streaming_ |= std::uint64_t{1} << a;
  }
}

// Stores of many bytes, to memory that nothing else in the launch touches: a line that was just
// read would have to leave the caches first.
std::uint64_t NestDriver::find_streamed(const Launch& launch,
                                        const NestArguments& arguments) const {
  struct Range {
    const char *begin, *end;
    std::int64_t bytes;
  };
  const auto range = [&](std::size_t a) {
    const char* begin = static_cast<const char*>(arguments.accesses[a].pointer);
    Range found{begin, begin + sizes_[a], sizes_[a]};
    for (int axis = 0; axis < launch.rank; ++axis) {
      const std::int64_t stride = launch.strides[a][axis] * sizes_[a];
      if (stride == 0) continue;
      (stride > 0 ? found.end : found.begin) += stride * (launch.count[axis] - 1);
      found.bytes *= launch.count[axis];
    }
    return found;
  };
  std::uint64_t streamed = 0;
  for (std::size_t a = 0; a < std::min(sizes_.size(), kMostStreamed); ++a) {
    if (!(streaming_ >> a & 1)) continue;
    const Range own = range(a);
    // Each thread has its share of the launch.
    if (own.bytes * num_threads() < least_streamed()) continue;
    bool is_alone = true;
    for (std::size_t other = 0; other < sizes_.size() && is_alone; ++other) {
      const Range theirs = range(other);
      is_alone = other == a || theirs.end <= own.begin || own.end <= theirs.begin;
    }
    if (is_alone) streamed |= std::uint64_t{1} << a;
  }
  return streamed;
}

// In bytes, of the point `index`.
std::int64_t NestDriver::offset(const Launch& launch, std::size_t access,
                                const std::int64_t* index) const {
  std::int64_t elements = 0;
  for (int axis = 0; axis < launch.rank; ++axis) {
    elements += index[axis] * launch.strides[access][axis];
  }
  return elements * sizes_[access];
}

// All but the scalars; `address` gives that of an access's first point.
template <typename Address>
void NestDriver::describe(const Launch& launch, NestArguments& arguments,
                          const Address& address) const {
  arguments.streamed = 0;
  arguments.count[0] = launch.count[0];
  arguments.count[1] = launch.rank > 1 ? launch.count[1] : 1;
  for (int axis = 0; axis < kMaxAxes; ++axis) {
    arguments.index[axis] = axis < launch.rank ? launch.begin[axis] : 0;
  }
  for (std::size_t a = 0; a < sizes_.size(); ++a) {
    NestAccess& access = arguments.accesses[a];
    access.pointer = address(a);
    access.stride[0] = launch.strides[a][0] * sizes_[a];
    access.stride[1] = launch.rank > 1 ? launch.strides[a][1] * sizes_[a] : 0;
  }
}

void NestDriver::run(NestFunction function, const Launch& launch) const noexcept {
  if (launch.count[0] == 0 && !walks_rows()) return;
  NestArguments arguments;
  arguments.scalars = launch.scalars;
  describe(launch, arguments, [&](std::size_t a) {
    return static_cast<char*>(launch.pointers[a]) + offset(launch, a, launch.begin);
  });
  if (streaming_ != 0) arguments.streamed = find_streamed(launch, arguments);
  const bool in_blocks = order_ == Order::kMap && arguments.count[1] > 1 && jumps_lines(arguments);
  std::int64_t left = 1;
  for (int axis = kFirstOuter; axis < launch.rank; ++axis) left *= launch.count[axis];
  while (left > 0) {
    if (in_blocks) {
      run_blocks(function, launch, arguments);
    } else {
      function(&arguments);
    }
    if (--left == 0) break;
    for (int axis = kFirstOuter; axis < launch.rank; ++axis) {
      const bool wraps = ++arguments.index[axis] == launch.begin[axis] + launch.count[axis];
      move(launch, arguments, axis, wraps ? 1 - launch.count[axis] : 1);
      if (!wraps) break;
      arguments.index[axis] = launch.begin[axis];
    }
  }  // Streamed stores are visible to other threads only behind this.
  if (arguments.streamed != 0) _mm_sfence();
}

bool NestDriver::bind(const Launch& launch, std::vector<BoundCall>& calls) const {
  NestArguments arguments;
  arguments.scalars = nullptr;
  describe(launch, arguments, [](std::size_t) { return nullptr; });
  if (order_ == Order::kMap && arguments.count[1] > 1 && jumps_lines(arguments)) return false;
  std::size_t left = 1;
  for (int axis = kFirstOuter; axis < launch.rank; ++axis) {
    left *= static_cast<std::size_t>(launch.count[axis]);
  }
  if (launch.count[0] == 0 && !walks_rows()) left = 0;
  if (left > kMostBoundCalls) return false;
  const std::size_t bytes = offsetof(NestArguments, accesses) + sizes_.size() * sizeof(NestAccess);
  for (; left > 0; --left) {
    BoundCall call;
    call.addresses.push_back({offsetof(NestArguments, scalars), BoundCall::kScalars, 0});
    for (std::size_t a = 0; a < sizes_.size(); ++a) {
      const std::size_t at = offsetof(NestArguments, accesses) + a * sizeof(NestAccess);
      call.addresses.push_back({static_cast<std::int32_t>(at + offsetof(NestAccess, pointer)),
                                static_cast<std::int32_t>(a), offset(launch, a, arguments.index)});
    }
    const auto* const first = reinterpret_cast<const std::byte*>(&arguments);
    call.arguments.assign(first, first + bytes);
    calls.push_back(std::move(call));
    for (int axis = kFirstOuter; axis < launch.rank; ++axis) {
      if (++arguments.index[axis] < launch.begin[axis] + launch.count[axis]) break;
      arguments.index[axis] = launch.begin[axis];
    }
  }
  return true;
}

// A transposed operand: axis 0 takes a new cache line for each element while its neighbours in
// the line belong to the following rows.
bool NestDriver::jumps_lines(const NestArguments& arguments) const {
  if (arguments.count[0] < kShortRow) return false;
  for (std::size_t a = 0; a < sizes_.size(); ++a) {
    const std::int64_t along = std::abs(arguments.accesses[a].stride[0]);
    if (along >= 64 && std::abs(arguments.accesses[a].stride[1]) < 64) return true;
  }
  return false;
}

void NestDriver::run_blocks(NestFunction function, const Launch& launch,
                            NestArguments& arguments) const {
  const std::int64_t length = launch.count[0];
  for (std::int64_t done = 0; done < length; done += kBlock) {
    arguments.count[0] = std::min(kBlock, length - done);
    function(&arguments);
    arguments.index[0] += kBlock;
    move(launch, arguments, 0, kBlock);
  }
  const std::int64_t moved = (length + kBlock - 1) / kBlock * kBlock;
  arguments.count[0] = length;
  arguments.index[0] -= moved;
  move(launch, arguments, 0, -moved);
}

void NestDriver::move(const Launch& launch, NestArguments& arguments, int axis,
                      std::int64_t steps) const {
  for (std::size_t a = 0; a < sizes_.size(); ++a) {
    void*& pointer = arguments.accesses[a].pointer;
    pointer = static_cast<char*>(pointer) + steps * launch.strides[a][axis] * sizes_[a];
  }
}

}  // namespace groove::kernels
