// Groups to launches: kernels by the KernelWriter, contractions with their operands described for
// the generator, region copies for concatenations and overwrites, host code as it is.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "jit/costs.h"
#include "jit/group_form.h"
#include "jit/join_relays.h"
#include "jit/join_siblings.h"
#include "jit/join_sums.h"
#include "jit/kernel_writer.h"
#include "jit/launch_plan.h"
#include "jit/row_buffers.h"
#include "kernels/block_product.h"
#include "kernels/contraction/operands.h"
#include "kernels/order.h"
#include "src/core/check.h"
#include "src/core/faults.h"

namespace groove::jit {
namespace {

constexpr std::int64_t kLine = 64;
constexpr std::size_t kTreeLeaves = 32;
// A row of less than a vector waits longer for its masked store than a second computation takes; a
// longer row than the other is not in a near cache any more when it is wanted again.
constexpr std::int64_t kLeastRow = 16, kMostRowBytes = 128 << 10;

class Lowerer {
 public:
  Lowerer(const Graph& graph, const Fusion& fusion, const LoweringOptions& options)
      : graph_(graph), fusion_(fusion), options_(options) {}

  Lowered run() {
    result_.machine = options_.machine;
    result_.has_many_sizes = options_.has_many_sizes;
    make_buffers();
    form_.emplace(graph_, fusion_, result_.buffer_of);
    for (std::size_t i = 0; i < fusion_.groups.size(); ++i) {
      const auto id = static_cast<std::int32_t>(i);
      if (options_.is_shared && has_form(fusion_.groups[i])) {
        lower_or_repeat(id);
      } else {
        lower(id);
      }
    }
    if (options_.has_relays) join_relays(graph_, result_);
    if (options_.has_siblings) {
      join_sums(graph_, result_, options_.is_again);
      join_siblings(result_, options_.is_again);
    }
    return std::move(result_);
  }

 private:
  void make_buffers() {
    result_.buffer_of.assign(graph_.values.size(), -1);
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
      const ValueId value = graph_.inputs[i].value;
      add_buffer(value, Buffer::Place::kInput, static_cast<std::int32_t>(i));
    }
    for (std::size_t i = 0; i < graph_.values.size(); ++i) {
      const bool is_placed = fusion_.placements[i].whole != kNoValue;
      if (!fusion_.is_stored[i] || is_placed) continue;
      add_buffer(static_cast<ValueId>(i), Buffer::Place::kArena, -1);
    }
  }
  void add_buffer(ValueId value, Buffer::Place place, std::int32_t index) {
    const Type& type = graph_.type(value);
    Buffer buffer;
    buffer.place = place;
    buffer.index = index;
    buffer.bytes = element_count(type.sizes) * static_cast<std::int64_t>(element_size(type.dtype));
    buffer.value = value;
    result_.buffer_of[static_cast<std::size_t>(value)] =
        static_cast<BufferId>(result_.buffers.size());
    result_.buffers.push_back(buffer);
  }
  BufferId temporary(std::int64_t bytes) {
    Buffer buffer;
    buffer.bytes = bytes;
    result_.buffers.push_back(buffer);
    return static_cast<BufferId>(result_.buffers.size() - 1);
  }
  BufferId buffer_of(ValueId value) const {
    return result_.buffer_of[static_cast<std::size_t>(value)];
  }
  const Node& node(std::int32_t index) const {
    return graph_.nodes[static_cast<std::size_t>(index)];
  }

  // ---- groups of one form ----

  struct Original {
    std::vector<BufferId> buffers;
    std::vector<std::int32_t> entries;
    std::size_t first_launch, end_launch;
    BufferId first_temporary, end_temporary;
  };

  static bool has_form(const Group& group) {
    if (!group.columns.empty() || group.accumulates_in >= 0) return false;
    return group.kind == GroupKind::kMap || group.kind == GroupKind::kRow ||
           group.kind == GroupKind::kColumn || group.kind == GroupKind::kContraction;
  }

