// The transforms along a last axis, which real pairs stand for complex numbers in: fft, fft_real of
// real signals, fft_to_real of the half that determines a hermitian spectrum. None divides.
#include "kernels/ops/fft.h"

#include <algorithm>
#include <cmath>

#include "groove/ops/creation.h"
#include "groove/ops/views.h"
#include "kernels/ops/fourier.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

enum class Form { kComplex, kFromReal, kToReal };

// Lines that are transformed beside each other: so many that the loops over them are worth it, and
// few enough for the cache.
std::int64_t lanes_of(std::int64_t n, std::int64_t lines) {
  constexpr std::int64_t kMost = 16, kNumbers = 1 << 17;
  return std::max<std::int64_t>(1, std::min({kMost, lines, kNumbers / n}));
}

// One tile of lines. Signals of even length are halved: their odd values are the imaginary parts.
template <typename T>
class Lines {
 public:
  Lines(Form form, std::int64_t n, bool forward, std::int64_t lanes)
      : form_(form),
        n_(n),
        half_(n / 2),
        forward_(forward),
        is_halved_(form != Form::kComplex && n % 2 == 0),
        length_(is_halved_ ? half_ : n),
        transform_(fourier::kept<fourier::Transform<T>>(length_)),
        re_(static_cast<std::size_t>(std::max(length_, half_ + 1) * lanes)),
        im_(re_.size()),
        room_(static_cast<std::size_t>(transform_->room() * lanes)) {
    if (is_halved_) turn_ = fourier::kept<fourier::HalfTurn<T>>(n);
  }

  void run(const T* in, T* out, std::int64_t lanes) {
    switch (form_) {
      case Form::kComplex:
        read(in, 2 * n_, n_, lanes);
        transform(forward_, lanes);
        return write(out, 2 * n_, n_, lanes);
      case Form::kFromReal:
        return from_real(in, out, lanes);
      case Form::kToReal:
        return to_real(in, out, lanes);
    }
  }

 private:
  T& re(std::int64_t j, std::int64_t lane, std::int64_t lanes) {
    return re_[index(j, lane, lanes)];
  }
  T& im(std::int64_t j, std::int64_t lane, std::int64_t lanes) {
    return im_[index(j, lane, lanes)];
  }
  static std::size_t index(std::int64_t j, std::int64_t lane, std::int64_t lanes) {
    return static_cast<std::size_t>(j * lanes + lane);
  }

  void read(const T* in, std::int64_t stride, std::int64_t count, std::int64_t lanes) {
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      for (std::int64_t j = 0; j < count; ++j) {
        re(j, lane, lanes) = in[lane * stride + 2 * j];
        im(j, lane, lanes) = in[lane * stride + 2 * j + 1];
      }
  }
  void write(T* out, std::int64_t stride, std::int64_t count, std::int64_t lanes) {
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      for (std::int64_t j = 0; j < count; ++j) {
        out[lane * stride + 2 * j] = re(j, lane, lanes);
        out[lane * stride + 2 * j + 1] = im(j, lane, lanes);
      }
  }
  // The other way is the same with both parts exchanged.
  void transform(bool forward, std::int64_t lanes) {
    transform_->run(forward ? re_.data() : im_.data(), forward ? im_.data() : re_.data(),
                    room_.data(), lanes);
  }

