#include "tracer/cache/symbolic_segment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <mutex>
#include <utility>

#include "src/core/check.h"
#include "src/core/environment.h"
#include "src/core/hash.h"
#include "tracer/cache/budget.h"
#include "tracer/cache/registry.h"
#include "tracer/cache/shared_locks.h"
#include "tracer/cache/symbolic_copy.h"
#include "tracer/thread/modes.h"
#include "tracer/watch/investment.h"

namespace groove::tracer {
namespace {

// Programs of a symbolic segment that are kept, the last used ones: no more than a part of what all
// compiled loops may take.
constexpr std::size_t kMostPrograms = 256, kMostProgramBytes = 64 << 20;
// Threads that need a program for the same sizes at once: one makes it, the others wait for it, but
// not for ever. A forked child may find a turn taken by a thread that it has not.
constexpr std::chrono::milliseconds kLongestWait{500};
std::timed_mutex& turn_of(std::size_t hash) {
  static std::array<std::timed_mutex, 16> turns;
  return turns[hash % turns.size()];
}

void tell_sizes(const Segment& segment, const std::string& what) {
  if (environment().logs("segments"))
    fmt::print(stderr, "groove: loop at {} at other sizes: {}\n", segment.source, what);
}

// What the registry and reports ask of a symbolic segment's recording.
class SymbolicPrograms final : public Executable {
 public:
  explicit SymbolicPrograms(std::weak_ptr<const SymbolicSegment> symbolic)
      : symbolic_(std::move(symbolic)) {}
  std::size_t arena_bytes() const override { return 0; }
  std::size_t memory_bytes() const override {
    const auto symbolic = symbolic_.lock();
    return symbolic ? symbolic->memory_bytes() : 0;
  }
  std::int32_t run(void* const*, const std::int64_t*, const std::uint64_t*,
                   ProgramContext&) const noexcept override {
    return 1;
  }
  std::string describe() const override {
    const auto symbolic = symbolic_.lock();
    return symbolic ? symbolic->describe() : "at any sizes";
  }
  bool is_asked() const {
    const auto symbolic = symbolic_.lock();
    return symbolic && symbolic->is_asked();
  }

 private:
  std::weak_ptr<const SymbolicSegment> symbolic_;  // which may be gone before its recording
};

}  // namespace

std::string sizes_text(const Segment& segment) {
  const auto* const symbolic = dynamic_cast<const SymbolicPrograms*>(segment.executable.get());
  return symbolic ? symbolic->describe() : std::string();
}

bool waits_for_sizes(const Segment& segment) {
  const auto* const programs = dynamic_cast<const SymbolicPrograms*>(segment.executable.get());
  return programs && programs->is_asked();
}

// ---- the symbolic segment ----

SymbolicSegment::SymbolicSegment(SegmentPtr original, const SizeNumbers& numbers, SizeFit fit)
    : original_(std::move(original)),
      structure_(numbers.structure),
      structure_before_(numbers.structure_before),
      in_history_(numbers.in_history),
      expressions_(std::move(fit.expressions)) {
  for (std::size_t i = 0; i < expressions_.size(); ++i)
    if (!expressions_[i].is_constant()) moving_.push_back(i);
  for (const std::size_t number : fit.symbols) {
    const auto call = static_cast<std::size_t>(
        std::upper_bound(numbers.shown.begin(), numbers.shown.end(), number) -
        numbers.shown.begin() - 1);
    const std::int64_t value = numbers.numbers[number].value();
    symbols_.push_back({number, call, value, value});
    names_.push_back(name_of_shown(*original_, call, number - numbers.shown[call]));
    are_shown_at_once_ &= original_->stage_ends.empty() ||
                          static_cast<std::int32_t>(call) < original_->stage_ends[0].after;
  }
}

void SymbolicSegment::adopt_original() {
  original_->executable = std::make_unique<SymbolicPrograms>(weak_from_this());
  original_->profile.note_many_sizes();
}

bool SymbolicSegment::covers(const SizeNumbers& numbers) const {
  return gives(numbers, numbers.values());
}

bool SymbolicSegment::gives(const SizeNumbers& numbers,
                            const std::vector<std::int64_t>& values) const {
  const SizeValues sizes = sizes_in(values);
  for (std::size_t i = 0; i < expressions_.size(); ++i)
    if (!numbers.numbers[i].may_be_anything && expressions_[i].value(sizes) != values[i])
      return false;
  return true;
}

bool SymbolicSegment::admit_ones(const SizeNumbers& numbers,
                                 const std::vector<std::int64_t>& values) {
  if (!gives(numbers, values)) return false;
  const SizeValues sizes = sizes_in(values);
  AnySize::Ones seen = 0;
  for (std::size_t i = 0; i < sizes.size() && i < AnySize::kMostSizes; ++i)
    if (sizes[i] == 1) seen |= AnySize::one(i);
  if (seen == 0) return false;
  ones_.fetch_or(seen, std::memory_order_relaxed);
  note_sizes(sizes);
  const std::lock_guard lock(symbolic_locks().of(this));
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] == 1 && refuses_one(i)) return false;
  return true;
}

