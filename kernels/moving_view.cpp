#include "kernels/moving_view.h"

namespace groove::kernels {

// The rule is asked at 0, 1 and -1: the step from 0 to 1 is the stride, that from -1 tells the size
// that a negative start counts from.
Geometry view_at_zero(const Op& op, const Geometry& geometry, ArrayRef<Type> types,
                      const Attrs& attrs, std::vector<Scalar> numbers,
                      const std::vector<bool>& moving, std::vector<MovingStart>& starts) {
  const auto run = [&] { return op.view(geometry, Signature{op, types, attrs, numbers}); };
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!moving[i]) continue;
    const auto at = [&](std::int64_t start, Geometry& result) {
      numbers[i] = Scalar(start);
      try {
        result = run();
        return true;
      } catch (const Error&) {
        return false;
      }
    };
    Geometry zero, one, last;
    MovingStart start{i, 0, 0};
    if (at(1, one) && at(0, zero)) start.stride = one.offset - zero.offset;
    if (start.stride != 0 && at(-1, last))
      start.size = (last.offset - zero.offset) / start.stride + 1;
    numbers[i] = Scalar(std::int64_t{0});
    starts.push_back(start);
  }
  return run();
}

}  // namespace groove::kernels