  // X[k] = (Z[k] + Z[h - k]*) / 2 - i w^k (Z[k] - Z[h - k]*) / 2 with w = exp(-2 pi i / n).
  void from_real(const T* in, T* out, std::int64_t lanes) {
    const std::int64_t stride = 2 * (half_ + 1);
    if (!is_halved_) {
      for (std::int64_t lane = 0; lane < lanes; ++lane)
        for (std::int64_t j = 0; j < n_; ++j) {
          re(j, lane, lanes) = in[lane * n_ + j];
          im(j, lane, lanes) = 0;
        }
      transform(true, lanes);
      return write(out, stride, half_ + 1, lanes);
    }
    read(in, n_, half_, lanes);
    transform(true, lanes);
    // In place, two values at a time. Parts stay apart until they are written: of stores side by
    // side GCC makes a fused multiply-add, whatever it is told of contraction.
    for (std::int64_t k = 0; 2 * k <= half_; ++k) {
      const std::int64_t m = half_ - k, b = m % half_;
      const T c = turn_->re[static_cast<std::size_t>(k)];
      const T s = turn_->im[static_cast<std::size_t>(k)];
      const T mirrored_c = turn_->re[static_cast<std::size_t>(m)];
      const T mirrored_s = turn_->im[static_cast<std::size_t>(m)];
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        const T sum_re = re(k, lane, lanes) + re(b, lane, lanes);
        const T sum_im = im(k, lane, lanes) - im(b, lane, lanes);
        const T odd_re = im(k, lane, lanes) + im(b, lane, lanes);
        const T odd_im = re(b, lane, lanes) - re(k, lane, lanes);
        re(k, lane, lanes) = (sum_re + (odd_re * c - odd_im * s)) * T(0.5);
        im(k, lane, lanes) = (sum_im + (odd_re * s + odd_im * c)) * T(0.5);
        re(m, lane, lanes) = (sum_re + (odd_re * mirrored_c + odd_im * mirrored_s)) * T(0.5);
        im(m, lane, lanes) = ((odd_re * mirrored_s - odd_im * mirrored_c) - sum_im) * T(0.5);
      }
    }
    write(out, stride, half_ + 1, lanes);
    clear_ends(out, stride, lanes);
  }

  // Exactly real: the first value, and the last of an even length.
  void clear_ends(T* out, std::int64_t stride, std::int64_t lanes) {
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      out[lane * stride + 1] = out[lane * stride + 2 * half_ + 1] = 0;
  }

  // Z[k] = (X[k] + X[h - k]*) + i w^-k (X[k] - X[h - k]*); the imaginary parts of both ends do not
  // count.
  void to_real(const T* in, T* out, std::int64_t lanes) {
    const std::int64_t stride = 2 * (half_ + 1);
    const auto value = [&](std::int64_t k, std::int64_t lane) {
      const T* const at = in + lane * stride + 2 * k;
      const bool is_end = k == 0 || 2 * k == n_;
      return std::pair<T, T>(at[0], is_end ? T(0) : at[1]);
    };
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      for (std::int64_t k = 0; k < length_; ++k) {
        if (is_halved_) {
          const T c = turn_->re[static_cast<std::size_t>(k)];
          const T s = -turn_->im[static_cast<std::size_t>(k)];
          const auto [a_re, a_im] = value(k, lane);
          const auto [b_re, b_im] = value(half_ - k, lane);
          const T odd_re = a_re - b_re, odd_im = a_im + b_im;
          re(k, lane, lanes) = (a_re + b_re) - (odd_re * s + odd_im * c);
          im(k, lane, lanes) = (a_im - b_im) + (odd_re * c - odd_im * s);
        } else {
          const auto [a_re, a_im] = value(k <= half_ ? k : n_ - k, lane);
          re(k, lane, lanes) = a_re;
          im(k, lane, lanes) = k <= half_ ? a_im : -a_im;
        }
      }
    }
    transform(false, lanes);
    if (is_halved_) return write(out, n_, half_, lanes);
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      for (std::int64_t j = 0; j < n_; ++j) out[lane * n_ + j] = re(j, lane, lanes);
  }

  Form form_;
  std::int64_t n_, half_;
  bool forward_, is_halved_;
  std::int64_t length_;
  std::shared_ptr<const fourier::Transform<T>> transform_;
  std::shared_ptr<const fourier::HalfTurn<T>> turn_;
  std::vector<T> re_, im_, room_;
};

struct Size {
  std::int64_t n, lines;
};
Size size_of(const Signature& s, Form form) {
  const Shape& sizes = s.inputs[0].sizes;
  const std::int64_t n = form == Form::kToReal     ? s.attr().integer(0)
                         : form == Form::kFromReal ? sizes.back()
                                                   : sizes[sizes.size() - 2];
  const std::int64_t held = form == Form::kFromReal  ? n
                            : form == Form::kComplex ? 2 * n
                                                     : 2 * (n / 2 + 1);
  return {n, element_count(sizes) / held};
}

