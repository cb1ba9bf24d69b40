#include "autodiff/segment_backward.h"

#include <algorithm>
#include <set>

#include "autodiff/arithmetic.h"
#include "autodiff/backward.h"
#include "autodiff/views.h"
#include "groove/autograd.h"
#include "kernels/ops/graph_builder.h"
#include "src/core/check.h"
#include "src/core/number_watch.h"
#include "tracer/cache/promotion.h"
#include "tracer/cache/registry.h"
#include "tracer/cache/shared_locks.h"
#include "tracer/calls/numbers.h"
#include "tracer/tell/coverage.h"
#include "tracer/thread/modes.h"
#include "tracer/watch/investment.h"

namespace groove::autodiff {
namespace {

using kernels::GraphBuilder;
using tracer::HistoryPlan;
using tracer::HistoryRun;

constexpr std::size_t kMostPrograms = 24;  // of one plan

using Key = std::vector<std::int64_t>;

void add_to(Key& key, const Tensor& tensor) {
  if (!tensor.defined()) {
    key.push_back(-1);
    return;
  }
  const TensorImpl& impl = *tensor.impl();
  key.push_back(static_cast<std::int64_t>(impl.dtype) * 2 + (impl.is_contiguous ? 1 : 0));
  key.insert(key.end(), impl.geometry.sizes.begin(), impl.geometry.sizes.end());
  if (!impl.is_contiguous)
    key.insert(key.end(), impl.geometry.strides.begin(), impl.geometry.strides.end());
}

Key key_of(const BackwardCall& call) {
  Key key;
  for (const Tensor& cotangent : call.cotangents) add_to(key, cotangent);
  for (std::size_t e = 0; e < call.needs.size(); ++e) {
    key.push_back(call.needs[e]);
    add_to(key, call.sums[e]);
  }
  return key;
}

void add_up(Tensor& sum, const Tensor& part) { sum = sum.defined() ? sum_of(sum, part) : part; }

Scalar number_of(const HistoryRun& run, const NumberRef& ref) {
  return ref.entry < 0 ? ref.constant
                       : tracer::number_in(run.numbers[static_cast<std::size_t>(ref.entry)],
                                           ref.constant.type());
}

}  // namespace

detail::RefPtr<Node> make_node(const HistoryRun& run, std::size_t index, bool has_origins,
                               const ValueOf& value_of) {
  using Kind = HistoryPlan::Node::Kind;
  const HistoryPlan::Node& planned = run.plan->nodes[index];
  const std::uint64_t sequence = run.first_position + planned.position;
  SmallVector<Scalar, 2> numbers, step_numbers;
  const auto add_numbers = [&](const std::vector<NumberRef>& from, SmallVector<Scalar, 2>& to) {
    for (const NumberRef& ref : from) {
      const Scalar number = number_of(run, ref);
      to.push_back(has_origins && ref.entry >= 0 ? number.with_origin(ref.entry) : number);
    }
  };
  add_numbers(planned.numbers, numbers);
  for (const HistoryPlan::Step& step : planned.steps) add_numbers(step.numbers, step_numbers);
  if (planned.kind == Kind::kFunction) {
    TapeNode& function = *run.code[static_cast<std::size_t>(planned.code)];
    place_function(function, planned, sequence);
    for (std::size_t i = 0; i < planned.saved.size() && value_of; ++i)
      if (planned.saved[i].value >= 0) {
        const auto value = static_cast<std::size_t>(planned.saved[i].value);
        give_saved(function, planned, i, value_of(value, planned.saved_outputs[i] >= 0),
                   run.values[value].version_before + planned.saved[i].version);
      }
    return detail::RefPtr<Node>(static_cast<Node*>(&function));
  }
  if (planned.kind == Kind::kView) return make_planned_view(planned, step_numbers, {}, sequence);
  auto node = OpNode::make_planned(planned, numbers, sequence);
  for (std::size_t i = 0; i < planned.saved.size(); ++i) {
    const HistoryPlan::Saved& saved = planned.saved[i];
    if (saved.value < 0 || !value_of) continue;
    const auto value = static_cast<std::size_t>(saved.value);
    node->save_planned(i, value_of(value, i >= planned.edges.size()),
                       has_origins ? 0 : run.values[value].version_before + saved.version);
  }
  if (planned.kind == Kind::kWrite)
    return make_planned_view(planned, step_numbers, std::move(node), sequence);
  return detail::RefPtr<Node>(node.get());
}

// ---- programs ----

// How a backward is answered. Made on the compile thread; there for others once its code is armed.
struct Answer {
  std::vector<std::pair<int, std::uint64_t>> looked_at;  // numbers that are part of it
  // An argument of the code: a cotangent, a sum, or a saved value.
  enum class From : std::uint8_t { kCotangent, kSum, kValue };
  struct Argument {
    From from;
    std::size_t index;
  };
  std::vector<Argument> arguments;
  // What becomes of the sum of an outside edge: an argument as it is, a result, or nothing new.
  struct Sum {
    std::int32_t argument = -1, result = -1;
  };
  std::vector<Sum> sums;
  std::vector<Type> results;
  std::vector<bool> has_run;
  std::uint64_t operators = 0;
};

// What a backward asked for, without its tensors.
struct Question {
  struct Given {
    bool is_defined = false;
    Type type;
    Shape strides;
  };
  std::vector<Given> cotangents, sums;
  std::vector<char> needs;
  tracer::HistoryRun run;

