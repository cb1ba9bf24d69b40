// A random program as data: leaves, optimizers and a list of instructions that make the body of a
// loop. Instructions name tensors by number, and every number means something whatever was dropped
// before, so a program stays a program while it is shrunk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "groove/groove.h"

namespace groove::random_programs {

// Numbers of tensors: parameters from 0, buffers (state without gradients) from 100, what is held
// from iteration to iteration with its history from 200; the result of the instruction with id n is
// 1000 + n.
inline constexpr int kFirstBuffer = 100, kFirstHeld = 200, kFirstResult = 1000, kNothing = -1;

// What an instruction sees: up to three operands, raw integers that each op maps into its own valid
// range, and a number.
struct Operands {
  Tensor a, b, c;
  std::int64_t i = 0, j = 0, k = 0;
  double x = 0;
  std::int64_t step = 0;
  Site site = Site::none();
};

using Run = Tensor (*)(const Operands&);
struct Op {
  const char* name;
  int operands;
  Run run;
  int weight = 4;       // how often the generator takes it
  bool moves = false;   // j may change from step to step: a start or positions, no attribute
};
const std::vector<Op>& pure_ops();  // of all these:
std::vector<Op> shape_ops();
std::vector<Op> layer_ops();
std::vector<Op> block_ops();
const std::vector<Op>& inplace_ops();
const Op& find_op(const std::string& name);

enum class Kind : std::uint8_t {
  kPure,      // result = op(a, b, c)
  kInplace,   // op(a, …) writes a
  kBackward,  // mean of a, backward; i: retain_graph
  kGrad,      // result = autograd::grad(mean of a, b)
  kZeroGrad,  // of optimizer i; j: set_to_none
  kStep,      // of optimizer i
  kRate,      // learning rate of optimizer i becomes x
  kSgd,       // by hand on parameter a; i: spelling
  kClear,     // parameter a: grad undefined (i even) or filled with 0
  kItem,      // one number of a is logged
  kBranch,    // what follows under a guard depends on a number of a and x
  kRead,      // all of a is logged through a pointer
  kPoke,      // an element of a is written through data_ptr
  kBlob,      // result = from_blob of host memory that dies at once, cloned
  kKeep,      // a lives until the program ends
  kCarry,     // buffer b becomes a, detached; i: clone or not
  kLeaf,      // result = a detached, cloned, requiring gradients
  kVersion,   // version and flags of a are logged
  kError,     // an addition whose shapes do not fit
  kInput,     // result = random numbers, whose rows change from step to step as k says
  kAssign,    // the name of result b now means a: what an inner loop carries
  kHold,      // held b becomes a; i: with its history, detached, or a clone
  kScribble,  // an element of buffer b is written through a pointer got before the loop
};

struct Instruction {
  Kind kind = Kind::kPure;
  int id = 0;
  const Op* op = nullptr;
  int operands[3] = {kNothing, kNothing, kNothing};
  std::int64_t i = 0, j = 0, k = 0;
  double x = 0;
  double x_per_step = 0;
  std::int64_t j_per_step = 0;  // moves slice starts and the like
  std::int64_t i_per_step = 0;  // moves sizes
  int every = 1, phase = 0;     // runs when step % every == phase
  int guard = 0;                // 1: only after a true branch, 2: only after a false one
  bool is_eager = false;        // under an EagerGuard
  bool has_no_grad = false;     // under a NoGradGuard
  bool is_named = false;  // the result lives to the end of the iteration, else to its last use
  int inner = 0;          // neighbours of the same number make an inner loop
};

// How often an inner loop runs: least + a number below spread that follows from the step.
struct Inner {
  int least = 1, spread = 1;
  int count(std::int64_t step) const {
    return least + static_cast<int>((step * 7 + step / 3) % spread);
  }
};

struct Leaf {
  std::vector<std::int64_t> sizes;
  ScalarType dtype = kFloat;
};

struct OptimizerSpec {
  int kind = 0;  // 0: SGD, 1: SGD with momentum, 2: Adam, 3: AdamW
  double rate = 0.05;
  std::vector<int> parameters;
};

struct Program {
  std::uint64_t seed = 0;
  int steps = 8;
  bool clears_at_end = true;  // results die at the end of an iteration, not at the next's start
  std::vector<Leaf> parameters, buffers;
  int held = 0;               // each begins as a copy of a parameter
  std::vector<Inner> inners;  // [inner - 1]
  std::vector<OptimizerSpec> optimizers;
  std::vector<Instruction> body;
};

std::string print(const Program& program);
std::string print(const Instruction& instruction);
std::string name_of(int number);

/// A program of 1 to 60 instructions; with `is_loop` the body of a training loop.
Program generate(std::uint64_t seed, bool is_loop);

/// Everything observable, a line each; "step 3 t12: …".
using Log = std::vector<std::string>;

}  // namespace groove::random_programs
