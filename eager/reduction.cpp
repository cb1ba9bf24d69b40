// Reductions in the canonical orders: rows when the reduced axes are a suffix, columns otherwise.
// Long rows are split by chunk over the threads; the tree over the chunks stays the same.
#include "eager/kept_kernels.h"
#include "eager/plan.h"
#include "kernels/backend.h"
#include "kernels/chunk_sums.h"
#include "kernels/order.h"
#include "kernels/pool.h"
#include "src/core/check.h"

namespace groove::eager {
namespace {

using kernels::Box;
using kernels::Builder;
using kernels::Callable;
using kernels::Expr;
using kernels::Exprs;
using kernels::Order;
using kernels::Prim;
using kernels::StrideClass;

using CallablePtr = std::shared_ptr<const Callable>;

// Where the elements of the input lie, seen as kept axes (outermost first) and one reduced axis.
struct Split {
  Shape kept_sizes, kept_strides;
  std::int64_t reduced = 1, reduced_stride = 1;
};

bool is_in(IntArrayRef axes, std::int64_t axis) {
  for (const std::int64_t a : axes)
    if (a == axis) return true;
  return false;
}

// Splits the axes; false when the reduced ones do not walk memory as one axis.
bool split_axes(const Geometry& geometry, IntArrayRef axes, Split& split) {
  bool has_reduced = false;
  for (std::size_t from_end = geometry.sizes.size(); from_end-- > 0;) {
    const std::int64_t size = geometry.sizes[from_end], stride = geometry.strides[from_end];
    if (!is_in(axes, static_cast<std::int64_t>(from_end))) {
      split.kept_sizes.insert(0, size);
      split.kept_strides.insert(0, stride);
      continue;
    }
    if (size == 1) continue;
    if (!has_reduced) {
      split.reduced = size;
      split.reduced_stride = stride;
      has_reduced = true;
    } else if (stride == split.reduced_stride * split.reduced) {
      split.reduced *= size;
    } else {
      split.reduced *= size;
      return false;
    }
  }
  return true;
}

// The axes with the reduced ones inside (rows) or outside (columns).
Geometry rearranged(const Geometry& from, IntArrayRef axes, Order order) {
  Geometry permuted;
  permuted.offset = from.offset;
  for (const bool want_reduced : {order == Order::kColumn, order != Order::kColumn})
    for (std::size_t i = 0; i < from.sizes.size(); ++i)
      if (is_in(axes, static_cast<std::int64_t>(i)) == want_reduced) {
        permuted.sizes.push_back(from.sizes[i]);
        permuted.strides.push_back(from.strides[i]);
      }
  return permuted;
}

// A contiguous copy laid out so.
Tensor rearranged_copy(const Tensor& input, IntArrayRef axes, Order order) {
  const Tensor view = make_view(input, rearranged(input.impl()->geometry, axes, order));
  Tensor copy = make_empty(view.impl()->geometry.sizes, input.impl()->dtype);
  copy_elements(view, copy);
  return copy;
}

// Of such a copy.
Split split_rearranged(IntArrayRef sizes, IntArrayRef axes, Order order) {
  std::int64_t kept = 1, reduced = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    (is_in(axes, static_cast<std::int64_t>(i)) ? reduced : kept) *= sizes[i];
  Split split;
  split.reduced = reduced;
  split.reduced_stride = order == Order::kColumn ? kept : 1;
  split.kept_sizes = {kept};
  split.kept_strides = {order == Order::kColumn ? 1 : reduced};
  return split;
}

// The reduced axes as one axis in another, the inner one contiguous; false where they are none.
bool find_column(const Geometry& geometry, IntArrayRef axes, kernels::Column& column) {
  std::int64_t rows = 1;
  for (std::size_t i = geometry.sizes.size(); i-- > 0;) {
    const std::int64_t size = geometry.sizes[i], stride = geometry.strides[i];
    if (!is_in(axes, static_cast<std::int64_t>(i)) || size == 1) continue;
    if (rows == column.inner && stride == rows) {
      column.inner *= size;
    } else if (column.outer == 1) {
      column.outer_stride = stride;
      column.outer = size;
    } else if (stride == column.outer_stride * column.outer) {
      column.outer *= size;
    } else {
      return false;
    }
    rows *= size;
  }
  return column.inner >= kernels::order::kColumnChunk;
}

// A sum of the elements as they are, of a dtype that chunk_sums() knows.
bool is_plain_sum(const kernels::Kernel& partials) {
  const auto& code = partials.code;
  return code.size() == 3 && code[0].prim == Prim::kLoad && code[1].prim == Prim::kReduceSum &&
         code[2].prim == Prim::kStore && code[1].dtype == partials.accesses[0].dtype &&
         (code[1].dtype == kFloat || code[1].dtype == kDouble);
}

constexpr std::int64_t kFewElements = 1 << 15;  // not worth another thread

class ReductionPlan : public Plan {
 public:
  TypeResult types;
  Order order = Order::kRow;
  Shape axes;
  bool needs_copy = false;
  bool is_chunked = false;
  bool is_by_columns = false;  // chunks of columns are summed where they lie
  kernels::Column column;
  Shape column_sizes, column_strides;  // of the kept axes
  Split split;
  Box box;
  std::uint64_t count_bits = 0;
  CallablePtr callable;  // whole rows or columns; or one chunk's partials
  CallablePtr tree;      // chunk partials -> results
  std::vector<ScalarType> partial_dtypes;

