#include "tools/random_programs/machine.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>

#include "groove/jit.h"
#include "src/core/half.h"

namespace groove::random_programs {
namespace {

// Places in the source: one for each instruction, as a program written by hand would have.
const std::array<Site, 96> kSites = {
    Site::current(), Site::current(), Site::current(), Site::current(), Site::current(),
    Site::current(), Site::current(), Site::current(), Site::current(), Site::current(),
    Site::current(), Site::current(), Site::current(), Site::current(), Site::current(),
    Site::current(), Site::current(), Site::current(), Site::current(), Site::current(),
    Site::current(), Site::current(), Site::current(), Site::current(), Site::current(),
    Site::current(), Site::current(), Site::current(), Site::current(), Site::current(),
    Site::current(), Site::current(), Site::current(), Site::current(), Site::current(),
    Site::current(), Site::current(), Site::current(), Site::current(), Site::current(),
    Site::current(), Site::current(), Site::current(), Site::current(), Site::current(),
    Site::current(), Site::current(), Site::current(), Site::current(), Site::current(),
    Site::current(), Site::current(), Site::current(), Site::current(), Site::current(),
    Site::current(), Site::current(), Site::current(), Site::current(), Site::current(),
    Site::current(), Site::current(), Site::current(), Site::current(), Site::current(),
    Site::current(), Site::current(), Site::current(), Site::current(), Site::current(),
    Site::current(), Site::current(), Site::current(), Site::current(), Site::current(),
    Site::current(), Site::current(), Site::current(), Site::current(), Site::current(),
    Site::current(), Site::current(), Site::current(), Site::current(), Site::current(),
    Site::current(), Site::current(), Site::current(), Site::current(), Site::current(),
    Site::current(), Site::current(), Site::current(), Site::current(), Site::current(),
    Site::current()};

// One element as text: exact bits, but every NaN alike.
std::string element(const void* at, ScalarType dtype) {
  switch (dtype) {
    case kFloat: {
      float value;
      std::memcpy(&value, at, sizeof(value));
      return std::isnan(value) ? "nan" : fmt::format("{:a}", value);
    }
    case kDouble: {
      double value;
      std::memcpy(&value, at, sizeof(value));
      return std::isnan(value) ? "nan" : fmt::format("{:a}", value);
    }
    case kLong: {
      std::int64_t value;
      std::memcpy(&value, at, sizeof(value));
      return std::to_string(value);
    }
    case kInt: {
      std::int32_t value;
      std::memcpy(&value, at, sizeof(value));
      return std::to_string(value);
    }
    case kShort: {
      std::int16_t value;
      std::memcpy(&value, at, sizeof(value));
      return std::to_string(value);
    }
    case kHalf:
    case kBFloat16: {
      std::uint16_t bits;
      std::memcpy(&bits, at, sizeof(bits));
      const double value = dtype == kHalf ? half_value(bits) : bfloat16_value(bits);
      return std::isnan(value) ? "nan" : fmt::format("{:a}", value);
    }
    default:
      return std::to_string(*static_cast<const unsigned char*>(at));
  }
}

std::uint64_t hash(const std::string& text) {
  std::uint64_t h = 1469598103934665603u;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return h;
}

// Reads memory directly: no op, so that looking changes nothing in what is traced.
std::string contents(const Tensor& t) {
  std::string text;
  const auto* memory = static_cast<const unsigned char*>(t.const_data_ptr());
  const std::vector<std::int64_t> sizes(t.sizes().begin(), t.sizes().end());
  const std::vector<std::int64_t> strides(t.strides().begin(), t.strides().end());
  const std::int64_t count = t.numel(), size = t.element_size();
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i, at = 0;
    for (std::size_t d = sizes.size(); d-- > 0; rest /= sizes[d])
      at += rest % sizes[d] * strides[d];
    text += element(memory + at * size, t.scalar_type()) + ' ';
  }
  return count <= 12 ? text : fmt::format("{:.60}… #{:x}", text, hash(text));
}

std::string shape(const Tensor& t) {
  return fmt::format("{}[{}]", static_cast<int>(t.scalar_type()), fmt::join(t.sizes(), ","));
}

Tensor mean_of(const Tensor& t, Site site) {
  return t.numel() == 1 ? t.reshape({}, site) : t.mean(site);
}

}  // namespace

