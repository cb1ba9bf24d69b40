// Text about groups, buffers and kernels, to standard error and to files.
#include "jit/log.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "src/core/environment.h"

namespace groove::jit {
namespace {

std::string names(const Graph& graph, const std::vector<std::int32_t>& nodes) {
  std::string text;
  for (const std::int32_t node : nodes) {
    text += " " + graph.nodes[static_cast<std::size_t>(node)].op->name;
  }
  return text.empty() ? " copy" : text;
}

std::string kernels_text(const Graph& graph, const Lowered& lowered, const Schedule& schedule) {
  std::string text;
  for (std::size_t level = 0; level < schedule.levels.size(); ++level) {
    for (const std::int32_t index : schedule.levels[level].launches) {
      const LaunchPlan& launch = lowered.launches[static_cast<std::size_t>(index)];
      text += fmt::format("launch {} level {}:{}\n{}", index, level, names(graph, launch.nodes),
                          launch.kernel ? kernels::print(*launch.kernel) : "");
    }
  }
  return text;
}

std::string content(const Graph& graph, const Buffer& buffer) {
  if (buffer.value == kNoValue) return "work space";
  const Value& value = graph.values[static_cast<std::size_t>(buffer.value)];
  if (value.node < 0) return "copy of " + value.name;
  return "result of " + graph.nodes[static_cast<std::size_t>(value.node)].op->name;
}

std::string assembly_text(const Graph& graph, const Lowered& lowered, const Schedule& schedule) {
  std::string text;
  for (const Schedule::Level& level : schedule.levels) {
    for (const std::int32_t index : level.launches) {
      const LaunchPlan& launch = lowered.launches[static_cast<std::size_t>(index)];
      text += fmt::format("launch {}:{}\n", index, names(graph, launch.nodes));
      if (launch.callable) text += launch.callable->listing();
      if (launch.contraction) text += launch.contraction->listing();
      for (const LaunchPlan& part : launch.parts) {
        if (launch.relay && part.contraction) text += part.contraction->listing();
      }
    }
  }
  return text;
}

void show(const char* channel, int number, const std::string& text) {
  if (environment().logs(channel)) {
    std::fprintf(stderr, "groove: %s of program %d\n%s", channel, number, text.c_str());
  }
  dump_text(fmt::format("program{}_{}.txt", number, channel), text);
}

}  // namespace

void dump_text(const std::string& name, const std::string& text) {
  const std::string& folder = environment().dump;
  if (folder.empty()) return;
  std::error_code ignored;  // opening the file says what is wrong
  std::filesystem::create_directories(folder, ignored);
  const std::string path = folder + "/" + name;
  if (std::FILE* file = std::fopen(path.c_str(), "w")) {
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
    return;
  }
  static std::atomic<bool> has_warned{false};
  if (!has_warned.exchange(true)) {
    std::fprintf(stderr, "groove: GROOVE_DUMP: cannot write %s: %s\n", path.c_str(),
                 std::strerror(errno));
  }
}

// Runs `dot` without a shell: no name in a graph or a folder means anything to it.
bool draw_picture(const std::string& from, const std::string& to) {
  const char* const arguments[] = {"dot", "-Tsvg", "-o", to.c_str(), from.c_str(), nullptr};
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failure = posix_spawnp(&child, "dot", &quiet, nullptr,
                                   const_cast<char* const*>(arguments), environ);
  posix_spawn_file_actions_destroy(&quiet);
  int status = 0;
  if (failure == 0) {
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  return failure == 0;
}

void dump_picture(const std::string& name, const std::string& dot) {
  if (environment().dump.empty()) return;
  dump_text(name + ".dot", dot);
  // Laying out takes time that grows with the square of the size, and nobody sees anything in it.
  constexpr std::ptrdiff_t kMostLines = 400;
  static std::atomic<bool> is_installed{true};
  if (!is_installed || std::count(dot.begin(), dot.end(), '\n') > kMostLines) return;
  const std::string path = environment().dump + "/" + name;
  if (!draw_picture(path + ".dot", path + ".svg")) is_installed = false;
}

std::string fusion_text(const Graph& graph, const Fusion& fusion) {
  static const char* const kinds[] = {"map",         "row",       "column", "contraction",
                                      "concatenate", "overwrite", "opaque"};
  std::string text;
  for (std::size_t i = 0; i < fusion.groups.size(); ++i) {
    const Group& group = fusion.groups[i];
    std::size_t stored = 0;
    for (const std::int32_t node : group.nodes) {
      for (const ValueId id : graph.nodes[static_cast<std::size_t>(node)].outputs) {
        stored += fusion.is_stored[static_cast<std::size_t>(id)] != 0;
      }
    }
    text += fmt::format("group {} stage {} {} {}, stores {}:{}\n", i, group.stage,
                        group.is_fours ? "fours" : kinds[static_cast<int>(group.kind)],
                        to_string(group.loop.sizes), stored, names(graph, group.nodes));
  }
  return text;
}

std::string memory_text(const Graph& graph, const Lowered& lowered, const Schedule& schedule) {
  std::string text;
  std::int64_t used = 0, arena = 0;
  for (std::size_t id = 0; id < lowered.buffers.size(); ++id) {
    const Buffer& buffer = lowered.buffers[id];
    if (buffer.place != Buffer::Place::kArena || buffer.offset < 0) continue;
    std::int32_t first = -1, last = -1;
    for (std::size_t i = 0; i < lowered.launches.size(); ++i) {
      const LaunchPlan& launch = lowered.launches[i];
      bool touches = launch.scratch == static_cast<BufferId>(id);
      for (const Operand& operand : launch.operands) {
        touches |= operand.buffer == static_cast<BufferId>(id);
      }
      if (!touches || launch.is_dropped) continue;
      const std::int32_t level = schedule.level_of[i];
      first = first < 0 ? level : std::min(first, level);
      last = std::max(last, level);
    }
    if (first < 0) continue;
    text += fmt::format("buffer {}: {} bytes at {}, levels {} to {}, {}\n", id, buffer.bytes,
                        buffer.offset, first, last, content(graph, buffer));
    used += buffer.bytes;
    arena = std::max(arena, buffer.offset + buffer.bytes);
  }
  return text + fmt::format("arena {} bytes for {} bytes of values\n", arena, used);
}

void log_program(const Graph& graph, const Fusion& fusion, const Lowered& lowered,
                 const Schedule& schedule) {
  static std::atomic<int> programs{0};
  const int number = programs.fetch_add(1, std::memory_order_relaxed);
  const bool is_dumped = !environment().dump.empty();
  if (is_dumped || environment().logs("fusion")) {
    show("fusion", number, fusion_text(graph, fusion));
  }
  if (is_dumped || environment().logs("memory")) {
    show("memory", number, memory_text(graph, lowered, schedule));
  }
  if (is_dumped || environment().logs("kernels")) {
    show("kernels", number, kernels_text(graph, lowered, schedule));
  }
  if (is_dumped) {
    dump_text(fmt::format("program{}_assembly.txt", number),
              assembly_text(graph, lowered, schedule));
  }
}

}  // namespace groove::jit
