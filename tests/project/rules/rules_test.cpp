// The order src/core < kernels < eager < tracer < autodiff < jit < src/{nn,optim,data,io} is total:
// a file includes only its own folder and folders before it. Public headers are light.
#include <gtest/gtest.h>

#include "rules.h"

namespace project {
namespace {

using Strings = std::vector<std::string>;

Strings check_all(Strings (*check)(const std::string&, const std::vector<Include>&),
                  bool public_headers) {
  Strings violations;
  for (const auto& file : source_files()) {
    const int layer = layer_of(file);
    if (layer < 0 || (layer == 0) != public_headers) continue;
    const auto found = check(file, includes_of(lines_of(file)));
    violations.insert(violations.end(), found.begin(), found.end());
  }
  return violations;
}

TEST(IncludeOrder, LayersSeeOnlyWhatIsBeforeThem) {
  EXPECT_EQ(check_all(layer_violations, false), Strings{});
}

TEST(IncludeOrder, PublicHeadersAreLight) {
  EXPECT_EQ(check_all(public_header_violations, true), Strings{});
}

TEST(IncludeOrder, FindsALayerThatLooksUp) {
  const auto includes = includes_of({"#include \"kernels/ir.h\"", "#include <vector>"});
  EXPECT_EQ(layer_violations("jit/x.cpp", includes).size(), 0u);
  EXPECT_EQ(layer_violations("kernels/x.cpp", includes).size(), 0u);
  EXPECT_EQ(layer_violations("src/core/x.cpp", includes),
            Strings{"src/core/x.cpp:1: includes kernels/ir.h, which comes later in the order of "
                    "layers"});
}

TEST(IncludeOrder, FindsAnIncludeThatIsNoFile) {
  EXPECT_EQ(layer_violations("jit/x.cpp", includes_of({"  # include \"nowhere.h\""})).size(), 1u);
}

TEST(IncludeOrder, FindsHeavyPublicHeaders) {
  const auto includes =
      includes_of({"#include <groove/dtype.h>", "#include <string>", "#include <mutex>",
                   "#include <asmjit/asmjit.h>", "#include \"kernels/ir.h\""});
  EXPECT_EQ(public_header_violations("include/groove/x.h", includes).size(), 3u);
  EXPECT_EQ(public_header_violations("include/groove/compat/x.h", includes).size(), 2u);
}

TEST(FileLength, NoSourceFileIsOver600Lines) {
  Strings too_long;
  const auto files = source_files();
  EXPECT_GT(files.size(), 20u);
  for (const auto& file : files) {
    const size_t count = lines_of(file).size();
    if (count > 600) too_long.push_back(file + ": " + std::to_string(count) + " lines");
  }
  EXPECT_EQ(too_long, Strings{});
}

}  // namespace
}  // namespace project
