// The distribution of training programs. Weights are relative; they follow what programs do that
// are found on the web, not what is hard for a tracer.
#include "tools/random_loops/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "tools/random_loops/random.h"

namespace groove::random_loops {
namespace {

constexpr Choice kLearning[] = {{"supervised", 52},
                                {"variational autoencoder", 8},
                                {"adversarial pair", 7},
                                {"sequences", 12},
                                {"text", 6},
                                {"Q values with replay", 5},
                                {"episodes", 4},
                                {"solver to a tolerance", 4},
                                {"experts by value", 2},
                                {"numbers without a network", 12},
                                {"derivatives in the loss", 3},
                                {"vectors of words", 3}};
constexpr Choice kBodies[] = {
    {"module of linear layers", 45}, {"Sequential", 30}, {"convolutions", 15}, {"attention", 10}};
constexpr Choice kData[] = {
    {"pointer into empty", 9}, {"pointer into zeros", 5},     {"accessor", 7},
    {"from_blob", 8},          {"from_blob and clone", 9},    {"tensor of a vector", 9},
    {"rows one by one", 5},    {"stack of small tensors", 6}, {"elements one by one", 4},
    {"boolean mask", 4},       {"random tensors", 12},        {"slices of a tensor", 11},
    {"shuffled rows", 11}};
constexpr Choice kControls[] = {{"plain loop", 36},
                                {"evaluation now and then", 20},
                                {"patience", 9},
                                {"ragged batches", 10},
                                {"retries by exception", 6},
                                {"accumulation", 7},
                                {"branch on the loss", 6},
                                {"coin", 6}};
constexpr Choice kReads[] = {
    {"loss each step", 30}, {"loss each 10", 30}, {"loss rarely", 22}, {"running loss", 18}};
constexpr Choice kThreads[] = {
    {"one thread", 90}, {"loader thread", 5}, {"evaluator thread", 2}, {"two trainers", 3}};
constexpr Choice kPhases[] = {
    {"one phase", 66}, {"two phases", 14}, {"two phases, part frozen", 8}, {"sweep", 12}};
constexpr Choice kActivations[] = {
    {"relu", 50}, {"tanh", 20}, {"gelu", 12}, {"sigmoid", 8}, {"leaky_relu", 10}};
constexpr Choice kNorms[] = {{"", 70}, {"LayerNorm", 15}, {"BatchNorm", 15}};
// In the order of OptimizerPlace; the last is written by hand.
constexpr Choice kOptimizers[] = {
    {"SGD", 17},    {"SGD with momentum", 14}, {"Adam", 38},   {"Adam amsgrad", 2}, {"AdamW", 15},
    {"RMSprop", 5}, {"RMSprop centered", 2},   {"Adagrad", 3}, {"SGD by hand", 4}};
static_assert(std::size(kOptimizers) == kSgdByHand + 1);

int pick(Random& random, std::span<const Choice> choices) {
  int total = 0;
  for (const Choice& choice : choices) total += choice.weight;
  int at = random.below(total);
  for (std::size_t n = 0; n < choices.size(); ++n)
    if ((at -= choices[n].weight) < 0) return static_cast<int>(n);
  return 0;
}
int one_of(Random& random, std::span<const int> numbers) {
  return numbers[static_cast<std::size_t>(random.below(static_cast<int>(numbers.size())))];
}

}  // namespace

Recipe draw_recipe(std::uint64_t seed) {
  Random random(seed ^ 0x7261696e696e67u);
  Recipe r;
  r.seed = seed;
  r.learning = static_cast<Learning>(pick(random, kLearning));
  r.body = static_cast<Body>(pick(random, kBodies));
  r.data = static_cast<Data>(pick(random, kData));
  r.control = static_cast<Control>(pick(random, kControls));
  r.reads = static_cast<Reads>(pick(random, kReads));
  r.threads = static_cast<Threads>(pick(random, kThreads));
  r.phases = static_cast<Phases>(pick(random, kPhases));
  static constexpr int widths[] = {8, 16, 16, 32, 32, 64, 64, 128},
                       sizes[] = {1, 2, 4, 8, 12, 16, 32, 64}, counts[] = {1, 2, 3, 5, 10},
                       batches[] = {1, 4, 8, 8, 16, 16, 32, 32, 64},
                       periods[] = {7, 10, 20, 25, 50, 100};
  r.layers = 1 + random.below(4);
  r.width = one_of(random, widths);
  r.inputs = one_of(random, sizes);
  r.outputs = one_of(random, counts);
  r.batch = one_of(random, batches);
  r.every = one_of(random, periods);
  r.activation = pick(random, kActivations);
  r.normalisation = pick(random, kNorms);
  r.optimizer = pick(random, kOptimizers);
  r.is_classifier = r.outputs > 1 && random.percent(60);
  r.has_dropout = random.percent(15);
  r.keeps_pointer = random.percent(8);
  r.reads_labels = random.percent(12);
  r.clips = random.percent(18);
  r.has_schedule = random.percent(15);
  r.averages = random.percent(6);
  r.has_function = random.percent(5);
  r.has_hook = random.percent(4);
  if (r.normalisation == 2) r.batch = std::max(r.batch, 4);
  if (r.body == Body::kConvolution && r.learning == Learning::kSupervised)
    r.batch = std::min(r.batch, 16);
  if (r.learning != Learning::kSupervised) r.body = Body::kMlp;
  if (r.body == Body::kMlp && r.learning != Learning::kSupervised) r.threads = Threads::kOne;
  // Threads that draw from the one generator would make the program's own results vary.
  if (r.threads == Threads::kLoader || r.threads == Threads::kTwoTrainers) {
    if (r.data == Data::kMask || r.data == Data::kRandom || r.data == Data::kShuffled ||
        (r.data == Data::kSlices && r.threads == Threads::kTwoTrainers))
      r.data = Data::kVector;
    // The next batch would be written into the memory of the one that is used.
    if (r.data == Data::kBlob) r.data = Data::kBlobCloned;
    r.has_dropout = false;
    if (r.threads == Threads::kTwoTrainers) r.phases = Phases::kOne;
  }
  return r;
}

std::string print(const Recipe& r) {
  const auto name = [](std::span<const Choice> choices, auto at) {
    return choices[static_cast<std::size_t>(at)].name;
  };
  const bool is_plain = r.learning == Learning::kSupervised;
  std::string text = fmt::format(
      "{}{}{}: {} layers of {}, {} to {}{}, batch {}, {}{}{}; {}; {}; {}; {}; every {}",
      name(kLearning, r.learning), is_plain ? ", " : "", is_plain ? name(kBodies, r.body) : "",
      r.layers, r.width, r.inputs, r.outputs, r.is_classifier ? " classes" : "", r.batch,
      name(kActivations, r.activation), *name(kNorms, r.normalisation) ? " " : "",
      name(kNorms, r.normalisation), name(kOptimizers, r.optimizer), name(kData, r.data),
      name(kControls, r.control), name(kReads, r.reads), r.every);
  if (r.threads != Threads::kOne) text += fmt::format("; {}", name(kThreads, r.threads));
  if (r.phases != Phases::kOne) text += fmt::format("; {}", name(kPhases, r.phases));
  const std::pair<bool, const char*> extras[] = {
      {r.has_dropout, "dropout"},       {r.keeps_pointer, "a pointer is kept"},
      {r.reads_labels, "labels read"},  {r.clips, "clipping"},
      {r.has_schedule, "schedule"},     {r.averages, "averaged weights"},
      {r.has_function, "own function"}, {r.has_hook, "hook each step"}};
  for (const auto& [is_there, what] : extras)
    if (is_there) text += fmt::format("; {}", what);
  return text;
}

}  // namespace groove::random_loops