  explicit Question(const BackwardCall& call) {
    const auto given = [](const Tensor& tensor) {
      if (!tensor.defined()) return Given{};
      const TensorImpl& impl = *tensor.impl();
      return Given{true, {impl.dtype, impl.geometry.sizes}, impl.geometry.strides};
    };
    for (const Tensor& cotangent : call.cotangents) cotangents.push_back(given(cotangent));
    for (std::size_t e = 0; e < call.needs.size(); ++e) {
      sums.push_back(given(call.sums[e]));
      needs.push_back(call.needs[e]);
    }
    run.plan = call.run.plan;
    run.first_position = call.run.first_position;
    run.numbers = call.run.numbers;
    for (const tracer::HistoryRun::Value& value : call.run.values) {
      run.values.emplace_back();
      run.values.back().geometry = value.geometry;
      run.values.back().dtype = value.dtype;
    }
  }
};

struct BackwardPrograms::Program {
  Key key;
  int asked = 0;
  bool is_noted = false;  // what it took to make it, where there are many
  std::shared_ptr<Answer> answer;
  tracer::SegmentPtr code;

  bool is_armed() const {
    return code && code->state.load(std::memory_order_acquire) == tracer::State::kArmed;
  }
  // When there was no room for it: it may come again.
  bool is_dropped() const {
    return code && code->state.load(std::memory_order_acquire) == tracer::State::kRetired &&
           code->failure.empty();
  }
};

BackwardPrograms::BackwardPrograms(const HistoryPlan& plan,
                                   std::shared_ptr<tracer::Makings> makings)
    : plan_(plan), makings_(std::move(makings)) {
  std::size_t slots = 0;
  for (const HistoryPlan::Node& node : plan.nodes) {
    first_slot_.push_back(slots);
    slots += node.outputs();
  }
  std::set<std::pair<std::int32_t, std::uint32_t>> places;
  std::vector<std::vector<bool>> reaches(plan.nodes.size());  // outside edges
  std::vector<bool> runs(plan.nodes.size());                  // with all below
  for (std::size_t n = 0; n < plan.nodes.size(); ++n) {
    const HistoryPlan::Node& node = plan.nodes[n];
    reaches[n].resize(plan.outside.size());
    // User code is called by a backward that knows its place.
    runs[n] = !(node.is_released && node.has_saved) &&
              node.kind != HistoryPlan::Node::Kind::kFunction && node.hooks.empty();
    for (const HistoryPlan::Edge& edge : node.edges) {
      if (edge.outside >= 0) reaches[n][static_cast<std::size_t>(edge.outside)] = true;
      if (edge.node < 0) continue;
      runs[n] = runs[n] && runs[static_cast<std::size_t>(edge.node)];
      const std::vector<bool>& below = reaches[static_cast<std::size_t>(edge.node)];
      for (std::size_t e = 0; e < below.size(); ++e)
        if (below[e]) reaches[n][e] = true;
    }
  }
  for (const HistoryPlan::Result& result : plan.results) {
    can_run_ &= places.insert({result.made_by.node, result.made_by.index}).second;
    const std::vector<bool>& below = reaches[static_cast<std::size_t>(result.made_by.node)];
    is_uniform_ &= std::find(below.begin(), below.end(), false) == below.end();
    leads_to_.push_back(below);
    can_run_from_.push_back(runs[static_cast<std::size_t>(result.made_by.node)]);
  }
}

BackwardPrograms::~BackwardPrograms() = default;

std::vector<bool> BackwardPrograms::run(const BackwardCall& call, const ValueOf& value_of) {
  const std::shared_ptr<Program> program = program_for(call);
  if (program && run_program(*program, call, value_of)) return program->answer->has_run;
  ++node_runs_;
  return run_nodes(call, value_of, false);
}

std::string BackwardPrograms::describe() const {
  const std::lock_guard lock(tracer::history_locks().of(this));
  std::size_t armed = 0;
  std::uint64_t runs = 0;
  for (const auto& program : programs_) {
    armed += program->is_armed() ? 1 : 0;
    if (program->is_armed()) runs += program->code->statistics.hits;
  }
  return fmt::format("its backward: {} programs, run {} times, {} times node by node", armed, runs,
                     node_runs_.load());
}

// As the engine would run them: from the last on, each when a cotangent has come and somebody below
// needs what it gives.
std::vector<bool> BackwardPrograms::run_nodes(const BackwardCall& call, const ValueOf& value_of,
                                              bool has_origins) const {
  const std::size_t count = plan_.nodes.size();
  std::vector<bool> is_needed(count), has_run(count);
  const auto needs_edge = [&](const HistoryPlan::Edge& edge) {
    if (edge.outside >= 0) return call.needs[static_cast<std::size_t>(edge.outside)];
    return edge.node >= 0 && is_needed[static_cast<std::size_t>(edge.node)];
  };
  for (std::size_t n = 0; n < count; ++n)
    is_needed[n] =
        std::any_of(plan_.nodes[n].edges.begin(), plan_.nodes[n].edges.end(), needs_edge);
  const HistoryPlan::Node& last = plan_.nodes.back();
  Tensors slots(first_slot_.back() + last.outputs());
  const auto slot = [&](const HistoryPlan::Edge& edge) -> Tensor& {
    return slots[first_slot_[static_cast<std::size_t>(edge.node)] + edge.index];
  };
  for (std::size_t r = 0; r < plan_.results.size(); ++r)
    if (call.cotangents[r].defined()) add_up(slot(plan_.results[r].made_by), call.cotangents[r]);
  for (std::size_t n = count; n-- > 0;) {
    const HistoryPlan::Node& planned = plan_.nodes[n];
    const std::size_t edges = planned.edges.size(), outputs = planned.outputs();
    const auto first = slots.begin() + static_cast<std::ptrdiff_t>(first_slot_[n]);
    Tensors cotangents(std::make_move_iterator(first),
                       std::make_move_iterator(first + static_cast<std::ptrdiff_t>(outputs)));
    const bool has_cotangent = std::any_of(cotangents.begin(), cotangents.end(),
                                           [](const Tensor& t) { return t.defined(); });
    if (!has_cotangent || !is_needed[n]) continue;
    has_run[n] = true;
    const std::unique_ptr<bool[]> needs(new bool[edges]());
    for (std::size_t i = 0; i < edges; ++i) needs[i] = needs_edge(planned.edges[i]);
    Tensors gradients(edges);
    const auto node = make_node(call.run, n, has_origins, value_of);
    node->apply(cotangents, ArrayRef<bool>(needs.get(), edges), gradients.data());
    cotangents.clear();
    for (std::size_t i = 0; i < edges; ++i) {
      if (!gradients[i].defined() || !needs[i]) continue;
      const HistoryPlan::Edge& edge = planned.edges[i];
      if (const Type* const type = node->edge_type(static_cast<std::uint32_t>(i)))
        gradients[i] = conform(gradients[i], *type, node->name());
      Tensor& sum =
          edge.outside >= 0 ? call.sums[static_cast<std::size_t>(edge.outside)] : slot(edge);
      add_up(sum, gradients[i]);
      gradients[i].reset();
    }
  }
  return has_run;
}

// The program to run now; null while there is none.
std::shared_ptr<BackwardPrograms::Program> BackwardPrograms::program_for(const BackwardCall& call) {
  Key key = key_of(call);
  std::unique_lock lock(tracer::history_locks().of(this));
  std::erase_if(programs_, [](const auto& program) { return program->is_dropped(); });
  const auto fits = [&](const std::shared_ptr<Program>& program) {
    if (program->key != key) return false;
    if (!program->is_armed()) return true;
    const auto& looked_at = program->answer->looked_at;
    return std::all_of(looked_at.begin(), looked_at.end(), [&](const auto& one) {
      return call.run.numbers[static_cast<std::size_t>(one.first)] == one.second;
    });
  };
  auto found = std::find_if(programs_.begin(), programs_.end(), fits);
  if (found == programs_.end()) {
    if (programs_.size() >= kMostPrograms) return nullptr;
    found = programs_.insert(found, std::make_shared<Program>());
    (*found)->key = std::move(key);
  }
  const std::shared_ptr<Program> program = *found;
  if (!program->code) {
    bool is_synchronous = tracer::is_compilation_synchronous();
    if (makings_) {
      // Runs at these sizes need not come again.
      const tracer::Makings::How how = makings_->how();
      if (how == tracer::Makings::How::kNot) return nullptr;
      is_synchronous = how == tracer::Makings::How::kHere;
    } else if (++program->asked <= tracer::hot_repeats()) {
      return nullptr;
    }
    program->answer = std::make_shared<Answer>();
    program->code = std::make_shared<tracer::Segment>();
    program->code->source = "the backward of " + plan_.source;
    program->code->make_graph = [question = Question(call),
                                 answer = program->answer](Graph& graph) {
      static_cast<const LivePlan&>(*question.run.plan).programs->build(question, *answer, graph);
    };
    if (makings_) program->code->make_executable = tracer::program_of_many_sizes;
    // Others find it as one that is not armed yet. The registry, which may ask for this lock, has
    // one of its own.
    lock.unlock();
    make(program->code, is_synchronous);
    lock.lock();
  } else if (makings_) {
    makings_->note_found();
  }
  if (!program->is_armed()) return nullptr;
  if (makings_ && !std::exchange(program->is_noted, true))
    makings_->note_made(program->code->statistics.compile_milliseconds);
  return fits(program) ? program : nullptr;
}

void BackwardPrograms::make(const tracer::SegmentPtr& code, bool is_synchronous) const {
  const std::int64_t start = thread_time();
  tracer::compile_program(code, is_synchronous);
  if (!makings_) return;
  makings_->note_begun();
  if (is_synchronous) tracer::investment().spend_here(thread_time() - start);
}

// Runs the gradient rules on tensors without data.
void BackwardPrograms::build(const Question& question, Answer& answer, Graph& graph) const {
  const HistoryRun& run = question.run;
  graph.numbers = plan_.number_kinds;
  GraphBuilder builder(graph, GraphBuilder::Composites::kKeep);
  std::vector<NumberRef> entries;
  for (std::size_t i = 0; i < plan_.number_kinds.size(); ++i)
    entries.push_back(
        {static_cast<std::int32_t>(i), tracer::number_in(run.numbers[i], plan_.number_kinds[i])});
  builder.set_context({}, 0, &entries);
  std::vector<Tensor> given;  // by argument
  const auto add_argument = [&](Answer::From from, std::size_t index, const Type& type,
                                const Shape& strides) {
    answer.arguments.push_back({from, index});
    given.push_back(builder.tensor(graph.add_input(type, strides)));
    return given.back();
  };
  const auto stand_ins = [&](Answer::From from, const std::vector<Question::Given>& of) {
    Tensors result;
    for (std::size_t i = 0; i < of.size(); ++i)
      result.push_back(of[i].is_defined ? add_argument(from, i, of[i].type, of[i].strides)
                                        : Tensor());
    return result;
  };
  const Tensors cotangents = stand_ins(Answer::From::kCotangent, question.cotangents);
  Tensors sums = stand_ins(Answer::From::kSum, question.sums);
  Tensors values(plan_.values.size());
  const auto value_of = [&](std::size_t index, bool) {
    Tensor& value = values[index];
    if (!value.defined()) {
      const HistoryRun::Value& from = run.values[index];
      value = add_argument(Answer::From::kValue, index, {from.dtype, from.geometry.sizes},
                           from.geometry.strides);
    }
    return value;
  };
  const std::unique_ptr<bool[]> needs(new bool[question.needs.size()]());
  std::copy(question.needs.begin(), question.needs.end(), needs.get());
  const NumberWatch watch;
  builder.record([&] {
    const NoGradGuard no_grad;
    const ArrayRef<bool> wanted(needs.get(), question.needs.size());
    answer.has_run = run_nodes({run, cotangents, wanted, sums.data()}, value_of, true);
  });
  for (const int origin : watch.read())
    answer.looked_at.emplace_back(origin, run.numbers[static_cast<std::size_t>(origin)]);
  for (std::size_t e = 0; e < sums.size(); ++e) {
    Answer::Sum& sum = answer.sums.emplace_back();
    if (!sums[e].defined() || !needs[e]) continue;
    const auto same = std::find_if(given.begin(), given.end(),
                                   [&](const Tensor& t) { return t.is_same(sums[e]); });
    if (same != given.end()) {
      sum.argument = static_cast<std::int32_t>(same - given.begin());
      continue;
    }
    const ValueId value = builder.value(sums[e]);
    const auto known =
        std::find_if(graph.outputs.begin(), graph.outputs.end(),
                     [&](const GraphOutput& output) { return output.value == value; });
    sum.result = static_cast<std::int32_t>(known - graph.outputs.begin());
    if (known != graph.outputs.end()) continue;
    graph.outputs.push_back({value, -1, 0});
    answer.results.push_back(graph.type(value));
  }
  for (const groove::Node& node : graph.nodes)
    answer.operators += node.op->kind == OpKind::kView ? 0 : 1;
}

bool BackwardPrograms::run_program(Program& program, const BackwardCall& call,
                                   const ValueOf& value_of) const {
  const Answer& answer = *program.answer;
  Tensors arguments, results;
  std::vector<void*> buffers;
  for (const Answer::Argument& argument : answer.arguments) {
    switch (argument.from) {
      case Answer::From::kCotangent:
        arguments.push_back(call.cotangents[argument.index]);
        break;
      case Answer::From::kSum:
        arguments.push_back(call.sums[argument.index]);
        break;
      case Answer::From::kValue:
        arguments.push_back(value_of(argument.index, true));
        break;
    }
    TensorImpl& impl = *arguments.back().impl();
    materialize(impl);
    buffers.push_back(impl.data());
  }
  for (const Type& type : answer.results) {
    results.push_back(make_empty(type.sizes, type.dtype));
    buffers.push_back(results.back().impl()->data());
  }
  const Executable& code = *program.code->executable;
  ProgramContext context;
  StoragePtr arena;
  if (code.arena_bytes() > 0) {
    arena = allocate_storage(code.arena_bytes());
    context.arena = arena->data;
  }
  {
    const tracer::CompiledTime time;
    if (code.run(buffers.data(), nullptr, call.run.numbers.data(), context) != 0) return false;
  }
  for (std::size_t e = 0; e < answer.sums.size(); ++e) {
    const Answer::Sum& sum = answer.sums[e];
    if (sum.argument >= 0) call.sums[e] = arguments[static_cast<std::size_t>(sum.argument)];
    if (sum.result >= 0) call.sums[e] = results[static_cast<std::size_t>(sum.result)];
  }
  tracer::count_compiled(answer.operators);
  std::atomic<float>& runs = program.code->recent_runs;
  runs.store(runs.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  const std::uint64_t hits = ++program.code->statistics.hits;
  if (tracer::may_be_promoted(*program.code, hits) && !makings_)
    tracer::promote_if_it_pays(program.code, hits, tracer::is_compilation_synchronous());
  return true;
}

}  // namespace groove::autodiff
