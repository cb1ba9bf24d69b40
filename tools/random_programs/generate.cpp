// Makes random programs. Each instruction is tried on a running machine and kept when it is valid,
// so that most of a program computes something; a few invalid ones are kept for their errors.
#include <algorithm>
#include <cmath>
#include <set>

#include "tools/random_programs/machine.h"

namespace groove::random_programs {

class Source {  // splitmix64
 public:
  explicit Source(std::uint64_t seed) : state_(seed) { state_ = next() ^ seed << 32; }
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
  }
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(n));
  }
  bool chance(int percent) { return below(100) < percent; }
  double number() {  // few digits, so that programs stay readable
    static constexpr double all[] = {0.5, 2, -1, 0.25, 1.5, -0.75, 0.1, 3, 0.01, -0.3, 1, 0};
    return all[below(12)];
  }

 private:
  std::uint64_t state_;
};

namespace {

class Generator {
 public:
  Generator(std::uint64_t seed, bool is_loop) : random_(seed), is_loop_(is_loop) {
    program_.seed = seed;
    program_.steps = is_loop ? 8 + static_cast<int>(random_.below(5)) : 5;
    // Most programs do what a loop is compiled for; the others anything that comes to mind.
    is_regular_ = random_.chance(80);
    program_.clears_at_end = random_.chance(is_regular_ ? 90 : 50);
    for (std::int64_t& size : pool_) size = random_size();
    make_leaves();
    has_guards_ = random_.chance(25);
    has_eager_ = random_.chance(is_regular_ ? 5 : 30);
    if (random_.chance(is_regular_ ? 10 : 60)) period_ = 2 + static_cast<int>(random_.below(3));
    has_host_ = random_.chance(40);
    has_pointers_ = random_.chance(is_regular_ ? 8 : 50);
    has_moving_ = random_.chance(60);
    named_percent_ = random_.chance(50) ? 10 : 60;
    inplace_percent_ = random_.chance(40) ? 0 : 15;
    has_inputs_ = random_.chance(35);
    has_scribbles_ = random_.chance(has_pointers_ ? 50 : 5);
    if (is_loop_) program_.held = random_.chance(20) ? 1 + static_cast<int>(random_.below(2)) : 0;
  }

  Program make() {
    machine_ = std::make_unique<Machine>(program_);
    machine_->start_step();
    if (is_loop_)
      make_loop();
    else
      make_straight();
    if (is_regular_) drop_dead_histories();
    return std::move(program_);
  }

 private:
  static constexpr std::size_t kMost = 90;

  std::int64_t random_size() {
    static constexpr std::int64_t small[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 31, 33};
    static constexpr std::int64_t large[] = {64, 65, 70, 129, 130, 260, 300};
    return random_.chance(88) ? small[random_.below(13)] : large[random_.below(7)];
  }

  Leaf random_leaf() {
    Leaf leaf;
    const std::int64_t kind = random_.below(20);
    const int rank = kind == 0 ? 0 : kind < 6 ? 1 : kind < 17 ? 2 : 3;
    std::int64_t count = 1;
    for (int d = 0; d < rank; ++d) {
      leaf.sizes.push_back(pool_[random_.below(3)]);
      count *= leaf.sizes.back();
    }
    if (rank == 1 && random_.chance(4)) leaf.sizes[0] = 5000;  // several chunks of a sum
    if (count > 20000) leaf.sizes.pop_back();
    return leaf;
  }