std::shared_ptr<const kernels::Lowering> lowering(Form form) {
  kernels::OpaqueLowering how;
  how.run_part = [form](const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs,
                        int part, int parts) {
    const auto [n, lines] = size_of(s, form);
    if (lines == 0) return;
    const bool forward = form != Form::kComplex || s.attr().boolean(0);
    const std::int64_t in_width = element_count(s.inputs[0].sizes) / lines;
    const std::int64_t out_width = outputs[0].impl()->numel / lines;
    const std::int64_t first = lines * part / parts, end = lines * (part + 1) / parts;
    const auto of_type = [&]<typename T>(T) {
      if (first == end) return;
      const std::int64_t width = lanes_of(n, end - first);
      Lines<T> tile(form, n, forward, width);
      for (std::int64_t line = first; line < end; line += width) {
        tile.run(static_cast<const T*>(inputs[0].impl()->data()) + line * in_width,
                 static_cast<T*>(outputs[0].impl()->data()) + line * out_width,
                 std::min(width, end - line));
      }
    };
    s.inputs[0].dtype == kDouble ? of_type(double()) : of_type(float());
  };
  how.nanoseconds = [form](const Signature& s) {
    const auto [n, lines] = size_of(s, form);
    return static_cast<double>(lines * n) * (2 + std::log2(static_cast<double>(n)));
  };
  return kernels::lower(how);
}

void check_pairs(const Signature& s) {
  check_defined(s);
  const Shape& sizes = s.inputs[0].sizes;
  GROOVE_CHECK(sizes.size() >= 2 && sizes.back() == 2 && sizes[sizes.size() - 2] > 0,
               "{}: {} are no pairs along an axis", s.op.name, to_string(sizes));
}
void check_dtype(const Signature& s) {
  const ScalarType dtype = s.inputs[0].dtype;
  GROOVE_CHECK(dtype == kFloat || dtype == kDouble, "{}: not built for {}; use Float or Double",
               s.op.name, name(dtype));
}

// sum over k of x[k] exp(±2 pi i j k / n), of one line, in double.
std::vector<double> transformed(const std::vector<double>& pairs, bool forward) {
  const auto n = static_cast<std::int64_t>(pairs.size() / 2);
  std::vector<double> result(pairs.size(), 0);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t k = 0; k < n; ++k) {
      const fourier::Root root = fourier::root_of_unity(j * k % n, n);
      const double c = root.re, s = forward ? root.im : -root.im;
      const auto from = static_cast<std::size_t>(2 * k), to = static_cast<std::size_t>(2 * j);
      result[to] += pairs[from] * c - pairs[from + 1] * s;
      result[to + 1] += pairs[from] * s + pairs[from + 1] * c;
    }
  return result;
}

ReferenceRule reference(Form form) {
  return [form](const Signature& s, const std::vector<Reference>& inputs) {
    const auto [length, count] = size_of(s, form);
    const auto n = static_cast<std::size_t>(length), half = n / 2;
    const auto lines = static_cast<std::size_t>(count);
    Reference result{s.op.type(s).outputs[0], {}};
    const std::vector<double>& all = inputs[0].values;
    for (std::size_t line = 0; line < lines; ++line) {
      std::vector<double> pairs(2 * n, 0);
      const double* const from = all.data() + line * (all.size() / lines);
      for (std::size_t k = 0; k < n; ++k) {
        const bool mirrored = form == Form::kToReal && k > half;
        const std::size_t at = mirrored ? n - k : k;
        const bool is_end = form == Form::kToReal && (at == 0 || 2 * at == n);
        pairs[2 * k] = form == Form::kFromReal ? from[k] : from[2 * at];
        if (form != Form::kFromReal && !is_end)
          pairs[2 * k + 1] = from[2 * at + 1] * (mirrored ? -1 : 1);
      }
      const bool forward =
          form == Form::kFromReal || (form == Form::kComplex && s.attr().boolean(0));
      const std::vector<double> there = transformed(pairs, forward);
      const std::size_t kept = form == Form::kFromReal ? half + 1 : n;
      for (std::size_t k = 0; k < kept; ++k) {
        result.values.push_back(there[2 * k]);
        if (form != Form::kToReal) result.values.push_back(there[2 * k + 1]);
      }
    }
    return std::vector<Reference>{result};
  };
}

std::vector<Sample> samples(Form form, ScalarType dtype) {
  std::vector<Sample> result;
  for (const std::int64_t n : {1, 2, 3, 4, 5, 6, 8, 12, 15, 16, 67, 134}) {
    if (form == Form::kFromReal) {
      result.push_back({{{dtype, {3, n}}}, {}, {}});
    } else if (form == Form::kToReal) {
      result.push_back({{{dtype, {2, n / 2 + 1, 2}}}, Attrs().add(n), {}});
    } else {
      result.push_back({{{dtype, {n, 2}}}, Attrs().add(n % 2), {}});
      result.push_back({{{dtype, {2, 20, n, 2}}}, Attrs().add((n + 1) % 2), {}});
    }
  }
  return result;
}

