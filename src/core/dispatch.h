// How an op call travels: tracer (match, record) -> autodiff (tape) -> eager (run). Each layer
// registers its handler; a missing one is skipped.
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "src/core/call_frame.h"
#include "src/core/op.h"

namespace groove {

// One call of an op, on the stack of the caller.
struct Call {
  const Op* op;
  ArrayRef<Tensor> inputs;
  const Attrs* attrs;
  ArrayRef<Scalar> numbers;
  Site site = Site::none();
  bool is_inplace = false;     // output k is written into inputs[op->mutates[k]] and returned
  const char* name = nullptr;  // of the function that the user called, for errors
};

enum class DispatchLayer : std::uint8_t { kTracer, kAutodiff, kEager };
using Handler = void (*)(const Call& call, Tensor* outputs);
void register_handler(DispatchLayer layer, Handler handler);

/// Has any complex tensor been made? Until then no call looks for one.
inline constinit std::atomic<bool> complex_numbers_are_used = false;
/// Runs calls with complex inputs, by Op::complex.
void register_complex_handler(Handler handler);

// Of a thread: whether the operands of calls are converted, by Op::autocast, and to what.
struct Autocast {
  bool is_enabled = false;
  ScalarType dtype = kBFloat16;
};
inline constinit thread_local Autocast autocast;
// For what is no call of the program: rules of operators, and what a backward runs.
class NoAutocast {
 public:
  NoAutocast() : was_enabled_(std::exchange(autocast.is_enabled, false)) {}
  ~NoAutocast() { autocast.is_enabled = was_enabled_; }
  NoAutocast(const NoAutocast&) = delete;
  NoAutocast& operator=(const NoAutocast&) = delete;

 private:
  bool was_enabled_;
};
/// Has a thread ever turned it on? Until then no call looks.
inline constinit std::atomic<bool> autocast_is_used = false;
/// Runs the calls that convert something, in place of the call that is given; not those in place.
void register_autocast_handler(Handler handler);
/// The dtype that an operand is converted to, or its own.
ScalarType autocast_dtype(const Op& op, const Tensor& operand);

/// The entry for every op: `outputs` has op->outputs places.
void dispatch(const Call& call, Tensor* outputs);
/// Continues below a layer (a handler calls this).
void dispatch_below(DispatchLayer layer, const Call& call, Tensor* outputs);

// A handler that replaces all others on this thread: graph builders that run ordinary tensor code
// on tensors without data (expansion of composites, gradients of stored graphs).
class DispatchOverride {
 public:
  DispatchOverride(void (*handler)(void* context, const Call&, Tensor*), void* context);
  ~DispatchOverride();
  DispatchOverride(const DispatchOverride&) = delete;
  DispatchOverride& operator=(const DispatchOverride&) = delete;

 private:
  void (*previous_handler_)(void*, const Call&, Tensor*);
  void* previous_context_;
};

/// Do calls of this thread go to a DispatchOverride?
bool is_dispatch_overridden();

// An operand of a call for as long as the call lasts: a Tensor's one pointer without a reference
// of its own. A list of these is read as a list of Tensors.
struct [[gnu::may_alias]] Borrowed {
  Borrowed() = default;
  Borrowed(TensorImpl* lent) : impl(lent) {}
  Borrowed(const Tensor& tensor) : impl(tensor.impl()) {}
  TensorImpl* impl = nullptr;
};
static_assert(sizeof(Borrowed) == sizeof(Tensor) && alignof(Borrowed) == alignof(Tensor));
using BorrowedList = std::initializer_list<Borrowed>;
inline ArrayRef<Tensor> as_tensors(const Borrowed* operands, std::size_t count) {
  return {reinterpret_cast<const Tensor*>(operands), count};
}

// Helpers for op files; errors name the function that calls them, or `name`.
inline Tensor call(const Op& op, BorrowedList inputs, Site site, const Attrs& attrs = {},
                   ArrayRef<Scalar> numbers = {}, const char* name = __builtin_FUNCTION()) {
  Tensor output;
  dispatch(Call{&op, as_tensors(inputs.begin(), inputs.size()), &attrs, numbers, site, false, name},
           &output);
  return output;
}
Tensor& call_inplace(const Op& op, Tensor& self, BorrowedList others, Site site,
                     const Attrs& attrs = {}, ArrayRef<Scalar> numbers = {},
                     const char* name = __builtin_FUNCTION());

// The site of library code called from a user's line: while a scope is open, ops take its site
// and a running ordinal instead of their own.
class SiteScope : CallFrame {
 public:
  explicit SiteScope(Site site, const char* name = __builtin_FUNCTION());
  ~SiteScope();
  SiteScope(const SiteScope&) = delete;
  SiteScope& operator=(const SiteScope&) = delete;

