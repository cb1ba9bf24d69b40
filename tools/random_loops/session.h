// A drawn training session: what people write. A model, a way to bring data in, an optimizer, and
// what happens around the step: evaluation, reads, accumulation, schedules, lengths that vary,
// batches that fail, a second model, a second phase, a thread that makes the data. The statements
// of program.h are drawn one by one to find wrong bits; these are drawn to find what is slow.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace groove::random_loops {

struct Session {
  enum class Network : std::uint8_t {
    kMlp,
    kConvolution,
    kLstm,
    kGru,
    kEmbedding,
    kAttention,
    kFactors,
    kCount
  };
  enum class Data : std::uint8_t {  // how a batch comes into a tensor
    kEmptyPointer,
    kZerosPointer,
    kAccessor,
    kBlob,
    kBlobClone,
    kVector,
    kRows,
    kStack,
    kElements,
    kMask,
    kSelect,
    kRandom,
    kCount
  };
  enum class Sizes : std::uint8_t { kFixed, kRaggedLast, kAny, kCount };
  enum class Second : std::uint8_t { kNone, kAdversary, kAverage, kTeacher, kCount };

  bool is_used = false;
  std::uint64_t seed = 0;
  Network network = Network::kMlp;
  Data data = Data::kEmptyPointer;
  Sizes sizes = Sizes::kFixed;
  Second second = Second::kNone;
  int inputs = 8, outputs = 1, hidden = 32, layers = 1, batch = 16, length = 8;
  int activation = 0, norm = 0, optimizer = 0, loss = 0;
  bool has_dropout = false, has_function = false, has_hook = false, clips = false;
  bool has_data_thread = false;
  // Every so many steps; 0: never.
  int reads_loss = 0, evaluates = 0, accumulates = 1, schedules = 0, fails = 0, keeps_best = 0,
      prints_norm = 0;
  int solves = 0;      // inner iterations up to a tolerance
  int freezes_at = 0;  // the second phase: the part of the steps, in percent; 0: none
};

/// Depends on the seed and on nothing else.
Session draw_session(std::uint64_t seed);
std::string print(const Session& session);
/// Runs so many steps and writes down what the program sees; `at_half` is called after half of
/// them.
void run(const Session& session, int steps, std::FILE* log, void (*at_half)(void*), void* context);

}  // namespace groove::random_loops
