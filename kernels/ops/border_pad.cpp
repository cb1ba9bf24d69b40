// border_pad: a tensor's own elements around it, mirrored, repeated or as on a ring.
#include "kernels/ops/border_pad.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/ops/complex_rules.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/words.h"

namespace groove {
namespace {

enum { kPad, kMode };

Border kind_of(const AttrReader& attr) { return static_cast<Border>(attr.integer(kMode)); }

// Where element `at` of a padded axis is taken from.
std::int64_t source_index(std::int64_t at, std::int64_t size, Border kind) {
  switch (kind) {
    case Border::kReflect:
      return at < 0 ? -at : at >= size ? 2 * (size - 1) - at : at;
    case Border::kReplicate:
      return std::clamp<std::int64_t>(at, 0, size - 1);
    case Border::kCircular:
      return (at + size) % size;
  }
  return at;
}

// The most that an axis can give to either side.
std::int64_t longest(std::int64_t size, Border kind) {
  if (size == 0) return 0;
  return kind == Border::kReflect ? size - 1 : kind == Border::kCircular ? size : INT64_MAX;
}

// A tensor and the same one padded, as nested blocks: axes that get nothing are joined with their
// neighbours.
struct Blocks {
  struct Axis {
    std::int64_t size, before, after;
    std::int64_t inner, padded_inner;  // elements of a block behind it, of either tensor
    std::int64_t padded() const { return size + before + after; }
  };
  std::vector<Axis> axes;                    // from the first that gets something to the last
  std::int64_t outer = 1;                    // blocks before them
  std::int64_t whole = 1, padded_whole = 1;  // elements of such a block
  Border kind;

