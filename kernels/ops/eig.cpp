// eig: eigenvalues and eigenvectors of any real matrix, by Householder's reduction to Hessenberg
// form and Francis' double-shift QR algorithm (the method of EISPACK's orthes and hqr2: Wilkinson
// and Reinsch, Handbook for Automatic Computation II, contributions II/13 and II/15).
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>

#include "groove/ops/complex.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/matrices.h"

namespace groove {
namespace {

enum { kValues, kVectors, kInfo };
constexpr double kEpsilon = 0x1p-52;
constexpr int kMostSteps = 300;  // for one eigenvalue; ten are many

class Eigen {
 public:
  explicit Eigen(const Matrix& a)
      : n_(a.rows), h_(a), v_(unit(a.rows, a.rows)), re_(size(n_), 0), im_(size(n_), 0) {}

  // False when it does not converge.
  bool run() {
    reduce();
    for (std::int64_t i = 0; i < n_; ++i)
      for (std::int64_t j = std::max<std::int64_t>(i - 1, 0); j < n_; ++j)
        norm_ += std::fabs(h_(i, j));
    if (!iterate()) return false;
    for (std::int64_t j = n_ - 1; j >= 0 && norm_ > 0; --j) {
      if (im_[size(j)] == 0) real_vector(j);
      if (im_[size(j)] < 0) complex_vectors(j);
    }
    if (norm_ > 0) turn_back();
    return true;
  }

  std::complex<double> value(std::int64_t j) const { return {re_[size(j)], im_[size(j)]}; }
  // Of a pair the columns are the real and the imaginary parts of the first vector.
  std::complex<double> vector(std::int64_t i, std::int64_t j) const {
    const double imaginary = im_[size(j)];
    if (imaginary == 0) return v_(i, j);
    return imaginary > 0 ? std::complex<double>(v_(i, j), v_(i, j + 1))
                         : std::complex<double>(v_(i, j - 1), -v_(i, j));
  }

 private:
  static std::size_t size(std::int64_t i) { return static_cast<std::size_t>(i); }

  // To Hessenberg form by reflections, which v_ gathers.
  void reduce() {
    std::vector<double> u(size(n_), 0);
    for (std::int64_t m = 1; m + 1 < n_; ++m) {
      double scale = 0;
      for (std::int64_t i = m; i < n_; ++i) scale += std::fabs(h_(i, m - 1));
      if (scale == 0) continue;
      double square = 0;
      for (std::int64_t i = n_ - 1; i >= m; --i) {
        u[size(i)] = h_(i, m - 1) / scale;
        square += u[size(i)] * u[size(i)];
      }
      const double length = u[size(m)] > 0 ? -std::sqrt(square) : std::sqrt(square);
      square -= u[size(m)] * length;
      u[size(m)] -= length;
      for (std::int64_t j = m; j < n_; ++j)
        reflect(u, m, square, [&](std::int64_t i) -> double& { return h_(i, j); });
      for (std::int64_t i = 0; i < n_; ++i)
        reflect(u, m, square, [&](std::int64_t j) -> double& { return h_(i, j); });
      for (std::int64_t i = 0; i < n_; ++i)
        reflect(u, m, square, [&](std::int64_t j) -> double& { return v_(i, j); });
      h_(m, m - 1) = scale * length;
      for (std::int64_t i = m + 1; i < n_; ++i) h_(i, m - 1) = 0;
    }
  }
  template <typename Element>
  void reflect(const std::vector<double>& u, std::int64_t from, double square, Element element) {
    double dot = 0;
    for (std::int64_t i = n_ - 1; i >= from; --i) dot += u[size(i)] * element(i);
    dot /= square;
    for (std::int64_t i = from; i < n_; ++i) element(i) -= dot * u[size(i)];
  }

  // Eigenvalues from the end on, until the matrix is triangular but for blocks of two.
  bool iterate() {
    std::int64_t last = n_ - 1;
    int steps = 0;
    while (last >= 0) {
      std::int64_t first = last;
      for (; first > 0; --first) {
        double beside = std::fabs(h_(first - 1, first - 1)) + std::fabs(h_(first, first));
        if (beside == 0) beside = norm_;
        if (std::fabs(h_(first, first - 1)) <= kEpsilon * beside) break;
      }
      if (first == last) {
        h_(last, last) += shifted_;
        re_[size(last)] = h_(last, last);
        --last;
        steps = 0;
      } else if (first == last - 1) {
        split(last);
        last -= 2;
        steps = 0;
      } else {
        if (++steps > kMostSteps) return false;
        sweep(first, last, steps);
      }
    }
    return true;
  }