  void lower_or_repeat(std::int32_t id) {
    form_->read(id);
    const auto found = originals_.find(form_->words());
    if (found != originals_.end()) return repeat(found->second, id);
    Original& original = originals_[form_->words()];
    original.buffers = form_->buffers();
    original.entries = form_->entries();
    original.first_launch = result_.launches.size();
    original.first_temporary = static_cast<BufferId>(result_.buffers.size());
    lower(id);
    original.end_launch = result_.launches.size();
    original.end_temporary = static_cast<BufferId>(result_.buffers.size());
  }

  void repeat(const Original& original, std::int32_t id) {
    const Group& group = fusion_.groups[static_cast<std::size_t>(id)];
    const auto temporaries = static_cast<BufferId>(result_.buffers.size());
    for (BufferId old = original.first_temporary; old < original.end_temporary; ++old) {
      temporary(result_.buffers[static_cast<std::size_t>(old)].bytes);
    }
    const auto renamed_buffer = [&](BufferId old) {
      if (old >= original.first_temporary && old < original.end_temporary)
        return temporaries + (old - original.first_temporary);
      return renamed(old, original.buffers, form_->buffers());
    };
    const auto renamed_entry = [&](std::int32_t entry) {
      return renamed(entry, original.entries, form_->entries());
    };
    for (std::size_t i = original.first_launch; i < original.end_launch; ++i) {
      LaunchPlan plan = result_.launches[i];
      plan.nodes = group.nodes;
      plan.stage = group.stage;
      plan.scratch = renamed_buffer(plan.scratch);
      for (Operand& operand : plan.operands) {
        operand.buffer = renamed_buffer(operand.buffer);
        for (Start& start : operand.starts) start.entry = renamed_entry(start.entry);
      }
      for (ScalarSlot& scalar : plan.scalars)
        if (!has_fault(Fault::kRepeatedNumbers)) scalar.entry = renamed_entry(scalar.entry);
      result_.launches.push_back(std::move(plan));
    }
  }
  template <typename Id>
  static Id renamed(Id id, const std::vector<Id>& from, const std::vector<Id>& to) {
    if (id < 0) return id;
    const auto at = std::find(from.begin(), from.end(), id) - from.begin();
    return to.at(static_cast<std::size_t>(at));
  }

  void lower(std::int32_t id) {
    const Group& group = fusion_.groups[static_cast<std::size_t>(id)];
    switch (group.kind) {
      case GroupKind::kMap:
      case GroupKind::kRow:
      case GroupKind::kColumn:
        if (group.is_split)
          lower_split(id, group);
        else if (group.accumulates_in >= 0)
          lower_columns(id, group);
        else if (group.is_fours)
          lower_fours(id, group);
        else if (!group.columns.empty())
          lower_rows(id, group, group.columns);
        else
          lower_kernel(id, group);
        break;
      case GroupKind::kContraction:
        if (lowering_as<kernels::ContractionLowering>(node(group.seed)))
          lower_contraction(id, group);
        else
          lower_block_product(id, group);
        break;
      case GroupKind::kConcatenate:
        lower_concatenation(group);
        break;
      case GroupKind::kOverwrite:
        lower_overwrite(group);
        break;
      case GroupKind::kOpaque:
        lower_opaque(group);
        break;
    }
  }

  void compile(LaunchPlan& plan, kernels::Kernel&& kernel) {
    plan.callable = kernels::compile_cached(kernels::current_backend(), kernel);
    plan.kernel = std::make_shared<const kernels::Kernel>(std::move(kernel));
    result_.launches.push_back(std::move(plan));
  }

  void lower_kernel(std::int32_t id, const Group& group) {
    if (group.loop.points() == 0 && group.kind == GroupKind::kMap) return;
    write_kernel(id, group, [](KernelWriter& writer, LaunchPlan& plan, kernels::Kernel& kernel) {
      writer.write(plan, kernel);
    });
  }

