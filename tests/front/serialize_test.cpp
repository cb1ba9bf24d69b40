// Saving and loading: values, archives, modules, optimizers; a file that Python wrote.
#include "groove/serialize.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "front_files.h"
#include "groove/factories.h"
#include "groove/nn.h"
#include "groove/ops/creation.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "groove/ops/views.h"
#include "groove/optim.h"

namespace groove {
namespace {

namespace fs = std::filesystem;

struct NetImpl : nn::Module {
  explicit NetImpl(std::int64_t width = 5) {
    first = register_module("first", nn::Linear(3, width));
    act = register_module("act", nn::ReLU());
    second = register_module("second", nn::Linear(nn::LinearOptions(width, 2).bias(false)));
    count = register_buffer("count", tensor(std::int64_t{7}));
  }
  Tensor forward(const Tensor& x) { return second(act(first(x))); }
  nn::Linear first{nullptr}, second{nullptr};
  nn::ReLU act{nullptr};
  Tensor count;
};
GROOVE_MODULE(Net);

template <typename Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.msg();
  }
  return "(no error)";
}
#define EXPECT_ERROR(part, ...)                                                \
  do {                                                                         \
    const std::string text = error_of([&] { __VA_ARGS__; });                   \
    EXPECT_NE(text.find(part), std::string::npos) << text << "\nnot " << part; \
  } while (false)

bool same_parameters(const nn::Module& a, const nn::Module& b) {
  const auto mine = a.named_parameters(), theirs = b.named_parameters();
  if (mine.keys() != theirs.keys()) return false;
  for (const auto& item : mine)
    if (!same_bits(item.value(), theirs[item.key()])) return false;
  return true;
}

TEST(Serialize, NegativeValuesOfHalfComeBack) {
  const TemporaryFolder folder;
  for (const ScalarType dtype : {kHalf, kBFloat16}) {
    const float infinity = std::numeric_limits<float>::infinity();
    const Tensor value = tensor({-1.5, 2.0, -0.0, -infinity}).to(dtype);
    save(value, folder / "half");
    Tensor back;
    load(back, folder / "half");
    EXPECT_TRUE(same_bits(back, value)) << name(dtype);
  }
}

TEST(Serialize, TensorsOfEveryDtypeKeepTheirBits) {
  const TemporaryFolder folder;
  for (const ScalarType dtype :
       {kDouble, kFloat, kHalf, kBFloat16, kLong, kInt, kShort, kChar, kByte, kBool}) {
    const Tensor x = tensor({0, 1, 2, 3, 100, 101}).view({2, 3}).to(dtype);
    save(x, folder / "x");
    Tensor y;
    load(y, folder / "x");
    EXPECT_EQ(y.scalar_type(), dtype);
    EXPECT_TRUE(same_bits(x, y)) << name(dtype);
  }
}

TEST(Serialize, ViewsAreWrittenAsTheirElements) {
  std::stringstream stream;
  const Tensor all = arange(24).view({2, 3, 4}), view = all.permute({2, 0, 1}).slice(0, 1, 4, 2);
  save(std::vector<Tensor>{view, all[1], full({}, 2.5), zeros({3, 0})}, stream);
  std::vector<Tensor> read;
  load(read, stream);
  ASSERT_EQ(read.size(), 4u);
  EXPECT_TRUE(same_bits(view.clone(), read[0]));
  EXPECT_TRUE(same_bits(all[1].clone(), read[1]));
  EXPECT_EQ(read[2].dim(), 0);
  EXPECT_EQ(read[3].sizes(), IntArrayRef({3, 0}));
}

TEST(Serialize, NansAreCanonicalAndInfinitiesStay) {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor x = tensor({-std::nanf("5"), inf, -inf, -0.0f});
  std::stringstream stream;
  save(x, stream);
  Tensor y;
  load(y, stream);
  const auto* bits = reinterpret_cast<const std::uint32_t*>(y.const_data_ptr<float>());
  EXPECT_EQ(bits[0], 0x7fc00000u);
  EXPECT_EQ(bits[1], 0x7f800000u);
  EXPECT_EQ(bits[2], 0xff800000u);
  EXPECT_EQ(bits[3], 0x80000000u);
}

TEST(Serialize, LoadedTensorKeepsItsHandle) {
  std::stringstream stream;
  save(ones({2}), stream);
  Tensor target = zeros({2}), alias = target;
  load(target, stream);
  EXPECT_EQ(alias.sum().item<float>(), 2);
}

