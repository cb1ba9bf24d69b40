// A strip: the points that the interpreter handles at once, either a piece of one line of the box
// along axis 0 or several whole lines, so that short lines do not cost a pass each.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/interpreter/reduce.h"
#include "kernels/ir.h"

namespace groove::kernels::interpreter {

struct Point {
  std::int64_t index[kMaxAxes];
};

struct Strip {
  std::int64_t count = 0;        // points in all
  std::int64_t line_length = 0;  // points of each line
  std::int64_t lines = 0;
  Point* first = nullptr;  // [line]: its first point
};

// Enumerates the lines of a box, axis 1 fastest. Axes in [1, from) stay at their begin.
class LineWalk {
 public:
  LineWalk(const Launch& launch, int from, int to) : launch_(launch), from_(from), to_(to) {
    std::copy_n(launch.begin, kMaxAxes, point_.index);
    for (int axis = from; axis < to; ++axis) left_ *= launch.count[axis];
  }
  std::int64_t left() const { return left_; }
  const Point& point() const { return point_; }
  void set(int axis, std::int64_t index) { point_.index[axis] = index; }
  void next() {
    --left_;
    for (int axis = from_; axis < to_; ++axis) {
      if (++point_.index[axis] < launch_.begin[axis] + launch_.count[axis]) return;
      point_.index[axis] = launch_.begin[axis];
    }
  }

 private:
  const Launch& launch_;
  int from_, to_;
  std::int64_t left_ = 1;
  Point point_;
};

}  // namespace groove::kernels::interpreter