  // Fours of elements, then those left over, which at other sizes may be others.
  void lower_fours(std::int32_t id, const Group& group) {
    if (group.loop.points() == 0) return;
    for (const auto part : {LaunchPlan::Part::kFours, LaunchPlan::Part::kRest}) {
      LaunchPlan plan;
      plan.part = part;
      kernels::Kernel kernel;
      KernelWriter writer(graph_, fusion_, result_.buffer_of, group, id);
      if (part == LaunchPlan::Part::kFours)
        writer.write_fours(plan, kernel);
      else
        writer.write(plan, kernel);
      if (plan.points() > 0 || options_.has_many_sizes) compile(plan, std::move(kernel));
    }
  }

  // Written again with row buffers where they pay.
  template <typename Write>
  void write_kernel(std::int32_t id, const Group& group, const Write& write) {
    LaunchPlan plan;
    kernels::Kernel kernel;
    KernelWriter writer(graph_, fusion_, result_.buffer_of, group, id);
    write(writer, plan, kernel);
    if (group.kind == GroupKind::kRow && !writer.computed_again().empty()) {
      const std::int64_t row = rounded(writer.row_length() * 8);
      if (writer.row_length() >= kLeastRow && row <= kMostRowBytes) {
        const auto& members = writer.computed_again();
        LaunchPlan keeping;
        keeping.scratch_bytes = row * static_cast<std::int64_t>(members.size());
        keeping.scratch =
            temporary(keeping.scratch_bytes * options_.machine.threads + room_to_shift(row));
        KernelWriter second(graph_, fusion_, result_.buffer_of, group, id);
        second.keep(members, keeping.scratch, row);
        write(second, keeping, kernel);
        plan = std::move(keeping);
      }
    }
    compile(plan, std::move(kernel));
  }

  // ---- sums of columns, by chunks of rows ----

  // The group's own launches, whole chunks and the rest, leave the sums of their chunks behind.
  void lower_rows(std::int32_t id, const Group& group, const std::vector<std::int32_t>& columns) {
    const Group& first = fusion_.groups[static_cast<std::size_t>(columns[0])];
    KernelWriter::Chunks part;
    std::int64_t rows = 1;
    while (first.loop.is_reduced[part.leading]) rows *= group.loop.sizes[part.leading++];
    const std::int64_t wide = group.loop.points() / rows;
    const std::int64_t chunk = kernels::order::kColumnChunk;
    const std::int64_t whole = rows / chunk;
    const auto write = [&](std::int64_t first_chunk, std::int64_t chunks, std::int64_t length) {
      part.first = first_chunk;
      part.chunks = chunks;
      part.length = length;
      std::vector<KernelWriter::ColumnSum> sums;
      for (const std::int32_t other : columns) {
        const std::int32_t seed = fusion_.groups[static_cast<std::size_t>(other)].seed;
        const auto& how = std::get<kernels::ReductionLowering>(node(seed).op->lowering->how);
        const auto size =
            static_cast<std::int64_t>(element_size(derive_types(graph_, node(seed)).compute));
        sums.push_back({seed, {}});
        std::vector<ColumnChunks>& known = chunk_sums_[other];
        known.resize(how.reductions.size());
        for (ColumnChunks& reduced : known) {
          const BufferId buffer = temporary(chunks * wide * size);
          sums.back().partials.push_back(buffer);
          for (std::int64_t i = 0; i < chunks; ++i) reduced.rows.push_back({buffer, i * wide});
        }
      }
      write_kernel(id, group, [&](KernelWriter& writer, LaunchPlan& plan, kernels::Kernel& kernel) {
        writer.write_rows(plan, kernel, part, sums);
        // Only whole chunks may run side by side, however many threads there are.
        plan.is_splittable = chunks > 1;
        plan.most_parts =
            static_cast<int>(std::min<std::int64_t>(chunks, options_.machine.threads));
        if (group.nodes.empty()) plan.nodes = {group.seed};
      });
    };
    if (whole > 0) write(0, whole, chunk);
    if (rows % chunk != 0) write(whole, 1, rows % chunk);
  }

