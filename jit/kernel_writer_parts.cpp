// Reductions in parts: what the chunks of a long row or of many rows come to, and the trees that
// combine them.
#include <algorithm>

#include "jit/costs.h"
#include "jit/kernel_writer.h"
#include "kernels/build.h"
#include "kernels/fours.h"
#include "kernels/order.h"
#include "src/core/check.h"

namespace groove::jit {

using kernels::Builder;
using kernels::Expr;
using kernels::Exprs;
using kernels::Order;
using kernels::ReductionLowering;

// The axis that is walked chunk by chunk (rows of chunks), and the elements or rows of a chunk; or,
// in a tree, the chunks.
void KernelWriter::lay_out_cut_axis(const std::vector<std::size_t>& axis, Shape& sizes,
                                    std::vector<Shape>& strides) {
  if (mode_ == Mode::kTree) {
    sizes.push_back(part_.all);
    for (std::size_t i = 0; i < memories_.size(); ++i) {
      strides[i].push_back(memories_[i].is_partial ? 1 : 0);
    }
    return;
  }
  const std::int64_t chunk = chunk_length();
  sizes.push_back(part_.chunks);
  sizes.push_back(part_.length);
  for (std::size_t i = 0; i < memories_.size(); ++i) {
    Memory& memory = memories_[i];
    const std::int64_t stride = memory_stride(memory, axis);
    const std::int64_t step = !memory.is_partial     ? stride * chunk
                              : mode_ == Mode::kRows ? kept_length()
                                                     : 1;
    strides[i].push_back(step);
    strides[i].push_back(memory.is_partial ? 0 : stride);
    // Partial sums of rows have a buffer for each part.
    if (!memory.is_partial || mode_ != Mode::kRows) memory.walk.offset += part_.first * step;
  }
}

std::int64_t KernelWriter::chunk_length() const {
  return mode_ == Mode::kRows ? kernels::order::kColumnChunk : kernels::order::kRowChunk;
}
// Elements of a row, where rows are summed.
std::int64_t KernelWriter::kept_length() const {
  std::int64_t length = 1;
  for (std::size_t i = part_.leading; i < group_.loop.sizes.size(); ++i) {
    length *= group_.loop.sizes[i];
  }
  return length;
}

// ---- four elements at once ----

// The box is that of the elements, which lie one behind the other; each fourth begins a point.
void KernelWriter::write_fours(LaunchPlan& plan, kernels::Kernel& kernel) {
  plan.order = Order::kMap;
  collect_stores();
  lay_out(plan, 0);
  GROOVE_ASSERT(box_.rank == 1 && stores_.size() == 1, "fours of elements that lie apart");
  const Memory& memory = memories_[stores_[0].memory];
  const std::int64_t stride = box_.count[0] > 1 ? box_.strides[stores_[0].memory][0] : 1;
  Builder builder(plan.order);
  builder_ = &builder;
  const NodeSignature own(graph_, node(group_.seed));
  const Exprs numbers = numbers_of(group_.seed, own);
  for (const Expr element :
       kernels::emit_fours(builder, own.signature, own.result, numbers, builder.index(0))) {
    const auto at = static_cast<std::int64_t>(plan.operands.size());
    plan.operands.push_back(
        {memory.dtype, true, memory.buffer, memory.walk.offset + at * stride, memory.walk.starts});
    plan.box.strides.push_back({4 * stride});
    builder.store(builder.access(memory.dtype, true, kernels::StrideClass::kStrided), element);
  }
  finish(plan, builder, kernel);
}

// ---- split reductions ----

std::int32_t KernelWriter::the_reduction() const {
  for (const std::int32_t index : group_.nodes) {
    if (is_reduction(index)) return index;
  }
  GROOVE_ASSERT(false, "a split group without a reduction");
  return -1;
}

std::size_t KernelWriter::add_partial(BufferId buffer, ScalarType dtype, bool is_store,
                                      std::int64_t chunks) {
  Walk walk;
  walk.strides = identity_strides(group_.loop, Span::kKept);
  for (std::int64_t& stride : walk.strides) stride *= chunks;
  memories_.push_back({is_store ? Memory::Use::kStore : Memory::Use::kLoad, buffer, dtype,
                       std::move(walk), false, true, -1});
  return memories_.size() - 1;
}

void KernelWriter::write_chunks(LaunchPlan& plan, kernels::Kernel& kernel, const Chunks& part,
                                const std::vector<BufferId>& partials) {
  mode_ = Mode::kChunks;
  part_ = part;
  find_phases();
  const std::int32_t reduction = the_reduction();
  const NodeSignature own(graph_, node(reduction));
  collect(node(reduction).inputs[0], chains_.end(Span::kFull));
  std::vector<std::size_t> outputs;
  for (const BufferId buffer : partials) {
    outputs.push_back(add_partial(buffer, own.result.compute, true, part.all));
  }
  plan.order = Order::kRow;
  lay_out(plan, 1);
  Builder builder(plan.order);
  builder_ = &builder;
  make_accesses(builder, plan);
  reduce(reduction);
  next_phase();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    builder.store(memories_[outputs[i]].access, reduced_[reduction][i]);
  }
  finish(plan, builder, kernel);
}

