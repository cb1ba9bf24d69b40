// Graphs in files: every operator comes back as it was, and files that are not what they should be
// give groove::Error.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "jit/graph/state.h"

#include "groove/groove.h"
#include "groove/jit/capture.h"
#include "groove/jit/differentiate.h"
#include "src/io/graph_json.h"
#include "tests/graph/equal.h"
#include "tests/graph/every_op.h"
#include "tests/ops/support.h"

namespace groove {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using serialize::graph_json;
using serialize::read_graph_json;
using testing::expect_same;

struct Folder {
  fs::path path =
      fs::temp_directory_path() /
      ("groove_graph_" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) +
       std::to_string(reinterpret_cast<std::uintptr_t>(this)));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string file(const std::string& name) const { return (path / name).string(); }
};

std::string text_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
}
void write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST(GraphFiles, EveryOperatorComesBack) {
  std::size_t ops = 0, graphs = 0;
  for (const Op* op : all_ops()) {
    if (!op->samples || op->kind == OpKind::kBig || !testing::is_wanted(*op)) continue;
    SCOPED_TRACE(op->name);
    ++ops;
    for (const ScalarType dtype : op->dtypes) {
      std::size_t index = 0;
      for (const Sample& sample : op->samples(dtype)) {
        jit::detail::GraphState state(testing::graph_of(*op, sample));
        const std::string text = print(jit::detail::in_order(state));
        SCOPED_TRACE(text);
        ASSERT_EQ(jit::detail::problem_of(state), "");
        auto file = read_graph_json(graph_json(state, ""), "test");
        ASSERT_EQ(print(file.state->graph), text);
        ASSERT_EQ(print(parse_graph(text)), text);
        ++graphs;
        const Tensors inputs =
            testing::make_inputs(*op, sample, testing::Lay::kContiguous, testing::Content::kDomain);
        if (testing::is_refused(*op, sample, inputs)) continue;
        Tensors arguments;
        for (const Tensor& input : inputs)
          if (input.defined()) arguments.push_back(input);
        const Tensors expected = testing::run(*op, sample, inputs);
        const jit::Graph graph(std::move(file.state));
        if (testing::is_compiled_only(*op)) continue;
        expect_same(graph.run(arguments), expected);
        if (index++ < 2) expect_same(graph.compile()(arguments), expected);
        ASSERT_FALSE(::testing::Test::HasFailure());
      }
    }
  }
  if (!std::getenv("OPS_UNDER_TEST")) {
    EXPECT_GE(ops, 150u);
    EXPECT_GE(graphs, 3000u);
  }
  std::printf("%zu operators, %zu graphs\n", ops, graphs);
}

// Weights, numbers, control flow, random numbers, several outputs.
struct Example {
  nn::Sequential net{nn::Linear(4, 6), nn::Dropout(0.25), nn::Linear(6, 3)};
  Tensor x = randn({5, 4});
  jit::Graph graph = jit::capture(
      [&](const Tensor& v) {
        const Tensor y = net->forward(v);
        const Tensor z = cond(
            y.sum() > 0, [](const Tensor& a) { return a * 2; },
            [](const Tensor& a) { return a - rand({3}); }, y);
        return Tensors{z, std::get<1>(z.max(1))};
      },
      {x});
};

TEST(GraphFiles, SaveAndLoad) {
  const Folder folder;
  Example example;
  example.graph.save(folder.file("net.json"));
  const jit::Graph loaded = jit::load_graph(folder.file("net.json"));
  EXPECT_EQ(loaded.text(), example.graph.text());
  EXPECT_EQ(loaded.weights().size(), 4u);
  manual_seed(7);
  const Tensors expected = example.graph({example.x});
  manual_seed(7);
  expect_same(loaded({example.x}), expected);
  manual_seed(7);
  expect_same(loaded.compile()({example.x}), expected);
  // The gradient of a loaded graph.
  const jit::Graph loss = jit::capture(
      [&](const Tensor& v) { return linear(v, example.net->parameters()[0]).exp().sum(); },
      {example.x});
  loss.save(folder.file("loss.json"));
  const jit::Graph again = jit::load_graph(folder.file("loss.json"));
  expect_same(autodiff::differentiate(again)({example.x}),
              autodiff::differentiate(loss)({example.x}));
}

TEST(GraphFiles, LoopsThatWereRecorded) {
  const std::string text = R"(graph(x: f32[2, 2] strides [1, 2], #0: f64 = 0.5, #1: f64) stages 2 {
  a = mul(x, x)
  b = add_scalar(a) <number: #0>
  c = write_strided(b, a) {sizes: [2, 2], strides: [2, 1], offset: 0} stage 1
  return b, c -> x stage 1
}
)";
  const jit::Graph graph = jit::Graph::parse(text);
  EXPECT_EQ(graph.text(), text);
  auto file = read_graph_json(graph_json(graph.state(), ""), "test");
  EXPECT_EQ(jit::Graph(std::move(file.state)).text(), text);
}

// What a file must not do: anything but load well or throw groove::Error.
void expect_harmless(const std::string& text) {
  try {
    const jit::Graph graph(std::move(read_graph_json(text, "hostile").state));
    EXPECT_EQ(graph.problem(), "") << text;
  } catch (const Error&) {
  }
}

