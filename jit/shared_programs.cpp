#include "jit/shared_programs.h"

#include <deque>
#include <mutex>
#include <unordered_map>

#include "jit/form.h"
#include "kernels/backend.h"
#include "src/core/fork.h"

namespace groove::jit {
namespace {

// Programs that nobody runs any more: the next model of a sweep comes soon after the one before.
constexpr std::size_t kMostIdle = 32, kMostIdleBytes = 8 << 20;

struct SharedPrograms {
  std::mutex mutex;  // nothing is compiled under it
  std::unordered_map<FormWords, std::weak_ptr<Program>, FormHash> programs;
  std::deque<std::shared_ptr<Program>> lately;  // the last one asked for comes last
  std::uint64_t forgotten = 0;                  // times
};

// Never destroyed: the compile thread may still run while the process exits.
SharedPrograms& shared_programs() {
  static SharedPrograms& instance = *new SharedPrograms;
  return instance;
}

std::int64_t address(const void* what) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(what));
}

// Ends with how it is compiled.
FormWords words_of(const Graph& graph, bool is_quick) {
  FormWriter form(graph);
  form.add(address(&kernels::current_backend()));
  form.add(graph.stages);
  form.add_list(graph.numbers);
  form.add_list(graph.values, [&](const Value& value) {
    form.add(value.node);
    form.add(value.output);
    form.add_type(value.type);
  });
  form.add_list(graph.inputs, [&](const GraphInput& input) {
    form.add(input.value);
    form.add_list(input.strides);
  });
  form.add_list(graph.nodes, [&](const Node& node) {
    form.add_call(node);
    for (const NumberRef& number : node.numbers) {
      const ScalarType kind = number.constant.type();
      form.add(number.entry);
      form.add(static_cast<std::int64_t>(kind));
      form.add(static_cast<std::int64_t>(number.constant.bits_as(kind)));
    }
    form.add_list(node.inputs);
    form.add_list(node.outputs);
    form.add(address(node.source.file));
    form.add(node.source.line);
    form.add(node.stage);
  });
  form.add_list(graph.outputs, [&](const GraphOutput& output) {
    form.add(output.value);
    form.add(output.writes);
    form.add(output.stage);
  });
  form.add(is_quick);
  return form.words();
}

void keep(SharedPrograms& all, const std::shared_ptr<Program>& program) {
  std::erase(all.lately, program);
  all.lately.push_back(program);
  std::size_t bytes = 0, kept = 0;
  for (auto each = all.lately.rbegin(); each != all.lately.rend(); ++each, ++kept) {
    bytes += (*each)->memory_bytes();
    if (kept == kMostIdle || bytes > kMostIdleBytes) break;
  }
  all.lately.erase(all.lately.begin(), all.lately.end() - static_cast<std::ptrdiff_t>(kept));
  std::erase_if(all.programs, [](const auto& entry) { return entry.second.expired(); });
}

}  // namespace

std::shared_ptr<Program> shared_program(
    Graph graph, bool is_quick, const std::function<std::shared_ptr<Program>(Graph)>& make) {
  SharedPrograms& all = shared_programs();
  FormWords words = words_of(graph, is_quick);
  std::uint64_t before = 0;
  const auto find = [&all](const FormWords& of) {
    const auto found = all.programs.find(of);
    std::shared_ptr<Program> known = found == all.programs.end() ? nullptr : found->second.lock();
    if (known) keep(all, known);
    return known;
  };
  {
    const ForkGate gate;
    const std::lock_guard lock(all.mutex);
    before = all.forgotten;
    // A full program serves whoever asks for a quick one.
    words.back() = false;
    std::shared_ptr<Program> known = find(words);
    words.back() = is_quick;
    if (!known && is_quick) known = find(words);
    if (known) return known;
  }
  std::shared_ptr<Program> made = make(std::move(graph));
  const ForkGate gate;
  const std::lock_guard lock(all.mutex);
  if (all.forgotten != before) return made;
  all.programs[std::move(words)] = made;
  keep(all, made);
  return made;
}

void forget_shared_programs() {
  SharedPrograms& all = shared_programs();
  const ForkGate gate;
  const std::lock_guard lock(all.mutex);
  ++all.forgotten;
  all.programs.clear();
  all.lately.clear();
}

}  // namespace groove::jit
