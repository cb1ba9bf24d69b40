// A kernel prepared for the interpreter: its instructions sorted by how often they must run, and
// a place in scratch memory for each value.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/interpreter/reduce.h"
#include "kernels/interpreter/steps.h"
#include "kernels/ir.h"

namespace groove::kernels::interpreter {

struct Step {
  Prim prim = Prim::kConstant;
  StepFunction function = nullptr;      // pure primitives; null when `prim` decides
  std::int32_t id = -1;                 // of the instruction, and of its value
  std::int32_t args[3] = {-1, -1, -1};  // if_any_end: mask, slow, fast
  std::uint64_t imm = 0;
  std::int32_t size = 0;  // bytes of one element of the result (of the stored value)
  bool in_place = false;  // load: may hand out the memory itself instead of a copy
  std::int32_t end = -1;  // if_any_begin: position of its end within the same list
};

struct Reduction {
  Step step;
  RowReducer row;        // kRow, kTree
  ColumnReducer column;  // kColumn
};

struct PhasePlan {
  std::vector<Step> row_steps;     // once a row: what is uniform along axis 0
  std::vector<Step> strip_steps;   // once a strip
  std::vector<Step> strip_stores;  // after all steps of the strip, so that stores may alias loads
  std::vector<Step> row_stores;    // after the last strip of the row
  std::vector<Reduction> reductions;
};

struct Plan {
  Kernel kernel;
  std::vector<Step>
      launch_steps;  // once a launch: constants, parameters and what follows from them
  std::vector<PhasePlan> phases;
  std::vector<std::vector<std::uint64_t>> tables;  // elements packed as in memory
  std::vector<std::int32_t> slots;  // per value the index of its slot, -1 without one
  std::int32_t slot_count = 0;
  std::size_t slot_bytes = 0;
};

Plan make_plan(const Kernel& kernel);

}  // namespace groove::kernels::interpreter
