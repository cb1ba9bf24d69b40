// Parts own destinations, never sources: a part zeroes or copies its share of the result and then
// walks all sources in order for what falls into it. Shares are whole outer slices, or columns
// where slices are long. A sum in a 16-bit dtype is kept in f32 and rounded once.
#include "kernels/ops/indexed_write.h"

#include <algorithm>

#include "groove/half.h"
#include "groove/ops/views.h"
#include "kernels/ops/axis.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/words.h"
#include "src/core/faults.h"
#include "src/core/pooled.h"

namespace groove {
namespace {

// The result as [before, axis, after].
struct Blocks {
  std::int64_t before = 1, axis = 1, after = 1;
};
Blocks blocks_of(IntArrayRef sizes, std::size_t dim) {
  Blocks blocks;
  for (std::size_t i = 0; i < dim; ++i) blocks.before *= sizes[i];
  blocks.axis = sizes[dim];
  for (std::size_t i = dim + 1; i < sizes.size(); ++i) blocks.after *= sizes[i];
  return blocks;
}

struct Range {
  std::int64_t begin, end;
};
Range share(std::int64_t count, std::int64_t unit, int part, int parts) {
  const std::int64_t units = (count + unit - 1) / unit;
  return {std::min(units * part / parts * unit, count),
          std::min(units * (part + 1) / parts * unit, count)};
}

// What stands where a value is written on another one.
template <Meeting kMeeting, typename V>
V met(V there, V given) {
  if constexpr (kMeeting == Meeting::kAdds) return static_cast<V>(there + given);
  if constexpr (kMeeting == Meeting::kMultiplies) return static_cast<V>(there * given);
  if constexpr (kMeeting == Meeting::kGreatest)
    return there != there || there > given ? there : given;
  if constexpr (kMeeting == Meeting::kLeast) return there != there || there < given ? there : given;
  return given;
}

// One call: where things are, and the operands as elements of T.
template <typename T, typename Index, Meeting kMeeting>
class Writer {
 public:
  Writer(const Signature& s, ArrayRef<Tensor> inputs, const Tensor& output, bool into_zeros)
      : sizes_(into_zeros ? Shape(s.attr().integers(1)) : s.inputs[0].sizes),
        dim_(static_cast<std::size_t>(s.attr().integer(0))),
        source_sizes_(s.inputs.back().sizes),
        count_(inputs[inputs.size() - 2].impl()->numel),
        index_(static_cast<const Index*>(inputs[inputs.size() - 2].impl()->data())),
        base_(into_zeros ? nullptr : static_cast<const T*>(inputs[0].impl()->data())),
        source_(static_cast<const T*>(inputs.back().impl()->data())),
        target_(static_cast<T*>(output.impl()->data())) {}

  void slices(int part, int parts) {
    const Blocks at = blocks_of(sizes_, dim_);
    Range before{0, at.before}, axis{0, at.axis}, after{0, at.after};
    constexpr std::int64_t line = 64 / sizeof(T);
    // Columns share the sums evenly whatever the index; where most of the work is to fill a large
    // result, long runs of it matter more.
    if (at.after >= 4 * line * parts && (at.axis <= 4 * count_ || at.axis < 64 * parts))
      after = share(at.after, line, part, parts);
    else if (at.before >= parts)
      before = share(at.before, 1, part, parts);
    else
      axis = share(at.axis, 1, part, parts);
    width_ = after.end - after.begin;
    if (width_ <= 0) return;
    for (std::int64_t b = before.begin; b < before.end; ++b) {
      const std::int64_t block = b * at.axis;
      if (width_ == at.after) {
        start((block + axis.begin) * at.after, (axis.end - axis.begin) * at.after);
        continue;
      }
      for (std::int64_t i = axis.begin; i < axis.end; ++i)
        start((block + i) * at.after + after.begin, width_);
    }
    for (std::int64_t b = before.begin; b < before.end; ++b) {
      for (std::int64_t n = 0; n < count_; ++n) {
        const std::int64_t i = has_fault(Fault::kReorderedScatter) ? count_ - 1 - n : n;
        const std::int64_t to = index_[i];
        if (to < axis.begin || to >= axis.end) continue;
        if (at.after == 1)
          write(b * at.axis + to, b * count_ + i);
        else
          write_slice((b * at.axis + to) * at.after + after.begin,
                      (b * count_ + i) * at.after + after.begin);
      }
    }
    finish_sums();
  }