constexpr double kTolerance = 4096;  // of sums that may cancel

const Op& op = define({
    .name = "fft",
    .kind = OpKind::kOpaque,
    .attributes = {{"forward", AttrType::kBool}},
    .type = [](const Signature& s) -> TypeResult {
      check_pairs(s);
      check_dtype(s);
      return {{s.inputs[0]}, s.inputs[0].dtype};
    },
    .lowering = lowering(Form::kComplex),
    .gradient =
        [](const Grad& g) { return Tensors{transform_pairs(g.cotangent(), !g.attr().boolean(0))}; },
    .has_inplace = false,
    .reference = reference(Form::kComplex),
    .dtypes = {kFloat, kDouble},
    .samples = [](ScalarType dtype) { return samples(Form::kComplex, dtype); },
    .tolerance_ulp = kTolerance,
});

// [k, 1]: 1 for the ends of the half, `inner` for what stands for two values.
Tensor weights(std::int64_t n, double inner, ScalarType dtype) {
  const Tensor ones_in_front = ones({1, 1}, dtype);
  const std::int64_t pairs = (n - 1) / 2;
  const Tensor middle = full({pairs, 1}, inner, dtype);
  return n % 2 == 0 ? cat(Tensors{ones_in_front, middle, ones_in_front}, 0)
                    : cat(Tensors{ones_in_front, middle}, 0);
}

const Op& op_real = define({
    .name = "fft_real",
    .kind = OpKind::kOpaque,
    .type = [](const Signature& s) -> TypeResult {
      check_defined(s);
      check_dtype(s);
      Shape sizes = s.inputs[0].sizes;
      GROOVE_CHECK(!sizes.empty() && sizes.back() > 0, "fft_real: {} has no axis of values",
                   to_string(sizes));
      sizes.back() = sizes.back() / 2 + 1;
      sizes.push_back(2);
      return {{{s.inputs[0].dtype, sizes}}, s.inputs[0].dtype};
    },
    .lowering = lowering(Form::kFromReal),
    .gradient =
        [](const Grad& g) {
          const std::int64_t n = g.input_types[0].sizes.back();
          const Tensor& grad = g.cotangent();
          return Tensors{transform_to_real(mul(grad, weights(n, 0.5, grad.scalar_type())), n)};
        },
    .has_inplace = false,
    .reference = reference(Form::kFromReal),
    .dtypes = {kFloat, kDouble},
    .samples = [](ScalarType dtype) { return samples(Form::kFromReal, dtype); },
    .tolerance_ulp = kTolerance,
});

const Op& op_to_real = define({
    .name = "fft_to_real",
    .kind = OpKind::kOpaque,
    .attributes = {{"n", AttrType::kInt}},
    .type = [](const Signature& s) -> TypeResult {
      check_pairs(s);
      check_dtype(s);
      Shape sizes = s.inputs[0].sizes;
      sizes.pop_back();
      const std::int64_t n = s.attr().integer(0);
      GROOVE_CHECK(n > 0 && sizes.back() == n / 2 + 1,
                   "fft_to_real: {} values do not determine {} real ones", sizes.back(), n);
      sizes.back() = n;
      return {{{s.inputs[0].dtype, sizes}}, s.inputs[0].dtype};
    },
    .lowering = lowering(Form::kToReal),
    .gradient =
        [](const Grad& g) {
          const Tensor there = transform_real(g.cotangent());
          return Tensors{mul(there, weights(g.attr().integer(0), 2, there.scalar_type()))};
        },
    .has_inplace = false,
    .reference = reference(Form::kToReal),
    .dtypes = {kFloat, kDouble},
    .samples = [](ScalarType dtype) { return samples(Form::kToReal, dtype); },
    .tolerance_ulp = kTolerance,
});

}  // namespace

Tensor transform_pairs(const Tensor& pairs, bool forward) {
  return call(op, {pairs}, Site::current(), Attrs().add(static_cast<std::int64_t>(forward)));
}
Tensor transform_real(const Tensor& values) { return call(op_real, {values}, Site::current()); }
Tensor transform_to_real(const Tensor& pairs, std::int64_t n) {
  return call(op_to_real, {pairs}, Site::current(), Attrs().add(n));
}

}  // namespace groove
