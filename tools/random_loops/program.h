// A drawn training program: a list of statements, each made from a rule by choosing its operands,
// numbers and condition. It says what happens, in the public API; machine.h runs it.
#pragma once

#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <vector>

namespace groove::random_loops {

struct Step;

// Where in an iteration a rule's statements stand in a program that is in good order.
enum class Phase : std::uint8_t {
  kBefore,    // ahead of the loop
  kValues,    // tensors without history; writes in place
  kForward,   // what the loss is made of
  kZero,      // gradients of the last iteration go
  kBackward,  // loss.backward()
  kAfter,     // gradients are there
  kStep,      // parameters change
  kAnywhere,
};

// What a program may be about; each draws from a few of these.
enum class Theme : std::uint8_t {
  kPlain,
  kAliases,
  kMemory,
  kTraining,
  kHooks,
  kEscapes,
  kErrors,
  kPast,
  kSizes,
  kDtypes,
  kState,
  kPool,
  kComplex,
};
inline constexpr const char* kThemeNames[] = {"plain",  "aliases", "memory", "training",
                                              "hooks",  "escapes", "errors", "past",
                                              "sizes",  "dtypes",  "state",  "pool",
                                              "complex"};
inline constexpr int kThemes = std::size(kThemeNames);

// A kind of statement. The text is what a program would write, with letters for what is drawn:
//   $a $b $c a matrix without history (v, w or b)   $w a handle that aliases others (w)
//   $k memory of the program seen through from_blob  $p $q parameters
//   d$k z$k c$k matrices of wide, of whole and of complex numbers
//   $h $g matrices with history   $r any of these    $o an optimizer   $m a model
//   $n $j small whole numbers     $x a real number
struct Rule {
  Theme theme;
  Phase phase;
  int weight;
  const char* text;
  void (*run)(Step& step);
};
std::span<const Rule> value_rules();
std::span<const Rule> alias_rules();
std::span<const Rule> memory_rules();
std::span<const Rule> training_rules();
std::span<const Rule> hook_rules();
std::span<const Rule> escape_rules();
std::span<const Rule> past_rules();
std::span<const Rule> size_rules();
std::span<const Rule> dtype_rules();
std::span<const Rule> state_rules();
std::span<const Rule> pool_rules();
std::span<const Rule> complex_rules();
std::vector<Rule> all_rules();

struct Condition {
  enum Kind : std::uint8_t { kAlways, kEach, kPart, kOnce, kFrom, kUntil, kValue };
  Kind kind = kAlways;
  int period = 1, phase = 0;  // i % period == phase, i % period < phase, i == phase, …
  double bound = 0;
};

struct Statement {
  Rule rule;
  int number = 0;  // its line; statements are told apart by it
  int a = 0, b = 0, c = 0, w = 0, k = 0, p = 0, q = 0, h = 0, g = 0, r = 0, o = 0, m = 0;
  int n = 0, j = 0;
  double x = 0;
  Condition when;
  enum Thread : std::uint8_t { kMain, kSecond, kNew } thread = kMain;
};

inline constexpr int kValues = 5, kAliases = 3, kBlobs = 2, kHistories = 2, kParameters = 3;
inline constexpr int kModels = 2, kOptimizers = 2;
inline constexpr int kPlaces = 64;  // statements, and calls of one statement

struct Program {
  std::uint64_t seed = 0;
  int length = 0;                                          // iterations
  int size = 4;                                            // of the matrices
  int models[kModels] = {}, optimizers[kOptimizers] = {};  // their kinds
  bool is_clamped = false;  // each new value is bounded by a call of its own
  bool has_threads = false;
  int dump_every = 50;
  int repeats = 1;  // each time the tracer begins afresh
  std::vector<Statement> before, body;
};

struct Drawing {
  bool has_threads = false, is_long = false;  // of 1,500 iterations and more
  int length = 0;                             // 0: drawn
  std::vector<std::string> themes;            // besides plain statements; none: drawn …
  int first_themes = kThemes;                 // … from the first so many
};
/// Depends on the seed and on nothing else.
Program draw(std::uint64_t seed, const Drawing& drawing);
std::string print(const Program& program);
std::string print(const Statement& statement);

}  // namespace groove::random_loops