  // A block of two: a pair of complex eigenvalues, or two real ones that a rotation parts.
  void split(std::int64_t n) {
    const double w = h_(n, n - 1) * h_(n - 1, n);
    const double p = (h_(n - 1, n - 1) - h_(n, n)) / 2, q = p * p + w;
    double z = std::sqrt(std::fabs(q));
    h_(n, n) += shifted_;
    h_(n - 1, n - 1) += shifted_;
    const double x = h_(n, n);
    if (q < 0) {
      re_[size(n - 1)] = re_[size(n)] = x + p;
      im_[size(n - 1)] = z;
      im_[size(n)] = -z;
      return;
    }
    z = p >= 0 ? p + z : p - z;
    re_[size(n - 1)] = x + z;
    re_[size(n)] = z != 0 ? x - w / z : x + z;
    const double below = h_(n, n - 1), scale = std::fabs(below) + std::fabs(z);
    const double length = std::sqrt(below / scale * (below / scale) + z / scale * (z / scale));
    const double s = below / scale / length, c = z / scale / length;
    const auto rotate = [&](double& a, double& b) {
      const double before = a;
      a = c * before + s * b;
      b = c * b - s * before;
    };
    for (std::int64_t j = n - 1; j < n_; ++j) rotate(h_(n - 1, j), h_(n, j));
    for (std::int64_t i = 0; i <= n; ++i) rotate(h_(i, n - 1), h_(i, n));
    for (std::int64_t i = 0; i < n_; ++i) rotate(v_(i, n - 1), v_(i, n));
  }

  // One double QR step on rows first … n.
  void sweep(std::int64_t first, std::int64_t n, int step) {
    double x = h_(n, n), y = h_(n - 1, n - 1), w = h_(n, n - 1) * h_(n - 1, n);
    const auto shift = [&](double by) {
      shifted_ += by;
      for (std::int64_t i = 0; i <= n; ++i) h_(i, i) -= by;
    };
    if (step % 20 == 11) {  // shifts of their own, which end cycles
      shift(x);
      const double s = std::fabs(h_(n, n - 1)) + std::fabs(h_(n - 1, n - 2));
      x = y = 0.75 * s;
      w = -0.4375 * s * s;
    }
    double p = 0, q = 0, r = 0;
    std::int64_t m = n - 2;
    for (;; --m) {
      const double z = h_(m, m), left = x - z, right = y - z;
      p = (left * right - w) / h_(m + 1, m) + h_(m, m + 1);
      q = h_(m + 1, m + 1) - z - left - right;
      r = h_(m + 2, m + 1);
      const double scale = std::fabs(p) + std::fabs(q) + std::fabs(r);
      p /= scale;
      q /= scale;
      r /= scale;
      if (m == first) break;
      const double around =
          std::fabs(h_(m - 1, m - 1)) + std::fabs(z) + std::fabs(h_(m + 1, m + 1));
      if (std::fabs(h_(m, m - 1)) * (std::fabs(q) + std::fabs(r)) <
          kEpsilon * std::fabs(p) * around)
        break;
    }
    for (std::int64_t i = m + 2; i <= n; ++i) {
      h_(i, i - 2) = 0;
      if (i > m + 2) h_(i, i - 3) = 0;
    }
    for (std::int64_t k = m; k < n; ++k) {
      const bool has_third = k != n - 1;
      double scale = 1;
      if (k != m) {
        p = h_(k, k - 1);
        q = h_(k + 1, k - 1);
        r = has_third ? h_(k + 2, k - 1) : 0;
        scale = std::fabs(p) + std::fabs(q) + std::fabs(r);
        if (scale == 0) continue;
        p /= scale;
        q /= scale;
        r /= scale;
      }
      const double length = std::sqrt(p * p + q * q + r * r), s = p < 0 ? -length : length;
      if (s == 0) continue;
      if (k != m)
        h_(k, k - 1) = -s * scale;
      else if (first != m)
        h_(k, k - 1) = -h_(k, k - 1);
      p += s;
      reflect_three(k, n, has_third, {p / s, q / s, r / s}, {1, q / p, r / p});
    }
  }
  // Rows and columns k to k + 2: I - a b^T from the left, I - b a^T from the right.
  void reflect_three(std::int64_t k, std::int64_t n, bool has_third, const std::array<double, 3>& a,
                     const std::array<double, 3>& b) {
    const auto step = [has_third](const std::array<double, 3>& by, const std::array<double, 3>& to,
                                  double& first, double& second, double* third) {
      double dot = by[0] * first + by[1] * second;
      if (has_third) dot += by[2] * *third;
      first -= dot * to[0];
      second -= dot * to[1];
      if (has_third) *third -= dot * to[2];
    };
    for (std::int64_t j = k; j < n_; ++j)
      step(b, a, h_(k, j), h_(k + 1, j), has_third ? &h_(k + 2, j) : nullptr);
    for (std::int64_t i = 0; i <= std::min(n, k + 3); ++i)
      step(a, b, h_(i, k), h_(i, k + 1), has_third ? &h_(i, k + 2) : nullptr);
    for (std::int64_t i = 0; i < n_; ++i)
      step(a, b, v_(i, k), v_(i, k + 1), has_third ? &v_(i, k + 2) : nullptr);
  }

