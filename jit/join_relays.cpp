// Looks at every kernel of rows: which products make what it reads, which ones read what it makes.
//
//     scores = matmul(q, k)     rows: softmax(scores)     matmul(weights, v)
//
// Each must go over the same rows, and no launch outside may stand between two parts.
#include "jit/join_relays.h"

#include <algorithm>

#include "jit/costs.h"
#include "jit/gather_launches.h"
#include "jit/relay.h"
#include "src/core/check.h"

namespace groove::jit {
namespace {

constexpr std::int64_t kLine = 64;
// Rows of one value that a block has: so many that tiles of products are filled, and so few that
// the values of a block stay in the second-level cache.
constexpr std::int64_t kLeastRows = 16, kMostRows = 128, kBlockBytes = 128 << 10;
// The right matrices are read again for every block, from a cache further out: what that costs
// beside a byte that goes through memory, and from where on they would come from memory themselves.
constexpr double kReadAgain = 0.25;
constexpr std::int64_t kMostMatrixBytes = 4 << 20;
// A right matrix whose rows lie further apart than this is laid out afresh once for all blocks.
constexpr std::int64_t kSpreadBytes = 512 << 10;
// Rows this far apart share two sets of the first-level cache.
constexpr std::int64_t kAliasedRow = 2048;

std::int64_t rounded(std::int64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

class Joiner {
 public:
  Joiner(const Graph& graph, Lowered& lowered)
      : lowered_(lowered), is_output_(graph.values.size(), 0) {
    for (const GraphOutput& output : graph.outputs) {
      is_output_[static_cast<std::size_t>(output.value)] = 1;
    }
  }

  void run() {
    find_accesses();
    for (std::size_t at = 0; at < lowered_.launches.size();) {
      const std::int32_t first = is_rows(at) ? join(static_cast<std::int32_t>(at)) : -1;
      if (first < 0) {
        ++at;
        continue;
      }
      at = static_cast<std::size_t>(first);
      find_accesses();
    }
  }

 private:
  const LaunchPlan& launch(std::int32_t index) const {
    return lowered_.launches[static_cast<std::size_t>(index)];
  }

  void find_accesses() {
    readers_.assign(lowered_.buffers.size(), {});
    writers_.assign(lowered_.buffers.size(), {});
    for (std::size_t i = 0; i < lowered_.launches.size(); ++i) {
      for (const Operand& operand : lowered_.launches[i].operands) {
        if (operand.buffer < 0) continue;
        auto& list =
            (operand.is_store ? writers_ : readers_)[static_cast<std::size_t>(operand.buffer)];
        const auto index = static_cast<std::int32_t>(i);
        if (list.empty() || list.back() != index) list.push_back(index);
      }
    }
  }

  bool is_rows(std::size_t at) const {
    const LaunchPlan& plan = lowered_.launches[at];
    if (plan.kind != LaunchPlan::Kind::kKernel || plan.order != kernels::Order::kRow) return false;
    if (!plan.is_splittable || plan.most_parts != 0 || plan.box.rank < 2) return false;
    return std::none_of(plan.operands.begin(), plan.operands.end(),
                        [](const Operand& operand) { return operand.is_own_sum; });
  }

  // ---- which launches ----

  struct Team {
    std::vector<std::int32_t> before, after;  // products, ascending
    std::int32_t rows = -1;
    std::vector<std::int32_t> all() const {
      std::vector<std::int32_t> members = before;
      members.push_back(rows);
      members.insert(members.end(), after.begin(), after.end());
      return members;
    }
    std::size_t products() const { return before.size() + after.size(); }
    bool has(std::int32_t index) const {
      const auto is_among = [&](const std::vector<std::int32_t>& side) {
        return std::find(side.begin(), side.end(), index) != side.end();
      };
      return index == rows || is_among(before) || is_among(after);
    }
  };

  // The first launch whose place has changed; -1: none.
  std::int32_t join(std::int32_t rows) {
    Team team;
    team.rows = rows;
    for (const Operand& operand : launch(rows).operands) {
      if (operand.buffer < 0 || operand.is_row_buffer) continue;
      const auto& list =
          (operand.is_store ? readers_ : writers_)[static_cast<std::size_t>(operand.buffer)];
      for (const std::int32_t other : list) {
        if (!is_product_of_rows(other, rows, operand.is_store) || team.has(other)) continue;
        auto& side = operand.is_store ? team.after : team.before;
        Team larger = team;
        (operand.is_store ? larger.after : larger.before).push_back(other);
        if (larger.products() <= Relay::kMostProducts && fits(larger)) side.push_back(other);
      }
    }
    if (team.before.empty() || team.after.empty()) return -1;
    std::sort(team.before.begin(), team.before.end());
    std::sort(team.after.begin(), team.after.end());
    return make(team);
  }

  bool is_product_of_rows(std::int32_t index, std::int32_t rows, bool is_after) const {
    const LaunchPlan& plan = launch(index);
    const LaunchPlan& of = launch(rows);
    if (!plan.is_one_contraction() || plan.stage != of.stage) return false;
    const kernels::ContractionShape& s = plan.shape;
    if ((is_after ? s.k : s.n) != of.box.count[0] || s.n == 0 || s.k == 0) return false;
    if (s.batch * s.m != of.box.points() / of.box.count[0]) return false;
    // A block has no place of its own in the result.
    return std::none_of(plan.kernel->code.begin(), plan.kernel->code.end(), [](const auto& instr) {
      return instr.prim == kernels::Prim::kIndex && instr.imm != 0;
    });
  }

  // The rows over which no member changes its matrices; 0: there is no such number.
  std::int64_t unit_of(const Team& team) const {
    std::int64_t unit = launch(team.rows).box.count[1];
    for (const auto* side : {&team.before, &team.after}) {
      for (const std::int32_t index : *side) unit = std::min(unit, launch(index).shape.m);
    }
    if (launch(team.rows).box.count[1] % unit != 0) return 0;
    for (const auto* side : {&team.before, &team.after}) {
      for (const std::int32_t index : *side) {
        if (launch(index).shape.m % unit != 0) return 0;
      }
    }
    return unit;
  }

  bool fits(const Team& team) const {
    if (unit_of(team) == 0) return false;
    const std::vector<std::int32_t> members = team.all();
    for (const std::int32_t index : members) {
      for (std::size_t i = 0; i < launch(index).operands.size(); ++i) {
        const Operand& operand = launch(index).operands[i];
        if (operand.buffer < 0 || operand.is_store) continue;
        for (const std::int32_t writer : writers_[static_cast<std::size_t>(operand.buffer)]) {
          if (writer != index && team.has(writer) && !hands_over(team, writer, index, i))
            return false;
        }
      }
    }
    std::vector<std::int32_t> later;
    return may_gather(lowered_, members, later);
  }

  static bool is_plain(const Operand& operand) {
    return operand.is_identity && operand.offset == 0 && operand.starts.empty();
  }

  // Does a block of the reader find in its operand what the same block of the writer left there?
  bool hands_over(const Team& team, std::int32_t writer, std::int32_t reader,
                  std::size_t at) const {
    const Operand& read = launch(reader).operands[at];
    if (writers_[static_cast<std::size_t>(read.buffer)].size() != 1) return false;
    for (const Operand& written : launch(writer).operands) {
      if (!written.is_store || written.buffer != read.buffer) continue;
      if (!is_plain(written) || written.dtype != read.dtype) return false;
    }
    if (reader == team.rows) {
      return is_plain(read) && launch(reader).box.strides[at][0] == 1;
    }
    if (writer != team.rows || at != 0) return false;
    const kernels::ContractionShape& s = launch(reader).shape;
    return read.offset == 0 && read.starts.empty() && (s.a_col == 1 || s.k == 1) &&
           (s.a_row == s.k || s.m == 1) && (s.a_batch == s.m * s.k || s.batch == 1);
  }

  // ---- the relay ----

  // Nothing outside the team reads the value.
  bool is_handed_over_only(const Team& team, BufferId id) const {
    const Buffer& buffer = lowered_.buffers[static_cast<std::size_t>(id)];
    if (buffer.place != Buffer::Place::kArena) return false;
    if (buffer.value == kNoValue || is_output_[static_cast<std::size_t>(buffer.value)])
      return false;
    const auto& writers = writers_[static_cast<std::size_t>(id)];
    const auto& readers = readers_[static_cast<std::size_t>(id)];
    return writers.size() == 1 && team.has(writers[0]) && !readers.empty() &&
           std::all_of(readers.begin(), readers.end(),
                       [&](std::int32_t reader) { return team.has(reader); });
  }

  struct Handed {
    BufferId buffer;
    std::int64_t at, row;  // in scratch; elements
  };

  std::int32_t make(const Team& team) {
    const LaunchPlan& rows = launch(team.rows);
    auto relay = std::make_shared<Relay>();
    if (!choose_blocks(team, *relay) || !pays(team, *relay)) return -1;
    LaunchPlan plan = rows;
    plan.kind = LaunchPlan::Kind::kRelay;
    plan.operands.clear();
    plan.scalars.clear();
    plan.nodes.clear();
    plan.nanoseconds = 0;
    // Scratch: rows of the kernel's own, values that are handed over, matrices, products.
    std::int64_t scratch = rounded(rows.scratch_bytes);
    const std::int64_t most_rows = relay->height() + (relay->has_two_heights() ? 1 : 0);
    std::vector<Handed> handed;
    for (const std::int32_t index : team.all()) {
      for (const Operand& operand : launch(index).operands) {
        if (!operand.is_store || !is_handed_over_only(team, operand.buffer)) continue;
        const auto size = static_cast<std::int64_t>(element_size(operand.dtype));
        std::int64_t row = rounded(rows.box.count[0] * size);
        if (row % kAliasedRow == 0) row += kLine;
        const std::int64_t free = index == team.rows ? free_place(rows, operand, handed) : -1;
        handed.push_back({operand.buffer, free < 0 ? scratch : free, row / size});
        if (free < 0) scratch += most_rows * row;
      }
    }
    add_rows(*relay, team, handed, plan);
    for (const auto* side : {&team.before, &team.after}) {
      for (const std::int32_t index : *side) add_product(*relay, index, handed, plan, scratch);
    }
    relay->before = team.before.size();
    relay->products_at = scratch;
    std::int64_t most = 0;
    for (const Relay::Product& product : relay->products) {
      kernels::ContractionLaunch block;
      block.shape = product.shape;
      block.shape.batch = 1;
      block.shape.m = relay->height();
      for (const auto& code : product.code) {
        if (code) most = std::max(most, static_cast<std::int64_t>(code->scratch_bytes(block, 1)));
        ++block.shape.m;
      }
    }
    add_scratch(plan, relay->blocks(), rounded(scratch + most));
    for (const std::int32_t index : team.all()) {
      const LaunchPlan& part = launch(index);
      plan.nodes.insert(plan.nodes.end(), part.nodes.begin(), part.nodes.end());
      plan.nanoseconds += part.nanoseconds;
      plan.parts.push_back(part);
    }
    plan.relay = std::move(relay);
    return replace(team, std::move(plan));
  }

  // The place of a value that the rows do not load any more once they have stored this one.
  static std::int64_t free_place(const LaunchPlan& rows, const Operand& store,
                                 const std::vector<Handed>& handed) {
    const auto access = static_cast<std::uint64_t>(&store - rows.operands.data());
    for (const Handed& value : handed) {
      bool is_free = true, is_read = false, is_stored = false;
      for (const kernels::Instr& instr : rows.kernel->code) {
        is_stored |= instr.prim == kernels::Prim::kStore && instr.imm == access;
        const bool is_load =
            instr.prim == kernels::Prim::kLoad || instr.prim == kernels::Prim::kLoadAt;
        if (!is_load || rows.operands[instr.imm].buffer != value.buffer) continue;
        is_read = true;
        is_free &= !is_stored && rows.operands[instr.imm].dtype == store.dtype;
      }
      const bool is_taken = std::any_of(handed.begin(), handed.end(), [&](const Handed& other) {
        return &other != &value && other.at == value.at;
      });
      if (is_read && is_free && !is_taken) return value.at;
    }
    return -1;
  }

  bool choose_blocks(const Team& team, Relay& relay) const {
    const LaunchPlan& rows = launch(team.rows);
    std::int64_t row_bytes = 0, matrices = 0;
    for (const Operand& operand : rows.operands) {
      if (operand.buffer < 0 || operand.is_row_buffer || !operand.is_identity) continue;
      row_bytes = std::max(
          row_bytes, rows.box.count[0] * static_cast<std::int64_t>(element_size(operand.dtype)));
    }
    for (const auto* side : {&team.before, &team.after}) {
      for (const std::int32_t index : *side) {
        const kernels::ContractionShape& s = launch(index).shape;
        matrices +=
            s.n * s.k * static_cast<std::int64_t>(element_size(launch(index).operands[1].dtype));
      }
    }
    if (row_bytes == 0 || matrices > kMostMatrixBytes) return false;
    const std::int64_t most = std::min(kMostRows, kBlockBytes / row_bytes);
    relay.unit = unit_of(team);
    relay.units = rows.box.points() / rows.box.count[0] / relay.unit;
    if (most < std::min(kLeastRows, relay.unit)) return false;
    relay.blocks_per_unit = (relay.unit + most - 1) / most;
    // Threads share blocks.
    while (relay.blocks() < 2 * lowered_.machine.cores && relay.height() >= 2 * kLeastRows)
      relay.blocks_per_unit *= 2;
    return true;
  }

  // What is handed over is not written and read, or at least not read; matrices are read again.
  bool pays(const Team& team, const Relay& relay) const {
    double saved = 0, again = 0;
    for (const std::int32_t index : team.all()) {
      const LaunchPlan& part = launch(index);
      for (const Operand& operand : part.operands) {
        if (!operand.is_store || operand.buffer < 0) continue;
        const auto& readers = readers_[static_cast<std::size_t>(operand.buffer)];
        const auto inside = std::count_if(readers.begin(), readers.end(),
                                          [&](std::int32_t reader) { return team.has(reader); });
        const auto bytes =
            static_cast<double>(lowered_.buffers[static_cast<std::size_t>(operand.buffer)].bytes);
        const bool is_near =
            bytes <= static_cast<double>(costs::kNearBytes * lowered_.machine.cores);
        saved += bytes * (is_near ? kReadAgain : 1) *
                 static_cast<double>(inside + (is_handed_over_only(team, operand.buffer) ? 1 : 0));
      }
      if (part.kind != LaunchPlan::Kind::kContraction) continue;
      const kernels::ContractionShape& s = part.shape;
      const std::int64_t passes =
          s.b_batch == 0 ? relay.blocks() - 1 : (relay.blocks_per_unit - 1) * relay.units;
      again += static_cast<double>(passes * s.k * s.n) *
               static_cast<double>(element_size(part.operands[1].dtype));
    }
    return saved > kReadAgain * again;
  }

  static Relay::Source source_of(const Operand& operand, const std::vector<Handed>& handed,
                                 LaunchPlan& plan, const Operand* as) {
    Relay::Source source;
    source.bytes = static_cast<std::int64_t>(element_size(operand.dtype));
    for (const Handed& value : handed) {
      if (value.buffer != operand.buffer) continue;
      source.at = value.at;
      source.is_block = true;
      source.strides[0] = 1;
      source.strides[1] = value.row;
      return source;
    }
    source.operand = static_cast<std::int32_t>(plan.operands.size());
    plan.operands.push_back(*as);
    return source;
  }

  // What the team writes and reads again is not there before.
  Operand outside(const Team& team, const Operand& operand) const {
    Operand result = operand;
    if (!operand.is_store && operand.buffer >= 0) {
      const auto& writers = writers_[static_cast<std::size_t>(operand.buffer)];
      result.is_own_sum = writers.size() == 1 && team.has(writers[0]);
    }
    return result;
  }

  void add_rows(Relay& relay, const Team& team, const std::vector<Handed>& handed,
                LaunchPlan& plan) const {
    const LaunchPlan& rows = launch(team.rows);
    kernels::describe(relay.rows.launch, rows.box);
    relay.rows.launch.strides = nullptr;
    for (std::size_t i = 0; i < rows.operands.size(); ++i) {
      const Operand& operand = rows.operands[i];
      std::array<std::int64_t, kernels::kMaxAxes> strides = rows.box.strides[i];
      Relay::Source source;
      if (operand.is_row_buffer) {
        source.bytes = static_cast<std::int64_t>(element_size(operand.dtype));
        source.at = operand.offset * source.bytes;
      } else {
        const Operand seen = outside(team, operand);
        source = source_of(operand, handed, plan, &seen);
      }
      if (source.is_block) strides = source.strides;
      source.strides = strides;
      source.access = static_cast<std::int32_t>(i);
      relay.rows.sources.push_back(source);
      relay.rows.strides.push_back(strides);
    }
    plan.scalars = rows.scalars;
  }

  void add_product(Relay& relay, std::int32_t index, const std::vector<Handed>& handed,
                   LaunchPlan& plan, std::int64_t& scratch) const {
    const LaunchPlan& part = launch(index);
    Relay::Product product;
    product.shape = part.shape;
    product.element = static_cast<std::int64_t>(element_size(part.operands[0].dtype));
    for (std::size_t i = 0; i < part.operands.size(); ++i) {
      // Element by element is not how blocks of other parts may share memory with these.
      Operand seen = part.operands[i];
      seen.is_identity = false;
      for (const Operand& known : plan.operands) {
        seen.is_own_sum |= !seen.is_store && known.is_store && known.buffer == seen.buffer;
      }
      const Relay::Source source = source_of(part.operands[i], handed, plan, &seen);
      if (i < 2) {
        (i == 0 ? product.a : product.b) = source;
        continue;
      }
      std::array<std::int64_t, kernels::kMaxAxes> strides = part.box.strides[i - 2];
      if (source.is_block) strides = source.strides;
      product.epilogue.push_back(source);
      product.epilogue.back().strides = strides;
      product.strides.push_back(strides);
    }
    product.first_scalar = static_cast<std::int32_t>(plan.scalars.size());
    plan.scalars.insert(plan.scalars.end(), part.scalars.begin(), part.scalars.end());
    const kernels::ContractionShape& s = part.shape;
    const bool is_spread = s.b_row * s.k * product.element > kSpreadBytes;
    const bool is_read_again = relay.blocks_per_unit > 1 || s.b_batch == 0;
    if (is_read_again && product.element >= 4 && ((s.b_col != 1 && s.n > 1) || is_spread)) {
      std::int64_t row = rounded(s.n * product.element);
      if (row % kAliasedRow == 0) row += kLine;
      product.turned = scratch;
      product.turned_row = row / product.element;
      scratch += s.k * row;
    }
    compile(relay, part, product);
    relay.products.push_back(std::move(product));
  }

  void compile(const Relay& relay, const LaunchPlan& part, Relay::Product& product) const {
    kernels::Contraction block = *part.product;
    if (!block.is_exact) {
      product.code = {part.contraction, part.contraction};
      return;
    }
    block.shape.batch = 1;
    if (product.a.is_block) block.shape.a_row = product.a.strides[1];
    if (product.turned >= 0) {
      block.b = kernels::Layout::kRowMajor;
      block.shape.b_row = product.turned_row;
      block.shape.b_col = 1;
    }
    for (std::int64_t i = 0; i <= (relay.has_two_heights() ? 1 : 0); ++i) {
      block.shape.m = relay.height() + i;
      product.code[static_cast<std::size_t>(i)] =
          kernels::compile_cached(kernels::current_backend(), block, lowered_.machine.isa);
    }
  }

  void add_scratch(LaunchPlan& plan, std::int64_t blocks, std::int64_t bytes) {
    const std::int64_t most =
        std::min<std::int64_t>(threads_with_scratch(lowered_.machine, bytes), blocks);
    plan.most_parts = static_cast<int>(most);
    plan.scratch_bytes = bytes;
    Buffer buffer;
    buffer.bytes = bytes * most;
    plan.scratch = static_cast<BufferId>(lowered_.buffers.size());
    lowered_.buffers.push_back(buffer);
  }

  std::int32_t replace(const Team& team, LaunchPlan plan) {
    const std::vector<std::int32_t> members = team.all();
    std::vector<std::int32_t> later;
    may_gather(lowered_, members, later);
    return gather(lowered_, members, later, std::move(plan));
  }

  Lowered& lowered_;
  std::vector<char> is_output_;                               // per value
  std::vector<std::vector<std::int32_t>> readers_, writers_;  // per buffer: launches
};

}  // namespace

void join_relays(const Graph& graph, Lowered& lowered) { Joiner(graph, lowered).run(); }

}  // namespace groove::jit
