#include "tracer/watch/backoff.h"

#include <algorithm>

namespace groove::tracer {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr float kMemory = 16;  // runs
constexpr int kLossesBeforePause = 3;

void approach(std::atomic<float>& mean, float value, float share) {
  const float before = mean.load(relaxed);
  mean.store(before + (value - before) * share, relaxed);
}

}  // namespace

// ---- one of them ----

void Backoff::note(bool is_hit, double gained, double whole) {
  if (const int left = probe_.load(relaxed); left > 0) {
    probe_.store(is_hit ? left - 1 : 0, relaxed);
    if (is_hit && gained < 0 && left > 1) return;
    if (is_hit && left == 1) gain_.store(static_cast<float>(gained), relaxed);
  }
  approach(gain_, static_cast<float>(gained), 1 / kMemory);
  const bool has_lost = gained < 0, are_losing = gain_.load(relaxed) < 0;
  if (has_lost != are_losing) return;
  if (!has_lost) {
    if (const int losses = losses_.load(relaxed); losses > 0) losses_.store(losses / 2, relaxed);
    return;
  }
  const int losses = losses_.load(relaxed) + 1;
  losses_.store(losses, relaxed);
  if (losses < kLossesBeforePause) return;
  // Little that is lost is no reason to miss what is gained: by the square, no more than four
  // thousandths of the time are. What is left ends the runs after a pause, what hits does not.
  const std::uint64_t most = 1024 * (is_hit ? kProbe : 1);
  const double part = whole > 0 ? std::min(1.0, 16 * (gained / whole) * (gained / whole)) : 1;
  const std::uint64_t pause = std::min(times_needed(1, losses - kLossesBeforePause), most);
  skip_.store(static_cast<std::uint64_t>(part * static_cast<double>(pause)), relaxed);
}

bool Backoff::is_willing() {
  const std::uint64_t left = skip_.load(relaxed);
  if (left > 0) skip_.store(left - 1, relaxed);
  if (left == 1) probe_.store(kProbe, relaxed);
  return left == 0;
}

void Backoff::forget() {
  gain_.store(0, relaxed);
  probe_.store(0, relaxed);
  losses_.store(0, relaxed);
  skip_.store(0, relaxed);
}

// ---- of a loop ----

void LoopRecord::note(bool is_hit, double gained, double whole) {
  approach(success, is_hit ? 1 : 0, 1 / kMemory);
  backoff.note(is_hit, gained, whole);
}

void LoopRecord::note_recorded() { approach(success, 0, 1 / kMemory); }

void LoopRecord::forgive() {
  approach(success, 1, 1.0f / 4096);
  backoff.is_willing();
}

void LoopRecord::begin_afresh() {
  success.store(1, relaxed);
  backoff.forget();
}

// In calls, and for each call.
constexpr double kEntry = 3, kHistory = 7, kLeaving = 1.5;

double LoopRecord::promise(std::size_t calls, bool keeps_history) const {
  const double hit = success.load(relaxed);
  return hit - kLeaving * (1 - hit) -
         (kEntry + (keeps_history ? kHistory : 0)) / static_cast<double>(calls);
}

double LoopRecord::expected_gain(bool is_hit, std::size_t calls) {
  const auto length = static_cast<double>(calls);
  return is_hit ? std::max(1.0, length - kEntry) : -kLeaving * length - kEntry;
}

}  // namespace groove::tracer
