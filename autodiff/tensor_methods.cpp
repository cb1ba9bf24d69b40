// The methods of Tensor whose state the tape owns.
#include "autodiff/backward.h"
#include "autodiff/segment_node.h"
#include "autodiff/views.h"
#include "groove/factories.h"
#include "groove/ops/math.h"
#include "groove/storage.h"
#include "groove/warning.h"
#include "src/core/check.h"
#include "src/core/complex.h"
#include "tracer/calls/tape_hooks.h"
#include "tracer/thread/threads.h"

namespace groove {
namespace {

void host_access(TensorImpl& impl) {
  if (state_hooks().on_host_access) state_hooks().on_host_access(impl);
}

void metadata_changes(TensorImpl& impl) {
  if (state_hooks().on_metadata_change) state_hooks().on_metadata_change(impl);
  ++impl.metadata_epoch;
}

TensorImpl& checked(const TensorBase& tensor, const char* what) {
  GROOVE_CHECK(tensor.defined(), "{}: the tensor is undefined", what);
  return *tensor.impl();
}

const TapeNode* producer(TensorImpl& impl) {
  host_access(impl);
  if (!impl.autograd) return nullptr;
  if (impl.autograd->view_base.defined() && autodiff::needs_gradient(impl))
    autodiff::refresh_view(impl);
  return impl.autograd->grad_fn.get();
}

// As eager mode has it, also behind a compiled run.
const TapeNode* real_producer(TensorImpl& impl) {
  producer(impl);
  autodiff::resolve_history(impl);
  return impl.autograd ? impl.autograd->grad_fn.get() : nullptr;
}

Type same_type(const Signature& call) { return call.inputs[0]; }

}  // namespace

namespace autodiff {

const Op& detach_op() {
  static const Op& op =
      define({.name = "detach",
              .kind = OpKind::kView,
              .type =
                  [](const Signature& call) {
                    return TypeResult{{same_type(call)}, {}};
                  },
              .view = [](const Geometry& input, const Signature&) { return input; },
              .has_inplace = false,
              .reference = [](const Signature&, const std::vector<Reference>& in) { return in; },
              .dtypes = {kFloat, kDouble, kLong},
              .samples =
                  [](ScalarType dtype) {
                    return std::vector<Sample>{{{Type{dtype, {2, 3}}}, {}, {}}};
                  }});
  return op;
}

[[maybe_unused]] static const Op& registered_detach = detach_op();

static const Op& requires_grad_op() {
  static const Op& op = define({.name = "requires_grad_",
                                .kind = OpKind::kBig,
                                .inputs = 1,
                                .outputs = 0,
                                .attributes = {{"value", AttrType::kBool}},
                                .mutates = {},
                                .has_inplace = false});
  return op;
}

}  // namespace autodiff

std::int64_t DataMethods::_version() const {
  if (is_complex_tensor(*this)) return pair_of(*this)._version();
  TensorImpl& impl = checked(*this, "_version");
  tracer::settle(impl);
  host_read(impl);  // a write that is owed has not been counted yet
  return impl.storage ? version_of(impl).get() : 0;
}

bool DataMethods::requires_grad() const {
  if (is_complex_tensor(*this)) return pair_of(*this).requires_grad();
  TensorImpl& impl = checked(*this, "requires_grad");
  tracer::settle_flags(impl);
  return autodiff::needs_gradient(impl);
}

const Tensor& DataMethods::requires_grad_(bool value, Site site) const {
  const CallFrame frame(site);
  TensorImpl& impl = checked(*this, "requires_grad_");
  if (impl.complex) {
    pair_of(*this).requires_grad_(value, site);
    return self();
  }
  tracer::settle_flags(impl);
  if (impl.requires_grad == value) return self();
  GROOVE_CHECK(!value || is_floating(impl.dtype),
               "requires_grad_: only floating-point tensors can require a gradient, not {}",
               groove::name(impl.dtype));
  GROOVE_CHECK(value || !producer(impl),
               "requires_grad_: you can only change requires_grad flags of leaf variables; use "
               "detach() for a tensor without history");
  autodiff::before_flags_change(impl);
  const Attrs attrs = Attrs().add(std::int64_t{value});
  const LibraryCall call{&autodiff::requires_grad_op(), ArrayRef<Tensor>(self()), &attrs, {}, site};
  run_library_call(call, [&] { impl.requires_grad = value; });
  return self();
}

const Tensor& DataMethods::set_requires_grad(bool value, Site site) const {
  const CallFrame frame(site);
  return requires_grad_(value, site);
}

bool DataMethods::is_leaf() const {
  if (is_complex_tensor(*this)) return pair_of(*this).is_leaf();
  TensorImpl& impl = checked(*this, "is_leaf");
  host_access(impl);
  return tracer::is_lost_view(impl) || !producer(impl);
}
std::shared_ptr<autograd::Node> DataMethods::grad_fn() const {
  if (is_complex_tensor(*this)) return pair_of(*this).grad_fn();
  TensorImpl& impl = checked(*this, "grad_fn");
  real_producer(impl);
  return impl.autograd ? autodiff::shown(impl.autograd->grad_fn) : nullptr;
}

std::int64_t DataMethods::output_nr() const {
  if (is_complex_tensor(*this)) return pair_of(*this).output_nr();
  TensorImpl& impl = checked(*this, "output_nr");
  return real_producer(impl) ? impl.autograd->output_index : 0;
}

namespace {

const Tensor& complex_gradient(ComplexParts& parts) {
  const Tensor& grad = parts.pair.grad();
  if (!grad.defined())
    parts.grad.reset();
  else if (!parts.grad.defined() || !pair_of(parts.grad).is_same(grad))
    parts.grad = from_pair(can_pair(grad.impl()->geometry) ? grad : grad.clone());
  return parts.grad;
}

}  // namespace

const Tensor& DataMethods::grad() const {
  TensorImpl& impl = checked(*this, "grad");
  if (impl.complex) return complex_gradient(*impl.complex);
  settle_gradient(impl);
  const Tensor& found = impl.autograd ? impl.autograd->grad : undefined_tensor();
  if (!found.defined() && !is_leaf() && !retains_grad())
    warn_each_time(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
        "attribute won't be populated during autograd.backward(). If you indeed want the .grad "
        "field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. "
        "If you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor "
        "instead.",
        Site::none());
  return found;
}

Tensor& DataMethods::mutable_grad() const {
  TensorImpl& impl = checked(*this, "mutable_grad");
  GROOVE_CHECK(!impl.complex,
               "mutable_grad: not built for complex tensors; set view_as_real(x).mutable_grad()");
  settle_gradient(impl);
  return autograd_meta(impl).grad;
}

bool DataMethods::retains_grad() const {
  if (is_complex_tensor(*this)) return pair_of(*this).retains_grad();
  TensorImpl& impl = checked(*this, "retains_grad");
  return impl.autograd && impl.autograd->retains_grad;
}

Tensor DataMethods::detach(Site site) const {
  const CallFrame frame(site);
  checked(*this, "detach");
  if (is_complex_tensor(*this)) return from_pair(pair_of(*this).detach(site));
  return call(autodiff::detach_op(), {self()}, site);
}

Tensor& DataMethods::detach_(Site site) const {
  TensorImpl& impl = checked(*this, "detach_");
  if (impl.complex) {
    pair_of(*this).detach_(site);
    return const_cast<Tensor&>(self());
  }
  GROOVE_CHECK(!impl.autograd || !impl.autograd->view_base.defined(),
               "detach_: can't detach views in-place; use detach() instead");
  host_access(impl);
  metadata_changes(impl);
  if (impl.autograd && impl.autograd->grad_fn) autodiff::clear_history(impl);
  impl.requires_grad = false;
  return const_cast<Tensor&>(self());
}

// What is written through it is not noticed by those who need the tensor as it was.
Tensor DataMethods::data(Site site) const {
  if (is_complex_tensor(*this)) return from_pair(pair_of(*this).data(site));
  Tensor result = detach(site);
  result.impl()->counts_apart = true;
  return result;
}
Tensor DataMethods::tensor_data(Site site) const { return detach(site); }
Tensor DataMethods::variable_data(Site site) const { return data(site); }

void DataMethods::set_data(const Tensor& value, Site) const {
  TensorImpl& impl = checked(*this, "set_data");
  TensorImpl& source = checked(value, "set_data");
  GROOVE_CHECK(!impl.complex && !source.complex,
               "set_data: not built for complex tensors; use copy_(), or set_data() of "
               "view_as_real(x)");
  GROOVE_CHECK(impl.device == source.device, "set_data: devices {} and {} differ",
               impl.device.str(), source.device.str());
  GROOVE_CHECK(!impl.requires_grad || is_floating(source.dtype),
               "set_data: a tensor that requires a gradient cannot become {}",
               groove::name(source.dtype));
  const std::uint64_t made_by = tracer::making_session(impl);
  const std::int32_t made_as = impl.trace_id;
  host_access(impl);
  host_access(source);
  materialize(source);
  metadata_changes(impl);
  materialize(impl);
  const StoragePtr before = impl.storage;  // the source's, too, where both are one
  impl.storage = source.storage;
  impl.counts_apart = source.counts_apart;
  impl.dtype = source.dtype;
  impl.set_geometry(source.geometry);
  autodiff::follow_in_histories(impl, before, made_by, made_as);
  impl.trace_session = 0;
  impl.trace_id = -1;
}

// Another tensor over the address, as foreign memory that keeps this one: what either writes, the
// other sees, and no trace holds on to the values.
Tensor ViewMethods::view(ScalarType dtype, Site site) const {
  const CallFrame frame(site);
  TensorImpl& impl = checked(*this, "view");
  if (dtype == impl.dtype) return self();
  const auto from = static_cast<std::int64_t>(groove::element_size(impl.dtype));
  const auto to = static_cast<std::int64_t>(groove::element_size(dtype));
  GROOVE_CHECK(to > 0 && !impl.complex && !is_complex(dtype),
               "view: not built from {} to {}; see view_as_real and view_as_complex",
               groove::name(impl.dtype), groove::name(dtype));
  GROOVE_CHECK(!self().requires_grad() || !GradMode::is_enabled() || !is_floating(dtype),
               "view: not built with a gradient from {} to {}; detach() the tensor",
               groove::name(impl.dtype), groove::name(dtype));
  Shape sizes = impl.geometry.sizes, strides = impl.geometry.strides;
  if (from != to) {
    GROOVE_CHECK(!sizes.empty(), "view: a 0-d tensor of {} has no axis for elements of {}",
                 groove::name(impl.dtype), groove::name(dtype));
    const std::size_t last = sizes.size() - 1;
    GROOVE_CHECK(strides[last] == 1 || sizes[last] == 1,
                 "view: the last axis has stride {}; elements of another size need 1",
                 strides[last]);
    const bool is_wider = to > from;
    const std::int64_t ratio = is_wider ? to / from : from / to;
    const auto change = [&](std::int64_t& number, const char* what) {
      GROOVE_CHECK(!is_wider || number % ratio == 0,
                   "view: the {} {} does not divide into elements of {}", what, number,
                   groove::name(dtype));
      number = is_wider ? number / ratio : number * ratio;
    };
    change(sizes[last], "size");
    std::int64_t offset = impl.geometry.offset;
    change(offset, "storage offset");
    for (std::size_t axis = 0; axis < last; ++axis) change(strides[axis], "stride");
    strides[last] = 1;
  }
  void* const first = self().data_ptr(site);
  return from_blob(
      first, sizes, strides, [held = self().detach(site)](void*) {}, dtype, site);
}

Tensor& DataMethods::set_(const Tensor& source, Site site) const {
  const CallFrame frame(site);
  const TensorImpl &impl = checked(*this, "set_"), &other = checked(source, "set_");
  GROOVE_CHECK(impl.dtype == other.dtype,
               "set_: not built of a {} tensor to the memory of a {} one; take view({}) of the "
               "source",
               groove::name(impl.dtype), groove::name(other.dtype), groove::name(impl.dtype));
  GROOVE_CHECK(!requires_grad() && !source.requires_grad(),
               "set_: not for tensors that require a gradient; detach() them, or use set_data()");
  set_data(source, site);
  return const_cast<Tensor&>(self());
}
Tensor& DataMethods::set_(const UntypedStorage& source, Site site) const {
  const auto bytes = static_cast<std::int64_t>(source.nbytes(site));
  return set_(source, 0, {bytes / source.tensor_.element_size()}, {}, site);
}
Tensor& DataMethods::set_(const UntypedStorage& source, std::int64_t storage_offset,
                          IntArrayRef size, IntArrayRef stride, Site site) const {
  const CallFrame frame(site);
  const Shape steps = stride.empty() ? contiguous_strides(size) : Shape(stride);
  return set_(source.tensor_.detach(site).as_strided(size, steps, storage_offset, site), site);
}

void DataMethods::backward(const Tensor& gradient, std::optional<bool> retain_graph,
                           bool create_graph, Site site) const {
  const CallFrame frame(site);
  const ArrayRef<Tensor> gradients =
      gradient.defined() ? ArrayRef<Tensor>(gradient) : ArrayRef<Tensor>();
  autodiff::record_backward(ArrayRef<Tensor>(self()), gradients,
                            retain_graph.value_or(create_graph), create_graph, {}, site);
}

void DataMethods::backward(const Tensor& gradient, std::optional<bool> retain_graph,
                           bool create_graph, std::optional<TensorList> inputs, Site site) const {
  const CallFrame frame(site);
  if (!inputs) return backward(gradient, retain_graph, create_graph, site);
  GROOVE_CHECK(!inputs->empty(), "backward: inputs is empty; leave it out to reach every leaf");
  const ArrayRef<Tensor> gradients =
      gradient.defined() ? ArrayRef<Tensor>(gradient) : ArrayRef<Tensor>();
  autodiff::record_backward(ArrayRef<Tensor>(self()), gradients,
                            retain_graph.value_or(create_graph), create_graph, *inputs, site);
}

}  // namespace groove
