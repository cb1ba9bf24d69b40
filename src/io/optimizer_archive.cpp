// Optimizers in archives: "param_groups.<g>.…" holds a group's options and how many parameters it
// has, "state.<n>.…" the state of the nth parameter, counted through all groups.
#include "groove/serialize.h"
#include "src/core/check.h"
#include "src/optim/plan.h"

namespace groove::optim {

std::unique_ptr<OptimizerParamState> Optimizer::new_state() const {
  throw_error(
      "Optimizer: new_state() is not defined by this optimizer; override it, so that load() can "
      "make a parameter's state");
}
void Optimizer::check_options(const OptimizerOptions&) const {}
void Optimizer::check_state(const Tensor&, const OptimizerParamState&) const {}

void Optimizer::save(serialize::OutputArchive& archive) const {
  serialize::OutputArchive groups, states;
  groups.write("size", IValue(param_groups_.size()));
  std::size_t number = 0;
  for (std::size_t g = 0; g < param_groups_.size(); ++g) {
    const OptimizerParamGroup& group = param_groups_[g];
    serialize::OutputArchive options;
    group.options().serialize(options);
    options.write("parameters", IValue(group.params().size()));
    groups.write(std::to_string(g), options);
    for (const Tensor& param : group.params()) {
      const auto known = state_.find(param.impl());
      if (known != state_.end()) {
        serialize::OutputArchive state;
        known->second->serialize(state);
        states.write(std::to_string(number), state);
      }
      ++number;
    }
  }
  archive.write("param_groups", groups);
  archive.write("state", states);
}

void Optimizer::load(serialize::InputArchive& archive) {
  const serialize::InputArchive groups = archive.below("param_groups");
  const auto count = [&](serialize::InputArchive& from, const char* key, std::size_t wanted,
                         const std::string& what) {
    IValue value;
    from.read(key, value);
    if (value.toInt() != static_cast<std::int64_t>(wanted))
      from.fail(key, fmt::format("is {}, but {} {}", value.toInt(), what, wanted));
  };
  serialize::InputArchive sizes = groups;
  count(sizes, "size", param_groups_.size(), "the number of the optimizer's groups is");

  std::vector<std::unique_ptr<OptimizerOptions>> options;
  std::vector<std::pair<TensorImpl*, std::unique_ptr<OptimizerParamState>>> states;
  std::size_t number = 0;
  for (std::size_t g = 0; g < param_groups_.size(); ++g) {
    const OptimizerParamGroup& group = param_groups_[g];
    serialize::InputArchive nested = groups.below(std::to_string(g));
    count(nested, "parameters", group.params().size(), "the optimizer's group has");
    options.push_back(group.options().clone());
    options.back()->serialize(nested);
    check_options(*options.back());
    for (const Tensor& param : group.params()) {
      serialize::InputArchive of_state, all = archive.below("state");
      if (all.try_read(std::to_string(number++), of_state)) {
        states.emplace_back(param.impl(), new_state());
        states.back().second->serialize(of_state);
        check_state(param, *states.back().second);
      }
    }
  }

  for (std::size_t g = 0; g < param_groups_.size(); ++g)
    param_groups_[g].set_options(std::move(options[g]));
  state_.clear();
  for (auto& [impl, state] : states) state_[impl] = std::move(state);
  plan_->is_stale = true;
}

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const Optimizer& optimizer) {
  optimizer.save(archive);
  return archive;
}
serialize::InputArchive& operator>>(serialize::InputArchive& archive, Optimizer& optimizer) {
  optimizer.load(archive);
  return archive;
}

}  // namespace groove::optim
