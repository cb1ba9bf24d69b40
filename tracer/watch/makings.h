// Programs of one graph for one size after another. The first needs code that is not there yet and
// is made beside the loop; the next ones share that code, take little, and are made in the loop
// when they are needed, as long as that pays.
#pragma once

#include <atomic>
#include <cstdint>

namespace groove::tracer {

class Makings {
 public:
  enum class How : std::uint8_t { kNot, kBeside, kHere };
  /// How the next one may be made. Not at all where they have taken more than the runs that found
  /// one gained, `gain` nanoseconds each (0: not known), or where it is more than may be spent.
  How how(double gain = 0) const;

  void note_begun() { begun_.fetch_add(1, std::memory_order_relaxed); }
  /// A run had one that was there.
  void note_found() { found_.fetch_add(1, std::memory_order_relaxed); }
  /// What it took counts for the next ones, but little when it was long: new code is rare.
  void note_made(double milliseconds);

  double milliseconds() const { return milliseconds_.load(std::memory_order_relaxed); }
  std::uint64_t begun() const { return begun_.load(std::memory_order_relaxed); }
  std::uint64_t made() const { return made_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> milliseconds_{0};  // to make one, of late
  std::atomic<std::uint64_t> begun_{0}, made_{0}, found_{0};
};

}  // namespace groove::tracer
