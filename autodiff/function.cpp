#include "groove/autograd_function.h"

#include <algorithm>

#include "autodiff/arithmetic.h"
#include "autodiff/backward.h"
#include "autodiff/saved.h"
#include "autodiff/views.h"
#include "src/core/check.h"
#include "src/core/complex.h"
#include "src/core/type_name.h"
#include "tracer/calls/tape_hooks.h"

namespace groove {

namespace autograd {

using autodiff::SavedValue;

namespace {

// The tape knows no complex tensors, and user code is given what the tape knows.
void check_real(const variable_list& tensors) {
  for (const Tensor& tensor : tensors)
    GROOVE_CHECK(!is_complex_tensor(tensor),
                 "Function: complex arguments, results and saved tensors are not built; use "
                 "view_as_real() of them");
}

}  // namespace

struct AutogradContext::Saved {
  std::unordered_map<std::string, IValue> data;
  variable_list to_save;  // between forward() and the node
  variable_list non_differentiable, dirty;
  // Empty places stand for undefined tensors; `output` is where a saved output came from.
  struct Place {
    std::unique_ptr<SavedValue> value;
    int output = -1;
  };
  std::vector<Place> places;
  std::vector<bool> needs;  // per tensor argument
  bool materialize_grads = true;
  TapeNode* node = nullptr;
};

namespace detail {

struct FunctionNode final : autodiff::Node, autodiff::UserCode {
  AutogradContext context;
  BackwardFunction backward = nullptr;
  std::vector<autodiff::Edge> own_edges;
  std::vector<bool> are_tensors;  // of the arguments of forward()
  std::vector<Type> types;
  std::vector<Type> output_types;
  std::vector<std::int64_t> differentiable;  // outputs: 1 or 0
  std::shared_ptr<autograd::Node> user;      // in place of `backward`

  ~FunctionNode() override {
    if (user && user->tape_ == this) user->tape_ = nullptr;
  }
  const char* name() const override { return "Function"; }
  const Type* edge_type(std::uint32_t edge) const override { return &types[edge]; }
  void release_saved() override {
    is_released = true;
    context.saved_->places.clear();
    context.saved_->to_save.clear();
    if (user) user->release_variables();
  }
  // A program's own node knows itself what it has let go of.
  bool is_spent() const override { return is_released && !user; }
  void apply(ArrayRef<Tensor> cotangents, ArrayRef<bool> needs, Tensor* gradients) override {
    accept(call(arguments(cotangents)), needs, gradients);
  }
  UserCode* user_code() override { return this; }
  variable_list arguments(ArrayRef<Tensor> cotangents) override {
    if (is_spent()) autodiff::throw_spent();
    variable_list given(cotangents.begin(), cotangents.end());
    for (std::size_t i = 0; i < given.size(); ++i)
      if (!given[i].defined() && context.saved_->materialize_grads)
        given[i] = autodiff::zeros_of(output_types[i]);
    return given;
  }
  variable_list call(variable_list arguments) override {
    return user ? user->apply(std::move(arguments)) : backward(&context, std::move(arguments));
  }
  void accept(variable_list result, ArrayRef<bool> needs, Tensor* gradients) override {
    while (result.size() > edge_count && !result.back().defined()) result.pop_back();
    GROOVE_CHECK(!user || result.size() == edge_count,
                 "{}: apply() returned an invalid number of gradients - expected {}, but got {}; "
                 "return one for each edge, Variable() where there is none",
                 user->name(), edge_count, result.size());
    GROOVE_CHECK(result.size() == edge_count,
                 "Function: backward() returned an incorrect number of gradients (expected {}, got "
                 "{}); return one for each argument of forward(), Variable() where there is none",
                 edge_count, result.size());
    for (std::size_t i = 0; i < edge_count; ++i)
      GROOVE_CHECK(are_tensors[i] || !result[i].defined(),
                   "Function: backward() returned a gradient at position {}, but that argument of "
                   "forward() is no tensor; return Variable() there (of several tensors each is an "
                   "argument only when they are given as a TensorList)",
                   i + 1);
    for (std::size_t i = 0; i < edge_count; ++i)
      if (needs[i]) gradients[i] = std::move(result[i]);
  }

