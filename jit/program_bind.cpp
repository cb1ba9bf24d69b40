// Telling a program's calls ahead: for steps that one thread runs, the arguments of every call are
// made once. They lie at the start of the arena, where a run only moves addresses.
#include <algorithm>
#include <cstring>

#include "jit/program.h"
#include "src/core/check.h"

namespace groove::jit {
namespace {

constexpr std::int64_t kArguments = 64;  // alignment of a call's

std::int64_t rounded(std::int64_t bytes, std::int64_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

void Program::bind(std::int32_t index) {
  Step& step = steps_[static_cast<std::size_t>(index)];
  const std::size_t before = bound_.size();
  const kernels::NestCode* code = nullptr;
  std::vector<std::int32_t> first;  // call of each instance
  bool is_told = false;
  if (step.kind == LaunchPlan::Kind::kContraction) {
    const auto* const how = dynamic_cast<const kernels::BindableContraction*>(step.contraction);
    first.push_back(static_cast<std::int32_t>(before));
    is_told = how && how->bind(step.matrices, bound_);
  } else if (step.kind == LaunchPlan::Kind::kKernel) {
    const auto* const how = dynamic_cast<const kernels::BindableKernel*>(step.callable);
    is_told = how != nullptr;
    for (std::size_t i = 0; is_told && i < step.instances.size(); ++i) {
      first.push_back(static_cast<std::int32_t>(bound_.size()));
      is_told = how->bind(step.instances[i].launch, bound_) &&
                static_cast<std::size_t>(first.back()) < bound_.size();
    }
    for (std::size_t c = before; is_told && c < bound_.size(); ++c) {
      is_told = (bound_[c].function == nullptr) == (bound_[before].function == nullptr);
    }
    if (is_told && bound_[before].function == nullptr) code = &how->code();
  }
  if (!is_told) {
    bound_.resize(before);
    return;
  }
  for (std::size_t i = 0; i < first.size(); ++i) step.instances[i].first_call = first[i];
  ready_[static_cast<std::size_t>(index)] = {
      static_cast<std::int32_t>(before), static_cast<std::int32_t>(bound_.size()), code, nullptr};
}

void Program::lay_out_control(const std::vector<LaunchPlan>& plans) {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (ready_[i].first != ready_[i].last && !steps_[i].is_shared) continue;
    for (Instance& instance : steps_[i].instances) {
      instance.pointers = table_size_;
      const LaunchPlan& plan = plans[static_cast<std::size_t>(instance.plan)];
      table_size_ += static_cast<std::int32_t>(plan.operands.size());
    }
  }
  scalars_at_ = std::int64_t{table_size_} * 8;
  std::int64_t end =
      rounded(scalars_at_ + static_cast<std::int64_t>(scalars_.size()) * 8, kArguments);
  for (const kernels::BoundCall& call : bound_) {
    calls_.push_back({call.function, end});
    end = rounded(end + static_cast<std::int64_t>(call.arguments.size()), kArguments);
  }
  control_.assign(static_cast<std::size_t>(end), 0);
  if (!scalars_.empty()) {
    std::memcpy(control_.data() + scalars_at_, scalars_.data(), scalars_.size() * 8);
  }
  for (std::size_t i = 0; i < bound_.size(); ++i) {
    std::memcpy(control_.data() + calls_[i].at, bound_[i].arguments.data(),
                bound_[i].arguments.size());
  }
}

void Program::place_address(const std::vector<Buffer>& buffers, const Operand& operand,
                            std::int64_t at, std::int64_t offset) {
  if (operand.buffer < 0) return;
  const Buffer& buffer = buffers[static_cast<std::size_t>(operand.buffer)];
  const auto size = static_cast<std::int64_t>(element_size(operand.dtype));
  offset += operand.offset * size;
  std::int32_t base = AddressSlot::kValues;
  if (buffer.place == Buffer::Place::kArena) offset += buffer.offset;
  if (buffer.place == Buffer::Place::kInput) base = buffer.index;
  if (buffer.place == Buffer::Place::kOutput) {
    base = static_cast<std::int32_t>(graph_.inputs.size()) + buffer.index;
  }
  const bool stays = base < 0 && operand.starts.empty();
  (stays ? fixed_ : moved_).push_back({at, base, offset});
  for (const Start& start : operand.starts) {
    moving_.push_back({at, start.entry, start.stride * size, start.size});
  }
}

void Program::place_addresses(const std::vector<Buffer>& buffers, std::size_t first_stage) {
  for (std::size_t at = first_stage; at < stages_.size(); ++at) {
    Stage& stage = stages_[at];
    stage.first_fixed = static_cast<std::int32_t>(fixed_.size());
    stage.first_moved = static_cast<std::int32_t>(moved_.size());
    stage.first_moving = static_cast<std::int32_t>(moving_.size());
    for (std::int32_t index = stage.begin(0); index < stage.end(stage.levels() - 1); ++index) {
      Step& step = steps_[static_cast<std::size_t>(index)];
      const Ready& ready = ready_[static_cast<std::size_t>(index)];
      const LaunchPlan& own = plans_[static_cast<std::size_t>(step.plan)];
      if (own.scratch >= 0 && step.kind != LaunchPlan::Kind::kKernel) {
        step.scratch = buffers[static_cast<std::size_t>(own.scratch)].offset;
      }
      for (std::size_t i = 0; i < step.instances.size(); ++i) {
        const Instance& instance = step.instances[i];
        const LaunchPlan& plan = plans_[static_cast<std::size_t>(instance.plan)];
        if (instance.pointers >= 0) {
          std::int64_t at = std::int64_t{instance.pointers} * 8;
          for (const Operand& operand : plan.operands) {
            place_address(buffers, operand, at, 0);
            at += 8;
          }
        }
        if (ready.first == ready.last) continue;
        const bool is_last = i + 1 == step.instances.size();
        const std::int32_t end = is_last ? ready.last : step.instances[i + 1].first_call;
        for (std::int32_t c = instance.first_call; c < end; ++c) {
          const std::int64_t arguments = calls_[static_cast<std::size_t>(c)].at;
          for (const auto& address : bound_[static_cast<std::size_t>(c)].addresses) {
            const std::int64_t at = arguments + address.at;
            switch (address.operand) {
              case kernels::BoundCall::kScalars:
                fixed_.push_back({at, AddressSlot::kControl,
                                  scalars_at_ + instance.scalars * 8 + address.offset});
                break;
              case kernels::BoundCall::kScratch:
                fixed_.push_back({at, AddressSlot::kValues, step.scratch + address.offset});
                break;
              case kernels::BoundCall::kArguments:
                fixed_.push_back({at, AddressSlot::kControl, arguments + address.offset});
                break;
              default:
                place_address(buffers, plan.operands[static_cast<std::size_t>(address.operand)], at,
                              address.offset);
            }
          }
        }
      }
    }
    stage.last_moved = static_cast<std::int32_t>(moved_.size());
    stage.last_moving = static_cast<std::int32_t>(moving_.size());
  }
  bound_.clear();
  bound_.shrink_to_fit();
}

}  // namespace groove::jit
