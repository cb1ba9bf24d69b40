#include "tools/random_programs/operands.h"

#include <algorithm>
#include <cmath>

namespace groove::random_programs {

std::int64_t wrap(std::int64_t value, std::int64_t count) {
  if (count <= 0) throw Error("random-programs: nothing to choose from");
  return (value % count + count) % count;
}

Sizes sizes_of(const Tensor& t) { return Sizes(t.sizes().begin(), t.sizes().end()); }
std::int64_t axis(const Tensor& t, std::int64_t raw) { return wrap(raw, t.dim()); }

Sizes axes(const Tensor& t, std::int64_t mask) {
  Sizes chosen;
  for (std::int64_t d = 0; d < t.dim(); ++d)
    if (mask >> d & 1) chosen.push_back((mask >> (8 + d) & 1) ? d - t.dim() : d);
  return chosen;
}

Tensor positions(std::int64_t length, std::int64_t count, std::int64_t first, std::int64_t by) {
  Sizes values;
  for (std::int64_t i = 0; i < length; ++i) values.push_back(wrap(first + i * by, count));
  return groove::tensor(values);
}

Tensor different_positions(std::int64_t length, std::int64_t count, std::int64_t first) {
  if (length > count) throw Error("random-programs: fewer positions than asked for");
  return positions(length, count, first, 1);
}

Tensor as_integers(const Tensor& given, std::int64_t length, std::int64_t count,
                   const Operands& v) {
  if (given.defined() && given.scalar_type() == kLong && given.dim() == 1) return given;
  return positions(length, count, v.j, 1 + wrap(v.k, 3));
}

Tensor as_mask(const Tensor& given, Site site) {
  return given.scalar_type() == kBool ? given : groove::gt(Arg(given, site), 0.1);
}

ScalarType dtype_from(std::int64_t raw) {
  static constexpr ScalarType all[] = {kFloat, kDouble, kLong,     kInt,   kByte, kBool,
                                       kHalf,  kFloat,  kBFloat16, kShort, kChar, kFloat};
  return all[wrap(raw, 12)];
}

Tensor cut(const Tensor& given, const Sizes& sizes, ScalarType dtype, Site site) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  if (count > given.numel()) throw Error("random-programs: too few elements");
  const Tensor flat = given.reshape({-1}, site).narrow(0, 0, count, site).reshape(sizes, site);
  return given.scalar_type() == dtype ? flat : flat.to(dtype, false, false, site);
}

Tensor images(const Tensor& given, const Operands& v) {
  const std::int64_t channels = 1 + wrap(v.i, 4), count = given.numel() / channels;
  const std::int64_t batch = count >= 18 ? 1 + wrap(v.i / 4, 2) : 1;
  const auto side = std::min<std::int64_t>(
      10, static_cast<std::int64_t>(std::sqrt(static_cast<double>(count / batch))));
  if (side < 2) throw Error("random-programs: too few elements for an image");
  const ScalarType dtype = given.is_floating_point() ? given.scalar_type() : kFloat;
  return cut(given, {batch, channels, side, side}, dtype, v.site);
}

Tensor narrowed(const Operands& v) {
  const std::int64_t d = axis(v.a, v.i), size = v.a.size(d), length = 1 + wrap(v.k, size);
  return groove::narrow(Arg(v.a, v.site), d, wrap(v.j, size - length + 1), length);
}

Tensor sliced(const Operands& v) {
  const std::int64_t d = axis(v.a, v.i), size = v.a.size(d), step = 1 + wrap(v.k, 3);
  const std::int64_t length = 1 + wrap(v.k / 3, size);
  const std::int64_t start = wrap(v.j, size - length + 1);
  return v.a.slice(d, start, start + length, step, v.site);
}

}  // namespace groove::random_programs
