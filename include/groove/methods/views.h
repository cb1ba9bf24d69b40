// Methods of Tensor that give another geometry over the same storage; the method forms of
// groove/ops/views.h, where shapes and errors are documented.
#pragma once

#include <optional>

#include "groove/methods/reductions.h"

namespace groove {

class ViewMethods : public ReductionMethods {
 public:
  using ReductionMethods::ReductionMethods;

  Tensor view(IntArrayRef size, Site site = Site::current()) const;
  Tensor view_as(const Tensor& other, Site site = Site::current()) const;
  Tensor reshape(IntArrayRef shape, Site site = Site::current()) const;
  Tensor flatten(std::int64_t start_dim = 0, std::int64_t end_dim = -1,
                 Site site = Site::current()) const;
  Tensor unsqueeze(std::int64_t dim, Site site = Site::current()) const;
  Tensor squeeze(Site site = Site::current()) const;
  Tensor squeeze(std::int64_t dim, Site site = Site::current()) const;
  Tensor permute(IntArrayRef dims, Site site = Site::current()) const;
  Tensor transpose(std::int64_t dim0, std::int64_t dim1, Site site = Site::current()) const;
  Tensor t(Site site = Site::current()) const;
  Tensor slice(std::int64_t dim = 0, std::optional<std::int64_t> start = std::nullopt,
               std::optional<std::int64_t> end = std::nullopt, std::int64_t step = 1,
               Site site = Site::current()) const;
  Tensor narrow(std::int64_t dim, std::int64_t start, std::int64_t length,
                Site site = Site::current()) const;
  Tensor select(std::int64_t dim, std::int64_t index, Site site = Site::current()) const;
  Tensor expand(IntArrayRef size, bool implicit = false, Site site = Site::current()) const;
  Tensor expand_as(const Tensor& other, Site site = Site::current()) const;
};

}  // namespace groove