  void run(const Call& call, Tensor* outputs) const override {
    Tensor source = call.inputs[0];
    if (needs_copy && !is_by_columns) source = rearranged_copy(source, axes, order);
    for (std::size_t k = 0; k < types.outputs.size(); ++k)
      outputs[k] = make_empty(types.outputs[k].sizes, types.outputs[k].dtype);
    if (outputs[0].impl()->numel == 0) return;
    if (is_chunked) return run_chunked(source, outputs);
    if (is_by_columns) return run_columns(source, outputs);
    std::vector<void*> pointers{source.impl()->data()};
    for (std::size_t k = 0; k < types.outputs.size(); ++k)
      pointers.push_back(outputs[k].impl()->data());
    kernels::Launch launch;
    kernels::describe(launch, box);
    launch.pointers = pointers.data();
    launch.scalars = &count_bits;
    kernels::run_parallel(*callable, order, launch);
  }

 private:
  std::int64_t offset_of(std::int64_t at, IntArrayRef sizes, IntArrayRef strides) const {
    std::int64_t offset = 0;
    for (std::size_t i = sizes.size(); i-- > 0; at /= sizes[i])
      offset += at % sizes[i] * strides[i];
    return offset;
  }

  void run_columns(const Tensor& source, Tensor* outputs) const {
    const std::int64_t columns = outputs[0].impl()->numel;
    const std::int64_t chunks =
        (split.reduced + kernels::order::kColumnChunk - 1) / kernels::order::kColumnChunk;
    const Tensor partials = make_empty({columns, chunks}, partial_dtypes[0]);
    const auto sum_as = [&](auto kind) {
      using T = decltype(kind);
      const T* const from = static_cast<const T*>(source.impl()->data());
      T* const to = static_cast<T*>(partials.impl()->data());
      const int threads = kernels::threads_for(source.impl()->numel < kFewElements);
      kernels::parallel(threads, [&](int part, int parts) {
        for (std::int64_t i = columns * part / parts; i < columns * (part + 1) / parts; ++i)
          kernels::chunk_sums(from + offset_of(i, column_sizes, column_strides), column,
                              to + i * chunks);
      });
    };
    if (partial_dtypes[0] == kFloat)
      sum_as(float());
    else
      sum_as(double());
    std::vector<void*> pointers{partials.impl()->data()};
    std::vector<std::array<std::int64_t, kernels::kMaxAxes>> strides{{1, chunks}};
    for (std::size_t k = 0; k < types.outputs.size(); ++k) {
      pointers.push_back(outputs[k].impl()->data());
      strides.push_back({0, 1});
    }
    kernels::Launch launch;
    launch.rank = 2;
    launch.count[0] = chunks;
    launch.count[1] = columns;
    launch.pointers = pointers.data();
    launch.strides = reinterpret_cast<const std::int64_t(*)[kernels::kMaxAxes]>(strides.data());
    launch.scalars = &count_bits;
    tree->run(launch);
  }