Machine::Machine(const Program& program)
    : program_(program),
      last_uses_(program.body.size()),
      inner_last_uses_(program.body.size()) {
  manual_seed(program.seed);
  for (const Leaf& leaf : program.parameters)
    parameters_.push_back(groove::randn(leaf.sizes, leaf.dtype).mul_(0.5).requires_grad_());
  for (const Leaf& leaf : program.buffers) {
    const Tensor values = groove::randn(leaf.sizes, kFloat);
    buffers_.push_back(is_floating(leaf.dtype) ? values.to(leaf.dtype)
                       : leaf.dtype == kBool   ? values.gt(0)
                                               : values.mul(3).abs().to(leaf.dtype));
  }
  for (const OptimizerSpec& spec : program.optimizers) {
    std::vector<Tensor> own;
    for (const int p : spec.parameters) own.push_back(parameters_[static_cast<std::size_t>(p)]);
    switch (spec.kind) {
      case 0:
        optimizers_.push_back(std::make_unique<optim::SGD>(own, optim::SGDOptions(spec.rate)));
        break;
      case 1:
        optimizers_.push_back(std::make_unique<optim::SGD>(
            own, optim::SGDOptions(spec.rate).momentum(0.9).weight_decay(0.01)));
        break;
      case 2:
        optimizers_.push_back(std::make_unique<optim::Adam>(own, optim::AdamOptions(spec.rate)));
        break;
      default:
        optimizers_.push_back(std::make_unique<optim::AdamW>(own, optim::AdamWOptions(spec.rate)));
    }
  }
  for (int n = 0; n < program.held; ++n)
    held_.push_back(
        parameters_[static_cast<std::size_t>(n) % parameters_.size()].detach().clone());
  for (const Instruction& each : program.body)
    if (each.kind == Kind::kScribble && pointers_.empty())
      for (const Tensor& buffer : buffers_) pointers_.emplace_back(buffer, buffer.data_ptr());
  std::map<int, std::size_t> last, made;
  std::set<int> carried;
  for (std::size_t at = 0; at < program.body.size(); ++at) {
    const Instruction& each = program.body[at];
    if (each.kind == Kind::kAssign) carried.insert(each.operands[1]);
    if (!each.is_named) last[kFirstResult + each.id] = at;
    made[kFirstResult + each.id] = at;
    for (const int operand : each.operands)
      if (const auto found = last.find(operand); found != last.end()) found->second = at;
  }
  for (const auto& [number, at] : last) {
    // What an inner loop was given or hands on lives until it ends.
    const int inner = program.body[at].inner;
    const bool is_inside = inner != 0 && program.body[made[number]].inner == inner;
    (is_inside && !carried.contains(number) ? inner_last_uses_ : last_uses_)[at].push_back(number);
  }
}

Tensor Machine::value(int number) const {
  if (number == kNothing) return Tensor();
  if (number >= kFirstResult) {
    const auto found = results_.find(number);
    return found == results_.end() ? Tensor() : found->second;
  }
  const auto& from = number >= kFirstHeld     ? held_
                     : number >= kFirstBuffer ? buffers_
                                              : parameters_;
  const auto at = static_cast<std::size_t>(number % 100);
  return at < from.size() ? from[at] : Tensor();
}

void Machine::start_step() {
  results_.clear();
  branch_ = false;
}

void Machine::log(const std::string& text) { log_.push_back(place_ + text); }