  void make_leaves() {
    const bool is_double = random_.chance(12);
    const ScalarType half = random_.chance(8) ? random_.chance(50) ? kHalf : kBFloat16 : kFloat;
    const std::int64_t parameters = 1 + random_.below(4), buffers = 1 + random_.below(3);
    for (std::int64_t n = 0; n < parameters; ++n) {
      program_.parameters.push_back(random_leaf());
      program_.parameters.back().dtype = is_double ? kDouble : half;
    }
    static constexpr ScalarType dtypes[] = {kFloat, kFloat, kFloat, kFloat,    kDouble, kLong,
                                            kInt,   kByte,  kBool,  kHalf,     kShort,  kChar,
                                            kFloat, kFloat, kLong,  kBFloat16};
    for (std::int64_t n = 0; n < buffers; ++n) {
      program_.buffers.push_back(random_leaf());
      program_.buffers.back().dtype =
          is_double && random_.chance(50) ? kDouble : dtypes[random_.below(16)];
    }
    if (!is_loop_ || random_.chance(is_regular_ ? 8 : 40)) return;
    const int optimizers = random_.chance(25) ? 2 : 1;
    for (int n = 0; n < optimizers; ++n) {
      OptimizerSpec spec;
      spec.kind = static_cast<int>(random_.below(4));
      spec.rate = random_.chance(50) ? 0.05 : 0.01;
      for (std::int64_t p = 0; p < parameters; ++p)
        if (optimizers == 1 || p % 2 == n) spec.parameters.push_back(static_cast<int>(p));
      if (!spec.parameters.empty()) program_.optimizers.push_back(spec);
    }
  }

  int operand() {
    if (carried_ != kNothing && random_.chance(40)) return carried_;
    const auto& results = machine_->results();
    const std::int64_t way = random_.below(100);
    if (way < 65 && !results.empty()) {
      auto from = results.end();
      const auto reach = std::min<std::int64_t>(random_.chance(60) ? 3 : 1000,
                                                static_cast<std::int64_t>(results.size()));
      std::advance(from, -1 - random_.below(reach));
      return from->first;
    }
    if (way < 85)
      return static_cast<int>(random_.below(static_cast<std::int64_t>(program_.parameters.size())));
    if (way < 90 && program_.held > 0)
      return kFirstHeld + static_cast<int>(random_.below(program_.held));
    return kFirstBuffer +
           static_cast<int>(random_.below(static_cast<std::int64_t>(program_.buffers.size())));
  }

  Instruction blank(Kind kind) {
    Instruction each;
    each.kind = kind;
    each.id = next_id_;
    each.i = random_.below(1 << 12);
    each.j = random_.below(1 << 12);
    each.k = random_.below(64);
    each.x = random_.number();
    if (has_moving_ && is_loop_) {
      if (random_.chance(20)) each.x_per_step = random_.number() * 0.125;
      if (random_.chance(25)) each.j_per_step = 1 + random_.below(3);
      if (!is_regular_ && random_.chance(4)) each.i_per_step = 1;
    }
    if (has_eager_ && random_.chance(10)) each.is_eager = true;
    if (is_inference_ || random_.chance(3)) each.has_no_grad = true;
    each.is_named = random_.chance(named_percent_);
    return each;
  }

  const Op& pick(const std::vector<Op>& table) {
    int total = 0;
    for (const Op& op : table) total += op.weight;
    std::int64_t at = random_.below(total);
    for (const Op& op : table)
      if ((at -= op.weight) < 0) return op;
    return table.back();
  }

  bool is_useful(const Instruction& each) {
    const Tensor made = machine_->value(kFirstResult + each.id);
    if (!made.defined()) return each.kind != Kind::kPure;
    if (made.numel() > 30000) return false;
    if (!made.is_floating_point() || random_.chance(5)) return true;
    const NoGradGuard no_grad;
    return std::isfinite(made.detach().sum().item<double>());
  }

  // Runs it, and keeps it when it did something.
  bool add(Instruction each) {
    if (program_.body.size() >= kMost) return false;
    if (!machine_->run(each, 0) && !random_.chance(1)) return false;
    if (each.kind == Kind::kPure && !is_useful(each)) {
      machine_->forget(kFirstResult + each.id);
      return false;
    }
    if (period_ > 1 && random_.chance(8)) {
      each.every = period_;
      each.phase = static_cast<int>(random_.below(period_));
    }
    each.inner = inner_;
    if (has_branch_ && random_.chance(25)) each.guard = 1 + static_cast<int>(random_.below(2));
    program_.body.push_back(each);
    ++next_id_;
    return true;
  }