  void lower_columns(std::int32_t id, const Group& group) {
    if (group.accumulates_in == id) {
      Group rows;
      rows.loop.sizes = group.loop.sizes;
      rows.stage = group.stage;
      rows.seed = group.seed;
      for (const std::int32_t member : group.nodes) {
        const bool is_full = fusion_.span_of[static_cast<std::size_t>(member)] == Span::kFull;
        if (is_full && member != group.seed) rows.nodes.push_back(member);
      }
      lower_rows(id, rows, {id});
    }
    std::vector<ColumnChunks> chunks = std::move(chunk_sums_.at(id));
    const ScalarType dtype = derive_types(graph_, node(group.seed)).compute;
    for (ColumnChunks& reduced : chunks) shorten(group, dtype, reduced);
    LaunchPlan plan;
    kernels::Kernel kernel;
    KernelWriter writer(graph_, fusion_, result_.buffer_of, group, id);
    writer.write_columns(plan, kernel, chunks);
    compile(plan, std::move(kernel));
  }

  // Blocks of 32 chunks, a power of two, are whole trees below the tree of all.
  void shorten(const Group& group, ScalarType dtype, ColumnChunks& chunks) {
    const auto size = static_cast<std::int64_t>(element_size(dtype));
    while (chunks.rows.size() > kTreeLeaves) {
      // Rows of one buffer lie one after the other.
      std::size_t together = 1;
      while (together < chunks.rows.size() &&
             chunks.rows[together].buffer == chunks.rows[0].buffer) {
        ++together;
      }
      const std::int64_t wide = chunks.rows[1].offset - chunks.rows[0].offset;
      const std::size_t blocks = together / kTreeLeaves;
      ColumnChunks shorter;
      const auto add = [&](std::size_t from, std::size_t leaves, std::size_t count) {
        const BufferId target = temporary(static_cast<std::int64_t>(count) * wide * size);
        const auto begin = chunks.rows.begin() + static_cast<std::ptrdiff_t>(from);
        LaunchPlan plan = combine_rows(dtype, {begin, begin + static_cast<std::ptrdiff_t>(leaves)},
                                       static_cast<std::int64_t>(count), wide, target);
        plan.stage = group.stage;
        plan.nodes = group.nodes;
        result_.launches.push_back(std::move(plan));
        for (std::size_t i = 0; i < count; ++i) {
          shorter.rows.push_back({target, static_cast<std::int64_t>(i) * wide});
        }
      };
      if (blocks > 0) add(0, kTreeLeaves, blocks);
      const std::size_t done = blocks * kTreeLeaves;
      const std::size_t left = chunks.rows.size() - done;
      if (left == 1) shorter.rows.push_back(chunks.rows.back());
      if (left > 1) add(done, left, 1);
      chunks = std::move(shorter);
    }
  }