void Machine::log_tensor(const std::string& name, const Tensor& t) {
  if (!t.defined()) return log(name + ": undefined");
  log(fmt::format("{}: {} v{} {}{} {}", name, shape(t), t._version(), t.requires_grad() ? "r" : "",
                  t.is_leaf() ? "l" : "", contents(t)));
}

bool Machine::run(const Instruction& instruction, std::int64_t step) {
  if (step % instruction.every != instruction.phase % instruction.every) return true;
  if (instruction.guard != 0 && branch_ != (instruction.guard == 1)) return true;
  Operands v;
  Tensor* const operands[3] = {&v.a, &v.b, &v.c};
  const int needed = instruction.op ? instruction.op->operands : 1;
  for (int n = 0; n < 3; ++n) {
    *operands[n] = value(instruction.operands[n]);
    if (n < needed && instruction.operands[n] != kNothing && !operands[n]->defined())
      return true;  // its maker was dropped, failed or lies on another branch
  }
  v.i = instruction.i + instruction.i_per_step * step;
  v.j = instruction.j + instruction.j_per_step * step;
  v.k = instruction.k;
  v.x = instruction.x + instruction.x_per_step * static_cast<double>(step);
  v.step = step;
  v.site = kSites[static_cast<std::size_t>(instruction.id) % kSites.size()];
  std::optional<jit::EagerGuard> eager;
  if (instruction.is_eager) eager.emplace();
  std::optional<NoGradGuard> no_grad;
  if (instruction.has_no_grad) no_grad.emplace();
  place_ = fmt::format("step {} {}: ", step, name_of(kFirstResult + instruction.id));
  try {
    execute(instruction, v);
  } catch (const Error& error) {
    log(error.what());
    return false;
  }
  return true;
}