  void add_op() {
    for (int attempt = 0; attempt < 25; ++attempt) {
      const bool is_write = random_.chance(inplace_percent_);
      Instruction each = blank(is_write ? Kind::kInplace : Kind::kPure);
      each.op = &pick(is_write ? inplace_ops() : pure_ops());
      if (is_regular_ && !each.op->moves) each.j_per_step = 0;
      for (int n = 0; n < each.op->operands; ++n) each.operands[n] = operand();
      if (is_write) {
        const bool is_state = each.operands[0] < kFirstResult;
        if (each.operands[0] < kFirstBuffer || (is_regular_ && is_state)) each.has_no_grad = true;
        // A write into what backward needs is an error; most of those say the same.
        const Tensor target = machine_->value(each.operands[0]);
        if (target.defined() && target.requires_grad() && !each.has_no_grad && random_.chance(60))
          continue;
      }
      if (add(each)) return;
    }
  }

  void add_on(Kind kind, int a, int b = kNothing) {
    Instruction each = blank(kind);
    each.operands[0] = a;
    each.operands[1] = b;
    add(each);
  }

  void add_host_thing() {
    if (has_host_ && random_.chance(50))
      add_on(random_.chance(70) ? Kind::kItem : Kind::kRead, operand());
    if (has_pointers_ && random_.chance(40)) {
      add_on(Kind::kPoke, kFirstBuffer + static_cast<int>(random_.below(
                                             static_cast<std::int64_t>(program_.buffers.size()))));
    }
    if (has_pointers_ && random_.chance(30)) add_on(Kind::kBlob, kNothing);
    if (has_scribbles_ && random_.chance(60))
      add_on(Kind::kScribble, kFirstBuffer + static_cast<int>(random_.below(
                                                 static_cast<std::int64_t>(program_.buffers.size()))));
    if (has_guards_ && random_.chance(30)) {
      add_on(Kind::kBranch, operand());
      has_branch_ = true;
    }
    if (random_.chance(8)) add_on(Kind::kKeep, operand());
    if (random_.chance(is_regular_ ? 2 : 10)) add_on(Kind::kVersion, operand());
    if (random_.chance(is_regular_ ? 1 : 6)) add_on(Kind::kError, operand());
    if (random_.chance(is_regular_ ? 2 : 10)) add_on(Kind::kLeaf, operand());
    if (random_.chance(25)) {  // state carried to the next iteration, of the same shape
      const int b =
          kFirstBuffer +
          static_cast<int>(random_.below(static_cast<std::int64_t>(program_.buffers.size())));
      const Tensor old = machine_->value(b);
      for (const auto& [number, result] : machine_->results())
        if (result.defined() && result.sizes() == old.sizes() &&
            result.scalar_type() == old.scalar_type() && random_.chance(40)) {
          add_on(Kind::kCarry, number, b);
          break;
        }
    }
  }

  // A result that depends on parameters, late ones first.
  int loss() {
    const auto& results = machine_->results();
    for (auto each = results.rbegin(); each != results.rend(); ++each)
      if (each->second.defined() && each->second.requires_grad() && random_.chance(70))
        return each->first;
    return kNothing;
  }

  void add_ops(std::int64_t count) {
    for (std::int64_t n = 0; n < count; ++n) {
      if (has_inputs_ && random_.chance(12)) add_on(Kind::kInput, kNothing);
      if (is_loop_ && random_.chance(4)) add_inner();
      add_op();
      if (random_.chance(12)) add_host_thing();
    }
  }