  // What keeps a division by a gap of zero finite.
  double least() const { return kEpsilon * norm_; }

  // Of the triangular matrix, from the diagonal up.
  void real_vector(std::int64_t n) {
    const double p = re_[size(n)];
    std::int64_t from = n;
    double z = 0, s = 0;
    h_(n, n) = 1;
    for (std::int64_t i = n - 1; i >= 0; --i) {
      const double w = h_(i, i) - p;
      double r = 0;
      for (std::int64_t j = from; j <= n; ++j) r += h_(i, j) * h_(j, n);
      if (im_[size(i)] < 0) {  // the lower row of a block: with the next one
        z = w;
        s = r;
        continue;
      }
      from = i;
      if (im_[size(i)] == 0) {
        h_(i, n) = -r / (w != 0 ? w : least());
      } else {
        const double x = h_(i, i + 1), y = h_(i + 1, i), gap = re_[size(i)] - p;
        const double t = (x * s - z * r) / (gap * gap + im_[size(i)] * im_[size(i)]);
        h_(i, n) = t;
        h_(i + 1, n) = std::fabs(x) > std::fabs(z) ? (-r - w * t) / x : (-s - y * t) / z;
      }
      const double t = std::fabs(h_(i, n));
      if (kEpsilon * t * t > 1)
        for (std::int64_t j = i; j <= n; ++j) h_(j, n) /= t;
    }
  }

  // Columns n - 1 and n become both parts of the vector of the pair that ends in n.
  void complex_vectors(std::int64_t n) {
    using Number = std::complex<double>;
    const double p = re_[size(n)], q = im_[size(n)];
    const auto set = [&](std::int64_t i, const Number& value) {
      h_(i, n - 1) = value.real();
      h_(i, n) = value.imag();
    };
    if (std::fabs(h_(n, n - 1)) > std::fabs(h_(n - 1, n)))
      set(n - 1, Number(q / h_(n, n - 1), -(h_(n, n) - p) / h_(n, n - 1)));
    else
      set(n - 1, Number(0, -h_(n - 1, n)) / Number(h_(n - 1, n - 1) - p, q));
    set(n, Number(0, 1));
    std::int64_t from = n - 1;
    double z = 0;
    Number below;
    for (std::int64_t i = n - 2; i >= 0; --i) {
      Number sum;
      for (std::int64_t j = from; j <= n; ++j) sum += h_(i, j) * Number(h_(j, n - 1), h_(j, n));
      const double w = h_(i, i) - p;
      if (im_[size(i)] < 0) {
        z = w;
        below = sum;
        continue;
      }
      from = i;
      if (im_[size(i)] == 0) {
        Number gap(w, q);
        if (gap == 0.) gap = least();
        set(i, -sum / gap);
      } else {
        const double x = h_(i, i + 1), y = h_(i + 1, i), gap = re_[size(i)] - p;
        Number square(gap * gap + im_[size(i)] * im_[size(i)] - q * q, gap * 2 * q);
        if (square == 0.)
          square =
              least() * (std::fabs(w) + std::fabs(q) + std::fabs(x) + std::fabs(y) + std::fabs(z));
        const Number here = (x * below - Number(z, q) * sum) / square;
        set(i, here);
        set(i + 1, std::fabs(x) > std::fabs(z) + std::fabs(q) ? (-sum - Number(w, q) * here) / x
                                                              : (-below - y * here) / Number(z, q));
      }
      const double t = std::max(std::fabs(h_(i, n - 1)), std::fabs(h_(i, n)));
      if (kEpsilon * t * t > 1)
        for (std::int64_t j = i; j <= n; ++j) {
          h_(j, n - 1) /= t;
          h_(j, n) /= t;
        }
    }
  }

  void turn_back() {
    for (std::int64_t j = n_ - 1; j >= 0; --j)
      for (std::int64_t i = 0; i < n_; ++i) {
        double total = 0;
        for (std::int64_t k = 0; k <= j; ++k) total += v_(i, k) * h_(k, j);
        v_(i, j) = total;
      }
  }

