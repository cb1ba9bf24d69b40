#include "tracer/calls/recorded_view.h"

namespace groove::tracer {

Geometry recorded_view(const Node& made, const Geometry& base, const Type& type,
                       std::vector<kernels::MovingStart>& starts) {
  std::vector<Scalar> numbers;
  std::vector<bool> moving;
  for (const NumberRef& number : made.numbers) {
    numbers.push_back(number.constant);
    moving.push_back(number.entry >= 0);
  }
  return kernels::view_at_zero(*made.op, base, ArrayRef<Type>(type), made.attrs, numbers, moving,
                               starts);
}

}  // namespace groove::tracer