  Blocks(const Shape& sizes, IntArrayRef around, Border border) : kind(border) {
    std::int64_t inner = 1, padded_inner = 1;
    for (std::size_t i = sizes.size(); i-- > 0;) {
      const Axis axis{sizes[i], around[2 * i], around[2 * i + 1], inner, padded_inner};
      inner *= axis.size;
      padded_inner *= axis.padded();
      if (axis.before + axis.after > 0 || !axes.empty()) axes.insert(axes.begin(), axis);
    }
    while (!axes.empty() && axes[0].before + axes[0].after == 0) {
      outer *= axes[0].size;
      axes.erase(axes.begin());
    }
    if (axes.empty()) {
      outer = inner;
      return;
    }
    whole = axes[0].size * axes[0].inner;
    padded_whole = axes[0].padded() * axes[0].padded_inner;
  }
};

template <typename T>
void copy(const T* from, T* to, std::int64_t count) {
  if (count == 1) {
    *to = *from;
  } else {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
  }
}

// The inside first, then borders of what is there: so corners are borders of borders.
template <typename T>
void pad_block(const Blocks& blocks, std::size_t level, const T* from, T* to) {
  const Blocks::Axis& axis = blocks.axes[level];
  T* const inside = to + axis.before * axis.padded_inner;
  if (level + 1 == blocks.axes.size()) {
    copy(from, inside, axis.size * axis.inner);
  } else {
    for (std::int64_t i = 0; i < axis.size; ++i)
      pad_block(blocks, level + 1, from + i * axis.inner, inside + i * axis.padded_inner);
  }
  const auto take = [&](std::int64_t at) {
    const std::int64_t source = source_index(at, axis.size, blocks.kind);
    copy(inside + source * axis.padded_inner, inside + at * axis.padded_inner, axis.padded_inner);
  };
  for (std::int64_t at = -axis.before; at < 0; ++at) take(at);
  for (std::int64_t at = axis.size; at < axis.size + axis.after; ++at) take(at);
}

// An element's sum: itself, then what lies behind the axis, then what lies before it, both
// ascending; the first axis first. `room`: of each level but the last, a block.
template <typename T>
void fold_block(const Blocks& blocks, std::size_t level, const T* from, T* to,
                std::vector<std::vector<T>>& room) {
  const Blocks::Axis& axis = blocks.axes[level];
  const T* const inside = from + axis.before * axis.padded_inner;
  const bool is_last = level + 1 == blocks.axes.size();
  T* sums = to;
  if (!is_last) {
    room[level].resize(static_cast<std::size_t>(axis.size * axis.padded_inner));
    sums = room[level].data();
  }
  copy(inside, sums, axis.size * axis.padded_inner);
  const auto add = [&](std::int64_t at) {
    const std::int64_t source = source_index(at, axis.size, blocks.kind);
    T* const target = sums + source * axis.padded_inner;
    const T* const value = inside + at * axis.padded_inner;
    for (std::int64_t i = 0; i < axis.padded_inner; ++i) target[i] += value[i];
  };
  for (std::int64_t at = axis.size; at < axis.size + axis.after; ++at) add(at);
  for (std::int64_t at = -axis.before; at < 0; ++at) add(at);
  if (is_last) return;
  for (std::int64_t i = 0; i < axis.size; ++i)
    fold_block(blocks, level + 1, sums + i * axis.padded_inner, to + i * axis.inner, room);
}

template <typename Run>
void for_share(const Blocks& blocks, int part, int parts, const Run& run) {
  const std::int64_t first = blocks.outer * part / parts, last = blocks.outer * (part + 1) / parts;
  for (std::int64_t i = first; i < last; ++i) run(i * blocks.whole, i * blocks.padded_whole);
}

void run_pad(const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs, int part,
             int parts) {
  const Blocks blocks(s.inputs[0].sizes, s.attr().integers(kPad), kind_of(s.attr()));
  with_word_of(s.inputs[0].dtype, [&](auto bits) {
    using T = decltype(bits);
    const T* from = static_cast<const T*>(inputs[0].impl()->data());
    T* to = static_cast<T*>(outputs[0].impl()->data());
    for_share(blocks, part, parts, [&](std::int64_t at, std::int64_t padded_at) {
      if (blocks.axes.empty())
        to[padded_at] = from[at];
      else
        pad_block(blocks, 0, from + at, to + padded_at);
    });
  });
}

Shape unpadded(const Signature& s) {
  Shape sizes = s.inputs[0].sizes;
  for (std::size_t axis = 0; axis < sizes.size(); ++axis)
    sizes[axis] -= s.attr().integers(kPad)[2 * axis] + s.attr().integers(kPad)[2 * axis + 1];
  return sizes;
}

void run_fold(const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs, int part,
              int parts) {
  const Blocks blocks(unpadded(s), s.attr().integers(kPad), kind_of(s.attr()));
  const auto run_as = [&](auto zero) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(inputs[0].impl()->data());
    T* to = static_cast<T*>(outputs[0].impl()->data());
    std::vector<std::vector<T>> room(blocks.axes.size());
    for_share(blocks, part, parts, [&](std::int64_t at, std::int64_t padded_at) {
      if (blocks.axes.empty())
        to[at] = from[padded_at];
      else
        fold_block(blocks, 0, from + padded_at, to + at, room);
    });
  };
  if (s.inputs[0].dtype == kDouble)
    run_as(0.0);
  else
    run_as(0.0f);
}

// Numbers that no memory could hold are refused before anything is made of them.
constexpr std::int64_t kMost = std::int64_t{1} << 40;

void check_around(const Signature& s, std::size_t axes) {
  const IntArrayRef around = s.attr().integers(kPad);
  const std::int64_t mode = s.attr().integer(kMode);
  GROOVE_CHECK(around.size() == 2 * axes && mode >= 0 && mode <= 2,
               "{}: {} numbers for {} axes, mode {}", s.op.name, around.size(), axes, mode);
  for (const std::int64_t length : around)
    GROOVE_CHECK(length >= 0 && length <= kMost, "{}: {} elements beside an axis", s.op.name,
                 length);
}
void check_lengths(const Signature& s, const Shape& sizes) {
  const IntArrayRef around = s.attr().integers(kPad);
  for (std::size_t i = 0; i < around.size(); ++i) {
    const std::int64_t size = sizes[i / 2];
    GROOVE_CHECK(size >= 0 && around[i] <= longest(size, kind_of(s.attr())),
                 "{}: {} elements beside an axis of {}", s.op.name, around[i], size);
  }
}

std::vector<Sample> samples_of(ScalarType dtype, bool is_padded) {
  const Shape pairs[][2] = {{{5}, {1, 3}},
                            {{3, 4}, {0, 0, 2, 1}},
                            {{3, 4}, {2, 0, 1, 3}},
                            {{2, 3, 4}, {0, 0, 1, 1, 1, 0}},
                            {{2, 3, 4}, {1, 0, 0, 0, 1, 2}},
                            {{2, 4, 3}, {0, 0, 2, 3, 0, 0}},
                            {{0, 3}, {0, 0, 1, 0}},
                            {{}, {}},
                            {{4}, {0, 0}}};
  std::vector<Sample> samples;
  for (std::int64_t mode = 0; mode <= 2; ++mode) {
    for (const auto& pair : pairs) {
      Shape sizes = pair[0];
      for (std::size_t i = 0; is_padded && i < sizes.size(); ++i)
        sizes[i] += pair[1][2 * i] + pair[1][2 * i + 1];
      samples.push_back({{{dtype, sizes}}, Attrs().add(IntArrayRef(pair[1])).add(mode), {}});
    }
  }
  return samples;
}

// Of every element of the padded tensor, where it comes from.
template <typename Visit>
void for_each_source(const Signature& s, const Shape& sizes, const Shape& padded,
                     const Visit& visit) {
  std::size_t position = 0;
  for_each_index(padded, [&](Shape index) {
    for (std::size_t axis = 0; axis < sizes.size(); ++axis)
      index[axis] = source_index(index[axis] - s.attr().integers(kPad)[2 * axis], sizes[axis],
                                 kind_of(s.attr()));
    visit(position++, static_cast<std::size_t>(flat_position(sizes, index)));
  });
}

const Op& op_backward = define({
    .name = "border_pad_backward",
    .kind = OpKind::kOpaque,
    .attributes = {{"pad", AttrType::kInts}, {"mode", AttrType::kInt}},
    .type = [](const Signature& s) -> TypeResult {
      GROOVE_CHECK(is_floating(s.inputs[0].dtype), "border_pad_backward: not defined for {}",
                   name(s.inputs[0].dtype));
      check_around(s, s.inputs[0].sizes.size());
      const Shape sizes = unpadded(s);
      check_lengths(s, sizes);
      return {{{s.inputs[0].dtype, sizes}}, s.inputs[0].dtype};
    },
    .lowering = kernels::lower(kernels::OpaqueLowering{.run_part = run_fold}),
    .gradient =
        [](const Grad& g) {
          return Tensors{border_pad(g.cotangent(), g.attr().integers(kPad), kind_of(g.attr()))};
        },
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          Reference result =
              make_reference(s.op.type(s).outputs[0], [](const Shape&) { return 0.0; });
          for_each_source(s, result.type.sizes, inputs[0].type.sizes,
                          [&](std::size_t from, std::size_t to) {
                            result.values[to] += inputs[0].values[from];
                          });
          return std::vector<Reference>{result};
        },
    .dtypes = floating_dtypes(),
    .samples = [](ScalarType dtype) { return samples_of(dtype, true); },
});