void KernelWriter::write_tree(LaunchPlan& plan, kernels::Kernel& kernel, std::int64_t chunks,
                              const std::vector<BufferId>& partials) {
  mode_ = Mode::kTree;
  part_.all = chunks;
  find_phases();
  const std::int32_t reduction = the_reduction();
  const NodeSignature own(graph_, node(reduction));
  std::vector<std::size_t> inputs;
  for (const BufferId buffer : partials) {
    inputs.push_back(add_partial(buffer, own.result.compute, false, chunks));
  }
  collect_stores();
  plan.order = Order::kTree;
  lay_out(plan, 1);
  Builder builder(plan.order);
  builder_ = &builder;
  make_accesses(builder, plan);
  const auto& how = std::get<ReductionLowering>(node(reduction).op->lowering->how);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    reduced_[reduction].push_back(
        builder.reduce(how.reductions[i], builder.load(memories_[inputs[i]].access)));
  }
  next_phase();
  finish_reduction(reduction);
  emit_stores(-1);
  finish(plan, builder, kernel);
}

// ---- sums of columns, on the way through the rows ----

void KernelWriter::write_rows(LaunchPlan& plan, kernels::Kernel& kernel, const Chunks& part,
                              const std::vector<ColumnSum>& sums) {
  mode_ = Mode::kRows;
  part_ = part;
  sums_of_columns_ = sums;
  write(plan, kernel);
}

// The partial sums are read and written where they lie, one row of them a chunk.
void KernelWriter::collect_sum(const ColumnSum& sum) {
  collect(node(sum.reduction).inputs[0], chains_.end(Span::kFull));
  const ScalarType dtype = derive_types(graph_, node(sum.reduction)).compute;
  Walk walk;
  walk.strides.resize(group_.loop.sizes.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t i = group_.loop.sizes.size(); i-- > part_.leading;) {
    walk.strides[i] = stride;
    stride *= group_.loop.sizes[i];
  }
  std::vector<Partial>& partials = partials_[sum.reduction];
  for (const BufferId buffer : sum.partials) {
    partials.push_back({memories_.size(), memories_.size() + 1});
    memories_.push_back({Memory::Use::kLoad, buffer, dtype, walk, false, true, -1});
    memories_.push_back({Memory::Use::kStore, buffer, dtype, walk, false, true, -1});
  }
}

