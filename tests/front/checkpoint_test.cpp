// Files of Python's torch (checkpoints/make.py wrote them) and what is written for it; and what is
// damaged or wants a program to be run.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "front_files.h"
#include "groove/factories.h"
#include "groove/nn.h"
#include "groove/ops/complex.h"
#include "groove/ops/creation.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "groove/ops/views.h"
#include "groove/serialize.h"
#include "src/io/zip.h"

namespace groove {
namespace {

std::string file(const std::string& name) {
  return std::string(GROOVE_SOURCE_DIR "/tests/front/checkpoints/") + name;
}

std::vector<char> bytes_of(const std::string& name) {
  std::ifstream stream(file(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

nn::Sequential network() { return nn::Sequential(nn::Linear(3, 2), nn::BatchNorm1d(2)); }

Tensor filled(IntArrayRef sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return ((arange(count).remainder(7) - 3).to(kFloat) / 8).reshape(sizes);
}

TEST(Checkpoint, AStateDictOfPythonLoadsByName) {
  nn::Sequential net = network();
  load(net, file("module.pt"));
  EXPECT_EQ(net->parameters().size(), 4U);
  for (const Tensor& parameter : net->parameters())
    EXPECT_TRUE(same_bits(parameter.detach(), filled(parameter.sizes())));
  std::ifstream stream(file("module.pt"), std::ios::binary);
  nn::Sequential other = network();
  load(other, stream);
  EXPECT_TRUE(same_bits(other->parameters()[0].detach(), net->parameters()[0].detach()));
}

TEST(Checkpoint, DictionariesInDictionariesAreArchivesInArchives) {
  serialize::InputArchive archive, model;
  archive.load_from(file("training.pt"));
  archive.read("model", model);
  nn::Sequential net = network();
  net->load(model);
  EXPECT_TRUE(same_bits(net->parameters()[0].detach(), filled({2, 3})));
  IValue epoch;
  archive.read("epoch", epoch);
  EXPECT_EQ(epoch.toInt(), 3);
}

TEST(Checkpoint, AMissingNameIsToldBeforeAnythingChanges) {
  nn::Sequential net(nn::Linear(3, 2), nn::BatchNorm1d(2), nn::Linear(2, 1));
  const Tensor before = net->parameters()[0].detach().clone();
  EXPECT_THROW(load(net, file("module.pt")), Error);
  EXPECT_TRUE(same_bits(before, net->parameters()[0].detach()));
}

TEST(Checkpoint, ValuesOfAllKinds) {
  const GenericDict values = pickle_load(bytes_of("values.pt")).toGenericDict();
  const auto tensor_at = [&](const char* name) { return values.at(name).toTensor(); };
  const Tensor whole = arange(12).to(kFloat).reshape({3, 4});
  EXPECT_TRUE(same_bits(tensor_at("whole").clone(), whole));
  EXPECT_TRUE(same_bits(tensor_at("transposed").contiguous(), whole.t().contiguous()));
  EXPECT_TRUE(
      same_bits(tensor_at("part").contiguous(), tensor({4.F, 6.F, 8.F, 10.F}).reshape({2, 2})));
  EXPECT_TRUE(same_bits(tensor_at("expanded").contiguous(),
                        tensor({1.F, 1.F, 1.F, 2.F, 2.F, 2.F}).reshape({2, 3})));
  EXPECT_EQ(tensor_at("empty").sizes(), IntArrayRef({0, 3}));
  EXPECT_EQ(tensor_at("scalar").dim(), 0);
  EXPECT_EQ(tensor_at("scalar").item<double>(), 2.5);
  EXPECT_EQ(tensor_at("i16").scalar_type(), kShort);
  EXPECT_EQ(tensor_at("i16")[1].item<int>(), -2);
  EXPECT_EQ(tensor_at("f16").scalar_type(), kHalf);
  EXPECT_EQ(tensor_at("f16")[0].item<float>(), 0.5F);
  EXPECT_EQ(tensor_at("bf16").scalar_type(), kBFloat16);
  EXPECT_EQ(tensor_at("bf16")[1].item<float>(), -2.F);
  EXPECT_TRUE(tensor_at("bool")[0].item<bool>());
  EXPECT_FALSE(tensor_at("bool")[1].item<bool>());
  EXPECT_TRUE(tensor_at("parameter").requires_grad());
  EXPECT_TRUE(tensor_at("parameter").is_leaf());
  const std::vector<IValue> list = values.at("list").toListRef();
  ASSERT_EQ(list.size(), 6U);
  EXPECT_EQ(list[0].toInt(), 1);
  EXPECT_EQ(list[1].toDouble(), 2.5);
  EXPECT_EQ(list[2].toStringRef(), "text");
  EXPECT_TRUE(list[3].toBool());
  EXPECT_TRUE(list[4].isNone());
  EXPECT_EQ(list[5].toTuple()->elements()[1].toInt(), 4);
  const GenericDict nested = values.at("nested").toGenericDict();
  EXPECT_EQ(nested.at("big").toInt(), std::int64_t{1} << 40);
  EXPECT_EQ(nested.at("negative").toInt(), -5);
  EXPECT_THROW(nested.at("none"), Error);
  EXPECT_EQ(pickle_load(bytes_of("list.pt")).toTensorVector()[1][2][3].item<float>(), 12.F);
}

TEST(Checkpoint, WhatIsWrittenIsReadBack) {
  Dict<std::string, Tensor> tensors;
  const Tensor numbers = arange(12).reshape({3, 4});
  tensors.insert("transposed", numbers.t());
  tensors.insert("none", empty({0}));
  tensors.insert("leaf", ones({2}).requires_grad_());
  const IValue all = std::vector<IValue>{
      tensors, ivalue::Tuple::create({1, "two", IValue()}), std::vector<double>{0.1, -0.0},
      std::vector<std::int64_t>{std::int64_t{1} << 40, -1}, false};
  const std::vector<IValue> back = pickle_load(pickle_save(all)).toListRef();
  const GenericDict read = back[0].toGenericDict();
  EXPECT_EQ(read.size(), 3U);
  EXPECT_EQ(read.begin()->key().toStringRef(), "transposed");
  EXPECT_TRUE(same_bits(read.at("transposed").toTensor().contiguous(), numbers.t().contiguous()));
  EXPECT_TRUE(read.at("leaf").toTensor().requires_grad());
  EXPECT_EQ(back[1].toTuple()->elements()[1].toStringRef(), "two");
  EXPECT_EQ(back[2].toDoubleVector()[0], 0.1);
  EXPECT_TRUE(std::signbit(back[2].toDoubleVector()[1]));
  EXPECT_EQ(back[3].toIntVector(), (std::vector<std::int64_t>{std::int64_t{1} << 40, -1}));
  EXPECT_FALSE(back[4].toBool());
}

std::string error_of(const std::vector<char>& bytes) {
  try {
    pickle_load(bytes);
  } catch (const Error& error) {
    return error.msg();
  }
  return "(no error)";
}
void expect_error(const std::string& part, const std::vector<char>& bytes) {
  const std::string text = error_of(bytes);
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Checkpoint, ComplexNumbers) {
  // Of the second what is saved is the first one and a mark, of the third that and another one.
  const std::vector<Tensor> numbers = pickle_load(bytes_of("complex.pt")).toTensorVector();
  ASSERT_EQ(numbers[0].scalar_type(), kComplexFloat);
  EXPECT_EQ(numbers[0][0].item<std::complex<float>>(), std::complex<float>(1, 2));
  EXPECT_EQ(numbers[1][0].item<std::complex<float>>(), std::complex<float>(1, -2));
  EXPECT_EQ(numbers[2][0].item<float>(), -2);
  const Tensor table = complex(randn({3, 4}), randn({3, 4})).t();
  EXPECT_TRUE(equal(table, pickle_load(pickle_save(table)).toTensor()));
}

TEST(Checkpoint, NoProgramIsRun) {
  expect_error("names torch.nn.modules.container.Sequential, which Groove does not run",
               bytes_of("object.pt"));
  expect_error("before 1.6", bytes_of("legacy.pt"));
}

std::vector<char> damaged(std::vector<char> bytes, std::mt19937& random) {
  for (int changes = 1 + static_cast<int>(random() % 3); changes > 0; --changes)
    bytes[random() % bytes.size()] = static_cast<char>(random());
  if (random() % 4 == 0) bytes.resize(random() % bytes.size());
  return bytes;
}

// An error or a value, and no crash.
TEST(Checkpoint, DamagedFiles) {
  const std::vector<char> good = bytes_of("values.pt");
  std::mt19937 random(5);
  for (int i = 0; i < 4000; ++i) error_of(damaged(good, random));
}

// Checksums find almost all of these: so the pickle is damaged before it is put into a file.
TEST(Checkpoint, DamagedPickles) {
  for (const char* name : {"values.pt", "list.pt", "object.pt"}) {
    const std::vector<char> file = bytes_of(name);
    const serialize::ZipReader zip({file.data(), file.size()}, name);
    const std::string folder = zip.names()[0].substr(0, zip.names()[0].find('/') + 1);
    const std::string pickle = zip.read(folder + "data.pkl");
    std::mt19937 random(7);
    int errors = 0;
    for (int i = 0; i < 4000; ++i) {
      const std::vector<char> bad = damaged({pickle.begin(), pickle.end()}, random);
      serialize::ZipWriter writer;
      for (const std::string& entry : zip.names())
        writer.add(entry, entry == folder + "data.pkl" ? std::string(bad.begin(), bad.end())
                                                       : zip.read(entry));
      const std::string made = writer.finish();
      errors += error_of({made.begin(), made.end()}) != "(no error)" ? 1 : 0;
    }
    EXPECT_GT(errors, 1000);
  }
}

std::vector<char> file_with(const std::string& pickle) {
  serialize::ZipWriter writer;
  writer.add("archive/data.pkl", pickle);
  const std::string made = writer.finish();
  return {made.begin(), made.end()};
}

TEST(Checkpoint, PicklesThatAreTraps) {
  using namespace std::string_literals;
  expect_error("nests more than",
               file_with(std::string(100'000, ']') + std::string(99'999, 'a') + "."));
  expect_error("nests more than", file_with("]q\0h\0a."s));  // a list in itself
  std::string doubled = "]q\0"s;                             // [a, a], of that [b, b], …
  for (char i = 0; i < 60; ++i) doubled += "](h"s + i + "h" + i + "eq" + static_cast<char>(i + 1);
  expect_error("repeats values without end", file_with(doubled + "."));
  expect_error("cut short", file_with("X\xff\xff\xff\xff"s));
  expect_error("names os.system", file_with("cos\nsystem\n(X\x02\0\0\0lstR."s));
  expect_error("opcode", file_with("\xfe."s));
  expect_error("more than 64 bits", file_with("\x8a\x09"s + std::string(9, 'x') + "."));
  const auto tensor = [](const std::string& arguments) {
    serialize::ZipWriter writer;
    writer.add("archive/data.pkl",
               "ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\nFloatStorage\n"
               "X\x01\0\0\0"s +
                   "0X\x03\0\0\0cpuK\x02tQ"s + arguments + "\x89)tR.");
    writer.add("archive/data/0", std::string(8, '\0'));
    const std::string made = writer.finish();
    return std::vector<char>(made.begin(), made.end());
  };
  EXPECT_EQ(error_of(tensor("K\0(K\x02t(K\x01t"s)), "(no error)");
  expect_error("outside of its storage", tensor("K\0(K\x03t(K\x01t"s));
  expect_error("outside of its storage", tensor("K\x01(K\x02t(K\x01t"s));
  expect_error("outside of its storage", tensor("K\0(J\xff\xff\xff\x7ft(K\0t"s));
  expect_error("no numbers", tensor("K\0(J\xff\xff\xff\xfft(K\x01t"s));
  expect_error("do not fit", tensor("K\0(K\x02t)"s));
}

}  // namespace
}  // namespace groove
