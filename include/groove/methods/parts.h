// Methods of Tensor that give other shapes and parts of it, and that write parts; the method forms
// of groove/ops/parts.h, where shapes and errors are documented.
#pragma once

#include "groove/methods/index.h"

namespace groove {

struct TensorIndex;  // groove/indexing.h

class PartMethods : public IndexMethods {
 public:
  using IndexMethods::IndexMethods;

  Tensor mT(Site site = Site::current()) const;
  Tensor mH(Site site = Site::current()) const;
  Tensor adjoint(Site site = Site::current()) const;
  Tensor matrix_H(Site site = Site::current()) const;
  Tensor numpy_T(Site site = Site::current()) const;
  Tensor fliplr(Site site = Site::current()) const;
  Tensor flipud(Site site = Site::current()) const;
  Tensor msort(Site site = Site::current()) const;
  Tensor trace(Site site = Site::current()) const;
  Tensor argwhere(Site site = Site::current()) const;
  Tensor rot90(std::int64_t k = 1, IntArrayRef dims = {0, 1}, Site site = Site::current()) const;
  std::vector<Tensor> hsplit(std::int64_t sections, Site site = Site::current()) const;
  std::vector<Tensor> hsplit(IntArrayRef indices, Site site = Site::current()) const;
  std::vector<Tensor> vsplit(std::int64_t sections, Site site = Site::current()) const;
  std::vector<Tensor> vsplit(IntArrayRef indices, Site site = Site::current()) const;
  std::vector<Tensor> dsplit(std::int64_t sections, Site site = Site::current()) const;
  std::vector<Tensor> dsplit(IntArrayRef indices, Site site = Site::current()) const;
  std::vector<Tensor> tensor_split(std::int64_t sections, std::int64_t dim = 0,
                                   Site site = Site::current()) const;
  std::vector<Tensor> tensor_split(IntArrayRef indices, std::int64_t dim = 0,
                                   Site site = Site::current()) const;
  std::vector<Tensor> tensor_split(const Tensor& indices_or_sections, std::int64_t dim = 0,
                                   Site site = Site::current()) const;
  Tensor moveaxis(std::int64_t source, std::int64_t destination, Site site = Site::current()) const;
  Tensor moveaxis(IntArrayRef source, IntArrayRef destination, Site site = Site::current()) const;
  Tensor& swapaxes_(std::int64_t axis0, std::int64_t axis1, Site site = Site::current()) const;
  Tensor& swapdims_(std::int64_t dim0, std::int64_t dim1, Site site = Site::current()) const;
  Tensor diag_embed(std::int64_t offset = 0, std::int64_t dim1 = -2, std::int64_t dim2 = -1,
                    Site site = Site::current()) const;
  Tensor diagflat(std::int64_t offset = 0, Site site = Site::current()) const;
  Tensor sum_to_size(IntArrayRef size, Site site = Site::current()) const;
  /// Windows of `size` elements along one axis, each `step` after the one before, as a last axis; a
  /// view.
  Tensor unfold(std::int64_t dimension, std::int64_t size, std::int64_t step,
                Site site = Site::current()) const;
  Tensor as_strided(IntArrayRef size, IntArrayRef stride,
                    std::optional<std::int64_t> storage_offset = std::nullopt,
                    Site site = Site::current()) const;
  Tensor take(const Tensor& index, Site site = Site::current()) const;
  Tensor take_along_dim(const Tensor& indices, std::optional<std::int64_t> dim = std::nullopt,
                        Site site = Site::current()) const;
  Tensor select_scatter(const Tensor& src, std::int64_t dim, std::int64_t index,
                        Site site = Site::current()) const;
  Tensor slice_scatter(const Tensor& src, std::int64_t dim = 0,
                       std::optional<std::int64_t> start = std::nullopt,
                       std::optional<std::int64_t> end = std::nullopt, std::int64_t step = 1,
                       Site site = Site::current()) const;
  Tensor diagonal_scatter(const Tensor& src, std::int64_t offset = 0, std::int64_t dim1 = 0,
                          std::int64_t dim2 = 1, Site site = Site::current()) const;
  /// A number on the diagonal of a tensor of at least 2 axes, of equal sizes if more; with `wrap`
  /// the diagonal of a tall matrix begins again after a row.
  Tensor& fill_diagonal_(Scalar fill_value, bool wrap = false, Site site = Site::current()) const;
  Tensor index_put(std::initializer_list<TensorIndex> indices, const Tensor& values,
                   bool accumulate = false, Site site = Site::current()) const;
  Tensor index_put(ArrayRef<TensorIndex> indices, const Tensor& values, bool accumulate = false,
                   Site site = Site::current()) const;
  Tensor put(const Tensor& index, const Tensor& source, bool accumulate = false,
             Site site = Site::current()) const;
  Tensor& put_(const Tensor& index, const Tensor& source, bool accumulate = false,
               Site site = Site::current()) const;
  Tensor masked_scatter(const Tensor& mask, const Tensor& source,
                        Site site = Site::current()) const;
  Tensor& masked_scatter_(const Tensor& mask, const Tensor& source,
                          Site site = Site::current()) const;
  using IndexMethods::scatter;
  using IndexMethods::scatter_;
  Tensor scatter(std::int64_t dim, const Tensor& index, const Tensor& source,
                 std::string_view reduce, Site site = Site::current()) const;
  Tensor& scatter_(std::int64_t dim, const Tensor& index, const Tensor& source,
                   std::string_view reduce, Site site = Site::current()) const;
  Tensor scatter(std::int64_t dim, const Tensor& index, Scalar value, std::string_view reduce,
                 Site site = Site::current()) const;
  Tensor& scatter_(std::int64_t dim, const Tensor& index, Scalar value, std::string_view reduce,
                   Site site = Site::current()) const;
  Tensor scatter_reduce(std::int64_t dim, const Tensor& index, const Tensor& source,
                        std::string_view reduce, bool include_self = true,
                        Site site = Site::current()) const;
  Tensor& scatter_reduce_(std::int64_t dim, const Tensor& index, const Tensor& source,
                          std::string_view reduce, bool include_self = true,
                          Site site = Site::current()) const;
  Tensor index_reduce(std::int64_t dim, const Tensor& index, const Tensor& source,
                      std::string_view reduce, bool include_self = true,
                      Site site = Site::current()) const;
  Tensor& index_reduce_(std::int64_t dim, const Tensor& index, const Tensor& source,
                        std::string_view reduce, bool include_self = true,
                        Site site = Site::current()) const;
  Tensor renorm(Scalar p, std::int64_t dim, Scalar maxnorm, Site site = Site::current()) const;
  Tensor& renorm_(Scalar p, std::int64_t dim, Scalar maxnorm, Site site = Site::current()) const;
  /// Like new_empty, with the given distance in memory along each axis.
  Tensor new_empty_strided(IntArrayRef size, IntArrayRef stride, TensorOptions options = {},
                           Site site = Site::current()) const;
};

}  // namespace groove
