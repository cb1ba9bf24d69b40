// What a library's own allocator counts while a model trains: parameters, gradients, optimizer
// state, data and everything a step keeps or makes on the way.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

class MemoryWatch {
 public:
  MemoryWatch();
  ~MemoryWatch();
  std::string library() const;
  std::size_t peak() const;
  std::size_t held() const;
  /// Forgets the peak so far.
  void begin_steady();

 private:
  struct State;
  std::unique_ptr<State> state_;
};