void Machine::execute(const Instruction& instruction, const Operands& v) {
  const int result = kFirstResult + instruction.id;
  const auto which = [&](std::int64_t n) -> optim::Optimizer& {
    if (optimizers_.empty()) throw Error("random-programs: no optimizer");
    return *optimizers_[static_cast<std::size_t>(n) % optimizers_.size()];
  };
  switch (instruction.kind) {
    case Kind::kPure:
      results_[result] = instruction.op->run(v);
      break;
    case Kind::kInplace:
      instruction.op->run(v);
      break;
    case Kind::kBackward:
      mean_of(v.a, v.site)
          .backward(undefined_tensor(), (v.i & 1) != 0 ? std::optional<bool>(true) : std::nullopt,
                    false, v.site);
      break;
    case Kind::kGrad:
      results_[result] =
          autograd::grad({mean_of(v.a, v.site)}, {v.b}, {}, true, (v.i & 1) != 0, false, v.site)[0];
      break;
    case Kind::kZeroGrad:
      which(v.i).zero_grad((v.j & 1) != 0, v.site);
      break;
    case Kind::kStep:
      which(v.i).step(v.site);
      break;
    case Kind::kRate:
      which(v.i).param_groups()[0].options().set_lr(v.x);
      break;
    case Kind::kSgd:
    case Kind::kClear:
      update_by_hand(instruction, v);
      break;
    case Kind::kItem: {
      const Tensor one = v.a.numel() == 1 ? v.a : v.a.sum(v.site);
      const double value = one.item<double>();
      log(std::isnan(value) ? "nan" : fmt::format("{:a}", value));
      break;
    }
    case Kind::kBranch: {
      const Tensor one = v.a.numel() == 1 ? v.a : v.a.sum(v.site);
      branch_ = one.item<double>() > v.x;
      log(branch_ ? "true" : "false");
      break;
    }
    case Kind::kRead:
      log_tensor("read", v.a);
      break;
    case Kind::kPoke: {
      if (v.a.numel() == 0) break;
      auto* memory = static_cast<unsigned char*>(v.a.data_ptr());
      if (v.a.scalar_type() == kFloat) {
        const auto value = static_cast<float>(v.x);
        std::memcpy(memory, &value, sizeof(value));
      } else {
        // All of an element: a part of one would show the sign of a NaN.
        std::memset(memory, 0, static_cast<std::size_t>(v.a.element_size()));
        memory[0] = static_cast<unsigned char>(v.a.scalar_type() == kBool ? v.j & 1 : v.j & 3);
      }
      break;
    }
    case Kind::kBlob: {
      std::vector<float> memory(static_cast<std::size_t>(2 + v.i % 5) * 3);
      for (std::size_t n = 0; n < memory.size(); ++n)
        memory[n] = static_cast<float>(v.x) * static_cast<float>((n * 7 + 3) % 11) - 1.0f;
      const auto rows = static_cast<std::int64_t>(memory.size()) / 3;
      results_[result] = groove::from_blob(memory.data(), {rows, 3}).mul(2.0, v.site);
      std::memset(memory.data(), 0x7f, memory.size() * sizeof(float));
      break;
    }
    case Kind::kKeep:
      kept_.push_back(v.a);
      break;
    case Kind::kCarry: {
      const auto at = static_cast<std::size_t>(instruction.operands[1] - kFirstBuffer);
      if (at >= buffers_.size()) break;
      const Tensor detached = v.a.detach(v.site);
      buffers_[at] = v.i & 1 ? detached.clone(v.site) : detached;
      break;
    }
    case Kind::kLeaf:
      results_[result] = v.a.detach(v.site).clone(v.site).requires_grad_(true, v.site);
      break;
    case Kind::kVersion: {
      // Whatever is asked first must be as it is in eager mode.
      const bool is_leaf = v.i & 1 && v.a.is_leaf();
      const bool requires_grad = v.a.requires_grad();
      log(fmt::format("v{} {} {} {} {}", v.a._version(), requires_grad, is_leaf, v.a.is_leaf(),
                      shape(v.a)));
      break;
    }
    case Kind::kInput:
      results_[result] = input(v);
      break;
    case Kind::kAssign:
      results_[instruction.operands[1]] = v.a;
      break;
    case Kind::kHold: {
      const auto at = static_cast<std::size_t>(instruction.operands[1] - kFirstHeld);
      if (at >= held_.size()) break;
      held_[at] = v.i % 3 == 0   ? v.a
                  : v.i % 3 == 1 ? v.a.detach(v.site)
                                 : v.a.detach(v.site).clone(v.site);
      break;
    }
    case Kind::kScribble: {
      const auto at = static_cast<std::size_t>(instruction.operands[0] - kFirstBuffer);
      if (at >= pointers_.size() || pointers_[at].first.numel() == 0) break;
      const Tensor& buffer = pointers_[at].first;
      const auto element = static_cast<std::size_t>(v.j % buffer.numel());
      if (buffer.scalar_type() == kFloat) {
        static_cast<float*>(pointers_[at].second)[element] = static_cast<float>(v.x);
      } else {
        // All of an element: a part of one would show the sign of a NaN.
        auto* const bytes = static_cast<unsigned char*>(pointers_[at].second);
        std::fill_n(bytes, element_size(buffer.scalar_type()), static_cast<unsigned char>(0));
        bytes[0] = static_cast<unsigned char>(buffer.scalar_type() == kBool ? v.j & 1 : v.j & 3);
      }
      break;
    }
    case Kind::kError:
      results_[result] = groove::add(Arg(v.a, v.site), groove::ones({3, 97}, kFloat, v.site));
      break;
  }
}

// The rows: nearly always the same, in turn one of two, or one of many.
Tensor Machine::input(const Operands& v) const {
  const std::int64_t most = 2 + v.i % 7;
  const std::int64_t rows = v.k % 3 == 0   ? (v.step % (3 + v.j % 4) == 2 ? most - 1 : most)
                            : v.k % 3 == 1 ? most + v.step % 2
                                           : most + v.step * 5 % 7;
  const auto sizes = parameters_[0].sizes();
  return groove::randn({rows, sizes.empty() ? 3 : sizes.back()}, kFloat, v.site);
}