TEST(Serialize, SeveralValuesInOneStream) {
  std::stringstream stream;
  save(ones({2}), stream);
  save(zeros({3}), stream);
  Tensor a, b;
  load(a, stream);
  load(b, stream);
  EXPECT_EQ(a.numel(), 2);
  EXPECT_EQ(b.numel(), 3);
  EXPECT_ERROR("the stream ends", load(a, stream));
}

TEST(Archive, ValuesAndNestedArchives) {
  const TemporaryFolder folder;
  serialize::OutputArchive archive, inner, empty_one;
  inner.write("tensor", ones({2}));
  inner.write("name", "a text with spaces ü");
  archive.write("inner", inner);
  archive.write("empty", empty_one);
  archive.write("step", std::int64_t{-3});
  archive.write("rate", 0.1);
  archive.write("worst", std::numeric_limits<double>::quiet_NaN());
  archive.write("least", std::numeric_limits<double>::denorm_min());
  archive.write("yes", true);
  archive.write("list", std::vector<std::int64_t>{1, 2});
  archive.write("reals", std::vector<double>{0.9, -std::numeric_limits<double>::infinity()});
  archive.write("nothing", std::vector<double>{});
  archive.write("random", RandomState{~std::uint64_t{0}, 12});
  EXPECT_ERROR("written twice", archive.write("step", ones({1})));
  EXPECT_ERROR("undefined", archive.write("x", Tensor()));
  EXPECT_ERROR("must not be empty", archive.write("", ones({1})));
  archive.save_to(folder / "a");

  serialize::InputArchive in, nested;
  in.load_from(folder / "a");
  EXPECT_EQ(in.keys(),
            (std::vector<std::string>{"empty", "inner", "least", "list", "nothing", "random",
                                      "rate", "reals", "step", "worst", "yes"}));
  in.read("inner", nested);
  IValue value;
  nested.read("name", value);
  EXPECT_EQ(value.toStringRef(), "a text with spaces ü");
  Tensor x;
  nested.read("tensor", x);
  EXPECT_EQ(x.numel(), 2);
  EXPECT_TRUE(in.try_read("empty", nested));
  EXPECT_FALSE(in.try_read("none", nested));
  in.read("step", value);
  EXPECT_EQ(value.toInt(), -3);
  in.read("rate", value);
  EXPECT_EQ(value.toDouble(), 0.1);
  EXPECT_THROW(value.toInt(), Error);
  in.read("worst", value);
  EXPECT_TRUE(std::isnan(value.toDouble()));
  in.read("least", value);
  EXPECT_EQ(value.toDouble(), std::numeric_limits<double>::denorm_min());
  in.read("yes", value);
  EXPECT_TRUE(value.toBool());
  in.read("list", value);
  EXPECT_EQ(value.toIntVector(), (std::vector<std::int64_t>{1, 2}));
  in.read("reals", value);
  EXPECT_EQ(value.toDoubleVector()[1], -std::numeric_limits<double>::infinity());
  in.read("nothing", value);
  EXPECT_TRUE(value.isDoubleList());
  RandomState state;
  in.read("random", state);
  EXPECT_EQ(state, (RandomState{~std::uint64_t{0}, 12}));
  EXPECT_FALSE(in.try_read("inner.none", x));
  EXPECT_ERROR("'none' is missing", in.read("none", x));
  EXPECT_ERROR(folder / "a", in.read("none", value));
}

TEST(Archive, NamesThatTheFormatCannotHold) {
  serialize::OutputArchive archive;
  archive.write("\xff", ones({1}));
  std::stringstream stream;
  EXPECT_ERROR("UTF-8", archive.save_to(stream));
  EXPECT_ERROR("__metadata__", archive.write("__metadata__", ones({1})));
}

TEST(Serialize, Modules) {
  const TemporaryFolder folder;
  Net net, other;
  net->count.fill_(9);
  EXPECT_FALSE(same_parameters(*net, *other));
  save(net, folder / "net");
  load(other, folder / "net");
  EXPECT_TRUE(same_parameters(*net, *other));
  EXPECT_EQ(other->count.item<int>(), 9);
  // The same from a plain pointer, an object and a stream.
  auto third = std::make_shared<NetImpl>();
  std::stringstream stream;
  save(*net, stream);
  load(third, stream);
  EXPECT_TRUE(same_parameters(*net, *third));
  // Names are those of named_parameters().
  serialize::InputArchive archive;
  archive.load_from(folder / "net");
  Tensor weight;
  archive.read("first.weight", weight);
  EXPECT_TRUE(same_bits(weight, net->first->weight));
}

