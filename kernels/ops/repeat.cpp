// repeat, tile and repeat_interleave: an axis of size 1 beside each repeated one, expanded, and one
// copy of that. The tape and the compiler see just these steps.
#include "groove/factories.h"
#include "groove/ops/index.h"
#include "groove/ops/views.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

Tensor repeated(const char* op, Arg self, IntArrayRef repeats) {
  const Shape own = checked(op, *self.tensor).geometry.sizes;
  GROOVE_CHECK(repeats.size() >= own.size(), "{}: {} repeats are too few for shape {}", op,
               repeats.size(), to_string(own));
  const std::size_t lead = repeats.size() - own.size();
  Shape apart, wide, joined;
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    GROOVE_CHECK(repeats[i] >= 0, "{}: repeats {} contain a negative one", op, to_string(repeats));
    const std::int64_t size = i < lead ? 1 : own[i - lead];
    for (const std::int64_t one : {std::int64_t{1}, size}) apart.push_back(one);
    for (const std::int64_t one : {repeats[i], size}) wide.push_back(one);
    joined.push_back(repeats[i] * size);
  }
  const SiteScope scope(self.site);
  const Tensor spread =
      expand({self.tensor->reshape(apart, self.site), self.site}, wide).clone(self.site);
  return spread.view(joined, self.site);
}

}  // namespace

Tensor repeat(Arg self, IntArrayRef repeats) {
  const CallFrame frame(self.site);
  return repeated("repeat", self, repeats);
}
Tensor tile(Arg self, IntArrayRef dims) {
  const CallFrame frame(self.site);
  const std::size_t rank = checked("tile", *self.tensor).geometry.sizes.size();
  Shape repeats;
  for (std::size_t i = dims.size(); i < rank; ++i) repeats.push_back(1);
  repeats.append(dims.data(), dims.size());
  return repeated("tile", self, repeats);
}
// What the user said of the size along the axis.
static void check_output_size(std::optional<std::int64_t> said, std::int64_t size) {
  GROOVE_CHECK(!said || *said == size, "repeat_interleave: output_size is {}, the repeats give {}",
               *said, size);
}

Tensor repeat_interleave(Arg self, std::int64_t repeats, std::optional<std::int64_t> dim,
                         std::optional<std::int64_t> output_size) {
  const CallFrame frame(self.site);
  checked("repeat_interleave", *self.tensor);
  GROOVE_CHECK(repeats >= 0, "repeat_interleave: {} repeats; the number must not be negative",
               repeats);
  const SiteScope scope(self.site);
  const Tensor x = dim ? *self.tensor : flatten(self);
  Shape wide = type_of(x).sizes, joined = wide;
  const std::int64_t axis = normal_dim("repeat_interleave", dim.value_or(0), wide.size());
  if (wide.empty()) return x.unsqueeze(0, self.site).expand({repeats}, false, self.site).clone();
  check_output_size(output_size, wide[static_cast<std::size_t>(axis)] * repeats);
  wide.insert(static_cast<std::size_t>(axis) + 1, repeats);
  joined[static_cast<std::size_t>(axis)] *= repeats;
  const Tensor spread = expand({x.unsqueeze(axis + 1, self.site), self.site}, wide);
  return spread.clone(self.site).view(joined, self.site);
}
Tensor repeat_interleave(Arg repeats, std::optional<std::int64_t> output_size) {
  const CallFrame frame(repeats.site);
  const Type type{checked("repeat_interleave", *repeats.tensor).dtype,
                  type_of(*repeats.tensor).sizes};
  GROOVE_CHECK((type.dtype == kLong || type.dtype == kInt) && type.sizes.size() == 1,
               "repeat_interleave: the repeats are {} {}; they must be Long or Int on one axis",
               name(type.dtype), to_string(type.sizes));
  const SiteScope scope(repeats.site);
  const Tensor counts = repeats.tensor->detach().to(kLong).contiguous();
  const auto* const count = counts.const_data_ptr<std::int64_t>();
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < counts.numel(); ++i) {
    GROOVE_CHECK(count[i] >= 0, "repeat_interleave: {} repeats; the number must not be negative",
                 count[i]);
    positions.insert(positions.end(), static_cast<std::size_t>(count[i]), i);
  }
  check_output_size(output_size, static_cast<std::int64_t>(positions.size()));
  return tensor(positions, kLong).to(type.dtype);
}
Tensor repeat_interleave(Arg self, const Tensor& repeats, std::optional<std::int64_t> dim,
                         std::optional<std::int64_t> output_size) {
  const CallFrame frame(self.site);
  checked("repeat_interleave", *self.tensor);
  checked("repeat_interleave", repeats);
  const SiteScope scope(self.site);
  const Tensor x = dim ? *self.tensor : flatten(self);
  const std::int64_t axis = dim.value_or(0), length = x.size(axis);
  GROOVE_CHECK(repeats.numel() == 1 || repeats.numel() == length,
               "repeat_interleave: {} repeats for {} slices", repeats.numel(), length);
  const Tensor positions = repeat_interleave(repeats.reshape({-1}).expand({length}), output_size);
  return index_select(x, axis, positions);
}

Tensor ViewMethods::repeat_interleave(const Tensor& repeats, std::optional<std::int64_t> dim,
                                      std::optional<std::int64_t> output_size, Site site) const {
  return groove::repeat_interleave({self(), site}, repeats, dim, output_size);
}
Tensor ViewMethods::repeat_interleave(std::int64_t repeats, std::optional<std::int64_t> dim,
                                      std::optional<std::int64_t> output_size, Site site) const {
  return groove::repeat_interleave({self(), site}, repeats, dim, output_size);
}
Tensor ViewMethods::repeat(IntArrayRef repeats, Site site) const {
  const CallFrame frame(site);
  return repeated("repeat", {self(), site}, repeats);
}
Tensor ViewMethods::tile(IntArrayRef dims, Site site) const {
  return groove::tile({self(), site}, dims);
}
Tensor ViewMethods::repeat_interleave(std::int64_t repeats, std::optional<std::int64_t> dim,
                                      Site site) const {
  return groove::repeat_interleave({self(), site}, repeats, dim);
}

}  // namespace groove
