// Size classes, the thread-local front, the central cache.
#include "src/core/allocator.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <mutex>
#include <utility>
#include <vector>

#include "src/core/check.h"
#include "src/core/fork.h"
#include "src/core/thread_end.h"

namespace groove {
namespace {

// Size classes: multiples of 64 up to 512, then four to a doubling. Small ones are carved from
// slabs and never go back to the system; large ones are mappings of their own.
constexpr std::size_t kAlignment = 64;
constexpr std::size_t kLinearLimit = 512;
constexpr int kLinearClasses = kLinearLimit / kAlignment;  // classes 0 … 7
constexpr int kSmallClasses = kLinearClasses + 4 * 6;      // 512 … 32768 has six doublings
constexpr int kClasses = kLinearClasses + 4 * (48 - 9);
constexpr std::size_t kSlabBytes = 1 << 20;
constexpr std::size_t kHugePage = 2 << 20;
constexpr std::size_t kFrontBytes = 128 << 10;  // kept per class and thread
constexpr std::ptrdiff_t kPublishStep = 64 << 10;

int class_of(std::size_t bytes) {
  if (bytes <= kLinearLimit) return bytes == 0 ? 0 : static_cast<int>((bytes - 1) / kAlignment);
  // (bytes - 1) in [2^k, 2^(k+1)) with k >= 9; its two bits below the top choose the quarter.
  const int k = std::bit_width(bytes - 1) - 1;
  const int quarter = static_cast<int>(((bytes - 1) >> (k - 2)) & 3);
  return kLinearClasses + 4 * (k - 9) + quarter;
}

constexpr std::size_t class_bytes(int size_class) {
  if (size_class < kLinearClasses) return static_cast<std::size_t>(size_class + 1) * kAlignment;
  const int k = 9 + (size_class - kLinearClasses) / 4;
  const std::size_t quarter = static_cast<std::size_t>((size_class - kLinearClasses) % 4);
  return (std::size_t{1} << k) + ((quarter + 1) << (k - 2));
}

struct FreeBlock {
  FreeBlock* next;
};
struct FreeList {
  FreeBlock* first = nullptr;
  std::uint32_t count = 0;
  void push(void* block) {
    first = new (block) FreeBlock{first};
    ++count;
  }
  void* pop() {
    FreeBlock* const block = first;
    first = block->next;
    --count;
    return block;
  }
};

void* map_aligned(std::size_t bytes, std::size_t alignment) {
  const std::size_t total = bytes + alignment;
  void* const raw =
      mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  const std::uintptr_t start = reinterpret_cast<std::uintptr_t>(raw);
  const std::uintptr_t aligned = (start + alignment - 1) & ~(alignment - 1);
  if (aligned > start) munmap(raw, aligned - start);
  if (start + total > aligned + bytes)
    munmap(reinterpret_cast<void*>(aligned + bytes), start + total - aligned - bytes);
  return reinterpret_cast<void*>(aligned);
}

// A mapping is a whole number of pages; class sizes above 32 KiB already are (quarters of 8 KiB and
// more).
class Central {
 public:
  // Fills `list` with a batch of blocks of a small class.
  void refill(int size_class, FreeList& list) {
    const std::size_t bytes = class_bytes(size_class);
    const std::uint32_t batch =
        static_cast<std::uint32_t>(std::clamp<std::size_t>((16 << 10) / bytes, 1, 32));
    std::lock_guard lock(mutex_);
    FreeList& mine = small_[size_class];
    for (std::uint32_t i = 0; i < batch; ++i) {
      if (!mine.first) {
        if (slab_left_ < bytes) new_slab(i > 0);
        if (slab_left_ < bytes) return;  // a refusal after the first block waits for the next call
        list.push(slab_);
        slab_ += bytes;
        slab_left_ -= bytes;
      } else {
        list.push(mine.pop());
      }
    }
  }

  void give_back(int size_class, FreeList& list, std::uint32_t count) {
    std::lock_guard lock(mutex_);
    for (std::uint32_t i = 0; i < count && list.first; ++i) small_[size_class].push(list.pop());
  }