  void lower_split(std::int32_t id, const Group& group) {
    const std::int64_t length =
        KernelWriter(graph_, fusion_, result_.buffer_of, group, id).row_length();
    const std::int64_t rows = group.loop.points() / length;
    const std::int64_t chunk = kernels::order::kRowChunk;
    const std::int64_t whole = length / chunk, rest = length % chunk;
    const std::int64_t chunks = whole + (rest != 0);
    std::vector<BufferId> partials;
    for (const std::int32_t index : group.nodes) {
      const Node& n = node(index);
      const auto* how = std::get_if<kernels::ReductionLowering>(&n.op->lowering->how);
      if (!how) continue;
      const ScalarType compute = derive_types(graph_, n).compute;
      for (std::size_t i = 0; i < how->reductions.size(); ++i) {
        partials.push_back(
            temporary(rows * chunks * static_cast<std::int64_t>(element_size(compute))));
      }
    }
    const auto part = [&](const KernelWriter::Chunks& chunks_of) {
      LaunchPlan plan;
      kernels::Kernel kernel;
      KernelWriter writer(graph_, fusion_, result_.buffer_of, group, id);
      writer.write_chunks(plan, kernel, chunks_of, partials);
      compile(plan, std::move(kernel));
    };
    part({0, whole, chunk, chunks});
    if (rest != 0 && !has_fault(Fault::kDroppedChunk)) part({whole, 1, rest, chunks});
    LaunchPlan plan;
    kernels::Kernel kernel;
    KernelWriter writer(graph_, fusion_, result_.buffer_of, group, id);
    writer.write_tree(plan, kernel, chunks, partials);
    compile(plan, std::move(kernel));
  }

  void lower_contraction(std::int32_t id, const Group& group) {
    const Node& product = node(group.seed);
    if (group.loop.points() == 0) return;
    const auto& how = std::get<kernels::ContractionLowering>(product.op->lowering->how);
    const Type& type = graph_.type(product.outputs[0]);
    LaunchPlan plan;
    plan.kind = LaunchPlan::Kind::kContraction;
    Geometry geometry[2];
    for (std::size_t i = 0; i < 2; ++i) {
      Operand operand;
      const ValueId root = locate(graph_, product.inputs[i], geometry[i], operand.starts);
      operand.dtype = graph_.type(root).dtype;
      operand.buffer = buffer_of(root);
      operand.offset = geometry[i].offset;
      GROOVE_ASSERT(operand.buffer >= 0, "an operand of {} has no memory", product.op->name);
      plan.operands.push_back(std::move(operand));
    }
    kernels::ContractionOperands described =
        kernels::contraction_operands(how, geometry[0], geometry[1], type.sizes);
    GROOVE_ASSERT(!described.copy_a && !described.copy_b, "{}: operands need copies",
                  product.op->name);
    kernels::Contraction contraction;
    contraction.dtype = type.dtype;
    contraction.order = described.order;
    contraction.a = described.a;
    contraction.b = described.b;
    contraction.is_exact = !options_.has_many_sizes || has_fault(Fault::kOneSizeForAll);
    if (contraction.is_exact)
      contraction.shape = described.shape;
    else if (described.shape.n < kernels::order::kDotBound)
      contraction.order = kernels::OrderClass::kOfLaunch;  // other sizes have other numbers of rows
    plan.shape = described.shape;
    KernelWriter writer(graph_, fusion_, result_.buffer_of, group, id);
    writer.write(plan, contraction.epilogue);
    plan.contraction =
        kernels::compile_cached(kernels::current_backend(), contraction, options_.machine.isa);
    plan.product = std::make_shared<const kernels::Contraction>(std::move(contraction));
    plan.kernel = {plan.product, &plan.product->epilogue};
    const auto& s = plan.shape;
    const double work = 2.0 * static_cast<double>(s.batch) * static_cast<double>(s.m) *
                        static_cast<double>(s.n) * static_cast<double>(s.k);
    plan.nanoseconds = 40.0 + work / 70.0;
    reserve_scratch(result_, plan);
    result_.launches.push_back(std::move(plan));
  }

