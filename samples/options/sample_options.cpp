// The samples' command line (CLI11) and progress line.
#include "sample_options.h"

#include <unistd.h>

#include <algorithm>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace {

constexpr std::int64_t kShownEvery = 100;

// The data of the source tree the sample was built from, or, when that has moved, of the current
// one.
std::string default_data_folder() {
  return std::filesystem::is_directory(GROOVE_SAMPLE_DATA) ? GROOVE_SAMPLE_DATA : "samples/data";
}

double seconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

SampleOptions parse_options(int argc, char** argv, const std::string& about,
                            const SampleOptions& defaults, bool reads_data, bool keeps_checkpoints,
                            const std::vector<SampleFlag>& flags) {
  SampleOptions options = defaults;
  options.data = default_data_folder();
  CLI::App app{about};
  app.option_defaults()->always_capture_default();
  const auto at_least_one = CLI::Range(1, 1'000'000'000, "at least 1");
  app.add_option("--steps", options.steps, "training steps")->check(at_least_one);
  app.add_option("--batch", options.batch, "examples in a step")->check(at_least_one);
  app.add_option("--seed", options.seed, "seed of all random numbers");
  app.add_flag("--bits", options.bits, "print every step's loss exactly (%a), one a line");
  for (const SampleFlag& flag : flags) app.add_flag(flag.name, *flag.value, flag.about);
  if (reads_data) {
    app.add_option("--data", options.data, "folder of the data set")->check(CLI::ExistingDirectory);
  }
  if (keeps_checkpoints) {
    app.add_option("--checkpoint", options.checkpoint, "file that is written while training");
    app.add_option("--every", options.checkpoint_every, "steps between two checkpoints")
        ->check(at_least_one);
    app.add_flag("--resume", options.resume, "go on from the checkpoint when there is one")
        ->needs("--checkpoint");
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

Progress::Progress(std::int64_t steps, bool prints_bits, std::int64_t done)
    : steps_(steps),
      first_(done),
      done_(done),
      prints_bits_(prints_bits),
      on_terminal_(isatty(STDERR_FILENO) != 0) {}

bool Progress::wants(std::int64_t step) const {
  return prints_bits_ || step % kShownEvery == 0 || step == steps_;
}

void Progress::show(std::int64_t step, double loss) {
  if (prints_bits_) std::printf("%a\n", loss);
  const auto now = Clock::now();
  const bool is_due = seconds(now - last_shown_) >= (on_terminal_ ? 0.1 : 2.0);
  if (!is_due && step != steps_) return;
  last_shown_ = now;
  const double speed = static_cast<double>(step - first_) / std::max(seconds(now - start_), 1e-9);
  std::fprintf(stderr, "%sstep %lld/%lld  loss %.4f  %.0f steps/s  %.0f s left%s",
               on_terminal_ ? "\r\033[K" : "", static_cast<long long>(step),
               static_cast<long long>(steps_), loss, speed,
               static_cast<double>(steps_ - step) / speed,
               on_terminal_ && step != steps_ ? "" : "\n");
}

void Progress::count() {
  if (++done_ == (first_ + steps_) / 2) half_ = Clock::now();
}

void Progress::finish() const {
  const auto now = Clock::now();
  const std::int64_t second_half = done_ - (first_ + steps_) / 2;
  std::fprintf(stderr, "%lld steps in %.2f s, steady %.1f steps/s\n",
               static_cast<long long>(done_ - first_), seconds(now - start_),
               static_cast<double>(second_half) / std::max(seconds(now - half_), 1e-9));
}