// What is being made may take it.
bool SymbolicSegment::refuses_one(std::size_t symbol) const {
  const auto takes_one = [&](const auto& any_size) { return any_size->covers(symbol, 1, ones()); };
  return !next_any_size_ && symbol < AnySize::kMostSizes &&
         (refused_ & AnySize::one(symbol)) != 0 &&
         std::none_of(any_sizes_.begin(), any_sizes_.end(), takes_one);
}

SizeValues SymbolicSegment::sizes_in(const std::vector<std::int64_t>& numbers) const {
  SizeValues sizes;
  for (const Symbol& symbol : symbols_) sizes.push_back(numbers[symbol.number]);
  return sizes;
}

std::size_t SymbolicSegment::Hash::operator()(const SizeValues& sizes) const {
  return mixed_all(sizes.size(), sizes);
}

SegmentPtr SymbolicSegment::find(const SizeValues& sizes) {
  const std::lock_guard lock(symbolic_locks().of(this));
  const auto found = programs_.find(sizes);
  if (found == programs_.end()) return nullptr;
  found->second.used = ++clock_;
  note_made(found->second);
  return found->second.segment;
}

void SymbolicSegment::note_made(Program& entry) {
  if (entry.is_made || entry.segment->state.load(std::memory_order_acquire) == State::kCompiling)
    return;
  entry.is_made = true;
  makings_->note_made(entry.segment->statistics.compile_milliseconds);
  if (entry.segment->executable)
    entry.bytes = entry.segment->executable->memory_bytes() + sizeof(Segment);
  bytes_ += entry.bytes;
}

SegmentPtr SymbolicSegment::make(const SizeValues& sizes, const Graph& graph, bool is_synchronous) {
  std::unique_lock turn(turn_of(Hash()(sizes)), std::defer_lock);
  // By the clock on the wall: ThreadSanitizer does not see how a mutex waits by another.
  if (is_synchronous && turn.try_lock_until(std::chrono::system_clock::now() + kLongestWait)) {
    SegmentPtr known = find(sizes);
    if (known && known->is_armed()) return known;
  }
  auto program = std::make_shared<Segment>();
  program->graph = graph;
  program->source = original_->source;
  program->id = original_->id;
  program->make_executable = program_of_many_sizes;
  const std::int64_t start = thread_time();
  compile_program(program, is_synchronous);
  const std::int64_t taken = thread_time() - start;
  makings_->note_begun();
  if (is_synchronous) investment().spend_here(taken);
  const std::lock_guard lock(symbolic_locks().of(this));
  Program& entry = programs_[sizes];
  bytes_ -= entry.bytes;
  entry = Program{program, ++clock_};
  note_made(entry);
  drop_oldest();
  return program;
}

