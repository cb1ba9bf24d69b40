// In a file of its own, so that no caller sees that these are malloc and free.
#include "allocations.h"

#include <algorithm>
#include <cstdlib>
#include <new>

static std::atomic<std::int64_t> count{0};
static constexpr std::int64_t kMostNoted = 1 << 20, kMostSteps = 1 << 16;
static std::uint64_t notes[kMostNoted];
static std::atomic<std::int64_t> noted{0};
static std::int64_t of_step[kMostSteps];
static std::atomic<const std::atomic<std::uint64_t>*> watched{nullptr};

std::int64_t allocations() { return count.load(); }

void watch_allocations(const std::atomic<std::uint64_t>& progress) {
  noted = 0;
  watched = &progress;
}

std::int64_t allocations_of_a_step(std::int64_t steps) {
  watched = nullptr;
  const std::int64_t total = std::min(noted.load(), kMostNoted);
  std::sort(notes, notes + total);
  steps = std::min(steps, kMostSteps);
  std::fill_n(of_step, steps, 0);
  for (std::int64_t i = 0, step = 0; i < total && step < steps; ++i) {
    ++of_step[step];
    if (i + 1 < total && notes[i + 1] != notes[i]) ++step;
  }
  std::sort(of_step, of_step + steps);
  return of_step[steps / 2];
}

void* operator new(std::size_t bytes) {
  count.fetch_add(1, std::memory_order_relaxed);
  if (const auto* const progress = watched.load(std::memory_order_acquire)) {
    const std::int64_t place = noted.fetch_add(1, std::memory_order_relaxed);
    if (place < kMostNoted) notes[place] = progress->load(std::memory_order_relaxed);
  }
  void* const block = std::malloc(std::max<std::size_t>(bytes, 1));
  if (!block) throw std::bad_alloc();
  return block;
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
