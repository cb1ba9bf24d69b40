// ctc_loss: the probabilities of all beginnings of a target are carried from frame to frame, as
// logarithms. State 2i + 1 is label i, the even ones are the blanks around them (Graves et al.
// 2006, section 4.1).
#include <limits>

#include "groove/control_flow.h"
#include "groove/factories.h"
#include "groove/ops/creation.h"
#include "groove/ops/distance_losses.h"
#include "groove/ops/index.h"
#include "groove/ops/views.h"
#include "kernels/ops/elementwise_loss.h"

namespace groove {
namespace {

// The logarithm of nothing: finite, so that no gradient is the difference of infinities.
constexpr double kNever = -1e30;

Tensor positions(std::int64_t count) { return arange(count, kLong); }

// Labels [N, S] of targets [N, S] or [sum of lengths]; behind the end of each stand blanks.
Tensor padded_labels(const Tensor& targets, const Tensor& lengths, std::int64_t blank) {
  Tensor labels = targets.to(kLong);
  std::int64_t most = labels.size(-1);
  if (labels.dim() == 1) {
    const std::int64_t total = most;
    GROOVE_CHECK(sum(lengths).item<std::int64_t>() == total,
                 "ctc_loss: target_lengths do not add up to the {} targets", total);
    most = max(lengths).item<std::int64_t>();
    const Tensor begins = unsqueeze(cumsum(lengths, 0) - lengths, 1);
    const Tensor index = clamp_max(begins + positions(most), total - 1);
    labels = index_select(labels, 0, reshape(index, {-1})).view({lengths.size(0), most});
  }
  labels = where(lt(positions(most), unsqueeze(lengths, 1)), labels, blank);
  return most > 0 ? labels : full({lengths.size(0), 1}, blank, kLong);
}

// States [N, 2 S + 1].
Tensor with_blanks(const Tensor& labels, std::int64_t blank) {
  const std::int64_t count = labels.size(0), length = labels.size(1);
  const Tensor pairs = stack({full_like(labels, blank), labels}, 2);
  return cat({reshape(pairs, {count, 2 * length}), full({count, 1}, blank, kLong)}, 1);
}

// log(P(target)) of each sequence, [N].
Tensor log_likelihood(const Tensor& log_probs, const Tensor& states, const Tensor& frames,
                      const Tensor& lengths) {
  const std::int64_t steps = log_probs.size(0), count = log_probs.size(1);
  const std::int64_t width = states.size(1);
  const Tensor of_states = gather(log_probs, 2, expand(states, {steps, count, width}));
  // A blank between two labels can be left out where they differ.
  const Tensor cannot_skip = eq(states, constant_pad_nd(states, {2, -2}, -1));
  const Tensor first =
      constant_pad_nd(zeros({count, 1}, log_probs.scalar_type()), {0, width - 1}, kNever);
  const Tensor last = unsqueeze(frames, 1);
  const auto step = [&](const Tensor& reached, const std::tuple<Tensor, Tensor>& frame) {
    const auto& [log_prob, time] = frame;
    const Tensor moved = constant_pad_nd(reached, {1, -1}, kNever);
    const Tensor skipped =
        masked_fill(constant_pad_nd(reached, {2, -2}, kNever), cannot_skip, kNever);
    const Tensor next = logsumexp(stack({reached, moved, skipped}), 0) + log_prob;
    return std::pair(where(lt(time, last), next, reached), std::tuple<>());
  };
  const Tensor reached =
      scan(step, first, std::tuple<Tensor, Tensor>(of_states, positions(steps))).first;
  const Tensor end = unsqueeze(2 * lengths, 1);
  const Tensor at_blank = gather(reached, 1, end);
  const Tensor at_label =
      masked_fill(gather(reached, 1, clamp_min(end - 1, 0)), eq(end, 0), kNever);
  return logsumexp(cat({at_blank, at_label}, 1), 1);
}

}  // namespace

Tensor ctc_loss(Arg log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, std::int64_t blank, std::int64_t reduction,
                bool zero_infinity) {
  const SiteScope scope(log_probs.site);
  check_reduction("ctc_loss", reduction);
  const Type type{checked("ctc_loss", *log_probs.tensor).dtype,
                  checked("ctc_loss", *log_probs.tensor).geometry.sizes};
  const bool is_single = type.sizes.size() == 2;
  GROOVE_CHECK(is_single || type.sizes.size() == 3,
               "ctc_loss: log_probs {} must be [T, N, C] or [T, C]", to_string(type.sizes));
  GROOVE_CHECK(type.dtype == kFloat || type.dtype == kDouble,
               "ctc_loss: not defined for log_probs of {}", name(type.dtype));
  const Tensor x = is_single ? unsqueeze(*log_probs.tensor, 1) : *log_probs.tensor;
  const std::int64_t steps = x.size(0), count = x.size(1), classes = x.size(2);
  GROOVE_CHECK(blank >= 0 && blank < classes, "ctc_loss: blank {} is none of {} classes", blank,
               classes);
  for (const Tensor* one : {&targets, &input_lengths, &target_lengths})
    GROOVE_CHECK(is_integral(checked("ctc_loss", *one).dtype),
                 "ctc_loss: targets and lengths must be integers, not {}",
                 name(one->scalar_type()));
  GROOVE_CHECK(input_lengths.numel() == count && target_lengths.numel() == count,
               "ctc_loss: lengths {} and {} do not fit {} sequences",
               to_string(input_lengths.sizes()), to_string(target_lengths.sizes()), count);
  GROOVE_CHECK(targets.dim() == 1 || (targets.dim() == 2 && targets.size(0) == count),
               "ctc_loss: targets {} do not fit {} sequences", to_string(targets.sizes()), count);
  const Tensor lengths = reshape(target_lengths.to(kLong), {count});
  // Read at each length, which checks that it is none beyond.
  const Tensor frames =
      index_select(positions(steps + 1), 0, reshape(input_lengths.to(kLong), {count}));
  const Tensor states = with_blanks(padded_labels(targets, lengths, blank), blank);
  // LibTorch's gradient is that of log_probs which are the logarithms of a softmax: it holds
  // exp(log_probs) as well, which log_softmax would add. So this is 0 with a gradient.
  const Tensor is_used = lt(unsqueeze(positions(steps), 1), frames);
  const Tensor mass = sum(where(unsqueeze(is_used, 2), exp(x), 0), {0, 2});
  const Tensor loss = (mass - mass.detach()) - log_likelihood(x, states, frames, lengths);
  const double impossible = zero_infinity ? 0 : std::numeric_limits<double>::infinity();
  const Tensor losses = where(lt(loss, -kNever / 10), loss, impossible);
  if (reduction == Reduction::Mean) return mean(losses / clamp_min(lengths, 1).to(type.dtype));
  if (reduction == Reduction::Sum) return sum(losses);
  return is_single ? reshape(losses, IntArrayRef()) : losses;
}

Tensor ctc_loss(Arg log_probs, const Tensor& targets, IntArrayRef input_lengths,
                IntArrayRef target_lengths, std::int64_t blank, std::int64_t reduction,
                bool zero_infinity) {
  const SiteScope scope(log_probs.site);
  return ctc_loss(*log_probs.tensor, targets, tensor(input_lengths, kLong),
                  tensor(target_lengths, kLong), blank, reduction, zero_infinity);
}

}  // namespace groove