  // A result of these sizes, one of the latest.
  int result_like(const Tensor& model, int first) {
    const auto& results = machine_->results();
    for (auto each = results.rbegin(); each != results.rend() && each->first >= first; ++each)
      if (each->second.defined() && each->second.sizes() == model.sizes() &&
          each->second.scalar_type() == model.scalar_type())
        return each->first;
    return kNothing;
  }

  // An inner loop of varying length that carries one of the results made before it.
  void add_inner() {
    if (inner_ != 0 || machine_->results().empty()) return;
    auto from = machine_->results().end();
    std::advance(from, -1 - random_.below(std::min<std::int64_t>(
                               3, static_cast<std::int64_t>(machine_->results().size()))));
    const int carried = from->first;
    const Tensor model = from->second;
    if (!model.defined()) return;
    Inner loop;
    loop.least = static_cast<int>(random_.below(3));
    loop.spread = 1 + static_cast<int>(random_.below(5));
    program_.inners.push_back(loop);
    inner_ = static_cast<int>(program_.inners.size());
    const int first = kFirstResult + next_id_;
    carried_ = carried;
    for (std::int64_t n = 1 + random_.below(4); n > 0; --n) add_op();
    if (has_host_ && random_.chance(30)) add_on(Kind::kItem, operand());
    carried_ = kNothing;
    if (const int next = result_like(model, first); next != kNothing)
      add_on(Kind::kAssign, next, carried);
    inner_ = 0;
  }

  // A loss that is added up over several iterations before its backward.
  void add_pending() {
    const int from = loss();
    if (from == kNothing || program_.held == 0) return;
    const int held = kFirstHeld + static_cast<int>(random_.below(program_.held));
    Instruction hold = blank(Kind::kHold);
    hold.operands[0] = result_like(machine_->value(held), kFirstResult);
    hold.operands[1] = held;
    if (hold.operands[0] == kNothing) return;
    hold.i = random_.below(3);
    hold.i_per_step = 0;
    add(hold);
    if (hold.i != 0 || random_.chance(50)) return;
    Instruction each = blank(Kind::kBackward);
    each.operands[0] = held;
    each.i = random_.below(2);
    each.i_per_step = 0;
    each.has_no_grad = false;
    each.every = 1 + static_cast<int>(random_.below(3));
    each.phase = each.every - 1;
    add(each);
    hold.id = next_id_;
    hold.operands[0] = held;
    hold.i = 1;
    hold.every = each.every;
    hold.phase = each.phase;
    add(hold);
  }

  void add_zero_grad() {
    for (std::size_t n = 0; n < program_.optimizers.size(); ++n) {
      Instruction each = blank(Kind::kZeroGrad);
      each.i = static_cast<std::int64_t>(n);
      each.i_per_step = each.j_per_step = 0;
      each.j = zeroes_to_none_ ? 1 : 0;
      add(each);
    }
    if (program_.optimizers.empty())
      for (std::size_t p = 0; p < program_.parameters.size(); ++p) {
        Instruction each = blank(Kind::kClear);
        each.operands[0] = static_cast<int>(p);
        each.i = zeroes_to_none_ ? 0 : 1;
        each.i_per_step = 0;
        add(each);
      }
  }

  void add_update() {
    for (std::size_t n = 0; n < program_.optimizers.size(); ++n) {
      if (random_.chance(15)) {
        Instruction rate = blank(Kind::kRate);
        rate.i = static_cast<std::int64_t>(n);
        rate.x = 0.05;
        rate.x_per_step = -0.004;
        rate.i_per_step = 0;
        add(rate);
      }
      Instruction each = blank(Kind::kStep);
      each.i = static_cast<std::int64_t>(n);
      each.i_per_step = 0;
      add(each);
    }
    if (program_.optimizers.empty())
      for (std::size_t p = 0; p < program_.parameters.size(); ++p) {
        Instruction each = blank(Kind::kSgd);
        each.operands[0] = static_cast<int>(p);
        each.x = 0.01;
        each.i_per_step = 0;
        add(each);
      }
  }

