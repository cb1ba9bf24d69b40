// README.md's tables of variables say what the code does: those of the environment are the rows of
// src/core/environment.cpp, those of CMake the ones that a cache has.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "src/core/environment.h"

namespace groove {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

const fs::path kSource = GROOVE_SOURCE_DIR;

std::string read(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The lines between `<!-- name -->` and the next empty line, without the head of the table.
std::vector<std::string> table(const std::string& name) {
  std::istringstream readme(read(kSource / "README.md"));
  std::vector<std::string> rows;
  bool is_in = false;
  for (std::string line; std::getline(readme, line);) {
    if (is_in && line.empty()) break;
    if (is_in) rows.push_back(line);
    is_in = is_in || line == "<!-- " + name + " -->";
  }
  if (rows.size() < 2) return {};
  return {rows.begin() + 2, rows.end()};
}

Names names_in(const std::vector<std::string>& rows) {
  Names names;
  for (const std::string& row : rows) names.insert(row.substr(3, row.find('`', 3) - 3));
  return names;
}

// The names that follow `before` in a text, such as `option(`, and that end at `end`.
void add_names(const std::string& text, const std::string& before, char end, Names& names) {
  const std::string start = before + "GROOVE_";
  for (std::size_t at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) {
    const std::size_t first = at + before.size();
    const std::size_t last = text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_", first);
    if (last != std::string::npos && last > at + start.size() && text[last] == end)
      names.insert(text.substr(first, last - first));
  }
}

Names found(const std::vector<std::string>& folders, const std::string& ending,
            const std::string& before, char end) {
  Names names;
  for (const std::string& folder : folders)
    for (const auto& entry : fs::recursive_directory_iterator(kSource / folder))
      if (entry.is_regular_file() && entry.path().string().ends_with(ending))
        add_names(read(entry.path()), before, end, names);
  return names;
}

TEST(Readme, HasTheTableOfTheEnvironment) {
  std::istringstream described(describe_environment());
  std::vector<std::string> expected;
  for (std::string first, second;
       std::getline(described, first) && std::getline(described, second);) {
    const std::size_t end = first.find(' '), meaning = first.find_first_not_of(' ', end);
    expected.push_back("| `" + first.substr(0, end) + "` | " +
                       second.substr(second.find_first_not_of(' ')) + " | " +
                       first.substr(meaning) + " |");
  }
  EXPECT_GT(expected.size(), 5u);
  EXPECT_EQ(table("environment"), expected);
}

// What is asked for anywhere, in whatever way, has a row.
TEST(Readme, KnowsAllNamesInTheCode) {
  const Names known = names_in(table("environment"));
  const std::vector<std::string> folders = {"include",  "src", "kernels", "eager", "tracer",
                                            "autodiff", "jit", "samples", "tools", "bench"};
  for (const std::string& name : found(folders, ".cpp", "\"", '"'))
    EXPECT_TRUE(known.count(name)) << name;
  for (const std::string& name : found(folders, ".h", "getenv(\"", '"'))
    EXPECT_TRUE(known.count(name)) << name;
}

TEST(Readme, HasTheTableOfTheBuild) {
  Names expected = found({"cmake"}, ".cmake", "option(", ' ');
  const std::string list = read(kSource / "CMakeLists.txt");
  add_names(list, "option(", ' ', expected);
  add_names(list, "\nset(", ' ', expected);
  EXPECT_GT(expected.size(), 5u);
  EXPECT_EQ(names_in(table("build")), expected);
}

}  // namespace
}  // namespace groove