  void lower_block_product(std::int32_t id, const Group& group) {
    const Node& n = node(group.seed);
    if (group.loop.points() == 0) return;
    LaunchPlan plan;
    plan.kind = LaunchPlan::Kind::kContraction;
    for (const ValueId input : n.inputs) plan.operands.push_back(host_operand(input));
    kernels::Kernel epilogue;
    KernelWriter(graph_, fusion_, result_.buffer_of, group, id).write(plan, epilogue);
    const std::vector<Type> types = operand_types(graph_, n);
    const Signature signature{*n.op, types, n.attrs, {}};
    const kernels::BlockProduct& how = *kernels::block_product(*n.op);
    plan.shape = how.shape(signature);
    plan.contraction = how.compile(signature, kernels::current_backend(), epilogue);
    plan.kernel = std::make_shared<const kernels::Kernel>(std::move(epilogue));
    plan.nanoseconds += kernels::host_nanoseconds(
        std::get<kernels::OpaqueLowering>(n.op->lowering->how), signature, n.op->type(signature));
    reserve_scratch(result_, plan);
    result_.launches.push_back(std::move(plan));
  }

  // What host code reads: contiguous memory.
  Operand host_operand(ValueId id) const {
    Operand operand;
    if (id == kNoValue) return operand;
    Geometry geometry;
    const ValueId root = locate(graph_, id, geometry, operand.starts);
    operand.dtype = graph_.type(id).dtype;
    operand.buffer = buffer_of(root);
    operand.offset = geometry.offset;
    return operand;
  }