 private:
  bool is_outermost_;
};
struct SiteKey {  // what the tracer compares
  const char* file;
  std::uint32_t line, column, ordinal;
  bool operator==(const SiteKey&) const = default;
};
struct OpenSite {
  Site site = Site::none();
  std::uint32_t ordinal = 0;
  bool is_open = false;
};
inline constinit thread_local OpenSite open_site;
/// The user's place of a call that is being dispatched now; advances the ordinal of an open scope.
inline SiteKey site_key(const Site& site) {
  OpenSite& open = open_site;
  if (!open.is_open) return {site.file_name(), site.line(), site.column(), 0};
  return {open.site.file_name(), open.site.line(), open.site.column(), ++open.ordinal};
}
/// The same place, for people.
Site user_site(const Site& site);

// ---- calls that are not ops ----

struct TapeNode;
struct Script;  // src/core/autograd_meta.h

// What a library call has to do with user code that a backward calls.
enum class CodeRole : std::uint8_t {
  kNone,
  kAttaches,  // puts it on the tape: a custom function, a hook on a result
  kHangs,     // a hook on a leaf, which stands there from the call on
  kTakesOff,  // … and which is gone from the call on
  kWalks,     // a backward, which may stop at it
  kResumes,   // the backward goes on with what it gave
  kAbandons,  // it threw, and the backward is over
};

// A library call that is one call to the tracer: backward, zero_grad, optimizer.step. Its
// expansion dispatches ordinary ops; in replay it does not run at all.
struct LibraryCall {
  const Op* op;  // kind kBig, for name and identity
  ArrayRef<Tensor> inputs;
  const Attrs* attrs;
  ArrayRef<Scalar> numbers;  // run-time inputs; expansions pass them on by with_origin()
  Site site = Site::none();
  // What the expansion walks by itself, such as the parameters and the state of an optimizer: which
  // tensors, in an order of the call's own (null: none there), and how, as a fingerprint. Calls of
  // one structure do the same to whatever tensors they walk.
  ArrayRef<TensorImpl*> walked = {};
  std::uint64_t structure = 0;
  bool ends_step = false;  // a natural cut comes after it
  // What the call gives: filled by the expansion, or by a replay.
  std::vector<Tensor>* results = nullptr;
  CodeRole code_role = CodeRole::kNone;
  TapeNode* user_code = nullptr;  // that the call attaches, takes off or goes on after
  // Of a call that may meet user code; made by the expansion, or by a replay, when it does.
  std::shared_ptr<Script>* script = nullptr;
};
using LibraryCallHandler = void (*)(const LibraryCall& call, void (*expand)(void*), void* context);
void register_library_call_handler(LibraryCallHandler handler);
void run_library_call(const LibraryCall& call, void (*expand)(void*), void* context);
template <typename Expand>
void run_library_call(const LibraryCall& call, const Expand& expand) {
  run_library_call(
      call, [](void* context) { (*static_cast<const Expand*>(context))(); },
      const_cast<void*>(static_cast<const void*>(&expand)));
}

// State changes the tracer must know of while it records the expansion of a library call.
struct StateHooks {
  void (*on_set_grad)(TensorImpl& leaf, const Tensor& grad) = nullptr;
  // An expansion is about to read or write the `.grad` of this leaf.
  void (*on_use_grad)(TensorImpl& leaf) = nullptr;
  // Host reads of metadata the tape owns (grad_fn, _version): pending work must be real first.
  void (*on_host_access)(TensorImpl& impl) = nullptr;
  void (*on_metadata_change)(TensorImpl& impl) = nullptr;
};
StateHooks& state_hooks();

}  // namespace groove