const Op& op = define({
    .name = "border_pad",
    .kind = OpKind::kOpaque,
    .attributes = {{"pad", AttrType::kInts}, {"mode", AttrType::kInt}},
    .type = [](const Signature& s) -> TypeResult {
      Shape sizes = s.inputs[0].sizes;
      check_around(s, sizes.size());
      check_lengths(s, sizes);
      for (std::size_t axis = 0; axis < sizes.size(); ++axis)
        sizes[axis] += s.attr().integers(kPad)[2 * axis] + s.attr().integers(kPad)[2 * axis + 1];
      return {{{s.inputs[0].dtype, sizes}}, s.inputs[0].dtype};
    },
    .lowering = kernels::lower(kernels::OpaqueLowering{.run_part = run_pad, .takes_halves = true}),
    .gradient =
        [](const Grad& g) {
          return Tensors{call(op_backward, {g.cotangent()}, Site::current(), g.attrs)};
        },
    .complex = complex_rules::on_parts,
    .range = [](const Signature&, ArrayRef<ValueRange> inputs, int) { return inputs[0]; },
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          Reference result =
              make_reference(s.op.type(s).outputs[0], [](const Shape&) { return 0.0; });
          for_each_source(s, inputs[0].type.sizes, result.type.sizes,
                          [&](std::size_t to, std::size_t from) {
                            result.values[to] = inputs[0].values[from];
                          });
          return std::vector<Reference>{result};
        },
    .dtypes = all_dtypes(),
    .samples = [](ScalarType dtype) { return samples_of(dtype, false); },
    .tolerance_ulp = 0,
});

}  // namespace

Tensor border_pad(const Tensor& self, IntArrayRef around, Border kind, Site site) {
  return call(op, {self}, site, Attrs().add(around).add(static_cast<std::int64_t>(kind)));
}

}  // namespace groove
