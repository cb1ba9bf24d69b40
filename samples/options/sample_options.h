// What every sample shares: its command line and its progress line, so that the samples themselves
// show nothing but a training loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

struct SampleOptions {
  std::int64_t steps = 1000;
  std::int64_t batch = 64;
  std::uint64_t seed = 1;
  bool bits = false;  // print every step's loss exactly
  std::string data;   // folder of the data set, for samples that read one

  // For samples that keep checkpoints.
  std::string checkpoint;               // file; empty: none
  std::int64_t checkpoint_every = 100;  // steps
  bool resume = false;                  // go on from the file when it is there
};

// An option of one sample alone.
struct SampleFlag {
  std::string name, about;
  bool* value;
};

/// Reads the command line into a copy of `defaults`; ends the process after --help and, with a
/// sentence, after a wrong option. --data exists when `reads_data` is set, --checkpoint and its
/// fellows with `keeps_checkpoints`.
SampleOptions parse_options(int argc, char** argv, const std::string& about,
                            const SampleOptions& defaults, bool reads_data = false,
                            bool keeps_checkpoints = false,
                            const std::vector<SampleFlag>& flags = {});

/// Writes `step, loss, steps/s, time left` to standard error while a loop runs, and the steady
/// speed (over the second half of the steps) when it is over.
class Progress {
 public:
  /// `done`: steps that an earlier run has done.
  Progress(std::int64_t steps, bool prints_bits, std::int64_t done = 0);

  /// Whether this step's loss is to be read and shown; reading every loss would cost speed.
  bool wants(std::int64_t step) const;
  void show(std::int64_t step, double loss);
  /// To be called after every step.
  void count();
  void finish() const;

 private:
  using Clock = std::chrono::steady_clock;

  std::int64_t steps_;
  std::int64_t first_, done_;
  bool prints_bits_;
  bool on_terminal_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point half_ = start_;
  Clock::time_point last_shown_ = start_;
};
