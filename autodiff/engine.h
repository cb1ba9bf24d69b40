// Runs tapes backwards: the largest position first, each node when all its cotangents are there.
#pragma once

#include <memory>

#include "autodiff/tape.h"

namespace groove::autodiff {

struct BackwardRun {
  std::vector<Edge> roots;
  Tensors root_cotangents;
  bool retain_graph = false;
  bool create_graph = false;
  // Empty: every leaf reached accumulates. Otherwise only paths to these are run …
  std::vector<Edge> targets;
  bool accumulate = true;  // … and they accumulate, or their gradients land in `captured`.
  Tensors captured;
};

// A backward under way. It stops where user code (a hook, a custom function) must be called, so
// that whoever drives it can do that in the open.
class Walk {
 public:
  explicit Walk(BackwardRun backward);
  ~Walk();
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  /// Goes on until the end (true) or until user code must be called (false).
  bool advance();
  /// Where it stopped, and with what the code is to be called.
  const TapeNodePtr& user_code() const;
  const Tensors& arguments() const;
  /// With what the code was called and what it gave; advance() goes on from there.
  void give(Tensors arguments, Tensors results);
  const BackwardRun& backward() const { return backward_; }

 private:
  BackwardRun backward_;
  std::unique_ptr<class Engine> engine_;
};

}  // namespace groove::autodiff