// The first row of a chunk starts from the identity, whatever the memory holds.
void KernelWriter::add_to_sum(const ColumnSum& sum) {
  const Node& n = node(sum.reduction);
  const NodeSignature own(graph_, n);
  const Expr input = value(n.inputs[0], chains_.end(Span::kFull));
  const Exprs before = kernels::emit_before_reduction(*builder_, own.signature, own.result, input);
  const int row_axis = box_.rank - (part_.chunks > 1 ? 2 : 1);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Partial& partial = partials_.at(sum.reduction)[i];
    const ScalarType dtype = before[i].dtype();
    const Expr identity = builder_->constant(dtype, kernels::order::kSumIdentity);
    Expr so_far = identity;
    if (part_.length > 1) {
      const Expr is_first =
          kernels::eq(builder_->index(row_axis), builder_->constant_int(kLong, 0));
      so_far = kernels::select(is_first, identity, load(partial.load));
    }
    builder_->store(memories_[partial.store].access, so_far + before[i]);
  }
}

// Chunks combine pairwise, level by level, an odd one carried up.
static Expr combine(std::vector<Expr> chunks) {
  while (chunks.size() > 1) {
    std::size_t made = 0;
    for (std::size_t i = 0; i < chunks.size(); i += 2) {
      chunks[made++] = i + 1 < chunks.size() ? chunks[i] + chunks[i + 1] : chunks[i];
    }
    chunks.resize(made);
  }
  return chunks[0];
}

void KernelWriter::write_columns(LaunchPlan& plan, kernels::Kernel& kernel,
                                 const std::vector<ColumnChunks>& chunks) {
  mode_ = Mode::kColumns;
  find_phases();
  const std::int32_t reduction = the_reduction();
  const ScalarType dtype = derive_types(graph_, node(reduction)).compute;
  std::vector<std::vector<std::size_t>> inputs(chunks.size());
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    for (const ColumnChunks::Row& row : chunks[i].rows) {
      Walk walk;
      walk.strides = identity_strides(group_.loop, Span::kKept);
      walk.offset = row.offset;
      inputs[i].push_back(memories_.size());
      memories_.push_back({Memory::Use::kLoad, row.buffer, dtype, walk, false, true, -1});
    }
  }
  collect_stores();
  plan.order = Order::kMap;
  lay_out(plan, 0);
  Builder builder(plan.order);
  builder_ = &builder;
  make_accesses(builder, plan);
  for (const std::vector<std::size_t>& rows : inputs) {
    std::vector<Expr> leaves;
    for (const std::size_t memory : rows) leaves.push_back(load(memory));
    reduced_[reduction].push_back(combine(std::move(leaves)));
  }
  finish_reduction(reduction);
  emit_stores(-1);
  finish(plan, builder, kernel);
}

// Rows `first` to `first + leaves - 1` of a block, added up, for every block.
LaunchPlan combine_rows(ScalarType dtype, const std::vector<ColumnChunks::Row>& rows,
                        std::int64_t blocks, std::int64_t columns, BufferId target) {
  LaunchPlan plan;
  const auto leaves = static_cast<std::int64_t>(rows.size());
  std::vector<Shape> strides(rows.size(), Shape{leaves * columns, 1});
  strides.push_back({columns, 1});
  plan.box = kernels::collapse(Shape{blocks, columns}, strides);
  Builder builder;
  std::vector<Expr> values;
  for (const ColumnChunks::Row& row : rows) {
    values.push_back(builder.load(dtype, kernels::StrideClass::kContiguous));
    plan.operands.push_back({dtype, false, row.buffer, row.offset, {}, false});
  }
  builder.store(dtype, kernels::StrideClass::kContiguous, combine(std::move(values)));
  plan.operands.push_back({dtype, true, target, 0, {}, false});
  plan.kernel = std::make_shared<const kernels::Kernel>(builder.finish());
  plan.callable = kernels::compile_cached(kernels::current_backend(), *plan.kernel);
  plan.nanoseconds = costs::kLaunch + (costs::kInstruction + costs::kNearLoad) *
                                          static_cast<double>(plan.box.points() * leaves);
  return plan;
}

}  // namespace groove::jit