void SymbolicSegment::drop_oldest() {
  const std::size_t most = std::min(kMostProgramBytes, cache_bytes() / 4);
  while (programs_.size() > 1 && (programs_.size() > kMostPrograms || bytes_.load() > most)) {
    const auto oldest = std::min_element(
        programs_.begin(), programs_.end(),
        [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
    bytes_ -= oldest->second.bytes;
    programs_.erase(oldest);
  }
}

bool SymbolicSegment::excludes(const SizeValues& sizes, std::size_t at) {
  const std::lock_guard lock(symbolic_locks().of(this));
  bool are_known = true;
  for (std::size_t i = 0; i < symbols_.size(); ++i) {
    const bool is_shown = symbols_[i].call <= at;
    are_known &= is_shown;
    if (is_shown && sizes[i] == 1 && refuses_one(i)) return true;
  }
  return are_known && excluded_.contains(Hash()(sizes));
}

bool SymbolicSegment::wants(const SizeValues& sizes) {
  if (is_compilation_synchronous() || any_size(sizes) || find(sizes)) return true;
  if (may_have_any_size()) {
    ask_for_any_size(sizes);
    return false;
  }
  // Most sizes may never come again. Where one run does not gain what it takes to make its program,
  // that is made for sizes that came before.
  constexpr std::uint64_t kFirst = 4;  // programs that tell what one gains
  constexpr std::size_t kMostSeen = 4096;
  if (makings_->begun() < kFirst || original_->profile.gain() > makings_->milliseconds() * 1e6)
    return true;
  const std::lock_guard lock(symbolic_locks().of(this));
  if (seen_.size() >= kMostSeen) seen_.clear();
  return !seen_.insert(Hash()(sizes)).second;
}

bool SymbolicSegment::may_want(const SizeValues& sizes, std::size_t at) {
  if (waits_for_first()) return false;
  if (is_compilation_synchronous() || !may_have_any_size()) return true;
  const auto is_within = [&](const std::shared_ptr<const AnySize>& any_size) {
    for (std::size_t i = 0; i < symbols_.size(); ++i)
      if (symbols_[i].call <= at && !any_size->covers(i, sizes[i], ones())) return false;
    return true;
  };
  {
    const std::lock_guard lock(symbolic_locks().of(this));
    if (std::any_of(any_sizes_.begin(), any_sizes_.end(), is_within)) return true;
  }
  // The sizes that are not known yet are those of an earlier run: these may well come with others.
  ask_for_any_size(sizes);
  return false;
}

bool SymbolicSegment::offers(const SizeValues& sizes, const Graph& graph) {
  if (is_compilation_synchronous() || any_size(sizes)) return true;
  const SegmentPtr known = find(sizes);
  if (known) return known->is_armed();
  if (may_have_any_size()) {
    ask_for_any_size(sizes);
    return false;
  }
  note_programs_made();
  const Makings::How how = makings_->how(original_->profile.gain());
  if (how == Makings::How::kBeside) make(sizes, graph, false);
  return how == Makings::How::kHere;
}

// ---- programs for any sizes ----

std::shared_ptr<const AnySize> SymbolicSegment::any_size_for_run(const SizeValues& sizes) {
  std::shared_ptr<const AnySize> known = any_size(sizes);
  if (known || !is_compilation_synchronous() || !may_have_any_size()) return known;
  ask_for_any_size(sizes);
  return any_size(sizes);
}

std::shared_ptr<const AnySize> SymbolicSegment::any_size(const SizeValues& sizes) {
  const std::lock_guard lock(symbolic_locks().of(this));
  if (next_any_size_ &&
      next_any_size_->state.load(std::memory_order_acquire) != State::kCompiling) {
    const auto made = std::dynamic_pointer_cast<const AnySize>(next_any_size_->executable);
    const NoneMade ended = std::exchange(none_made_, NoneMade::kFailed);
    if (made) {
      bytes_ += made->memory_bytes();
      any_sizes_.push_back(made);
      original_->loop->begin_afresh();
      tell_sizes(*original_, "a program " + made->describe());
    } else if (ended != NoneMade::kPutOff) {
      failures_ += ended == NoneMade::kFailed ? 1 : 0;
      tell_sizes(*original_, "no program for any: " + next_any_size_->failure);
    }
    next_any_size_ = nullptr;
    if (ended != NoneMade::kPutOff) {
      search_ = {};
      is_asked_.store(false, std::memory_order_relaxed);
    }
  }
  const auto found = std::find_if(any_sizes_.begin(), any_sizes_.end(), [&](const auto& any_size) {
    return any_size->covers(sizes, ones());
  });
  return found == any_sizes_.end() ? nullptr : *found;
}

bool SymbolicSegment::may_have_any_size() const {
  constexpr std::size_t kMost = 8;
  constexpr int kMostFailures = 2;
  const std::lock_guard lock(symbolic_locks().of(this));
  return failures_ < kMostFailures && any_sizes_.size() < kMost;
}

bool SymbolicSegment::waits_for_first() {
  if (is_compilation_synchronous() || !may_have_any_size()) return false;
  SizeValues sizes;
  {
    const std::lock_guard lock(symbolic_locks().of(this));
    if (!any_sizes_.empty() || !programs_.empty()) return false;
    for (const Symbol& symbol : symbols_) sizes.push_back(symbol.greatest);
  }
  if (any_size(sizes)) return false;
  ask_for_any_size(sizes);
  return true;
}

// Of those that came, `sizes` among them, and of others that are likely to: of n numbers drawn
// evenly the least lies about a part in n - 1 of what is between them and the greatest from its
// end, and few tell little of how far they spread. Between the powers of two structures hardly
// change, and from 2 on few do.
std::vector<AnySize::Bounds> SymbolicSegment::bounds_of(const SizeValues& sizes) const {
  std::vector<AnySize::Bounds> came, bounds;
  for (std::size_t i = 0; i < symbols_.size(); ++i)
    came.push_back(
        {std::min(symbols_[i].least, sizes[i]), std::max(symbols_[i].greatest, sizes[i])});
  for (auto [least, greatest] : came) {
    // What one was, such as the rows of an expert, another of the same magnitude may be.
    constexpr std::int64_t kAlike = 4;
    for (const auto& other : came) {
      if (other.greatest > kAlike * greatest || greatest > kAlike * other.greatest) continue;
      least = std::min(least, other.least);
      greatest = std::max(greatest, other.greatest);
    }
    const std::int64_t apart = (greatest - least) / std::max<std::int64_t>(1, times_noted_ - 1);
    least = std::min<std::int64_t>(least, least - apart < 2 ? 1 : 2);
    greatest += std::max<std::int64_t>(greatest, 0);
    bounds.push_back({least, greatest < 2 ? greatest : ceiling_of_two(greatest)});
  }
  return bounds;
}

// Between the sizes that others cover.
std::vector<AnySize::Bounds> SymbolicSegment::widest_bounds(const SizeValues& sizes) const {
  std::vector<AnySize::Bounds> widest = bounds_of(sizes);
  if (symbols_.size() > 1) return widest;
  for (const std::shared_ptr<const AnySize>& known : any_sizes_) {
    const auto [least, greatest] = known->bounds(0);
    if (least > sizes[0]) widest[0].greatest = std::min(widest[0].greatest, least - 1);
    if (greatest < sizes[0]) widest[0].least = std::max(widest[0].least, greatest + 1);
  }
  return widest;
}

// The first of its programs takes what any segment like it does, the others find its code. How many
// there will be is not known: so many are granted at a time.
void SymbolicSegment::ask_for_any_size(const SizeValues& sizes) {
  constexpr std::int64_t kSegments = 3, kSamples = 4;
  const bool is_synchronous = is_compilation_synchronous();
  is_asked_.store(true, std::memory_order_relaxed);
  const std::size_t operators = operators_of(*original_);
  std::int64_t granted = kSegments * investment().expected(operators);
  {
    const std::lock_guard lock(symbolic_locks().of(this));
    if (next_any_size_) return;
    if (!search_.samples.empty()) granted = kSamples * sample_nanoseconds_;
  }
  if (!is_synchronous &&
      !investment().affords(this, granted, original_->profile.gain_of(operators)))
    return;
  auto job = std::make_shared<Segment>();
  {
    const std::lock_guard lock(symbolic_locks().of(this));
    if (next_any_size_) return;
    next_any_size_ = job;
    if (search_.now.empty()) search_ = {sizes, widest_bounds(sizes), {}};
  }
  job->source = original_->source;
  job->id = original_->id;
  if (is_synchronous) granted = std::numeric_limits<std::int64_t>::max();
  job->make_executable = [self = shared_from_this(), granted](Compiler& compiler, Segment& job) {
    return self->find_any_size(compiler, job, granted);
  };
  compile_program(job, is_synchronous);
}

// Where a size may be 1 only as an expression says (AnySize::covers), it is more in all samples.
bool SymbolicSegment::begin_search(SymbolicCopy& copy) {
  if (!search_.samples.empty()) return copy.resize(search_.now, 0);
  SizeValues more = search_.now;
  for (std::int64_t& size : more)
    if (size == 1) size = 2;
  if (!copy.resize(more, 0)) return copy.resize(search_.now, 0);
  for (std::size_t i = 0; i < more.size() && i < AnySize::kMostSizes; ++i) {
    SizeValues sizes = more;
    sizes[i] = 1;
    if (copy.resize(sizes, 0)) continue;
    const std::lock_guard lock(symbolic_locks().of(this));
    refused_ |= AnySize::one(i);
    search_.now[i] = more[i];
    std::int64_t& least = search_.widest[i].least;
    least = std::max<std::int64_t>(least, 2);
  }
  return copy.resize(search_.now, 0);
}

std::shared_ptr<Executable> SymbolicSegment::find_any_size(Compiler& compiler, Segment& job,
                                                           std::int64_t granted) {
  SymbolicCopy copy(shared_from_this());
  if (!begin_search(copy)) {
    job.failure = "the recording does not hold at these sizes";
    const std::lock_guard lock(symbolic_locks().of(this));
    excluded_.insert(Hash()(search_.now));
    none_made_ = NoneMade::kExcluded;
    return nullptr;
  }
  const std::int64_t begin = thread_time();
  const auto make = [&](const SizeValues& at, const Executable* like) {
    const std::int64_t start = thread_time(), spent = start - begin;
    if (like && spent + sample_nanoseconds_ > granted &&
        !investment().affords(spent + sample_nanoseconds_))
      throw AnySize::PutOff();
    AnySize::Sample sample;
    sample.sizes = at;
    if (!copy.resize(at, 0)) return sample;
    sample.graph = copy.segment()->graph;
    std::shared_ptr<Executable> program = compiler.compile_for_any_size(sample.graph, like);
    sample_nanoseconds_ = thread_time() - start;
    if (!program || !program->list_numbers(sample.numbers)) return sample;
    sample.program = std::move(program);
    for (const TypeNumber& number : copy.types()) sample.types.push_back(number.value());
    return sample;
  };
  try {
    return std::make_shared<AnySize>(
        search_, make, [&](const SizeValues& at) { return copy.types_with_ones(at); });
  } catch (const AnySize::PutOff&) {
    const std::lock_guard lock(symbolic_locks().of(this));
    none_made_ = NoneMade::kPutOff;
  } catch (const Error& error) {  // then each size has one of its own
    job.failure = error.msg();
  }
  return nullptr;
}

// What it takes to make a program is made up for after so many runs that are a little faster. None
// is where a stage has run before all sizes are known: it would have to run again in the other.
SegmentPtr SymbolicSegment::ready_program(const SizeValues& sizes, const Graph& graph) {
  constexpr std::size_t kMostSeen = 4096;
  constexpr double kFaster = 0.05;
  if (!are_shown_at_once_ && any_size(sizes)) return nullptr;
  const SegmentPtr known = find(sizes);
  if (known) return known->is_armed() ? known : nullptr;
  if (is_compilation_synchronous()) return nullptr;
  std::uint32_t runs = 0;
  {
    const std::lock_guard lock(symbolic_locks().of(this));
    if (any_sizes_.empty()) return nullptr;
    if (runs_.size() >= kMostSeen) runs_.clear();
    runs = ++runs_[Hash()(sizes)];
  }
  const double run = original_->profile.compiled(), cost = makings_->milliseconds();
  if (runs % 64 == 0 && runs * run * kFaster > cost &&
      investment().affords(static_cast<std::int64_t>(cost * 1e6)))
    make(sizes, graph, false);
  return nullptr;
}

SegmentPtr SymbolicSegment::program(const SizeValues& sizes, const Graph& graph) {
  SegmentPtr known = find(sizes);
  if (!known || !known->is_armed()) return make(sizes, graph, true);
  makings_->note_found();
  return known;
}

std::shared_ptr<HistoryPlan> SymbolicSegment::history(const SizeValues& sizes,
                                                      const HistoryPlan& now) {
  SizeValues numbers;
  for (auto number = std::lower_bound(moving_.begin(), moving_.end(), in_history_);
       number != moving_.end(); ++number)
    numbers.push_back(expressions_[*number].value(sizes));
  const std::lock_guard lock(symbolic_locks().of(this));
  if (histories_.size() >= kMostPrograms && !histories_.contains(numbers)) histories_.clear();
  std::shared_ptr<HistoryPlan>& known = histories_[numbers];
  if (!known) known = now.copy(backwards_);
  return known;
}

void SymbolicSegment::note_programs_made() {
  if (makings_->made() > 0) return;
  const std::lock_guard lock(symbolic_locks().of(this));
  for (auto& [sizes, program] : programs_) note_made(program);
}

void SymbolicSegment::note_sizes(const SizeValues& sizes) {
  const std::lock_guard lock(symbolic_locks().of(this));
  ++times_noted_;
  for (std::size_t i = 0; i < symbols_.size(); ++i) {
    symbols_[i].least = std::min(symbols_[i].least, sizes[i]);
    symbols_[i].greatest = std::max(symbols_[i].greatest, sizes[i]);
  }
}

std::string SymbolicSegment::describe() const {
  const std::lock_guard lock(symbolic_locks().of(this));
  std::string text = "at any sizes:";
  for (std::size_t i = 0; i < symbols_.size(); ++i)
    text += fmt::format("{} {} ({} to {} so far)", i == 0 ? "" : ",", names_[i], symbols_[i].least,
                        symbols_[i].greatest);
  for (const auto& any_size : any_sizes_) text += "; a program " + any_size->describe();
  if (makings_->made() > 0)
    text += fmt::format("; {} programs of one size kept of {} made, one takes {:.2f} ms",
                        programs_.size(), makings_->made(), makings_->milliseconds());
  return text + fmt::format("; {} KB", bytes_.load() >> 10);
}

}  // namespace groove::tracer