  // Outputs are kept under other impls: they hold this node.
  void save(ArrayRef<Tensor> outputs) {
    auto& saved = *context.saved_;
    saved.node = this;
    for (const Tensor& tensor : saved.to_save) {
      AutogradContext::Saved::Place place;
      if (tensor.defined()) {
        place.value = std::make_unique<SavedValue>();
        for (std::size_t k = 0; k < outputs.size(); ++k)
          if (outputs[k].is_same(tensor)) place.output = static_cast<int>(k);
        if (place.output >= 0) {
          place.value->save_output(tensor.impl());
          place.value->adopt();
        } else {
          place.value->save(tensor);
        }
      }
      saved.places.push_back(std::move(place));
    }
    saved.to_save.clear();
  }
  bool is_differentiable(const Tensor& output) const {
    const auto& excluded = context.saved_->non_differentiable;
    return is_floating(output.scalar_type()) &&
           std::none_of(excluded.begin(), excluded.end(),
                        [&](const Tensor& t) { return t.is_same(output); });
  }
  bool is_dirty(const Tensor& output) const {
    const auto& dirty = context.saved_->dirty;
    return std::any_of(dirty.begin(), dirty.end(),
                       [&](const Tensor& t) { return t.is_same(output); });
  }
  static void stand_for(const std::shared_ptr<autograd::Node>& node, const variable_list& results);
  // Puts the outputs on the tape behind this node. A replayed iteration does without.
  void attach(ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs) {
    is_released = false;
    sequence = autodiff::advance_tape_sequence();
    for (const Tensor& input : inputs) {
      const bool is_tensor = input.defined();
      own_edges.push_back(is_tensor ? autodiff::gradient_edge(input) : autodiff::Edge());
      types.push_back(is_tensor ? Type{input.scalar_type(), input.impl()->geometry.sizes} : Type());
    }
    edges = own_edges.data();
    edge_count = static_cast<std::uint32_t>(own_edges.size());
    output_count = static_cast<std::uint32_t>(outputs.size());
    save(outputs);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const Tensor& output = outputs[k];
      output_types.push_back(
          output.defined() ? Type{output.scalar_type(), output.impl()->geometry.sizes} : Type());
      if (differentiable[k] != 0)
        autodiff::set_history(*output.impl(), TapeNodePtr(this), static_cast<std::uint32_t>(k));
    }
  }
  // The same for a run that is over, of which a history is left.
  tracer::HistoryPlan::Node describe(
      const std::function<tracer::HistoryPlan::Saved(const SavedValue&)>& place_of) const {
    tracer::HistoryPlan::Node planned;
    planned.kind = tracer::HistoryPlan::Node::Kind::kFunction;
    planned.types = types;
    planned.types.insert(planned.types.end(), output_types.begin(), output_types.end());
    planned.is_released = is_released;
    for (const AutogradContext::Saved::Place& at : context.saved_->places) {
      planned.saved.push_back(at.value ? place_of(*at.value) : tracer::HistoryPlan::Saved());
      planned.saved_outputs.push_back(at.output);
    }
    return planned;
  }
  bool has_changed_saved() const {
    const auto& places = context.saved_->places;
    return std::any_of(places.begin(), places.end(), [](const AutogradContext::Saved::Place& at) {
      return at.value && at.value->is_changed();
    });
  }
  void part_with_saved() { context.saved_->to_save.clear(); }
  void place(const tracer::HistoryPlan::Node& planned, std::uint64_t position) {
    is_released = planned.is_released;
    sequence = position;
    own_edges.resize(planned.edges.size());
    edges = own_edges.data();
    edge_count = static_cast<std::uint32_t>(own_edges.size());
    output_count = static_cast<std::uint32_t>(planned.outputs());
    const auto outputs = planned.types.begin() + static_cast<std::ptrdiff_t>(edge_count);
    types.assign(planned.types.begin(), outputs);
    output_types.assign(outputs, planned.types.end());
    context.saved_->node = this;
    context.saved_->places.resize(planned.saved.size());
  }
  void give_saved(const tracer::HistoryPlan::Node& planned, std::size_t place, const Tensor& value,
                  std::uint32_t version) {
    AutogradContext::Saved::Place& at = context.saved_->places[place];
    at.output = planned.saved_outputs[place];
    at.value = std::make_unique<SavedValue>();
    at.value->save_at(value, version, at.output >= 0);
  }
  // What the program says of outputs, and of what backward() is called with. From then on the
  // context refers to none of them by itself.
  Attrs note_outputs(ArrayRef<Tensor> outputs) {
    for (const Tensor& output : outputs)
      differentiable.push_back(output.defined() && is_differentiable(output));
    context.saved_->non_differentiable.clear();
    context.saved_->dirty.clear();
    return Attrs()
        .add(static_cast<std::int64_t>(are_tensors.size()))
        .add(std::int64_t{context.saved_->materialize_grads})
        .add(IntArrayRef(differentiable));
  }
  void note_arguments(const FunctionArguments& arguments) {
    are_tensors = arguments.are_tensors;
    for (std::size_t i = 0; i < are_tensors.size(); ++i) {
      if (!are_tensors[i]) continue;
      const Tensor& argument = arguments.tensors[i];
      if (argument.defined()) tracer::settle_flags(*argument.impl());
      context.saved_->needs.push_back(argument.defined() &&
                                      autodiff::needs_gradient(*argument.impl()));
    }
  }
};

namespace {

const Op& function_op() {
  static const Op& op = define({.name = "custom_function",
                                .kind = OpKind::kBig,
                                .inputs = -1,
                                .outputs = 0,
                                .attributes = {{"arguments", AttrType::kInt},
                                               {"materialize_grads", AttrType::kBool},
                                               {"differentiable", AttrType::kInts}},
                                .mutates = {},
                                .has_inplace = false});
  return op;
}

}  // namespace

static variable_list put_on_tape(FunctionNode* node, const variable_list& arguments,
                                 variable_list outputs) {
  const bool is_recorded =
      grad_enabled() && std::any_of(arguments.begin(), arguments.end(), [](const Tensor& t) {
        return t.defined() && autodiff::needs_gradient(*t.impl());
      });
  check_real(arguments);
  check_real(outputs);
  for (const Tensor& output : outputs)
    if (output.defined() && node->is_dirty(output) && output.impl()->storage) {
      version_of(*output.impl()) += 1;
      tracer::note_version(*output.impl());
    }
  if (!is_recorded) return outputs;
  for (Tensor& output : outputs) {
    if (!output.defined() || !node->is_differentiable(output)) continue;
    const bool is_argument =
        std::any_of(arguments.begin(), arguments.end(),
                    [&](const Tensor& argument) { return argument.is_same(output); });
    if (!is_argument) continue;
    if (!node->is_dirty(output)) {
      output = output.detach();
      // A write to it would be one to the argument, unknown to the argument's history.
      autograd_meta(*output.impl()).is_made_without_grad = true;
      continue;
    }
    // Changed in place: the argument itself gets the history of this call.
    GROOVE_CHECK(!output.requires_grad() || !output.is_leaf(),
                 "Function: a leaf that requires a gradient is marked dirty; it cannot change in "
                 "place");
    if (state_hooks().on_metadata_change) state_hooks().on_metadata_change(*output.impl());
  }
  variable_list operands(arguments);
  operands.insert(operands.end(), outputs.begin(), outputs.end());
  const Attrs attrs = node->note_outputs(outputs);
  LibraryCall call{&function_op(), operands, &attrs, {}, Site::current()};
  call.code_role = CodeRole::kAttaches;
  call.user_code = node;
  run_library_call(call, [&] { node->attach(arguments, outputs); });
  return outputs;
}

variable_list apply_function(const char*, const FunctionArguments& given, BackwardFunction backward,
                             const std::function<variable_list(AutogradContext*)>& forward) {
  auto* node = new FunctionNode;
  const TapeNodePtr owner(node);
  node->backward = backward;
  node->note_arguments(given);
  variable_list outputs;
  {
    const NoGradGuard no_grad;
    outputs = forward(&node->context);
  }
  return put_on_tape(node, given.tensors, std::move(outputs));
}

}  // namespace detail

// ---- nodes that programs define ----

Node::Node(edge_list&& next_edges) : edges_(std::move(next_edges)) {}
Node::~Node() = default;
std::string Node::name() const { return type_name(typeid(*this)); }
edge_list Node::next_edges() const {
  if (tape_) return autodiff::shown_edges(*tape_);
  edge_list result = edges_;
  for (Edge& edge : result) {
    if (edge.function || !edge.source.defined()) continue;
    autodiff::Edge real = autodiff::gradient_edge(edge.source);
    autodiff::resolve(real);
    edge = {autodiff::shown(real.node), real.index, edge.source};
  }
  return result;
}
std::uint32_t Node::num_inputs() const { return tape_ ? tape_->output_count : 0; }
std::uint64_t Node::sequence_nr() const { return tape_ ? tape_->sequence : 0; }
void Node::set_next_edges(edge_list&& edges) {
  GROOVE_CHECK(!tape_, "Node: {} is on the tape already; set its edges before", name());
  edges_ = std::move(edges);
}
void Node::add_next_edge(Edge edge) {
  GROOVE_CHECK(!tape_, "Node: {} is on the tape already; set its edges before", name());
  edges_.push_back(std::move(edge));
}
bool Node::should_compute_output(std::size_t index) const {
  return !tape_ || tape_->context.needs_input_grad(index);
}

edge_list edges_to(const variable_list& tensors) {
  edge_list edges;
  for (const Tensor& tensor : tensors) edges.push_back({nullptr, 0, tensor});
  return edges;
}

void detail::FunctionNode::stand_for(const std::shared_ptr<autograd::Node>& node,
                                     const variable_list& results) {
  GROOVE_CHECK(node, "set_history: the node is null");
  GROOVE_CHECK(!node->tape_,
               "set_history: {} is the producer of other results; give all results in one call",
               node->name());
  FunctionArguments sources;
  for (const Edge& edge : node->edges_) {
    GROOVE_CHECK(edge.source.defined() || !edge.function,
                 "set_history: an edge of {} was not made from a tensor; use "
                 "collect_next_edges(tensors)",
                 node->name());
    sources.add(edge.source);
  }
  for (const Tensor& result : results)
    GROOVE_CHECK(result.defined() && !result.requires_grad(),
                 "set_history: a result {}; make results under NoGradGuard",
                 result.defined() ? "has a history already" : "is undefined");
  auto* const own = new FunctionNode;
  const TapeNodePtr owner(own);
  own->user = node;
  own->context.set_materialize_grads(false);
  own->note_arguments(sources);
  put_on_tape(own, sources.tensors, results);
  node->edges_.clear();
  node->tape_ = own;
}

void set_history(const variable_list& results, const std::shared_ptr<Node>& node, Site site) {
  const CallFrame frame(site);
  detail::FunctionNode::stand_for(node, results);
}

AutogradContext::AutogradContext() : saved_(std::make_unique<Saved>()), saved_data(saved_->data) {}
AutogradContext::~AutogradContext() = default;

void AutogradContext::save_for_backward(variable_list to_save) {
  check_real(to_save);
  saved_->to_save = std::move(to_save);
}

variable_list AutogradContext::get_saved_variables() const {
  if (!saved_->node) return saved_->to_save;  // a replayed iteration
  variable_list result;
  for (std::size_t i = 0; i < saved_->places.size(); ++i) {
    const Saved::Place& place = saved_->places[i];
    if (!place.value) {
      result.emplace_back();
      continue;
    }
    if (place.value->check("Function", "saved variable", i)) autodiff::warn_of_change();
    Tensor value = place.value->get();
    if (place.output >= 0 && grad_enabled()) {
      const TensorImpl& impl = *value.impl();
      const auto alias = make_impl(impl.storage, impl.geometry, impl.dtype);
      alias->counts_apart = impl.counts_apart;
      alias->trace_session = impl.trace_session;
      alias->trace_id = impl.trace_id;
      value = Tensor(alias.get());
      autodiff::set_history(*value.impl(), TapeNodePtr(saved_->node),
                            static_cast<std::uint32_t>(place.output));
    }
    result.push_back(std::move(value));
  }
  return result;
}

void AutogradContext::mark_non_differentiable(const variable_list& outputs) {
  saved_->non_differentiable = outputs;
}

void AutogradContext::mark_dirty(const variable_list& inputs) { saved_->dirty = inputs; }

void AutogradContext::set_materialize_grads(bool value) { saved_->materialize_grads = value; }

bool AutogradContext::needs_input_grad(std::size_t index) const {
  return index < saved_->needs.size() && saved_->needs[index];
}

bool AutogradContext::needs_input_grad(std::initializer_list<IndexRange> ranges) const {
  for (const auto& [first, last] : ranges)
    for (std::size_t index = first; index < last; ++index)
      if (needs_input_grad(index)) return true;
  return false;
}

}  // namespace autograd