TEST(Serialize, ModulesThatDoNotFitStayAsTheyWere) {
  const TemporaryFolder folder;
  Net net, wide(6), of_doubles;
  of_doubles->to(kDouble);
  nn::Linear single(3, 5);
  for (const nn::Module* source :
       {(nn::Module*)wide.get(), (nn::Module*)of_doubles.get(), (nn::Module*)single.get()}) {
    save(*source, folder / "net");
    const Tensor before = net->first->weight.detach().clone();
    EXPECT_THROW(load(net, folder / "net"), Error);
    EXPECT_TRUE(same_bits(before, net->first->weight));
  }
  save(wide, folder / "net");
  EXPECT_ERROR("'first.weight' has shape [6, 3] in the file, but the module's has [5, 3]",
               load(net, folder / "net"));
  // The last entry that is read does not fit: nothing was written before it was seen.
  serialize::OutputArchive archive;
  archive.write("first.weight", zeros({5, 3}));
  archive.write("first.bias", zeros({5}));
  archive.write("count", tensor(std::int64_t{1}));
  archive.write("second.weight", zeros({2, 4}));
  archive.save_to(folder / "net");
  EXPECT_ERROR("second.weight", load(net, folder / "net"));
  EXPECT_NE(net->first->weight.abs().sum().item<float>(), 0);
  EXPECT_EQ(net->count.item<int>(), 7);
  save(of_doubles, folder / "net");
  EXPECT_ERROR("convert the module", load(net, folder / "net"));
}

// Its own text in the archive, as programs add it.
struct TaggedImpl : nn::Module {
  TaggedImpl() { inner = register_module("inner", nn::Linear(2, 2)); }
  void save(serialize::OutputArchive& archive) const override {
    nn::Module::save(archive);
    archive.write("tag", tag);
  }
  void load(serialize::InputArchive& archive) override {
    nn::Module::load(archive);
    IValue value;
    archive.read("tag", value);
    tag = value.toStringRef();
  }
  nn::Linear inner{nullptr};
  Tensor forward(const Tensor& x) { return inner(x); }
  std::string tag = "none";
};
GROOVE_MODULE(Tagged);

TEST(Serialize, ModulesMayAddTheirOwn) {
  nn::Sequential net{Tagged(), nn::Tanh()}, other{Tagged(), nn::Tanh()};
  net->at<TaggedImpl>(0).tag = "third of May";
  std::stringstream stream;
  save(net, stream);
  load(other, stream);
  EXPECT_EQ(other->at<TaggedImpl>(0).tag, "third of May");
  EXPECT_TRUE(same_parameters(*net, *other));
}

void train(const Net& net, optim::Optimizer& optimizer, int steps) {
  for (int i = 0; i < steps; ++i) {
    optimizer.zero_grad();
    Net(net)->forward(ones({4, 3}) * (i + 1)).square().sum().backward();
    optimizer.step();
  }
}

template <typename Optimizer, typename Options>
void check_optimizer(const Options& options) {
  const TemporaryFolder folder;
  Net net, other;
  Optimizer one(net->parameters(), options), two(other->parameters(), Options(0.5));
  train(net, one, 3);
  save(net, folder / "net");
  save(one, folder / "optimizer");
  load(other, folder / "net");
  load(two, folder / "optimizer");
  EXPECT_EQ(two.param_groups()[0].options().get_lr(), options.get_lr());
  train(net, one, 3);
  train(other, two, 3);
  EXPECT_TRUE(same_parameters(*net, *other));
}

TEST(Serialize, OptimizersGoOnWithTheSameBits) {
  check_optimizer<optim::SGD>(optim::SGDOptions(0.01).momentum(0.9).weight_decay(0.1));
  check_optimizer<optim::SGD>(optim::SGDOptions(0.01));
  check_optimizer<optim::Adam>(optim::AdamOptions(0.01).betas({0.8, 0.99}).amsgrad(true));
  check_optimizer<optim::AdamW>(optim::AdamWOptions(0.01).eps(1e-6));
}

