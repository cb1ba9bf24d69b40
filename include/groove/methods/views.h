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
  /// The same memory read as another dtype; a last axis takes the ratio of the widths. Nothing is
  /// compiled across it, and it has no gradient.
  Tensor view(ScalarType dtype, Site site = Site::current()) const;
  Tensor view_as(const Tensor& other, Site site = Site::current()) const;
  Tensor reshape(IntArrayRef shape, Site site = Site::current()) const;
  Tensor flatten(std::int64_t start_dim = 0, std::int64_t end_dim = -1,
                 Site site = Site::current()) const;
  Tensor unsqueeze(std::int64_t dim, Site site = Site::current()) const;
  Tensor squeeze(Site site = Site::current()) const;
  Tensor squeeze(std::int64_t dim, Site site = Site::current()) const;
  Tensor squeeze(IntArrayRef dims, Site site = Site::current()) const;
  Tensor permute(IntArrayRef dims, Site site = Site::current()) const;
  Tensor transpose(std::int64_t dim0, std::int64_t dim1, Site site = Site::current()) const;
  Tensor t(Site site = Site::current()) const;
  Tensor slice(std::int64_t dim = 0, std::optional<std::int64_t> start = std::nullopt,
               std::optional<std::int64_t> end = std::nullopt, std::int64_t step = 1,
               Site site = Site::current()) const;
  Tensor narrow(std::int64_t dim, std::int64_t start, std::int64_t length,
                Site site = Site::current()) const;
  Tensor narrow(std::int64_t dim, const Tensor& start, std::int64_t length,
                Site site = Site::current()) const;
  Tensor select(std::int64_t dim, std::int64_t index, Site site = Site::current()) const;
  Tensor expand(IntArrayRef size, bool implicit = false, Site site = Site::current()) const;
  Tensor expand_as(const Tensor& other, Site site = Site::current()) const;
  /// This tensor itself takes another shape, keeping its first elements in memory order; new ones
  /// are 0. Not for tensors that require a gradient, or that backward() needs.
  Tensor& resize_(IntArrayRef size, std::optional<MemoryFormat> format = std::nullopt,
                  Site site = Site::current()) const;
  Tensor& resize_as_(const Tensor& other, Site site = Site::current()) const;
  // In-place changes of the handle's own geometry.
  Tensor& unsqueeze_(std::int64_t dim, Site site = Site::current()) const;
  Tensor& squeeze_(Site site = Site::current()) const;
  Tensor& squeeze_(std::int64_t dim, Site site = Site::current()) const;
  Tensor& squeeze_(IntArrayRef dims, Site site = Site::current()) const;
  Tensor& transpose_(std::int64_t dim0, std::int64_t dim1, Site site = Site::current()) const;
  Tensor& t_(Site site = Site::current()) const;
  Tensor diagonal(std::int64_t offset = 0, std::int64_t dim1 = 0, std::int64_t dim2 = 1,
                  Site site = Site::current()) const;
  std::vector<Tensor> split(std::int64_t split_size, std::int64_t dim = 0,
                            Site site = Site::current()) const;
  std::vector<Tensor> split(IntArrayRef split_sizes, std::int64_t dim = 0,
                            Site site = Site::current()) const;
  std::vector<Tensor> split_with_sizes(IntArrayRef split_sizes, std::int64_t dim = 0,
                                       Site site = Site::current()) const;
  std::vector<Tensor> chunk(std::int64_t chunks, std::int64_t dim = 0,
                            Site site = Site::current()) const;
  std::vector<Tensor> unbind(std::int64_t dim = 0, Site site = Site::current()) const;
  Tensor unflatten(std::int64_t dim, IntArrayRef sizes, Site site = Site::current()) const;
  Tensor movedim(std::int64_t source, std::int64_t destination, Site site = Site::current()) const;
  Tensor movedim(IntArrayRef source, IntArrayRef destination, Site site = Site::current()) const;
  Tensor reshape_as(const Tensor& other, Site site = Site::current()) const;
  Tensor swapdims(std::int64_t dim0, std::int64_t dim1, Site site = Site::current()) const;
  Tensor ravel(Site site = Site::current()) const;
  Tensor swapaxes(std::int64_t axis0, std::int64_t axis1, Site site = Site::current()) const;
  Tensor broadcast_to(IntArrayRef size, Site site = Site::current()) const;
  Tensor repeat(IntArrayRef repeats, Site site = Site::current()) const;
  Tensor tile(IntArrayRef dims, Site site = Site::current()) const;
  Tensor repeat_interleave(const Tensor& repeats, std::optional<std::int64_t> dim = std::nullopt,
                           std::optional<std::int64_t> output_size = std::nullopt,
                           Site site = Site::current()) const;
  Tensor repeat_interleave(std::int64_t repeats, std::optional<std::int64_t> dim,
                           std::optional<std::int64_t> output_size,
                           Site site = Site::current()) const;
  Tensor repeat_interleave(std::int64_t repeats, std::optional<std::int64_t> dim = std::nullopt,
                           Site site = Site::current()) const;
  Tensor flip(IntArrayRef dims, Site site = Site::current()) const;
  Tensor roll(IntArrayRef shifts, IntArrayRef dims = {}, Site site = Site::current()) const;
  Tensor tril(std::int64_t diagonal = 0, Site site = Site::current()) const;
  Tensor triu(std::int64_t diagonal = 0, Site site = Site::current()) const;
  Tensor diag(std::int64_t diagonal = 0, Site site = Site::current()) const;
};

}  // namespace groove
