// The path of an op call through the layers, sites of library code, and library calls.
#include "src/core/dispatch.h"

#include <algorithm>

#include "src/core/check.h"
#include "src/core/environment.h"

namespace groove {
namespace {

constexpr int kLayers = 3;

[[noreturn]] void no_handler(const Call& call, Tensor*) {
  assertion_failed("a dispatch layer is registered", __FILE__, __LINE__,
                   "no layer can run " + call.op->name);
}

struct Handlers {
  Handler own[kLayers] = {};
  // next[i]: the first handler at or below layer i; next[kLayers] ends the chain.
  Handler next[kLayers + 1] = {no_handler, no_handler, no_handler, no_handler};
};
constinit Handlers handlers;
constinit LibraryCallHandler library_call_handler = nullptr;
constinit Handler complex_handler = no_handler;
constinit Handler autocast_handler = no_handler;

bool has_complex_input(const Call& call) {
  return std::any_of(call.inputs.begin(), call.inputs.end(),
                     [](const Tensor& input) { return input.defined() && input.impl()->complex; });
}

bool wants_autocast(const Call& call) {
  return autocast.is_enabled && !call.is_inplace &&
         std::any_of(call.inputs.begin(), call.inputs.end(), [&](const Tensor& input) {
           return input.defined() && autocast_dtype(*call.op, input) != input.scalar_type();
         });
}

struct Override {
  void (*handler)(void*, const Call&, Tensor*) = nullptr;
  void* context = nullptr;
};
constinit thread_local Override override_;

}  // namespace

void register_handler(DispatchLayer layer, Handler handler) {
  handlers.own[static_cast<int>(layer)] = handler;
  for (int i = kLayers - 1; i >= 0; --i)
    handlers.next[i] = handlers.own[i] ? handlers.own[i] : handlers.next[i + 1];
}

void dispatch(const Call& call, Tensor* outputs) {
  ensure_environment();
  try {
    if (complex_numbers_are_used.load(std::memory_order_relaxed) && has_complex_input(call))
        [[unlikely]] {
      const NoAutocast as_given;
      return complex_handler(call, outputs);
    }
    if (autocast_is_used.load(std::memory_order_relaxed) && wants_autocast(call)) [[unlikely]]
      return autocast_handler(call, outputs);
    if (override_.handler) [[unlikely]]
      return override_.handler(override_.context, call, outputs);
    handlers.next[0](call, outputs);
  } catch (Error& error) {
    place_error(error, call.site, call.name);
    throw;
  }
}

void dispatch_below(DispatchLayer layer, const Call& call, Tensor* outputs) {
  handlers.next[static_cast<int>(layer) + 1](call, outputs);
}

DispatchOverride::DispatchOverride(void (*handler)(void* context, const Call&, Tensor*),
                                   void* context)
    : previous_handler_(override_.handler), previous_context_(override_.context) {
  override_ = {handler, context};
}

DispatchOverride::~DispatchOverride() { override_ = {previous_handler_, previous_context_}; }

bool is_dispatch_overridden() { return override_.handler != nullptr; }

Tensor& call_inplace(const Op& op, Tensor& self, BorrowedList others, Site site, const Attrs& attrs,
                     ArrayRef<Scalar> numbers, const char* name) {
  constexpr std::size_t kMost = 8;
  GROOVE_ASSERT(others.size() < kMost && op.outputs <= static_cast<int>(kMost),
                "{} has too many operands for call_inplace", op.name);
  GROOVE_CHECK_AT(site, self.defined(), "{}: operand 0 is undefined; assign it a tensor first",
                  name ? std::string(name) : op.name + "_");
  Borrowed inputs[kMost] = {self, self, self, self, self, self, self, self};
  Tensor outputs[kMost];
  std::size_t count = 1;
  for (const Borrowed& other : others) inputs[count++] = other;
  dispatch(Call{&op, as_tensors(inputs, count), &attrs, numbers, site, true, name}, outputs);
  return self;
}

SiteScope::SiteScope(Site site, const char* name)
    : CallFrame(site, name), is_outermost_(!open_site.is_open) {
  if (is_outermost_) open_site = {site, 0, true};
}

SiteScope::~SiteScope() {
  if (is_outermost_) open_site.is_open = false;
}

Site user_site(const Site& site) { return open_site.is_open ? open_site.site : site; }

void register_complex_handler(Handler handler) { complex_handler = handler; }
void register_autocast_handler(Handler handler) { autocast_handler = handler; }

ScalarType autocast_dtype(const Op& op, const Tensor& operand) {
  const ScalarType own = operand.impl()->dtype;
  if (op.autocast == Precision::kAsGiven || !is_floating(own) || own == kDouble) return own;
  return op.autocast == Precision::kShort ? autocast.dtype : kFloat;
}

void register_library_call_handler(LibraryCallHandler handler) { library_call_handler = handler; }

void run_library_call(const LibraryCall& call, void (*expand)(void*), void* context) {
  ensure_environment();
  GROOVE_CHECK(!override_.handler,
               "{}: this call changes state, so it cannot stand in a function given to cond, "
               "while_loop, scan or capture; call it outside (gradients of a captured graph: "
               "autodiff::differentiate)",
               call.op->name);
  const SiteScope scope(call.site, nullptr);
  // A backward computes in the dtypes that the forward has had.
  const NoAutocast as_given;
  if (library_call_handler) return library_call_handler(call, expand, context);
  expand(context);
}

StateHooks& state_hooks() {
  static StateHooks hooks;
  return hooks;
}

}  // namespace groove