  std::int64_t n_;
  Matrix h_, v_;
  std::vector<double> re_, im_;
  double norm_ = 0, shifted_ = 0;
};

// Values [n, 2] and vectors [n, 2 n], both parts of each beside each other.
void decompose(const AttrReader&, const Matrices& inputs, Matrices& outputs) {
  const Matrix& a = inputs[0];
  const bool is_finite = std::all_of(a.values.begin(), a.values.end(),
                                     [](double value) { return std::isfinite(value); });
  Eigen eigen(a);
  if (!is_finite || !eigen.run()) {
    outputs[kInfo](0, 0) = 1;
    return;
  }
  for (std::int64_t j = 0; j < a.rows; ++j) {
    outputs[kValues](j, 0) = eigen.value(j).real();
    outputs[kValues](j, 1) = eigen.value(j).imag();
    double square = 0;
    std::complex<double> greatest = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      const std::complex<double> element = eigen.vector(i, j);
      square += std::norm(element);
      if (std::norm(element) > std::norm(greatest)) greatest = element;
    }
    const std::complex<double> turn =
        std::conj(greatest) / (std::abs(greatest) * std::sqrt(square));
    for (std::int64_t i = 0; i < a.rows; ++i) {
      const std::complex<double> element = eigen.vector(i, j) * turn;
      outputs[kVectors](i, 2 * j) = element.real();
      outputs[kVectors](i, 2 * j + 1) = element.imag();
    }
  }
}

Tensor vectors_of(const Tensor& columns) {
  return view_as_complex(unflatten(columns, -1, {-1, 2}));
}

// The X of A X = B for complex matrices, by real ones of twice the size.
Tensor complex_solution(const Tensor& a, const Tensor& b) {
  const Tensor re = real(a), im = imag(a);
  const Tensor blocks = cat(Tensors{cat(Tensors{re, neg(im)}, -1), cat(Tensors{im, re}, -1)}, -2);
  const Tensor x = linalg_solve(blocks, cat(Tensors{real(b), imag(b)}, -2));
  const std::int64_t n = a.size(-1);
  return complex(x.narrow(-2, 0, n), x.narrow(-2, n, n));
}

// V^-H (D + (V^H G - V^H V Re diag(V^H G)) / (conj(l_j) - conj(l_i))) V^H, where D holds the
// values' gradients and G is that of the vectors, whose length is 1 (Boeddeker et al.,
// arXiv:1701.00392).
Tensor gradient(const Grad& g) {
  const Tensor values = view_as_complex(g.output(kValues));
  const Tensor vectors = vectors_of(g.output(kVectors));
  const Tensor turned = mirrored(conj(vectors));
  const std::int64_t n = values.size(-1);
  const Tensor on_diagonal = eye(n, TensorOptions(kBool));
  Tensor inner;
  if (g.cotangents[kVectors].defined()) {
    const Tensor product = matmul(turned, vectors_of(g.cotangents[kVectors].contiguous()));
    const Tensor lengths = real(diagonal(product, 0, -2, -1));
    const Tensor free = product - matmul(turned, vectors * lengths.unsqueeze(-2));
    const Tensor mirror = conj(values);
    const Tensor gaps = mirror.unsqueeze(-2) - mirror.unsqueeze(-1);
    inner = masked_fill(free / masked_fill(gaps, on_diagonal, 1), on_diagonal, 0);
  }
  if (g.cotangents[kValues].defined()) {
    const Tensor own = view_as_complex(g.cotangents[kValues].contiguous());
    const Tensor placed = own.unsqueeze(-2) * on_diagonal.to(g.cotangents[kValues].scalar_type());
    inner = inner.defined() ? inner + placed : placed;
  }
  if (!inner.defined()) return {};
  return real(complex_solution(turned, matmul(inner, turned)));
}

const Op& op = define({
    .name = "eig",
    .kind = OpKind::kOpaque,
    .outputs = 3,
    .type = [](const Signature& s) -> TypeResult {
      check_matrices("eig", s.inputs[0], true);
      const Shape& sizes = s.inputs[0].sizes;
      const std::int64_t n = sizes.back();
      const ScalarType dtype = s.inputs[0].dtype;
      return {{{dtype, batch_with(sizes, {n, 2})},
               {dtype, batch_with(sizes, {n, 2 * n})},
               {kInt, batch_with(sizes, {})}},
              dtype};
    },
    .lowering = matrix_lowering(decompose),
    .gradient = [](const Grad& g) { return Tensors{gradient(g)}; },
    .saves_outputs = 3,
    .has_inplace = false,
});

std::tuple<Tensor, Tensor> decomposed(const char* name, const Tensor& a) {
  checked_matrices(name, a, true);
  const Tensors outputs = call_all(op, a);
  const Tensor values = verified(outputs[kValues], outputs[kInfo], Refusal::kNotConverged);
  return {view_as_complex(values), vectors_of(outputs[kVectors])};
}

}  // namespace

std::tuple<Tensor, Tensor> linalg_eig(Arg self) {
  const SiteScope scope(self.site);
  return decomposed("linalg_eig", *self.tensor);
}
Tensor linalg_eigvals(Arg self) {
  const SiteScope scope(self.site);
  return std::get<0>(decomposed("linalg_eigvals", *self.tensor));
}

}  // namespace groove
