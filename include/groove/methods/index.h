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
  Tensor index_add(std::int64_t dim, const Tensor& index, const Tensor& source,
                   Site site = Site::current()) const;
  Tensor& index_add_(std::int64_t dim, const Tensor& index, const Tensor& source,
                     Site site = Site::current()) const;
  Tensor scatter_add(std::int64_t dim, const Tensor& index, const Tensor& source,
                     Site site = Site::current()) const;
  Tensor& scatter_add_(std::int64_t dim, const Tensor& index, const Tensor& source,
                       Site site = Site::current()) const;
};

}  // namespace groove