  // One row after the other; each is split by chunks over the pool, then its tree is combined.
  void run_chunked(const Tensor& source, Tensor* outputs) const {
    const std::int64_t chunks =
        (split.reduced + kernels::order::kRowChunk - 1) / kernels::order::kRowChunk;
    std::vector<Tensor> partials;
    for (const ScalarType dtype : partial_dtypes) partials.push_back(make_empty({chunks}, dtype));
    const std::int64_t rows = outputs[0].impl()->numel;
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t offset = offset_of(row, split.kept_sizes, split.kept_strides);
      reduce_row(source, offset, partials, chunks, outputs, row);
    }
  }

  void reduce_row(const Tensor& source, std::int64_t offset, const std::vector<Tensor>& partials,
                  std::int64_t chunks, Tensor* outputs, std::int64_t row) const {
    const auto size = static_cast<std::int64_t>(element_size(source.impl()->dtype));
    std::vector<void*> pointers{static_cast<char*>(source.impl()->data()) + offset * size};
    for (const Tensor& partial : partials) pointers.push_back(partial.impl()->data());
    std::vector<std::array<std::int64_t, kernels::kMaxAxes>> strides(pointers.size());
    strides[0] = {split.reduced_stride, split.reduced_stride * kernels::order::kRowChunk};
    for (std::size_t a = 1; a < strides.size(); ++a) strides[a] = {0, 1};
    kernels::Launch launch;
    launch.rank = 2;
    launch.pointers = pointers.data();
    launch.strides = reinterpret_cast<const std::int64_t(*)[kernels::kMaxAxes]>(strides.data());
    const std::int64_t whole = split.reduced / kernels::order::kRowChunk;
    launch.count[0] = kernels::order::kRowChunk;
    launch.count[1] = whole;
    if (whole > 0) kernels::run_parallel(*callable, order, launch);
    if (whole < chunks) {  // the last, shorter chunk
      launch.begin[1] = whole;
      launch.count[1] = 1;
      launch.count[0] = split.reduced - whole * kernels::order::kRowChunk;
      callable->run(launch);
    }
    std::vector<void*> tree_pointers(pointers.begin() + 1, pointers.end());
    std::vector<std::array<std::int64_t, kernels::kMaxAxes>> tree_strides(partials.size());
    for (auto& stride : tree_strides) stride = {1, 0};
    for (std::size_t k = 0; k < types.outputs.size(); ++k) {
      const auto bytes = static_cast<std::int64_t>(element_size(types.outputs[k].dtype));
      tree_pointers.push_back(static_cast<char*>(outputs[k].impl()->data()) + row * bytes);
      tree_strides.push_back({0, 0});
    }
    kernels::Launch combine;
    combine.rank = 1;
    combine.count[0] = chunks;
    combine.pointers = tree_pointers.data();
    combine.strides =
        reinterpret_cast<const std::int64_t(*)[kernels::kMaxAxes]>(tree_strides.data());
    combine.scalars = &count_bits;
    tree->run(combine);
  }
};

bool is_splittable(const std::vector<Prim>& reductions) {
  for (const Prim prim : reductions)
    if (prim == Prim::kReduceArgMax || prim == Prim::kReduceArgMin) return false;
  return true;
}

void store_results(Builder& builder, const ReductionPlan& plan, Order order, const Exprs& results) {
  const StrideClass per_result =
      order == Order::kColumn ? StrideClass::kContiguous : StrideClass::kBroadcast;
  for (std::size_t k = 0; k < results.size(); ++k)
    builder.store(plan.types.outputs[k].dtype, per_result, results[k]);
}

}  // namespace

