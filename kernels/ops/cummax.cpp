// cummax and cummin: the greatest or smallest element up to each along an axis and where it stands,
// of equal ones the last; NaN from the first one on.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "groove/ops/statistics.h"
#include "kernels/ops/ranking.h"
#include "kernels/ops/reference.h"

namespace groove {
namespace {

enum { kDim };

constexpr std::int64_t kAbreast = 32;  // lines that are side by side

template <typename T>
auto compared(T x) {
  if constexpr (std::is_arithmetic_v<T>) {
    return x;
  } else {
    return static_cast<float>(x);
  }
}

// NaN wins, and only NaN wins against it.
template <bool kGreatest, typename T>
bool wins(T x, T kept) {
  const auto a = compared(x), b = compared(kept);
  return (kGreatest ? a >= b : a <= b) | (a != a);
}

// What is greatest (or least) so far in lines beside each other, and where it stands.
template <bool kGreatest, typename T>
class Best {
 public:
  void begin(const T* from, std::int64_t lines) {
    for (std::int64_t k = 0; k < lines; ++k) {
      kept_[k] = from[k];
      position_[k] = 0;
    }
  }
  void next(const T* from, std::int64_t lines, std::int64_t position) {
    for (std::int64_t k = 0; k < lines; ++k) {
      const bool is_best = wins<kGreatest>(from[k], kept_[k]);
      kept_[k] = is_best ? from[k] : kept_[k];
      position_[k] = is_best ? position : position_[k];
    }
  }
  void write(T* values, std::int64_t* positions, std::int64_t lines) const {
    for (std::int64_t k = 0; k < lines; ++k) {
      values[k] = kept_[k];
      positions[k] = position_[k];
    }
  }

 private:
  T kept_[kAbreast];
  std::int64_t position_[kAbreast];
};

template <bool kGreatest, typename T>
void run_line(const T* source, T* values, std::int64_t* positions, std::int64_t length) {
  T kept = source[0];
  std::int64_t position = 0;
  for (std::int64_t i = 0; i < length; ++i) {
    if (wins<kGreatest>(source[i], kept)) {
      kept = source[i];
      position = i;
    }
    values[i] = kept;
    positions[i] = position;
  }
}

template <bool kGreatest, typename T>
void run_lines(const Lines& lines, const T* source, T* values, std::int64_t* positions,
               std::int64_t begin, std::int64_t end) {
  if (lines.length == 0) return;
  for (; lines.stride == 1 && begin < end; ++begin) {
    const std::int64_t at = lines.offset(begin);
    run_line<kGreatest>(source + at, values + at, positions + at, lines.length);
  }
  for (std::int64_t line = begin; line < end;) {
    // Lines that begin beside each other end where the next block does.
    const std::int64_t count = std::min({end - line, kAbreast, lines.stride - line % lines.stride});
    std::int64_t at = lines.offset(line);
    line += count;
    Best<kGreatest, T> best;
    best.begin(source + at, count);
    best.write(values + at, positions + at, count);
    for (std::int64_t i = 1; i < lines.length; ++i) {
      at += lines.stride;
      best.next(source + at, count, i);
      best.write(values + at, positions + at, count);
    }
  }
}

template <bool kGreatest>
void run(const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs, int part,
         int parts) {
  const Lines lines(s.inputs[0].sizes, s.attr().integer(kDim));
  const auto [begin, end] = line_share(lines.count, part, parts);
  with_element(s.inputs[0].dtype, [&, begin = begin, end = end](auto kind) {
    using T = decltype(kind);
    run_lines<kGreatest>(lines, static_cast<const T*>(inputs[0].impl()->data()),
                         static_cast<T*>(outputs[0].impl()->data()),
                         static_cast<std::int64_t*>(outputs[1].impl()->data()), begin, end);
  });
}

template <bool kGreatest>
std::vector<Reference> reference(const Signature& s, const std::vector<Reference>& inputs) {
  const Shape& sizes = inputs[0].type.sizes;
  std::vector<Reference> result(2, inputs[0]);
  result[1].type.dtype = kLong;
  const auto dim = static_cast<std::size_t>(s.attr().integer(kDim));
  for_each_index(sizes, [&](const Shape& index) {
    const auto at = static_cast<std::size_t>(flat_position(sizes, index));
    std::int64_t best = 0;
    double kept = 0;
    for (std::int64_t i = 0; i <= (index.empty() ? 0 : index[dim]); ++i) {
      Shape place = index;
      if (!place.empty()) place[dim] = i;
      const double x = inputs[0].values[static_cast<std::size_t>(flat_position(sizes, place))];
      if (i > 0 && !std::isnan(x) && (std::isnan(kept) || (kGreatest ? x < kept : x > kept)))
        continue;
      best = i;
      kept = x;
    }
    result[0].values[at] = kept;
    result[1].values[at] = static_cast<double>(best);
  });
  return result;
}

template <bool kGreatest>
const Op& define_running(const char* name) {
  return define({
      .name = name,
      .kind = OpKind::kOpaque,
      .outputs = 2,
      .attributes = {{"dim", AttrType::kInt}},
      .type = [](const Signature& s) -> TypeResult {
        return {{s.inputs[0], {kLong, s.inputs[0].sizes}}, s.inputs[0].dtype};
      },
      .lowering = kernels::lower(kernels::OpaqueLowering{.run_part = run<kGreatest>}),
      .gradient = picked_gradient,
      .saves_outputs = 2,
      .range = range_of_picked,
      .has_inplace = false,
      .reference = reference<kGreatest>,
      .dtypes = all_dtypes(),
      .samples =
          [](ScalarType dtype) {
            std::vector<Sample> samples;
            const auto add = [&](const Shape& sizes, std::int64_t dim) {
              samples.push_back({{{dtype, sizes}}, Attrs().add(dim), {}});
            };
            add({}, 0);
            add({9}, 0);
            add({3, 5}, 1);
            add({4, 3}, 0);
            add({2, 3, 4}, 1);
            add({2, 5, 70}, 1);
            add({0, 3}, 0);
            return samples;
          },
      .tolerance_ulp = 0,
  });
}

const Op& op_max = define_running<true>("cummax");
const Op& op_min = define_running<false>("cummin");

}  // namespace

std::tuple<Tensor, Tensor> cummax(Arg self, std::int64_t dim) {
  const CallFrame frame(self.site);
  return call_ranked(op_max, self, Attrs().add(ranked_axis("cummax", *self.tensor, dim)));
}
std::tuple<Tensor, Tensor> cummin(Arg self, std::int64_t dim) {
  const CallFrame frame(self.site);
  return call_ranked(op_min, self, Attrs().add(ranked_axis("cummin", *self.tensor, dim)));
}
std::tuple<Tensor, Tensor> StatisticsMethods::cummax(std::int64_t dim, Site site) const {
  return groove::cummax({self(), site}, dim);
}
std::tuple<Tensor, Tensor> StatisticsMethods::cummin(std::int64_t dim, Site site) const {
  return groove::cummin({self(), site}, dim);
}

}  // namespace groove