namespace autodiff {

using autograd::detail::FunctionNode;

std::shared_ptr<autograd::Node> user_node(TapeNode& node) {
  const auto* const function = dynamic_cast<const FunctionNode*>(&node);
  return function ? function->user : nullptr;
}

bool is_custom_function(const TapeNode& node) { return dynamic_cast<const FunctionNode*>(&node); }

tracer::HistoryPlan::Node describe_function(
    const TapeNode& node,
    const std::function<tracer::HistoryPlan::Saved(const SavedValue&)>& place_of) {
  return dynamic_cast<const FunctionNode&>(node).describe(place_of);
}

void part_with_saved(TapeNode& node) {
  if (auto* const function = dynamic_cast<FunctionNode*>(&node)) function->part_with_saved();
}

bool has_changed_saved(const TapeNode& node) {
  const auto* const function = dynamic_cast<const FunctionNode*>(&node);
  return function && function->has_changed_saved();
}

void place_function(TapeNode& node, const tracer::HistoryPlan::Node& planned,
                    std::uint64_t sequence) {
  dynamic_cast<FunctionNode&>(node).place(planned, sequence);
}

void give_saved(TapeNode& node, const tracer::HistoryPlan::Node& planned, std::size_t place,
                const Tensor& value, std::uint32_t version) {
  dynamic_cast<FunctionNode&>(node).give_saved(planned, place, value, version);
}

}  // namespace autodiff

bool autodiff::attach_function(const Op& op, const Attrs& attrs, ArrayRef<Tensor> inputs,
                               TapeNode* code) {
  if (&op != &autograd::detail::function_op()) return false;
  const auto arguments = static_cast<std::size_t>(AttrReader(op, attrs).integer(0));
  static_cast<autograd::detail::FunctionNode&>(*static_cast<Node*>(code))
      .attach(inputs.slice(0, arguments), inputs.slice(arguments, inputs.size() - arguments));
  return true;
}

}  // namespace groove
