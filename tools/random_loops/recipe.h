// A drawn training program as people write them: what is learned, by which network and optimizer,
// how data come in, what happens beside the plain step. The distribution is recipe.cpp's, and
// docs/how-same-bits-are-shown.md describes it. Unlike the programs of program.h these are no lists
// of statements: everything between the drawn choices is ordinary code, in recipe_run.cpp.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace groove::random_loops {

// What is written down once for each choice: its name and how often it is drawn.
struct Choice {
  const char* name;
  int weight;
};

enum class Learning : std::uint8_t {
  kSupervised,
  kAutoencoder,
  kGan,
  kSequences,
  kText,
  kQValues,
  kEpisodes,
  kSolver,
  kExperts,
  kNumbers,
  kDerivatives,
  kWords
};
enum class Body : std::uint8_t { kMlp, kSequential, kConvolution, kAttention };
enum class Data : std::uint8_t {
  kPointerIntoEmpty,
  kPointerIntoZeros,
  kAccessor,
  kBlob,
  kBlobCloned,
  kVector,
  kRows,
  kStack,
  kElements,
  kMask,
  kRandom,
  kSlices,
  kShuffled
};
enum class Control : std::uint8_t {
  kNone,
  kEvaluation,
  kPatience,
  kRaggedBatches,
  kRetry,
  kAccumulation,
  kBranchOnLoss,
  kCoin
};
enum class Reads : std::uint8_t { kEach, kSome, kRare, kRunning };
enum class Threads : std::uint8_t { kOne, kLoader, kEvaluator, kTwoTrainers };
enum class Phases : std::uint8_t { kOne, kPretraining, kFreezing, kSweep };

struct Recipe {
  std::uint64_t seed = 0;
  Learning learning = Learning::kSupervised;
  Body body = Body::kMlp;
  Data data = Data::kRandom;
  Control control = Control::kNone;
  Reads reads = Reads::kSome;
  Threads threads = Threads::kOne;
  Phases phases = Phases::kOne;
  int layers = 2, width = 32, inputs = 8, outputs = 1, batch = 16;
  int activation = 0, normalisation = 0, optimizer = 0;
  int every = 10;  // of evaluation, retries, rare reads, schedules
  bool is_classifier = false, has_dropout = false, keeps_pointer = false, reads_labels = false;
  bool clips = false, has_schedule = false, averages = false, has_function = false,
       has_hook = false;
};

/// The optimizer that is a line of the program's own; those before it are OptimizerPlace's.
inline constexpr int kSgdByHand = 8;

/// Depends on the seed and on nothing else.
Recipe draw_recipe(std::uint64_t seed);
std::string print(const Recipe& recipe);
/// The program of so many steps; gives how many errors it caught.
std::int64_t run(const Recipe& recipe, int steps, std::FILE* log);

}  // namespace groove::random_loops
