// Which tagged numbers does host code look at? While a watch lives, reads of numbers with an origin
// on this thread are noted here and not told to the tracer.
#pragma once

#include <vector>

namespace groove {

class NumberWatch {
 public:
  NumberWatch();
  ~NumberWatch();
  NumberWatch(const NumberWatch&) = delete;
  NumberWatch& operator=(const NumberWatch&) = delete;
  /// Origins, in the order of the first reads.
  const std::vector<int>& read() const { return read_; }
  /// For number_was_read(): true when a watch took it.
  static bool note(int origin);

 private:
  std::vector<int> read_;
  NumberWatch* outer_;
};

}  // namespace groove