  void elements(int part, int parts) {
    const Range rows = share(sizes_[0], 1, part, parts);
    const std::int64_t row = element_count(sizes_) / std::max<std::int64_t>(sizes_[0], 1);
    if (rows.end <= rows.begin || row == 0) return;
    start(rows.begin * row, (rows.end - rows.begin) * row);
    if (count_ == 0) return;
    const Shape strides = contiguous_strides(sizes_);
    const std::size_t last = sizes_.size() - 1;
    const std::int64_t length = source_sizes_[last], lines = count_ / length;
    const std::int64_t step = strides[dim_], along = dim_ == last ? 0 : 1;
    Shape at(sizes_.size(), 0);
    for (std::int64_t n = 0; n < lines; ++n) {
      std::int64_t place = 0;
      for (std::size_t i = 0; i < last; ++i)
        if (i != dim_) place += at[i] * strides[i];
      const std::int64_t from = n * length;
      if (dim_ == 0) {
        for (std::int64_t j = 0; j < length; ++j) {
          const std::int64_t to = index_[from + j];
          if (to >= rows.begin && to < rows.end) write(place + to * step + along * j, from + j);
        }
      } else if (at[0] >= rows.begin && at[0] < rows.end) {
        if (dim_ == last)  // within a line, which has no steps
          for (std::int64_t j = 0; j < length; ++j) write(place + index_[from + j], from + j);
        else
          for (std::int64_t j = 0; j < length; ++j)
            write(place + index_[from + j] * step + along * j, from + j);
      }
      for (std::size_t axis = last; axis-- > 0;) {
        if (++at[axis] < source_sizes_[axis]) break;
        at[axis] = 0;
      }
    }
    finish_sums();
  }

 private:
  static constexpr bool kIsMoved = kMeeting == Meeting::kLast;
  static constexpr bool kIsNarrow = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

  void start(std::int64_t offset, std::int64_t count) const {
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
    if (!base_)
      std::memset(static_cast<void*>(target_ + offset), 0, bytes);
    else if (base_ != target_)
      std::memcpy(static_cast<void*>(target_ + offset), base_ + offset, bytes);
  }