  static std::int64_t rounded(std::int64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

  // A copy of `value` into a region of buffer `target`.
  void copy_region(const Group& group, ValueId value, Geometry region, BufferId target,
                   const std::vector<Start>& starts = {}) {
    Group copy;
    copy.kind = GroupKind::kMap;
    copy.stage = group.stage;
    copy.loop.sizes = without_ones(region.sizes);
    if (copy.loop.points() == 0) return;
    LaunchPlan plan;
    kernels::Kernel kernel;
    KernelWriter writer(graph_, fusion_, result_.buffer_of, copy, -2);
    Walk walk = writer.chains().walk(std::move(region), writer.chains().end(Span::kFull));
    walk.starts = starts;
    writer.add_store(value, Span::kFull, std::move(walk), target);
    writer.write(plan, kernel);
    plan.nodes = group.nodes;
    compile(plan, std::move(kernel));
  }

  void lower_concatenation(const Group& group) {
    const Node& n = node(group.seed);
    const Geometry whole = memory_geometry(graph_, n.outputs[0]);
    const auto axis = static_cast<std::size_t>(AttrReader(*n.op, n.attrs).integer(0));
    std::int64_t at = 0;
    for (const ValueId input : n.inputs) {
      Geometry region{graph_.type(input).sizes, whole.strides, 0};
      if (region.sizes.size() != whole.sizes.size()) continue;  // LibTorch's empty 1-d tensors
      region.offset = at * whole.strides[axis];
      at += region.sizes[axis];
      const ValueId root = root_of(graph_, input);
      if (fusion_.placements[static_cast<std::size_t>(root)].whole == n.outputs[0]) continue;
      copy_region(group, input, region, buffer_of(n.outputs[0]));
    }
  }

  void lower_overwrite(const Group& group) {
    const Node& n = node(group.seed);
    const AttrReader attr(*n.op, n.attrs);
    const BufferId target = buffer_of(n.outputs[0]);
    const std::size_t first = result_.launches.size();
    copy_region(group, n.inputs[0], memory_geometry(graph_, n.outputs[0]), target);
    const bool has_base = result_.launches.size() > first;
    const std::size_t second = result_.launches.size();
    Geometry region{Shape(attr.integers(0)), Shape(attr.integers(1)), attr.integer(2)};
    std::vector<Start> starts;
    for (std::size_t i = 0; i < n.numbers.size(); ++i) {
      const std::int64_t step = attr.integers(3)[i], extent = attr.integers(4)[i];
      if (n.numbers[i].entry >= 0) {
        starts.push_back({n.numbers[i].entry, step, extent});
        continue;
      }
      const std::int64_t start = n.numbers[i].constant.to_int();
      region.offset += step * (start < 0 ? start + extent : start);
    }
    copy_region(group, n.inputs[1], std::move(region), target, starts);
    if (!has_base || result_.launches.size() == second) return;
    result_.launches[first].copies_base = true;
    result_.launches[second].overwrites = true;
  }

  void lower_opaque(const Group& group) {
    const Node& n = node(group.seed);
    LaunchPlan plan;
    plan.kind = LaunchPlan::Kind::kOpaque;
    plan.stage = group.stage;
    plan.nodes = group.nodes;
    const auto& how = std::get<kernels::OpaqueLowering>(n.op->lowering->how);
    const std::vector<Type> types = operand_types(graph_, n);
    const std::vector<Scalar> numbers = recorded_numbers(graph_, n);
    const Signature signature{*n.op, types, n.attrs, numbers};
    plan.nanoseconds = kernels::host_nanoseconds(how, signature, n.op->type(signature));
    plan.is_splittable = how.run_part != nullptr;
    for (const ValueId id : n.inputs) plan.operands.push_back(host_operand(id));
    for (const ValueId id : n.outputs) {
      Operand operand;
      operand.dtype = graph_.type(id).dtype;
      operand.is_store = true;
      operand.buffer = buffer_of(id);
      if (operand.buffer < 0) {
        operand.buffer = temporary(element_count(graph_.type(id).sizes) *
                                   static_cast<std::int64_t>(element_size(operand.dtype)));
      }
      plan.operands.push_back(std::move(operand));
    }
    for (const NumberRef& number : n.numbers) {
      const bool is_entry = number.entry >= 0;
      const ScalarType dtype = is_entry ? graph_.numbers[static_cast<std::size_t>(number.entry)]
                                        : number.constant.type();
      plan.scalars.push_back(
          {is_entry ? number.entry : -1, dtype, is_entry ? 0 : number.constant.bits_as(dtype)});
    }
    result_.launches.push_back(std::move(plan));
  }

  const Graph& graph_;
  const Fusion& fusion_;
  const LoweringOptions& options_;
  Lowered result_;
  // Per column group and reduced value: the sums of its chunks, once they have launches.
  std::unordered_map<std::int32_t, std::vector<ColumnChunks>> chunk_sums_;
  std::optional<GroupForm> form_;  // of the group that is being lowered
  std::unordered_map<FormWords, Original, FormHash> originals_;
};

}  // namespace

bool may_fail(const LaunchPlan& launch) {
  using Kind = LaunchPlan::Kind;
  return launch.kind == Kind::kOpaque ||
         (launch.kind == Kind::kContraction && launch.parts.empty() && !launch.product) ||
         std::any_of(launch.parts.begin(), launch.parts.end(), may_fail);
}

Lowered lower_groups(const Graph& graph, const Fusion& fusion, const LoweringOptions& options) {
  return Lowerer(graph, fusion, options).run();
}

LaunchPlan copy_launch(ScalarType dtype, const Geometry& from, BufferId source, const Geometry& to,
                       BufferId target) {
  LaunchPlan plan;
  std::vector<Shape> strides{from.strides, to.strides};
  plan.box = kernels::collapse(from.sizes, strides);
  auto& load = plan.box.strides[0];
  auto& store = plan.box.strides[1];
  if (plan.box.count[0] <= 1) load[0] = store[0] = 1;
  kernels::Builder builder;
  const kernels::Expr value =
      builder.load(dtype, kernels::stride_class(load[0], plan.box.count[0]));
  builder.store(dtype, kernels::stride_class(store[0], plan.box.count[0]), value);
  plan.kernel = std::make_shared<const kernels::Kernel>(builder.finish());
  plan.callable = kernels::compile_cached(kernels::current_backend(), *plan.kernel);
  plan.operands.push_back({dtype, false, source, from.offset, {}, true});
  plan.operands.push_back({dtype, true, target, to.offset, {}, true});
  plan.nanoseconds = costs::kLaunch + (costs::kNearLoad + costs::kNearStore) *
                                          static_cast<double>(plan.box.points());
  return plan;
}

}  // namespace groove::jit
