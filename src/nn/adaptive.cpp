#include "groove/nn/adaptive.h"

#include <cmath>
#include <ostream>

#include "groove/detail/call_scope.h"
#include "groove/ops/index.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "groove/ops/views.h"
#include "src/core/check.h"
#include "src/core/small_vector.h"

namespace groove::nn {
namespace {

SequentialImpl& cluster(ModuleListImpl& tail, std::int64_t i) {
  return *tail.ptr(static_cast<std::size_t>(i))->as<SequentialImpl>();
}

}  // namespace

AdaptiveLogSoftmaxWithLossImpl::AdaptiveLogSoftmaxWithLossImpl(
    AdaptiveLogSoftmaxWithLossOptions options_)
    : options(std::move(options_)) {
  reset();
}

void AdaptiveLogSoftmaxWithLossImpl::reset() {
  std::int64_t least = 1;
  bool is_ascending = !options.cutoffs().empty();
  for (const std::int64_t cutoff : options.cutoffs()) {
    is_ascending &= cutoff >= least;
    least = cutoff + 1;
  }
  GROOVE_CHECK(is_ascending && least <= options.n_classes(),
               "AdaptiveLogSoftmaxWithLoss: cutoffs {} must ascend from at least 1 to less than "
               "n_classes, {}",
               to_string(options.cutoffs()), options.n_classes());
  GROOVE_CHECK(options.div_value() != 0, "AdaptiveLogSoftmaxWithLoss: div_value is 0");
  cutoffs = options.cutoffs();
  cutoffs.push_back(options.n_classes());
  shortlist_size = cutoffs[0];
  n_clusters = static_cast<std::int64_t>(cutoffs.size()) - 1;
  head_size = shortlist_size + n_clusters;
  const std::int64_t in = options.in_features();
  head = register_module("head", Linear(LinearOptions(in, head_size).bias(options.head_bias())));
  tail = register_module("tail", ModuleList());
  for (std::size_t i = 0; i + 1 < cutoffs.size(); ++i) {
    const auto width = static_cast<std::int64_t>(
        static_cast<double>(in) / std::pow(options.div_value(), static_cast<double>(i + 1)));
    tail->push_back(
        Sequential(Linear(LinearOptions(in, width).bias(false)),
                   Linear(LinearOptions(width, cutoffs[i + 1] - cutoffs[i]).bias(false))));
  }
}

void AdaptiveLogSoftmaxWithLossImpl::reset_parameters() {
  head->reset_parameters();
  for (std::int64_t i = 0; i < n_clusters; ++i) {
    cluster(*tail, i).ptr(0)->as<LinearImpl>()->reset_parameters();
    cluster(*tail, i).ptr(1)->as<LinearImpl>()->reset_parameters();
  }
}

// Every cluster is asked about every row, and what does not concern a row is left out: which rows
// are whose is known to the device alone.
ASMoutput AdaptiveLogSoftmaxWithLossImpl::forward(const Tensor& input, const Tensor& target,
                                                  Site site) {
  const groove::detail::CallScope scope(site, "adaptive_log_softmax");
  if (input.dim() == 1 && target.dim() == 0) {
    ASMoutput one = forward(unsqueeze(input, 0), unsqueeze(target, 0), site);
    one.output = squeeze(one.output, 0);
    return one;
  }
  GROOVE_CHECK(input.dim() == 2 && input.size(1) == options.in_features() && target.dim() == 1 &&
                   target.size(0) == input.size(0),
               "AdaptiveLogSoftmaxWithLoss: input {} and target {} must be [N, {}] and [N], or "
               "[{}] and a class",
               to_string(input.sizes()), to_string(target.sizes()), options.in_features(),
               options.in_features());
  const auto picked = [](const Tensor& log_probs, const Tensor& index) {
    return squeeze(gather(log_probs, 1, unsqueeze(index, 1)), 1);
  };
  const bool is_in_range =
      logical_and(ge(target, 0), lt(target, options.n_classes())).all().item<bool>();
  GROOVE_CHECK(is_in_range, "AdaptiveLogSoftmaxWithLoss: targets must lie in [0, {}]",
               options.n_classes() - 1);
  const Tensor of_head = log_softmax(head->forward(input), 1);
  Tensor head_index = target, of_clusters;
  for (std::int64_t i = 0; i < n_clusters; ++i) {
    const std::int64_t low = cutoffs[static_cast<std::size_t>(i)],
                       high = cutoffs[static_cast<std::size_t>(i) + 1];
    const Tensor is_here = logical_and(ge(target, low), lt(target, high));
    const Tensor log_probs = log_softmax(cluster(*tail, i).forward(input), 1);
    const Tensor own =
        where(is_here, picked(log_probs, clamp(sub(target, low), 0, high - low - 1)), 0);
    of_clusters = of_clusters.defined() ? add(of_clusters, own) : own;
    head_index = where(is_here, shortlist_size + i, head_index);
  }
  const Tensor output = add(of_clusters, picked(of_head, head_index));
  return ASMoutput(output, neg(mean(output)).item<double>());
}

Tensor AdaptiveLogSoftmaxWithLossImpl::_get_full_log_prob(const Tensor& input,
                                                          const Tensor& head_output, Site site) {
  const groove::detail::CallScope scope(site, "adaptive_log_softmax");
  const Tensor of_head = log_softmax(head_output, 1);
  Tensors parts = {narrow(of_head, 1, 0, shortlist_size)};
  for (std::int64_t i = 0; i < n_clusters; ++i)
    parts.push_back(add(log_softmax(cluster(*tail, i).forward(input), 1),
                        narrow(of_head, 1, shortlist_size + i, 1)));
  return cat(parts, 1);
}

Tensor AdaptiveLogSoftmaxWithLossImpl::log_prob(const Tensor& input, Site site) {
  const groove::detail::CallScope scope(site, "log_prob");
  return _get_full_log_prob(input, head->forward(input));
}

Tensor AdaptiveLogSoftmaxWithLossImpl::predict(const Tensor& input, Site site) {
  const groove::detail::CallScope scope(site, "predict");
  const Tensor head_output = head->forward(input);
  const Tensor first = argmax(head_output, 1);
  return where(ge(first, shortlist_size), argmax(_get_full_log_prob(input, head_output), 1), first);
}

void AdaptiveLogSoftmaxWithLossImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::AdaptiveLogSoftmaxWithLoss";
}

template class Cloneable<AdaptiveLogSoftmaxWithLossImpl>;

}  // namespace groove::nn
