// The log channels and dumps of a compilation, in a process of their own: the environment is read
// once.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include "jit/pipeline.h"

namespace groove::jit {
namespace {

std::string output_with(const std::string& variables) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command =
      "env " + variables + " '" + self + "' --gtest_filter=Program.RunsInStages 2>&1";
  std::string text;
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (!pipe) return text;
  std::array<char, 4096> part{};
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), pipe)) {
    text.append(part.data(), count);
  }
  pclose(pipe);
  return text;
}

TEST(Log, EachChannelShowsItsOwn) {
  const std::string fusion = output_with("GROOVE_LOG=fusion");
  EXPECT_NE(fusion.find("contraction [8, 4], stores 1: mm add"), std::string::npos) << fusion;
  EXPECT_EQ(fusion.find("arena"), std::string::npos);
  const std::string memory = output_with("GROOVE_LOG=memory");
  EXPECT_NE(memory.find(" bytes of values"), std::string::npos) << memory;
  const std::string kernels = output_with("GROOVE_LOG=kernels");
  EXPECT_NE(kernels.find("kernel column"), std::string::npos) << kernels;
  const std::string none = output_with("GROOVE_LOG=");
  EXPECT_EQ(none.find("groove: "), std::string::npos) << none;
}

TEST(Log, DumpsGraphsAndPrograms) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("groove_dump_" + std::to_string(getpid()));
  output_with("GROOVE_DUMP=" + folder.string());  // made when it is missing
  const std::string last = fmt::format("graph0_{}_insert_copies.graph", passes().size());
  for (const char* name : {"graph0_0_recorded.graph", last.c_str(), "program0_fusion.txt",
                           "program0_memory.txt", "program0_kernels.txt", "program0_assembly.txt"}) {
    EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
  }
  std::filesystem::remove_all(folder);
  const std::string impossible = output_with("GROOVE_DUMP=/dev/null/folder");
  EXPECT_NE(impossible.find("GROOVE_DUMP: cannot write"), std::string::npos) << impossible;
}

}  // namespace
}  // namespace groove::jit
