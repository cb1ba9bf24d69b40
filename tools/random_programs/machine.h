// Runs a random program through the public API and logs everything observable.
#pragma once

#include <map>
#include <memory>

#include "tools/random_programs/program.h"

namespace groove::random_programs {

class Machine {
 public:
  explicit Machine(const Program& program);

  /// One instruction; groove::Error is logged, not thrown. False when it was not valid.
  bool run(const Instruction& instruction, std::int64_t step);
  /// All steps, then parameters, gradients, states, kept and living results.
  Log run_all();

  /// For the generator: what an operand's number names now, undefined where nothing.
  Tensor value(int number) const;
  const std::map<int, Tensor>& results() const { return results_; }
  void start_step();
  void forget(int number) { results_.erase(number); }

 private:
  void run_inner(std::size_t first, std::size_t end, std::int64_t step);
  void execute(const Instruction& instruction, const Operands& v);
  Tensor input(const Operands& v) const;
  void update_by_hand(const Instruction& instruction, const Operands& v);
  void log(const std::string& text);
  void log_tensor(const std::string& name, const Tensor& tensor);
  void log_end();
  void drop_dead(std::size_t place);

  const Program& program_;
  Log log_;
  std::string place_;
  std::vector<Tensor> parameters_, buffers_, held_, kept_;
  std::vector<std::pair<Tensor, void*>> pointers_;  // to the first memory of each buffer
  std::vector<std::unique_ptr<optim::Optimizer>> optimizers_;
  std::map<int, Tensor> results_;
  std::vector<std::vector<int>> last_uses_;  // [instruction]: results that die after it
  std::vector<std::vector<int>> inner_last_uses_;  // … at each turn of the inner loop it is in
  bool branch_ = false;
};

inline Log run_program(const Program& program) { return Machine(program).run_all(); }

}  // namespace groove::random_programs
