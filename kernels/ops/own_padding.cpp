// reflection_pad and replication_pad by the number of axes; pad.cpp does the work.
#include "groove/ops/padding.h"
#include "groove/ops/views.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

Tensor padded(const char* name, Arg self, IntArrayRef padding, std::size_t axes, const char* mode) {
  const CallFrame frame(self.site, name);
  const std::size_t rank = checked(name, *self.tensor).geometry.sizes.size();
  GROOVE_CHECK(padding.size() == 2 * axes && (rank == axes + 1 || rank == axes + 2),
               "{}: self {} must have {} or {} dimensions, padding {} {} numbers", name,
               to_string(self.tensor->sizes()), axes + 1, axes + 2, to_string(padding), 2 * axes);
  return pad(self, padding, mode);
}

}  // namespace

Tensor reflection_pad1d(Arg self, IntArrayRef padding) {
  return padded(__func__, self, padding, 1, "reflect");
}
Tensor reflection_pad2d(Arg self, IntArrayRef padding) {
  return padded(__func__, self, padding, 2, "reflect");
}
Tensor reflection_pad3d(Arg self, IntArrayRef padding) {
  return padded(__func__, self, padding, 3, "reflect");
}
Tensor replication_pad1d(Arg self, IntArrayRef padding) {
  return padded(__func__, self, padding, 1, "replicate");
}
Tensor replication_pad2d(Arg self, IntArrayRef padding) {
  return padded(__func__, self, padding, 2, "replicate");
}
Tensor replication_pad3d(Arg self, IntArrayRef padding) {
  return padded(__func__, self, padding, 3, "replicate");
}

}  // namespace groove