  void write(std::int64_t to, std::int64_t from) {
    if constexpr (kIsMoved)
      target_[to] = source_[from];
    else if constexpr (kIsNarrow)
      sums_.emplace_back(to, from);
    else
      target_[to] = met<kMeeting>(target_[to], source_[from]);
  }
  void write_slice(std::int64_t to, std::int64_t from) {
    if constexpr (!kIsMoved && kIsNarrow) {
      sums_.emplace_back(to, from);
    } else {
      T* const target = target_ + to;
      const T* const source = source_ + from;
      const std::int64_t width = width_;
      for (std::int64_t i = 0; i < width; ++i) target[i] = met<kMeeting>(target[i], source[i]);
    }
  }
  // The sources of each destination together: a stable sort keeps them in ascending order.
  void finish_sums() {
    if constexpr (!kIsMoved && kIsNarrow) {
      std::stable_sort(sums_.begin(), sums_.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      std::vector<float> wide(static_cast<std::size_t>(width_));
      for (std::size_t n = 0; n < sums_.size();) {
        const std::int64_t place = sums_[n].first;
        T* const target = target_ + place;
        std::copy_n(target, width_, wide.begin());
        for (; n < sums_.size() && sums_[n].first == place; ++n) {
          const T* const source = source_ + sums_[n].second;
          for (std::size_t i = 0; i < wide.size(); ++i)
            wide[i] = met<kMeeting>(wide[i], static_cast<float>(source[i]));
        }
        std::copy(wide.begin(), wide.end(), target);
      }
    }
  }

  const Shape sizes_;
  const std::size_t dim_;
  const Shape source_sizes_;
  const std::int64_t count_;  // of indices
  const Index* const index_;
  const T* const base_;  // null for zeros
  const T* const source_;
  T* const target_;
  std::int64_t width_ = 1;                                    // elements of one write
  PooledVector<std::pair<std::int64_t, std::int64_t>> sums_;  // of targets and sources
};

template <typename Visit>
void with_sum_type(ScalarType dtype, const Visit& visit) {
  switch (dtype) {
    case kFloat:
      return visit(float());
    case kDouble:
      return visit(double());
    case kHalf:
      return visit(Half());
    case kBFloat16:
      return visit(BFloat16());
    default:
      return with_word_of(dtype, visit);
  }
}

template <Meeting kMeeting>
using Met = std::integral_constant<Meeting, kMeeting>;

// Integers compared have their signs.
template <typename Visit>
void with_order_type(ScalarType dtype, const Visit& visit) {
  if (dtype == kInt) return visit(std::int32_t());
  if (dtype == kLong) return visit(std::int64_t());
  with_sum_type(dtype, visit);
}

void check_fit(const Signature& s, const IndexedWrite& spec, const Shape& own) {
  const Shape &index = s.inputs[s.inputs.size() - 2].sizes, &source = s.inputs.back().sizes;
  const std::size_t dim = axis_below(s, s.attr().integer(0), own.size());
  bool fits = source.size() == own.size();
  if (spec.writing == Writing::kSlices) {
    fits = fits && index.size() == 1;
    for (std::size_t axis = 0; fits && axis < own.size(); ++axis)
      fits = source[axis] == (axis == dim ? index[0] : own[axis]);
  } else {
    fits = fits && index == source;
    for (std::size_t axis = 0; fits && axis < own.size(); ++axis)
      fits = axis == dim || source[axis] <= own[axis];
  }
  GROOVE_CHECK(fits, "{}: index {} and source {} do not fit {} along dim {}", spec.name,
               to_string(index), to_string(source), to_string(own), dim);
}

Type checked_type(const Signature& s, const IndexedWrite& spec) {
  check_index_dtype(spec.name, s.inputs[s.inputs.size() - 2]);
  const Type& source = s.inputs.back();
  const Type result = spec.into_zeros ? Type{source.dtype, s.attr().integers(1)} : s.inputs[0];
  for (const std::int64_t size : result.sizes)
    GROOVE_CHECK(size >= 0, "{}: the result has shape {}", spec.name, to_string(result.sizes));
  check_fit(s, spec, result.sizes);
  GROOVE_CHECK(result.dtype == source.dtype, "{}: self is {}, source is {}; convert one of them",
               spec.name, name(result.dtype), name(source.dtype));
  GROOVE_CHECK(spec.meeting == Meeting::kLast || source.dtype != kBool,
               "{}: not defined for Bool tensors; convert with to(kInt)", spec.name);
  return result;
}

TypeResult type_of_write(const Signature& s, const IndexedWrite& spec) {
  const Type result = checked_type(s, spec);
  return {{result}, result.dtype};
}

std::vector<Reference> reference(const Signature& s, const std::vector<Reference>& inputs,
                                 const IndexedWrite& spec) {
  const auto dim = static_cast<std::size_t>(s.attr().integer(0));
  const Reference &index = inputs[inputs.size() - 2], &source = inputs.back();
  Reference result = spec.into_zeros
                         ? make_reference(s.op.type(s).outputs[0], [](const Shape&) { return 0.0; })
                         : inputs[0];
  std::size_t position = 0;
  for_each_index(source.type.sizes, [&](Shape at) {
    const std::size_t which =
        spec.writing == Writing::kSlices ? static_cast<std::size_t>(at[dim]) : position;
    at[dim] = static_cast<std::int64_t>(index.values[which]);
    double& value = result.values[static_cast<std::size_t>(flat_position(result.type.sizes, at))];
    const double given = source.values[position++];
    switch (spec.meeting) {
      case Meeting::kAdds:
        value += given;
        break;
      case Meeting::kLast:
        value = given;
        break;
      case Meeting::kMultiplies:
        value *= given;
        break;
      case Meeting::kGreatest:
        value = std::max(value, given);
        break;
      case Meeting::kLeast:
        value = std::min(value, given);
        break;
    }
  });
  return {result};
}

std::vector<Sample> samples(ScalarType dtype, const IndexedWrite& spec) {
  struct Case {
    Shape own, source;
    std::int64_t dim;
    ScalarType index;
  };
  const bool is_full = spec.writing == Writing::kElements;
  const std::vector<Case> cases = {{{5}, {3}, 0, kLong},
                                   {{3, 4}, {6, is_full ? 3 : 4}, 0, kLong},
                                   {{2, 3, 4}, {2, 2, 4}, 1, kInt},
                                   {{3, 4}, {3, 5}, 1, kLong},
                                   {{3, 150}, {4, 150}, 0, kLong},
                                   {{3, 4}, {3, 0}, 1, kLong},
                                   {{0, 4}, {0, 3}, 1, kLong}};
  std::vector<Sample> result;
  for (const Case& one : cases) {
    const Shape index = is_full ? one.source : Shape{one.source[static_cast<std::size_t>(one.dim)]};
    Sample sample{{{one.index, index}, {dtype, one.source}}, Attrs().add(one.dim), {}};
    if (spec.into_zeros)
      sample.attrs.add(IntArrayRef(one.own));
    else
      sample.inputs.insert(sample.inputs.begin(), {dtype, one.own});
    result.push_back(std::move(sample));
  }
  return result;
}

}  // namespace

const Op& define(IndexedWrite spec) {
  std::vector<AttrField> attributes = {{"dim", AttrType::kInt}};
  if (spec.into_zeros) attributes.push_back({"sizes", AttrType::kInts});
  const bool is_moved = spec.meeting == Meeting::kLast;
  const bool is_exact = spec.meeting != Meeting::kAdds && spec.meeting != Meeting::kMultiplies;
  const auto run = [spec](const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs,
                          int part, int parts) {
    const auto write = [&](auto zero, auto index, auto meeting) {
      using T = decltype(zero);
      Writer<T, decltype(index), decltype(meeting)::value> writer(s, inputs, outputs[0],
                                                                  spec.into_zeros);
      spec.writing == Writing::kSlices ? writer.slices(part, parts) : writer.elements(part, parts);
    };
    const auto with_index = [&](auto zero, auto meeting) {
      if (s.inputs[s.inputs.size() - 2].dtype == kLong)
        write(zero, std::int64_t(), meeting);
      else
        write(zero, std::int32_t(), meeting);
    };
    const ScalarType dtype = outputs[0].impl()->dtype;
    switch (spec.meeting) {
      case Meeting::kAdds:
        return with_sum_type(dtype, [&](auto zero) { with_index(zero, Met<Meeting::kAdds>()); });
      case Meeting::kLast:
        return with_word_of(dtype, [&](auto zero) { with_index(zero, Met<Meeting::kLast>()); });
      case Meeting::kMultiplies:
        return with_sum_type(dtype,
                             [&](auto zero) { with_index(zero, Met<Meeting::kMultiplies>()); });
      case Meeting::kGreatest:
        return with_order_type(dtype,
                               [&](auto zero) { with_index(zero, Met<Meeting::kGreatest>()); });
      case Meeting::kLeast:
        return with_order_type(dtype, [&](auto zero) { with_index(zero, Met<Meeting::kLeast>()); });
    }
  };
  return define({
      .name = spec.name,
      .kind = OpKind::kOpaque,
      .inputs = spec.into_zeros ? 2 : 3,
      .attributes = attributes,
      .type = [spec](const Signature& s) { return type_of_write(s, spec); },
      .lowering = kernels::lower(kernels::OpaqueLowering{.run_part = run, .takes_halves = true}),
      .gradient = spec.gradient,
      .saves_inputs = spec.into_zeros  ? 1u
                      : spec.saves_all ? 7u
                                       : 2u,
      .saves_outputs = spec.saves_all ? 1u : 0u,
      .complex = spec.complex,
      .check =
          [spec](const Signature& s, ArrayRef<Tensor> inputs) {
            const Shape sizes = checked_type(s, spec).sizes;  // shapes first
            const auto dim = static_cast<std::size_t>(s.attr().integer(0));
            check_index_range(spec.name, "index", inputs[inputs.size() - 2], sizes[dim]);
          },
      .check_reads = spec.into_zeros ? 0 : 1,
      .allowed =
          [](const Signature& s) {
            const auto dim = static_cast<std::size_t>(s.attr().integer(0));
            return positions_below(s.op.type(s).outputs[0].sizes[dim]);
          },
      .has_inplace = !spec.into_zeros,
      .reference = [spec](
                       const Signature& s,
                       const std::vector<Reference>& inputs) { return reference(s, inputs, spec); },
      .domain = {0, 2},
      .dtypes = is_moved ? all_dtypes() : numeric_dtypes(),
      .samples = [spec](ScalarType dtype) { return samples(dtype, spec); },
      .tolerance_ulp = is_exact ? 0 : 16.0,
  });
}

std::int64_t indexed_axis(const char* op, const Tensor& self, std::int64_t dim) {
  const std::size_t rank = checked(op, self).geometry.sizes.size();
  GROOVE_CHECK(rank > 0, "{}: a 0-d tensor has no axis to index", op);
  return normal_dim(op, dim, rank);
}

Tensor as_list(const char* op, const Tensor& index, Site site) {
  return checked(op, index).geometry.sizes.empty() ? index.unsqueeze(0, site) : index;
}

}  // namespace groove