TEST(Serialize, OptimizersThatDoNotFit) {
  const TemporaryFolder folder;
  Net net, wide(6);
  optim::Adam adam(net->parameters(), 0.01), of_wide(wide->parameters(), 0.01);
  train(net, adam, 2);
  train(wide, of_wide, 2);
  optim::Adam of_single({ones({2}).requires_grad_()}, 0.01);
  const auto expect = [&](const optim::Optimizer& source, const std::string& part) {
    save(source, folder / "optimizer");
    EXPECT_ERROR(part, load(adam, folder / "optimizer"));
    auto& state = static_cast<optim::AdamParamState&>(
        *adam.state()[net->first->weight.unsafeGetTensorImpl()]);
    EXPECT_EQ(state.step(), 2);
    EXPECT_EQ(adam.param_groups()[0].options().get_lr(), 0.01);
  };
  expect(of_wide, "exp_avg of Adam has shape [6, 3]");
  expect(of_single, "is 1, but the optimizer's group has 3");
  expect(optim::SGD(net->parameters(), 0.1), "'param_groups.0.betas' is missing");
  serialize::OutputArchive archive;
  adam.save(archive);
  archive.save_to(folder / "good");
  std::ifstream in(folder / "good", std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  const std::string rate = "\"double 0.01\"";
  bytes.replace(bytes.find(rate), rate.size(), "\"double -0.1");  // one shorter, then the quote
  bytes.insert(bytes.find("\"double -0.1") + 12, "\"");
  serialize::InputArchive hostile;
  hostile.load_from(bytes.data(), bytes.size());
  EXPECT_ERROR("lr is -0.1", adam.load(hostile));
}

TEST(Serialize, PathsThatCannotBeWritten) {
  const TemporaryFolder folder;
  EXPECT_ERROR("no regular file", save(ones({1}), folder.path()));
  EXPECT_ERROR("cannot be created", save(ones({1}), folder / "none/x"));
  EXPECT_ERROR("cannot be opened", {
    Tensor x;
    load(x, folder / "none");
  });
  EXPECT_ERROR("no regular file", {
    Tensor x;
    load(x, folder.path());
  });
  // A save that fails leaves the old file and no other.
  save(ones({1}), folder / "x");
  serialize::OutputArchive archive;
  archive.write("\xff", ones({1}));
  EXPECT_THROW(archive.save_to(folder / "x"), Error);
  Tensor x;
  load(x, folder / "x");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(Serialize, AFileThatPythonWrote) {
  const std::string source = __FILE__;
  const std::string path =
      source.substr(0, source.rfind("/front/")) + "/data/from_python.safetensors";
  serialize::InputArchive archive, ints;
  archive.load_from(path);
  const auto read = [&](serialize::InputArchive& from, const char* key, ScalarType dtype,
                        IntArrayRef sizes) {
    Tensor x;
    from.read(key, x);
    EXPECT_EQ(x.scalar_type(), dtype) << key;
    EXPECT_EQ(x.sizes(), sizes) << key;
    return x;
  };
  const Tensor weight = read(archive, "layer.weight", kFloat, {2, 3});
  EXPECT_EQ(weight[0][1].item<float>(), -1.25f);
  EXPECT_EQ(weight[0][2].item<float>(), 3e38f);
  EXPECT_EQ(weight[1][2].item<float>(), 1e-45f);
  EXPECT_TRUE(std::signbit(weight[1][1].item<float>()));
  EXPECT_EQ(read(archive, "layer.bias", kDouble, {2})[1].item<double>(), -2.0 / 3);
  EXPECT_EQ(read(archive, "half", kHalf, {2})[1].item<float>(), -65504);
  EXPECT_EQ(read(archive, "brain", kBFloat16, {2})[0].item<float>(), 1.5);
  archive.read("ints", ints);
  EXPECT_EQ(read(ints, "i64", kLong, {}).item<std::int64_t>(), -(std::int64_t{1} << 62));
  EXPECT_EQ(read(ints, "i32", kInt, {2, 1})[1][0].item<int>(), -8);
  EXPECT_EQ(read(ints, "i16", kShort, {1})[0].item<int>(), -300);
  EXPECT_EQ(read(ints, "i8", kChar, {2})[0].item<int>(), -128);
  EXPECT_EQ(read(ints, "u8", kByte, {3})[1].item<int>(), 255);
  EXPECT_FALSE(read(archive, "mask", kBool, {3})[1].item<bool>());
  read(archive, "nothing", kFloat, {0, 4});
}

}  // namespace
}  // namespace groove