  void* take_large(int size_class) {
    const std::size_t bytes = class_bytes(size_class);
    std::lock_guard lock(mutex_);
    std::vector<void*>& cache = large_[size_class - kSmallClasses];
    used_at_[size_class - kSmallClasses] = ++uses_;
    if (!cache.empty()) {
      void* const block = cache.back();
      cache.pop_back();
      large_cached_ -= bytes;
      return block;
    }
    return from_system(bytes, bytes >= 2 * kHugePage ? kHugePage : 4096);
  }

  void put_large(int size_class, void* block) noexcept {
    const std::size_t bytes = class_bytes(size_class);
    std::lock_guard lock(mutex_);
    large_[size_class - kSmallClasses].push_back(block);
    used_at_[size_class - kSmallClasses] = ++uses_;
    large_cached_ += bytes;
    // More cache than twice what is in use, above a gigabyte, is memory of an earlier phase.
    const std::size_t in_use = reserved_ - large_cached_;
    while (large_cached_ > (std::size_t{1} << 30) + 2 * in_use) release_stalest();
  }

  void* map(std::size_t bytes, std::size_t alignment) {
    std::lock_guard lock(mutex_);
    void* const block = from_system(bytes, alignment);
    if (alignment >= kHugePage) move_cached_to(static_cast<char*>(block), bytes);
    return block;
  }
  void unmap(void* block, std::size_t bytes) noexcept {
    std::lock_guard lock(mutex_);
    munmap(block, bytes);
    reserved_ -= bytes;
  }

  void empty() {
    std::lock_guard lock(mutex_);
    release_cached();
  }
  void set_limit(std::size_t bytes) {
    std::lock_guard lock(mutex_);
    limit_ = bytes;
  }
  std::size_t reserved() {
    std::lock_guard lock(mutex_);
    return reserved_;
  }
  std::mutex& mutex() { return mutex_; }

