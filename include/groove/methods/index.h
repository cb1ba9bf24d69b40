// Methods of Tensor that read and write at the indices held by another tensor; the method forms
// of groove/ops/index.h. Subscripts, index() and index_put_() are in groove/methods/data.h.
#pragma once

#include "groove/methods/views.h"

namespace groove {

class IndexMethods : public ViewMethods {
 public:
  using ViewMethods::ViewMethods;

  Tensor index_select(std::int64_t dim, const Tensor& index, Site site = Site::current()) const;
  Tensor gather(std::int64_t dim, const Tensor& index, Site site = Site::current()) const;
  Tensor gather(std::int64_t dim, const Tensor& index, bool sparse_grad,
                Site site = Site::current()) const;
  Tensor index_add(std::int64_t dim, const Tensor& index, const Tensor& source,
                   Site site = Site::current()) const;
  Tensor& index_add_(std::int64_t dim, const Tensor& index, const Tensor& source,
                     Site site = Site::current()) const;
  Tensor index_add(std::int64_t dim, const Tensor& index, const Tensor& source, Scalar alpha,
                   Site site = Site::current()) const;
  Tensor& index_add_(std::int64_t dim, const Tensor& index, const Tensor& source, Scalar alpha,
                     Site site = Site::current()) const;
  Tensor scatter_add(std::int64_t dim, const Tensor& index, const Tensor& source,
                     Site site = Site::current()) const;
  Tensor& scatter_add_(std::int64_t dim, const Tensor& index, const Tensor& source,
                       Site site = Site::current()) const;
  Tensor scatter(std::int64_t dim, const Tensor& index, const Tensor& source,
                 Site site = Site::current()) const;
  Tensor scatter(std::int64_t dim, const Tensor& index, Scalar value,
                 Site site = Site::current()) const;
  Tensor& scatter_(std::int64_t dim, const Tensor& index, const Tensor& source,
                   Site site = Site::current()) const;
  Tensor& scatter_(std::int64_t dim, const Tensor& index, Scalar value,
                   Site site = Site::current()) const;
  Tensor index_copy(std::int64_t dim, const Tensor& index, const Tensor& source,
                    Site site = Site::current()) const;
  Tensor& index_copy_(std::int64_t dim, const Tensor& index, const Tensor& source,
                      Site site = Site::current()) const;
  Tensor index_fill(std::int64_t dim, const Tensor& index, Scalar value,
                    Site site = Site::current()) const;
  Tensor& index_fill_(std::int64_t dim, const Tensor& index, Scalar value,
                      Site site = Site::current()) const;
  Tensor index_fill(std::int64_t dim, const Tensor& index, const Tensor& value,
                    Site site = Site::current()) const;
  Tensor& index_fill_(std::int64_t dim, const Tensor& index, const Tensor& value,
                      Site site = Site::current()) const;
  Tensor masked_select(const Tensor& mask, Site site = Site::current()) const;
  Tensor nonzero(Site site = Site::current()) const;
  Tensor nonzero_static(std::int64_t size, std::int64_t fill_value = -1,
                        Site site = Site::current()) const;
  std::tuple<Tensor, Tensor> sort(std::int64_t dim = -1, bool descending = false,
                                  Site site = Site::current()) const;
  Tensor argsort(std::int64_t dim = -1, bool descending = false, Site site = Site::current()) const;
  std::tuple<Tensor, Tensor> sort(std::optional<bool> stable, std::int64_t dim,
                                  bool descending = false, Site site = Site::current()) const;
  Tensor argsort(bool stable, std::int64_t dim, bool descending, Site site = Site::current()) const;
  std::tuple<Tensor, Tensor> topk(std::int64_t k, std::int64_t dim = -1, bool largest = true,
                                  bool sorted = true, Site site = Site::current()) const;
  Tensor multinomial(std::int64_t num_samples, bool replacement = false,
                     Site site = Site::current()) const;
  Tensor multinomial(std::int64_t num_samples, bool replacement,
                     const std::optional<Generator>& generator, Site site = Site::current()) const;
  Tensor bernoulli(const std::optional<Generator>& generator, Site site = Site::current()) const;
  Tensor bernoulli(double p, const std::optional<Generator>& generator,
                   Site site = Site::current()) const;
  Tensor bernoulli(Site site = Site::current()) const;
  Tensor bernoulli(double p, Site site = Site::current()) const;
};

}  // namespace groove