PlanPtr plan_reduction(const Call& call) {
  const auto& how = std::get<kernels::ReductionLowering>(call.op->lowering->how);
  const std::vector<Type> inputs = input_types(call);
  const Signature signature{*call.op, inputs, *call.attrs, call.numbers};
  auto plan = std::make_unique<ReductionPlan>();
  plan->types = call.op->type(signature);
  plan->axes = kernels::reduction_axes(signature);
  plan->order = kernels::reduction_order(inputs[0].sizes.size(), plan->axes);
  const Geometry& geometry = call.inputs[0].impl()->geometry;
  plan->needs_copy = !split_axes(geometry, plan->axes, plan->split);
  if (plan->order == Order::kColumn && !plan->needs_copy) {
    // The innermost kept axis are the columns; an axis order that memory cannot follow is copied.
    plan->needs_copy = plan->split.kept_sizes.empty();
  }
  plan->is_by_columns = plan->needs_copy && plan->order == Order::kColumn &&
                        how.reductions.size() == 1 &&
                        find_column(geometry, plan->axes, plan->column);
  for (std::size_t i = 0; plan->is_by_columns && i < geometry.sizes.size(); ++i) {
    if (is_in(plan->axes, static_cast<std::int64_t>(i))) continue;
    plan->column_sizes.push_back(geometry.sizes[i]);
    plan->column_strides.push_back(geometry.strides[i]);
  }
  if (plan->needs_copy) plan->split = split_rearranged(geometry.sizes, plan->axes, plan->order);
  plan->count_bits = Scalar(static_cast<double>(plan->split.reduced)).bits_as(plan->types.compute);
  const std::int64_t results = element_count(plan->types.outputs[0].sizes);
  plan->is_chunked = plan->order == Order::kRow && is_splittable(how.reductions) &&
                     plan->split.reduced >= 8 * kernels::order::kRowChunk && results <= 4;

  // Kernel axes: rows (reduced, kept…); columns (last kept, reduced, other kept…).
  std::vector<Shape> strides(1 + plan->types.outputs.size());
  Shape sizes = plan->split.kept_sizes;
  strides[0] = plan->split.kept_strides;
  const Shape out_strides = contiguous_strides(sizes);
  for (std::size_t k = 1; k < strides.size(); ++k) strides[k] = out_strides;
  const std::size_t at = plan->order == Order::kColumn ? sizes.size() - 1 : sizes.size();
  sizes.insert(at, plan->split.reduced);
  strides[0].insert(at, plan->split.reduced_stride);
  for (std::size_t k = 1; k < strides.size(); ++k) strides[k].insert(at, 0);
  plan->box = kernels::collapse(sizes, strides, plan->order == Order::kColumn ? 2 : 1);

  const std::int64_t inner_stride =
      plan->order == Order::kRow ? plan->split.reduced_stride : plan->box.strides[0][0];
  const std::int64_t inner_count =
      plan->order == Order::kRow ? plan->split.reduced : plan->box.count[0];
  const StrideClass inner = kernels::stride_class(inner_stride, inner_count);
  const auto reduce = [&](Builder& builder) {
    const Expr value = builder.load(inputs[0].dtype, inner);
    const Exprs before = kernels::emit_before_reduction(builder, signature, plan->types, value);
    Exprs reduced;
    for (std::size_t r = 0; r < how.reductions.size(); ++r)
      reduced.push_back(builder.reduce(how.reductions[r], before[r]));
    builder.next_phase();
    return reduced;
  };
  Builder builder(plan->order), combine(Order::kTree);
  const bool may_be_parts = plan->is_chunked || plan->is_by_columns;
  if (may_be_parts) {
    const StrideClass per_partial =
        plan->order == Order::kColumn ? StrideClass::kContiguous : StrideClass::kBroadcast;
    for (const Expr& partial : reduce(builder)) {
      plan->partial_dtypes.push_back(partial.dtype());
      builder.store(partial.dtype(), per_partial, partial);
    }
    const kernels::Kernel partials = builder.finish();
    plan->is_by_columns = plan->is_by_columns && is_plain_sum(partials);
    if (plan->is_chunked)
      plan->callable = kernels::compile_cached(kernels::current_backend(), partials);
  }
  if (!plan->is_chunked && !plan->is_by_columns) {
    KernelKey key(call, inputs, plan->types);
    key.add(plan->order);
    key.add(inner);
    plan->callable = kept_kernel(std::move(key), [&] {
      Builder builder(plan->order);
      const Exprs reduced = reduce(builder);
      store_results(builder, *plan, plan->order,
                    kernels::emit_after_reduction(builder, signature, plan->types, reduced,
                                                  builder.param(plan->types.compute)));
      return builder.finish();
    });
    return plan;
  }
  Exprs totals;
  for (std::size_t r = 0; r < how.reductions.size(); ++r)
    totals.push_back(combine.reduce(
        how.reductions[r], combine.load(plan->partial_dtypes[r], StrideClass::kContiguous)));
  combine.next_phase();
  store_results(combine, *plan, Order::kTree,
                kernels::emit_after_reduction(combine, signature, plan->types, totals,
                                              combine.param(plan->types.compute)));
  plan->tree = kernels::compile_cached(kernels::current_backend(), combine.finish());
  return plan;
}

}  // namespace groove::eager