 private:
  // Pages that wait in the cache go where others are needed: a huge page is moved in the time of a
  // system call, a fresh one must be found and zeroed. So what operators had needed one by one is
  // what the program compiled from them needs, not as much again beside it. Each block is one
  // mapping, as those that are put together here do not come back to the cache.
  void move_cached_to(char* room, std::size_t bytes) {
    const auto take = [&](int c) {
      char* const block = static_cast<char*>(large_[c].back());
      const std::size_t size = class_bytes(c + kSmallClasses);
      const std::size_t moved = std::min(size, bytes) & ~(kHugePage - 1);
      if (mremap(block, moved, moved, MREMAP_MAYMOVE | MREMAP_FIXED, room) == MAP_FAILED) {
        mmap(room, moved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        return false;
      }
      if (size > moved) munmap(block + moved, size - moved);
      large_[c].pop_back();
      large_cached_ -= size;
      reserved_ -= size;
      room += moved;
      bytes -= moved;
      return true;
    };
    // Whole ones while they fit, the largest first; of the smallest one that does not, most of it.
    const int first = class_of(2 * kHugePage) - kSmallClasses, end = kClasses - kSmallClasses;
    for (int c = end; c-- > first;)
      while (!large_[c].empty() && class_bytes(c + kSmallClasses) <= bytes)
        if (!take(c)) return;
    if (bytes < 2 * kHugePage) return;
    for (int c = class_of(bytes) - kSmallClasses;
         c < end && class_bytes(c + kSmallClasses) <= 2 * bytes; ++c)
      if (!large_[c].empty()) {
        take(c);
        return;
      }
  }

  // A block of the class that was not asked for the longest; in it the one that waits the longest.
  void release_stalest() noexcept {
    int stalest = -1;
    for (int c = 0; c < kClasses - kSmallClasses; ++c)
      if (!large_[c].empty() && (stalest < 0 || used_at_[c] < used_at_[stalest])) stalest = c;
    const std::size_t bytes = class_bytes(stalest + kSmallClasses);
    munmap(large_[stalest].front(), bytes);
    large_[stalest].erase(large_[stalest].begin());
    large_cached_ -= bytes;
    reserved_ -= bytes;
  }

  void release_cached() {
    for (int c = 0; c < kClasses - kSmallClasses; ++c) {
      for (void* block : large_[c]) munmap(block, class_bytes(c + kSmallClasses));
      reserved_ -= large_[c].size() * class_bytes(c + kSmallClasses);
      large_[c].clear();
    }
    large_cached_ = 0;
  }

  void* from_system(std::size_t bytes, std::size_t alignment) {
    const auto refused = [&] { return limit_ != 0 && reserved_ + bytes > limit_; };
    if (refused()) release_cached();
    GROOVE_CHECK(
        !refused(),
        "memory: cannot allocate {} bytes: {} are reserved and the limit is {}; free tensors or "
        "raise memory::set_limit",
        bytes, reserved_, limit_);
    void* block = map_aligned(bytes, alignment);
    if (!block) {
      release_cached();
      block = map_aligned(bytes, alignment);
    }
    GROOVE_CHECK(block,
                 "memory: cannot allocate {} bytes: the system has no memory left ({} bytes are in "
                 "use by Groove)",
                 bytes, reserved_);
    if (alignment >= kHugePage) madvise(block, bytes, MADV_HUGEPAGE);
    reserved_ += bytes;
    return block;
  }

  // The rest of the old slab is cut into blocks of the largest classes that fit.
  void new_slab(bool may_fail) {
    while (slab_left_ >= kAlignment) {
      int size_class = class_of(slab_left_);
      if (class_bytes(size_class) > slab_left_) --size_class;
      const std::size_t bytes = class_bytes(size_class);
      small_[size_class].push(slab_);
      slab_ += bytes;
      slab_left_ -= bytes;
    }
    if (may_fail && limit_ != 0 && reserved_ + kSlabBytes > limit_) return;
    slab_ = static_cast<char*>(from_system(kSlabBytes, 4096));
    slab_left_ = kSlabBytes;
  }

  std::mutex mutex_;
  FreeList small_[kSmallClasses];
  std::vector<void*> large_[kClasses - kSmallClasses];
  std::uint64_t used_at_[kClasses - kSmallClasses] = {}, uses_ = 0;
  char* slab_ = nullptr;
  std::size_t slab_left_ = 0;
  std::size_t reserved_ = 0, large_cached_ = 0, limit_ = 0;
};

// Singletons are never destroyed: tensors with static storage duration die after them otherwise.
Central& central() {
  static Central& instance = *new Central;
  return instance;
}

// A forked child finds the cache whole.
[[maybe_unused]] const bool is_fork_handled = hold_over_fork(
    ForkRank::kMemory, []() -> auto& { return central().mutex(); });

std::atomic<std::ptrdiff_t> allocated_total{0};
std::atomic<std::ptrdiff_t> allocated_peak{0};

void publish(std::ptrdiff_t change) {
  const std::ptrdiff_t now = allocated_total.fetch_add(change, std::memory_order_relaxed) + change;
  std::ptrdiff_t peak = allocated_peak.load(std::memory_order_relaxed);
  while (now > peak &&
         !allocated_peak.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

// The thread's own free lists. Trivially destructible, so that tensors may die at any time; it is
// emptied at the end of the thread, and what comes later goes to the centre.
struct Front {
  FreeList lists[kSmallClasses];
  std::ptrdiff_t unpublished = 0;
  enum State : std::uint8_t { kFresh, kOpen, kClosed } state = kFresh;
};
constinit thread_local Front front;

void close_front() {
  for (int c = 0; c < kSmallClasses; ++c)
    central().give_back(c, front.lists[c], front.lists[c].count);
  publish(front.unpublished);
  front.unpublished = 0;
  front.state = Front::kClosed;
}

// Before the front of this thread first holds a block.
void open_front() {
  if (front.state != Front::kFresh) return;
  front.state = at_thread_end(ThreadEndRank::kMemory, close_front) ? Front::kOpen : Front::kClosed;
}

[[gnu::noinline]] void* refill_and_take(int size_class) {
  open_front();
  FreeList& list = front.lists[size_class];
  central().refill(size_class, list);
  return list.pop();
}

[[gnu::noinline]] void spill(int size_class) {
  open_front();
  FreeList& list = front.lists[size_class];
  const bool is_closed = front.state == Front::kClosed;
  central().give_back(size_class, list, is_closed ? list.count : list.count / 2);
}

void* take_small(int size_class) {
  FreeList& list = front.lists[size_class];
  if (list.first) [[likely]]
    return list.pop();
  return refill_and_take(size_class);
}

std::uint32_t front_limit(int size_class) {
  static constexpr auto kLimits = [] {
    std::array<std::uint32_t, kSmallClasses> limits{};
    for (int c = 0; c < kSmallClasses; ++c)
      limits[c] = std::max<std::uint32_t>(kFrontBytes / class_bytes(c), 8);
    return limits;
  }();
  return kLimits[size_class];
}

void put_small(int size_class, void* block) {
  FreeList& list = front.lists[size_class];
  list.push(block);
  if (list.count > front_limit(size_class) || front.state != Front::kOpen) [[unlikely]]
    spill(size_class);
}

void count_allocated(std::ptrdiff_t change) {
  const std::ptrdiff_t sum = front.unpublished + change;
  if (sum > kPublishStep || sum < -kPublishStep || front.state == Front::kClosed) [[unlikely]] {
    front.unpublished = 0;
    publish(sum);
  } else {
    front.unpublished = sum;
  }
}

}  // namespace

std::size_t allocation_size(std::size_t bytes) { return class_bytes(class_of(bytes)); }

void* allocate(std::size_t bytes) {
  GROOVE_CHECK(bytes < (std::size_t{1} << 47), "memory: cannot allocate {} bytes", bytes);
  const int size_class = class_of(bytes);
  void* const block =
      size_class < kSmallClasses ? take_small(size_class) : central().take_large(size_class);
  count_allocated(static_cast<std::ptrdiff_t>(class_bytes(size_class)));
  return block;
}

void deallocate(void* block, std::size_t bytes) noexcept {
  const int size_class = class_of(bytes);
  if (size_class < kSmallClasses) {
    put_small(size_class, block);
  } else {
    central().put_large(size_class, block);
  }
  count_allocated(-static_cast<std::ptrdiff_t>(class_bytes(size_class)));
}

void* allocate_object(std::size_t bytes) {
  const int size_class = class_of(bytes);
  return size_class < kSmallClasses ? take_small(size_class) : central().take_large(size_class);
}
void deallocate_object(void* block, std::size_t bytes) noexcept {
  const int size_class = class_of(bytes);
  if (size_class < kSmallClasses)
    put_small(size_class, block);
  else
    central().put_large(size_class, block);
}

void* map_memory(std::size_t bytes, std::size_t alignment) {
  void* const block = central().map(bytes, alignment);
  note_allocated(static_cast<std::ptrdiff_t>(bytes));
  return block;
}

void unmap_memory(void* block, std::size_t bytes) noexcept {
  central().unmap(block, bytes);
  note_allocated(-static_cast<std::ptrdiff_t>(bytes));
}

void note_allocated(std::ptrdiff_t change) noexcept { count_allocated(change); }

namespace memory {

Statistics statistics() {
  publish(std::exchange(front.unpublished, 0));
  Statistics result;
  const auto positive = [](std::ptrdiff_t value) {
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(value, 0));
  };
  result.allocated = positive(allocated_total.load(std::memory_order_relaxed));
  result.peak = positive(allocated_peak.load(std::memory_order_relaxed));
  result.reserved = central().reserved();
  result.cached = result.reserved > result.allocated ? result.reserved - result.allocated : 0;
  return result;
}

void reset_peak() {
  publish(std::exchange(front.unpublished, 0));
  allocated_peak.store(allocated_total.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void empty_cache() { central().empty(); }
void set_limit(std::size_t bytes) { central().set_limit(bytes); }

}  // namespace memory
}  // namespace groove