void Machine::update_by_hand(const Instruction& instruction, const Operands& v) {
  Tensor p = v.a;
  if (instruction.kind == Kind::kClear) {
    if (v.i % 2 == 0)
      p.mutable_grad() = Tensor();
    else if (p.grad().defined())
      p.grad().zero_(v.site);
    return;
  }
  if (!p.grad().defined()) return;
  const NoGradGuard no_grad;
  switch (v.i % 4) {
    case 0:
      p.sub_(p.grad().mul(v.x, v.site), 1, v.site);
      break;
    case 1:
      p.add_(p.grad(), -v.x, v.site);
      break;
    case 2:
      p.copy_(p.sub(p.grad().mul(v.x, v.site), 1, v.site), false, v.site);
      break;
    default:
      p.mul_(0.99, v.site).sub_(p.grad(), v.x, v.site);
  }
}

void Machine::drop_dead(std::size_t place) {
  for (const int number : last_uses_[place]) results_.erase(number);
}

void Machine::log_end() {
  place_ = "end: ";
  for (const auto& [number, tensor] : results_) log_tensor(name_of(number), tensor);
  for (std::size_t n = 0; n < parameters_.size(); ++n) {
    log_tensor(fmt::format("p{}", n), parameters_[n]);
    log_tensor(fmt::format("p{}.grad", n), parameters_[n].grad());
  }
  for (std::size_t n = 0; n < buffers_.size(); ++n) log_tensor(fmt::format("b{}", n), buffers_[n]);
  for (std::size_t n = 0; n < held_.size(); ++n) log_tensor(fmt::format("held{}", n), held_[n]);
  for (std::size_t n = 0; n < kept_.size(); ++n) log_tensor(fmt::format("kept{}", n), kept_[n]);
  for (std::size_t n = 0; n < optimizers_.size(); ++n)
    for (const Tensor& p : optimizers_[n]->param_groups()[0].params()) {
      const auto& states = std::as_const(*optimizers_[n]).state();
      const auto found = states.find(p.unsafeGetTensorImpl());
      const std::string name = fmt::format("optimizer {}", n);
      if (found == states.end()) {
        log(name + ": no state");
      } else if (const auto* adam = dynamic_cast<optim::AdamParamState*>(found->second.get())) {
        log(fmt::format("{} step {}", name, adam->step()));
        log_tensor(name + " average", adam->exp_avg());
        log_tensor(name + " square", adam->exp_avg_sq());
      } else if (const auto* sgd = dynamic_cast<optim::SGDParamState*>(found->second.get())) {
        log_tensor(name + " momentum", sgd->momentum_buffer());
      }
    }
  log(fmt::format("draws {}", get_random_state().draws));
}

void Machine::run_inner(std::size_t first, std::size_t end, std::int64_t step) {
  const auto inner = static_cast<std::size_t>(program_.body[first].inner);
  const bool is_loop = inner > 0 && inner <= program_.inners.size();
  const int count = is_loop ? program_.inners[inner - 1].count(step) : 1;
  for (int turn = 0; turn < count; ++turn)
    for (std::size_t at = first; at < end; ++at) {
      run(program_.body[at], step);
      for (const int number : inner_last_uses_[at]) results_.erase(number);
    }
}

Log Machine::run_all() {
  for (int step = 0; step < program_.steps; ++step) {
    start_step();
    for (std::size_t at = 0, end = 0; at < program_.body.size(); at = end) {
      const int inner = program_.body[at].inner;
      for (end = at + 1; inner != 0 && end < program_.body.size(); ++end)
        if (program_.body[end].inner != inner) break;
      run_inner(at, end, step);
      for (; at < end; ++at) drop_dead(at);
    }
    if (program_.clears_at_end && step + 1 < program_.steps) results_.clear();
  }
  log_end();
  return std::move(log_);
}

}  // namespace groove::random_programs