template <typename Visit>
void walk(const Json& json, const Json::json_pointer& at, const Visit& visit) {
  visit(at);
  if (json.is_object())
    for (const auto& item : json.items()) walk(item.value(), at / item.key(), visit);
  else if (json.is_array())
    for (std::size_t i = 0; i < json.size(); ++i) walk(json[i], at / i, visit);
}

TEST(GraphFiles, EveryFieldReplaced) {
  const Example example;
  const Json good = Json::parse(graph_json(example.graph.state(), "net.safetensors"));
  const Json bad[] = {nullptr,
                      true,
                      -1,
                      0,
                      1,
                      1000000007,
                      std::int64_t{1} << 62,
                      std::numeric_limits<std::uint64_t>::max(),
                      1e300,
                      "",
                      "t0",
                      "x0",
                      "f64",
                      "0x7ff0000000000000",
                      Json::array(),
                      Json::array({-5}),
                      Json::array({std::int64_t{1} << 40, std::int64_t{1} << 40}),
                      Json::object()};
  std::size_t count = 0;
  walk(good, Json::json_pointer(), [&](const Json::json_pointer& at) {
    if (at.empty()) return;
    for (const Json& value : bad) {
      Json changed = good;
      changed[at] = value;
      expect_harmless(changed.dump());
      ++count;
    }
    Json shorter = good;
    Json& parent = shorter[at.parent_pointer()];
    if (parent.is_object())
      parent.erase(at.back());
    else
      parent.erase(static_cast<std::size_t>(std::stoul(at.back())));
    expect_harmless(shorter.dump());
    // Order is what keeps a graph without cycles.
    if (parent.is_array() && parent.size() >= 2) {
      Json swapped = good;
      Json& list = swapped[at.parent_pointer()];
      std::swap(list[0], list[list.size() - 1]);
      expect_harmless(swapped.dump());
    }
  });
  EXPECT_GT(count, 2000u);
}

TEST(GraphFiles, EveryPrefix) {
  const Example example;
  const std::string text = graph_json(example.graph.state(), "net.safetensors");
  for (std::size_t size = 0; size + 2 < text.size(); size += 7)
    EXPECT_THROW(read_graph_json(text.substr(0, size), "cut"), Error);
  EXPECT_THROW(read_graph_json(std::string(100000, '['), "deep"), Error);
}

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.msg();
  }
  return "(nothing)";
}

TEST(GraphFiles, Messages) {
  const Folder folder;
  const Example example;
  const std::string path = folder.file("net.json");
  example.graph.save(path);
  const Json good = Json::parse(text_of(path));
  const auto expect = [&](const char* pointer, const Json& value, const std::string& reason) {
    Json changed = good;
    changed[Json::json_pointer(pointer)] = value;
    write(path, changed.dump());
    const std::string said = message([&] { jit::load_graph(path); });
    EXPECT_NE(said.find(reason), std::string::npos) << said;
    EXPECT_NE(said.find("net.json"), std::string::npos) << said;
  };
  expect("/format", "onnx", "not a graph of Groove's");
  expect("/version", 2, "has version 2 of the format");
  expect("/weights", "../net.safetensors", "not a file beside it");
  EXPECT_NE(message([&] {
              Json changed = good;
              changed["weights"] = "other.safetensors";
              write(path, changed.dump());
              jit::load_graph(path);
            }).find("other.safetensors: cannot be opened"),
            std::string::npos);
  expect("/graph/nodes/0/op", "conv9d", "there is no operator 'conv9d'");
  expect("/graph/nodes/0/op", "backward", "there is no operator 'backward'");
  expect("/graph/nodes/0/version", 9, "uses version 9 of 'linear'");
  expect("/graph/nodes/0/inputs/0", "later", "'later' is not defined before its use");
  expect("/graph/nodes/0/inputs", Json::array({"x0"}), "takes 3 operands, not 1");
  expect("/graph/nodes/0/outputs/0/sizes", Json::array({5, 7}), "gives f32[5, 6]");
  expect("/graph/nodes/0/outputs/0/name", "x0", "'x0' is defined twice");
  expect("/graph/nodes/0/colour", "red", "unknown field 'colour'");
  expect("/graph/inputs/0/sizes/0", std::int64_t{1} << 50, "no memory holds it");
  expect("/graph/inputs/0/sizes/0", -4, "has the size -4");
  expect("/graph/inputs/0/sizes/0", 6, "gives f32[6, 6]");
  expect("/graph/inputs/1/weight", "nobody", "the weight 'nobody' is not in net.safetensors");
  expect("/graph/inputs/1/dtype", "f99", "'f99' is not a dtype");
  expect("/id", "0000000000000000", "are those of another graph");
  write(path, "{\"format\": \"groove.graph\"");
  EXPECT_NE(message([&] { jit::load_graph(path); }).find("is no JSON"), std::string::npos);
  EXPECT_NE(message([&] { jit::load_graph(folder.file("none.json")); }).find("none.json"),
            std::string::npos);
  write(path, good.dump());
  fs::resize_file(folder.file("net.safetensors"), 200);
  EXPECT_THROW(jit::load_graph(path), Error);
  fs::remove(folder.file("net.safetensors"));
  EXPECT_THROW(jit::load_graph(path), Error);
}

}  // namespace
}  // namespace groove
