// The norms of torch.linalg, in terms of norm, sums and singular values.
#include <cmath>

#include "groove/ops/norms.h"
#include "kernels/ops/spectrum.h"

namespace groove {
namespace {

Tensor converted(const char* op, const Tensor& self, std::optional<ScalarType> dtype) {
  const ScalarType own = checked(op, self).dtype, wanted = dtype.value_or(own);
  GROOVE_CHECK_AS(NotImplementedError,
                  is_floating(real_dtype(wanted)) && is_floating(real_dtype(own)),
                  "{}: not defined for {} tensors; convert to a floating dtype", op,
                  name(is_floating(real_dtype(own)) ? wanted : own));
  GROOVE_CHECK(is_complex(wanted) == is_complex(own), "{}: dtype {} for a tensor of {}", op,
               name(wanted), name(own));
  return dtype ? self.to(*dtype) : self;
}

Tensor of_vectors(const char* op, const Tensor& self, double ord, OptionalIntArrayRef dim,
                  bool keepdim, std::optional<ScalarType> dtype) {
  const Tensor x = converted(op, self, dtype);
  const IntArrayRef axes = dim.value_or(IntArrayRef());
  GROOVE_CHECK(x.numel() > 0 || (ord >= 0 && !std::isinf(ord)),
               "{}: no elements to take the norm of order {} of", op, ord);
  return norm(x, ord, axes, keepdim);
}

struct Axes {
  std::int64_t row, column;
};
Axes axes_of(const char* op, const Tensor& x, IntArrayRef dim) {
  const std::size_t rank = checked(op, x).geometry.sizes.size();
  GROOVE_CHECK(rank >= 2 && dim.size() == 2, "{}: {} axes of a tensor of {}; there must be two", op,
               dim.size(), rank);
  const Axes axes{normal_dim(op, dim[0], rank), normal_dim(op, dim[1], rank)};
  GROOVE_CHECK(axes.row != axes.column, "{}: dims {} and {} are the same axis", op, dim[0], dim[1]);
  return axes;
}
// A result of the other axes, with size 1 in place of the two.
Tensor with_axes(Tensor x, const Axes& axes) {
  x = unsqueeze(x, std::min(axes.row, axes.column));
  return unsqueeze(x, std::max(axes.row, axes.column));
}

Tensor singular(const char* op, const Tensor& x, const Axes& axes) {
  const std::int64_t column = axes.column - (axes.column > axes.row ? 1 : 0);
  return singular_decomposition(op, movedim(movedim(x, axes.row, -1), column, -1)).s;
}

Tensor of_matrices(const char* op, const Tensor& self, double ord, IntArrayRef dim, bool keepdim,
                   std::optional<ScalarType> dtype) {
  const Tensor x = converted(op, self, dtype);
  const Axes axes = axes_of(op, x, dim);
  const double order = std::fabs(ord);
  GROOVE_CHECK(order == 1 || order == 2 || std::isinf(order),
               "{}: no norm of matrices has the order {}", op, ord);
  const auto extreme = [&](const Tensor& values, IntArrayRef along, bool keeps) {
    return ord > 0 ? amax(values, along, keeps) : amin(values, along, keeps);
  };
  if (order == 2) {
    const Tensor result = extreme(singular(op, x, axes), -1, false);
    return keepdim ? with_axes(result, axes) : result;
  }
  const std::int64_t summed = order == 1 ? axes.row : axes.column;
  const std::int64_t other = order == 1 ? axes.column : axes.row;
  const Tensor totals = extreme(sum(abs(x), summed, true), other, true);
  if (keepdim) return totals;
  return squeeze(squeeze(totals, std::max(axes.row, axes.column)), std::min(axes.row, axes.column));
}

Tensor of_matrices(const char* op, const Tensor& self, std::string_view ord, IntArrayRef dim,
                   bool keepdim, std::optional<ScalarType> dtype) {
  const Tensor x = converted(op, self, dtype);
  const Axes axes = axes_of(op, x, dim);
  GROOVE_CHECK(ord == "fro" || ord == "nuc", "{}: order \"{}\"; it must be \"fro\" or \"nuc\"", op,
               ord);
  if (ord == "fro") return norm(x, 2, {axes.row, axes.column}, keepdim);
  const Tensor result = sum(singular(op, x, axes), -1);
  return keepdim ? with_axes(result, axes) : result;
}

Tensor of_either(const char* op, const Tensor& self, const std::optional<Scalar>& ord,
                 OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  const std::size_t rank = checked(op, self).geometry.sizes.size();
  if (!ord) return of_vectors(op, self, 2, dim, keepdim, dtype);
  GROOVE_CHECK(dim ? dim->size() == 1 || dim->size() == 2 : rank == 1 || rank == 2,
               "{}: a norm with an order is of one axis or two, not of {}", op,
               dim ? dim->size() : rank);
  const double order = ord->to_double();
  if ((dim ? dim->size() : rank) == 1) return of_vectors(op, self, order, dim, keepdim, dtype);
  return of_matrices(op, self, order, dim.value_or({0, 1}), keepdim, dtype);
}

}  // namespace

Tensor linalg_vector_norm(Arg self, Scalar ord, OptionalIntArrayRef dim, bool keepdim,
                          std::optional<ScalarType> dtype) {
  const SiteScope scope(self.site);
  return of_vectors("linalg_vector_norm", *self.tensor, ord.to_double(), dim, keepdim, dtype);
}
Tensor linalg_matrix_norm(Arg self, Scalar ord, IntArrayRef dim, bool keepdim,
                          std::optional<ScalarType> dtype) {
  const SiteScope scope(self.site);
  return of_matrices("linalg_matrix_norm", *self.tensor, ord.to_double(), dim, keepdim, dtype);
}
Tensor linalg_matrix_norm(Arg self, std::string_view ord, IntArrayRef dim, bool keepdim,
                          std::optional<ScalarType> dtype) {
  const SiteScope scope(self.site);
  return of_matrices("linalg_matrix_norm", *self.tensor, ord, dim, keepdim, dtype);
}
Tensor linalg_norm(Arg self, const std::optional<Scalar>& ord, OptionalIntArrayRef dim,
                   bool keepdim, std::optional<ScalarType> dtype) {
  const SiteScope scope(self.site);
  return of_either("linalg_norm", *self.tensor, ord, dim, keepdim, dtype);
}
Tensor linalg_norm(Arg self, std::string_view ord, OptionalIntArrayRef dim, bool keepdim,
                   std::optional<ScalarType> dtype) {
  const SiteScope scope(self.site);
  checked("linalg_norm", *self.tensor);
  GROOVE_CHECK(dim || self.tensor->dim() == 2, "linalg_norm: \"{}\" is of two axes, not of {}", ord,
               self.tensor->dim());
  return of_matrices("linalg_norm", *self.tensor, ord, dim.value_or({0, 1}), keepdim, dtype);
}

Tensor nuclear_norm(Arg self, bool keepdim) {
  const SiteScope scope(self.site);
  return of_matrices("nuclear_norm", *self.tensor, "nuc", {-2, -1}, keepdim, {});
}
Tensor nuclear_norm(Arg self, IntArrayRef dim, bool keepdim) {
  const SiteScope scope(self.site);
  return of_matrices("nuclear_norm", *self.tensor, "nuc", dim, keepdim, {});
}
Tensor frobenius_norm(Arg self, IntArrayRef dim, bool keepdim) {
  const SiteScope scope(self.site);
  GROOVE_CHECK(dim.size() <= 2, "frobenius_norm: {} axes; there must be two at most", dim.size());
  return of_vectors("frobenius_norm", *self.tensor, 2, dim, keepdim, {});
}

Tensor linalg_cond(Arg self, const std::optional<Scalar>& p) {
  const SiteScope scope(self.site);
  const Tensor& x = *self.tensor;
  const double order = p ? p->to_double() : 2;
  checked_matrices("linalg_cond", x, std::fabs(order) != 2);
  if (std::fabs(order) == 2) {
    const Tensor values = singular_decomposition("linalg_cond", x).s;
    const Tensor greatest = select(values, -1, 0), smallest = select(values, -1, -1);
    return order > 0 ? greatest / smallest : smallest / greatest;
  }
  const Tensor inverse = std::get<0>(linalg_inv_ex(x));
  return of_matrices("linalg_cond", x, order, {-2, -1}, false, {}) *
         of_matrices("linalg_cond", inverse, order, {-2, -1}, false, {});
}
Tensor linalg_cond(Arg self, std::string_view p) {
  const SiteScope scope(self.site);
  checked_matrices("linalg_cond", *self.tensor, true);
  const Tensor inverse = std::get<0>(linalg_inv_ex(*self.tensor));
  return of_matrices("linalg_cond", *self.tensor, p, {-2, -1}, false, {}) *
         of_matrices("linalg_cond", inverse, p, {-2, -1}, false, {});
}

}  // namespace groove
