// A context whose program comes at other sizes than any segment has. Where a symbolic segment is
// for the loop (symbolic_segment.h), its copy takes on the sizes that the program shows, call by
// call; where there is none, some of these iterations are recorded, so that there will be one.
#include <algorithm>
#include <array>

#include "src/core/environment.h"
#include "tracer/cache/registry.h"
#include "tracer/cache/symbolic_table.h"
#include "tracer/calls/tape_hooks.h"
#include "tracer/thread/context.h"
#include "tracer/thread/modes.h"

namespace groove::tracer {
namespace {

constexpr std::array kAboutSizes = {Reason::kLiveInType, Reason::kMismatchAttribute,
                                    Reason::kMismatchNumber};
constexpr std::array kAboutTensors = {Reason::kMismatchOperand, Reason::kAnyOperand};

bool is_about_sizes(Reason reason) {
  return std::find(kAboutSizes.begin(), kAboutSizes.end(), reason) != kAboutSizes.end();
}

bool was_left_for(const Segment& segment, const auto& reasons) {
  return std::any_of(reasons.begin(), reasons.end(), [&segment](Reason reason) {
    return segment.statistics.left_at_reason[static_cast<int>(reason)].load(
               std::memory_order_relaxed) > 0;
  });
}

// Calls of functions that were given to jit::compile() end where the program says.
bool can_be_sampled(const Segment& segment) { return segment.kind != Discovery::Kind::kCall; }

}  // namespace

SymbolicCopy& Context::copy_of(const SymbolicSegmentPtr& symbolic) {
  std::unique_ptr<SymbolicCopy>& copy = shapes_[symbolic.get()];
  if (!copy) copy = std::make_unique<SymbolicCopy>(symbolic);
  return *copy;
}

SymbolicCopy* Context::copy_under_replay() {
  if (!replay_->segment().original) return nullptr;
  for (const auto& [symbolic, copy] : shapes_)
    if (copy->segment() == replay_->segment_pointer()) return copy.get();
  return nullptr;
}

// The copy takes on the sizes that calls up to `at` show, if there will be a program for them; what
// the calls before `first` gave stays as it is.
bool Context::take_on(SymbolicCopy& copy, const SizeValues& sizes, std::size_t at,
                      std::size_t first) {
  SymbolicSegment& symbolic = *copy.symbolic();
  const auto is_later = [at](const SymbolicSegment::Symbol& symbol) { return symbol.call > at; };
  const bool are_known =
      std::none_of(symbolic.symbols().begin(), symbolic.symbols().end(), is_later);
  if (symbolic.excludes(sizes, at)) return false;
  if (are_known ? !symbolic.wants(sizes) : !symbolic.may_want(sizes, at)) {
    is_waiting_ = true;
    return false;
  }
  if (!copy.resize(sizes, first)) return false;
  replay_of(copy.segment()).note_resized();
  is_at_new_sizes_ = true;
  if (!are_known) return true;
  symbolic.note_sizes(sizes);
  is_waiting_ = !symbolic.offers(sizes, copy.segment()->graph);
  return !is_waiting_;
}

template <typename AnyCall>
bool Context::start_at_sizes(std::uint64_t head, const AnyCall& call, const SiteKey& site,
                             Tensor* outputs) {
  SizeValues shown;
  for (const SymbolicSegmentPtr& symbolic : symbolic_segments_of(head)) {
    SymbolicCopy& copy = copy_of(symbolic);
    const Segment& segment = *copy.segment();
    if (symbolic->waits_for_first()) {
      is_waiting_ = true;
      continue;
    }
    if (!discovery_.is_after(segment.before) || !segment.loop->backoff.is_willing() ||
        !shown_by(segment, 0, call, site, shown))
      continue;
    SizeValues sizes = copy.sizes();
    if (!copy.sizes_shown(0, shown, sizes)) continue;
    if (sizes != copy.sizes() && !take_on(copy, sizes, 0, 0)) continue;
    if (begin_trial(copy.segment())) return false;
    Reason why = Reason::kForced;
    if (begin_run(copy.segment(), call, site, outputs, why)) return true;
  }
  return false;
}

template bool Context::start_at_sizes(std::uint64_t, const Call&, const SiteKey&, Tensor*);
template bool Context::start_at_sizes(std::uint64_t, const LibraryCall&, const SiteKey&, Tensor*);

// What the calls of a segment show, for runs of it that go over to a symbolic one.
const Context::Shown& Context::shown_of(const SegmentPtr& segment) {
  Shown& known = shown_[segment.get()];
  if (known.before.empty()) {
    SizeNumbers numbers = size_numbers(*segment);
    known.values = numbers.values();
    known.values.resize(numbers.shown.back());
    known.before = std::move(numbers.structure_before);
    known.first = std::move(numbers.shown);
  }
  return known;
}

// The copy of a symbolic segment that can go on with the run under way, at the sizes that it has
// shown so far and, unless null, `shown` by the call that comes now.
Replay* Context::at_sizes_of_run(const SymbolicSegmentPtr& symbolic, const SizeValues* shown) {
  Replay& from = *replay_;
  const std::size_t at = from.matched();
  SymbolicCopy& copy = copy_of(symbolic);
  SymbolicCopy* const own = copy_under_replay();
  const std::vector<std::uint64_t>& before = symbolic->structure_before();
  const std::size_t count = copy.numbers().shown[at];
  SizeValues known;  // the numbers that its calls have shown
  if (own) {
    if (own->symbolic()->structure_before()[at] != before[at]) return nullptr;
    known = own->numbers().values(count);
  } else {
    const Shown& all = shown_of(from.segment_pointer());
    if (all.before[at] != before[at]) return nullptr;
    known.assign(all.values.begin(), all.values.begin() + static_cast<std::ptrdiff_t>(count));
  }
  SizeValues sizes = copy.sizes();
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (symbolic->symbols()[i].call < at) sizes[i] = known[symbolic->symbols()[i].number];
  if (shown && !copy.sizes_shown(at, *shown, sizes)) return nullptr;
  if (!take_on(copy, sizes, at, 0)) return nullptr;
  const SizeNumbers& numbers = copy.numbers();
  for (std::size_t i = 0; i < count; ++i)
    if (numbers.numbers[i].value() != known[i]) return nullptr;
  Replay& to = replay_of(copy.segment());
  return to.can_receive(from) ? &to : nullptr;
}

// One that ends where the run is now takes it over.
bool Context::go_over_to_end_at_sizes() {
  Replay& from = *replay_;
  if (!may_have_symbolic_segment(from.segment().head)) return false;
  for (const SymbolicSegmentPtr& symbolic : symbolic_segments_of(from.segment().head)) {
    if (symbolic->original()->calls.size() != from.matched()) continue;
    Replay* const to = at_sizes_of_run(symbolic, nullptr);
    if (!to) continue;
    to->switch_path(from);
    replay_ = to;
    return true;
  }
  return false;
}

template <typename AnyCall>
bool Context::follow_sizes(const AnyCall& call, const SiteKey& site, Tensor* outputs, Reason& why) {
  Replay& from = *replay_;
  if (why == Reason::kForced || from.is_complete() ||
      !may_have_symbolic_segment(from.segment().head))
    return false;
  const std::size_t at = from.matched();
  SizeValues shown, sizes;
  SymbolicCopy* const own = copy_under_replay();
  if (own && shown_by(*own->segment(), at, call, site, shown)) {
    sizes = own->sizes();
    if (own->sizes_shown(at, shown, sizes) && sizes != own->sizes() &&
        take_on(*own, sizes, at, at) && try_match(call, site, outputs, why))
      return true;
    if (state_ != State::kReplaying || replay_ != &from) return false;
  }
  std::vector<SymbolicSegmentPtr> symbolic_segments = symbolic_segments_of(from.segment().head);
  if (own) {
    std::erase(symbolic_segments, own->symbolic());
  } else if (!symbolic_segments.empty() &&
             symbolic_segments.front()->original()->calls.size() < from.segment().calls.size() &&
             wants_sample_here(call, site, why)) {
    wanted_ = Wanted::kSide;  // the longer loop is worth more at any sizes than a piece of it
    return false;
  }
  for (const SymbolicSegmentPtr& symbolic : symbolic_segments) {
    if (at >= symbolic->original()->calls.size() ||
        !shown_by(*copy_of(symbolic).segment(), at, call, site, shown))
      continue;
    Replay* const receiver = at_sizes_of_run(symbolic, &shown);
    if (!receiver) continue;
    Replay& to = *receiver;
    to.switch_path(from);
    replay_ = &to;
    Reason other = why;
    if (try_match(call, site, outputs, other)) {
      Beginning& known = beginnings_[symbolic->original()->head % kBeginnings];
      if (!own && known.head == symbolic->original()->head) ++known.resized;
      return true;
    }
    if (state_ != State::kReplaying || replay_ != &to) return false;
    to.hand_back(from);
    replay_ = &from;
  }
  return false;
}

template bool Context::follow_sizes(const Call&, const SiteKey&, Tensor*, Reason&);
template bool Context::follow_sizes(const LibraryCall&, const SiteKey&, Tensor*, Reason&);

// ---- recordings at several sizes ----

// When the first call of a segment comes, which is not to run now: what it was left for was other
// tensors, and never the sizes of a later call?
bool Context::may_be_at_other_sizes(const Segment& segment) {
  return segment.calls.size() > 1 &&
         (was_left_for(segment, kAboutSizes) || !was_left_for(segment, kAboutTensors));
}

// An iteration begins as some segment does, but at other sizes.
void Context::note_other_sizes(std::uint64_t head, Reason refusal) {
  if (std::exchange(is_waiting_, false)) return;
  if (state_ != State::kWatching || is_strict() || again_.contains(head) ||
      !(refusal == Reason::kForced || is_about_sizes(refusal)))
    return;
  // Where nothing was refused, what is there is only not to run now.
  if (refusal == Reason::kForced && !symbolic_segments_of(head).empty()) return;
  const SegmentPtr base = armed_of_head(head);
  if (!base || !can_be_sampled(*base) || !discovery_.is_after(base->before) || !wants_sample(head))
    return;
  again_[head] = {.base = base, .is_sample = true};
}

// Would a recording that has what this call shows, where the segment has its call number `at`, tell
// nothing that others do not?
template <typename AnyCall>
bool Context::is_passed_over(const SegmentPtr& segment, std::size_t at, const AnyCall& call,
                             const SiteKey& site) {
  SizeValues shown;
  return shown_by(*segment, at, call, site, shown) &&
         tells_nothing(segment->head, at == 0 ? 0 : shown_of(segment).first[at], shown);
}

template bool Context::is_passed_over(const SegmentPtr&, std::size_t, const Call&, const SiteKey&);
template bool Context::is_passed_over(const SegmentPtr&, std::size_t, const LibraryCall&,
                                      const SiteKey&);

template <typename AnyCall>
bool Context::wants_sample_here(const AnyCall& call, const SiteKey& site, Reason reason) {
  const SegmentPtr& segment = replay_->segment_pointer();
  if (!is_about_sizes(reason) || is_strict() || !can_be_sampled(*segment) ||
      is_passed_over(segment, replay_->matched(), call, site))
    return false;
  return is_sample_ = wants_sample(segment->head);
}

template bool Context::wants_sample_here(const Call&, const SiteKey&, Reason);
template bool Context::wants_sample_here(const LibraryCall&, const SiteKey&, Reason);

// True when the recording is to be compiled by itself, as also what was taken for other sizes and
// is something else: another phase, say, in which other parameters are trained.
bool Context::keep_sample(const SegmentPtr& segment) {
  const bool is_sample = std::exchange(is_sample_, false);
  auto make = std::exchange(segment->make_graph, nullptr);
  if (!is_sample && !is_compilation_synchronous() && is_early_sample(segment->head)) {
    segment->make_graph = [make = std::move(make), sample = segment.get()](Graph& graph) {
      make(graph);
      note_sample(*sample);
    };
    return true;
  }
  make(segment->graph);
  switch (add_sample(segment)) {
    case Sample::kCovered:
      return false;
    case Sample::kOfNewStructure:
    case Sample::kOfFewSizes:
      return true;
    case Sample::kFixed:
    case Sample::kNoted:
      break;
  }
  return !is_sample;
}

// A loop with lines that come at sizes without end: a program for the sizes of the moment would
// hardly ever run. It is recorded until it is known what follows from which size. True when it is
// to be compiled by itself: it comes at the same sizes after all.
bool Context::keep_first_sample(const SegmentPtr& segment) {
  if (armed_of_head(segment->head)) return keep_sample(segment);
  is_sample_ = false;
  if (const auto make = std::exchange(segment->make_graph, nullptr)) make(segment->graph);
  const Sample known = add_sample(segment);
  if (known == Sample::kCovered) return false;
  if (known == Sample::kFixed || known == Sample::kOfFewSizes || samples_left_ == 0) return true;
  again_[segment->head] = {.base = segment, .is_sample = true, .samples_left = samples_left_ - 1};
  return false;
}

void Context::drop_retired_symbolic_segments() {
  std::erase_if(shapes_, [this](const auto& entry) {
    const SegmentPtr& segment = entry.second->segment();
    return !entry.second->symbolic()->is_armed() &&
           !(replay_ && replay_->segment_pointer() == segment);
  });
  shown_.clear();
}

}  // namespace groove::tracer
