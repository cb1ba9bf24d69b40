// Finding loops in the stream of words: stretches between natural cuts (the end of a step, host
// reads) that come again, and words that come again in the same order without any cut.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace groove::tracer {

class Discovery {
 public:
  enum class Kind : std::uint8_t { kStep, kHostRead, kCycle };
  struct Plan {  // record from the next word `head` on
    std::uint64_t head = 0, hash = 0;
    std::size_t length = 0;
    Kind kind = Kind::kStep;
  };

  void on_word(std::uint64_t hash);
  void on_step_end();
  void on_host_read();
  /// A segment ran or was recorded: what came before belongs to nothing.
  void on_segment(Kind kind);
  /// A replay begins: the words before it belong to no stretch.
  void clear_stream();
  void clear();

  /// What to record from a word of this head on; null when nothing.
  const Plan* plan(std::uint64_t head) const;
  void drop_plan(std::uint64_t head) { plans_.erase(head); }
  /// Repeats of a stretch until it is recorded.
  void set_hot(int repeats) { hot_ = repeats; }
  /// A recording or segment of this head failed: it must repeat more often next time.
  void penalize(std::uint64_t head);

 private:
  void note_stretch(std::size_t begin, Kind kind);
  void look_for_cycle();
  void forget_cycle();
  int needed(std::uint64_t head) const;

  static constexpr std::size_t kLongest = 20'000;
  static constexpr std::size_t kMostPlans = 256;

  int hot_ = 2;
  std::vector<std::uint64_t> stream_;  // since the last step end
  std::size_t last_read_ = 0;          // where the last host read was
  int reads_since_step_ = 0;
  bool has_seen_step_ = false;
  std::unordered_map<std::uint64_t, std::size_t> last_at_;  // word -> place in stream_
  std::unordered_map<std::uint64_t, int> repeats_;          // stretch -> times seen
  std::unordered_map<std::uint64_t, int> penalties_;        // head -> failures
  // By head: a loop with several optimizers has several stretches.
  std::unordered_map<std::uint64_t, Plan> plans_;
  std::optional<std::uint64_t> cycle_head_;  // the one cycle among them
};

}  // namespace groove::tracer