  void add_backward() {
    const int from = loss();
    if (from == kNothing) return;
    if (random_.chance(30)) add_on(Kind::kItem, from);
    Instruction each = blank(Kind::kBackward);
    each.operands[0] = from;
    each.i = random_.chance(15) ? 1 : 0;
    each.i_per_step = 0;
    each.has_no_grad = false;
    add(each);
    if (random_.chance(40)) add_on(Kind::kItem, from);
  }

  void make_loop() {
    zeroes_to_none_ = random_.chance(60);
    const bool zeroes_first = random_.chance(50), accumulates = random_.chance(15);
    if (zeroes_first) add_zero_grad();
    const int parts = random_.chance(20) ? 2 : 1;
    for (int part = 0; part < parts; ++part) {
      add_ops((random_.chance(70) ? 2 : 10) + random_.below(24));
      if (!zeroes_first && random_.chance(50) && !accumulates) add_zero_grad();
      add_backward();
      if (accumulates) {
        add_ops(1 + random_.below(6));
        add_backward();
      }
      if (random_.chance(15)) add_host_thing();
      add_pending();
      add_update();
    }
    if (!zeroes_first && random_.chance(60)) add_zero_grad();
    if (random_.chance(40)) add_on(Kind::kItem, operand());
    if (random_.chance(20)) add_ops(1 + random_.below(4));
  }

  void make_straight() {
    // Results that keep their history are not compiled; half of the programs have none.
    is_inference_ = random_.chance(50);
    add_ops(1 + random_.below(50));
    if (is_inference_) return add_on(Kind::kItem, operand());
    if (random_.chance(80)) add_backward();
    if (random_.chance(30)) {
      const int from = loss();
      if (from != kNothing)
        add_on(
            Kind::kGrad, from,
            static_cast<int>(random_.below(static_cast<std::int64_t>(program_.parameters.size()))));
      add_ops(random_.below(5));
    }
    add_on(Kind::kItem, operand());
  }

  // A result with a gradient history that no backward reaches keeps a loop from being compiled; a
  // program that trains has none. So what nothing needs goes, and what has a history dies at its
  // last use.
  void drop_dead_histories() {
    std::set<int> needed;
    std::vector<Instruction> kept;
    for (auto each = program_.body.rbegin(); each != program_.body.rend(); ++each) {
      const int result = kFirstResult + each->id;
      const int target = each->operands[0];
      const auto has_history = [&](int number) {
        const Tensor made = machine_->value(number);
        return made.defined() && made.requires_grad() && !made.is_leaf();
      };
      const int decisive = each->kind == Kind::kInplace ? target : result;
      const bool computes = each->kind == Kind::kPure || each->kind == Kind::kInplace;
      if (computes && decisive >= kFirstResult && has_history(decisive)) {
        if (!needed.contains(decisive)) continue;
        each->is_named = false;
      }
      for (const int operand : each->operands) needed.insert(operand);
      kept.push_back(*each);
    }
    std::reverse(kept.begin(), kept.end());
    program_.body = std::move(kept);
  }

  Source random_;
  bool is_loop_, is_regular_ = false;
  int period_ = 1;
  Program program_;
  std::unique_ptr<Machine> machine_;
  std::int64_t pool_[3];
  int next_id_ = 0;
  bool has_guards_, has_eager_, has_host_, has_pointers_, has_moving_;
  bool has_inputs_ = false, has_scribbles_ = false;
  int inner_ = 0, carried_ = kNothing;  // of the inner loop that is being made
  bool has_branch_ = false, zeroes_to_none_ = true;
  bool is_inference_ = false;
  int named_percent_, inplace_percent_;
};

}  // namespace

Program generate(std::uint64_t seed, bool is_loop) { return Generator(seed, is_loop).make(); }

}  // namespace groove::random_programs
