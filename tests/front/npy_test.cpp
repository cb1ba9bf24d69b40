// NumPy's files: the bytes that numpy.save() writes, files that it wrote, and files that lie.
#include "groove/npy.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <random>

#include "front_files.h"
#include "groove/groove.h"
#include "tests/core/error_of.h"

namespace groove {
namespace {

using namespace std::string_literals;

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}
std::string read(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string npy(const std::string& dict, const std::string& elements, char version = 1) {
  const std::string text = dict + "\n";
  std::string length(1, static_cast<char>(text.size() & 0xff));
  length += static_cast<char>(text.size() >> 8);
  if (version > 1) length += "\0\0"s;
  return "\x93NUMPY"s + version + "\0"s + length + text + elements;
}
std::string dict(const std::string& dtype, const std::string& shape, const char* order = "False") {
  return "{'descr': '" + dtype + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

Tensor loaded(const std::string& bytes) {
  const TemporaryFolder folder;
  write(folder / "a.npy", bytes);
  return load_npy(folder / "a.npy");
}
std::string saved(const Tensor& tensor) {
  const TemporaryFolder folder;
  save_npy(folder / "a.npy", tensor);
  return read(folder / "a.npy");
}

TEST(Npy, WritesTheBytesOfNumpy) {
  const auto padded = [](const std::string& text) {
    return text + std::string(117 - text.size(), ' ');
  };
  EXPECT_EQ(saved(tensor({{1.5, -2.0}, {3.0, 4.0}, {0.0, 7.0}})),
            "\x93NUMPY\x01\0v\0"s + padded(dict("<f4", "(3, 2)")) +
                "\n\0\0\xc0?\0\0\0\xc0\0\0@@\0\0\x80@\0\0\0\0\0\0\xe0@"s);
  EXPECT_EQ(saved(tensor(7)),
            "\x93NUMPY\x01\0v\0"s + padded(dict("<i8", "()")) + "\n\7\0\0\0\0\0\0\0"s);
  EXPECT_EQ(saved(tensor({true, false, true})),
            "\x93NUMPY\x01\0v\0"s + padded(dict("|b1", "(3,)")) + "\n\1\0\1"s);
  EXPECT_EQ(saved(zeros({0, 3}, kDouble)),
            "\x93NUMPY\x01\0v\0"s + padded(dict("<f8", "(0, 3)")) + "\n");
}

TEST(Npy, EveryDtypeComesBack) {
  for (const ScalarType dtype :
       {kByte, kChar, kShort, kInt, kLong, kHalf, kFloat, kDouble, kBool}) {
    const Tensor values = (arange(24, kFloat) - 3).reshape({2, 3, 4}).to(dtype);
    EXPECT_TRUE(same_bits(loaded(saved(values)), values)) << name(dtype);
    const Tensor view = values.permute({2, 0, 1}).slice(0, 1, 4, 2);
    EXPECT_TRUE(same_bits(loaded(saved(view)), view.contiguous())) << name(dtype);
  }
  EXPECT_EQ(error_of([] { saved(ones({2}, kBFloat16)); }),
            "save_npy: NumPy has no dtype BFloat16; convert the tensor with to(kFloat)");
  EXPECT_EQ(error_of([] { saved(Tensor()); }),
            "save_npy: the tensor is undefined; give it a value first");
}

TEST(Npy, NansAreWrittenAlike) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(saved(tensor({nan, -nan})).substr(128), "\0\0\xc0\x7f\0\0\xc0\x7f"s);
}

TEST(Npy, OrdersOfBytesAndOfElements) {
  const Tensor expected = tensor({{1, 2, 3}, {4, 5, 6}}, kShort);
  const std::string rows = "\0\1\0\2\0\3\0\4\0\5\0\6"s, columns = "\0\1\0\4\0\2\0\5\0\3\0\6"s;
  EXPECT_TRUE(same_bits(loaded(npy(dict(">i2", "(2, 3)"), rows)), expected));
  EXPECT_TRUE(same_bits(loaded(npy(dict(">i2", "(2, 3)", "True"), columns)), expected));
  EXPECT_TRUE(
      same_bits(loaded(npy(dict("<i2", "(2, 3)", "True"), columns.substr(1) + "\0"s)), expected));
  EXPECT_TRUE(
      same_bits(loaded(npy(dict(">f8", "(1,)"), "\x3f\xf8\0\0\0\0\0\0"s)), tensor({1.5}, kDouble)));
  EXPECT_TRUE(same_bits(loaded(npy(dict(">f4", "()"), "\xc0\0\0\0"s)), tensor(-2.0)));
  EXPECT_TRUE(same_bits(loaded(npy(dict("<f4", "(3, 0)", "True"), "")), zeros({3, 0})));
}

TEST(Npy, VersionsAndSpellings) {
  const Tensor expected = tensor({5, 6}, kByte);
  for (const char version : {1, 2, 3})
    EXPECT_TRUE(same_bits(loaded(npy(dict("|u1", "(2,)"), "\5\6", version)), expected));
  for (const char* spelling :
       {"{'shape': (2L,), 'fortran_order': False, 'descr': '<u1'}",
        "{\"shape\":(2),\"descr\":\"=u1\",\"fortran_order\":False}",
        "  { 'descr' : '>u1' , 'fortran_order' : False , 'shape' : ( 2 , ) , }   "})
    EXPECT_TRUE(same_bits(loaded(npy(spelling, "\5\6")), expected)) << spelling;
}

TEST(Npz, FilesOfNumpy) {
  for (const char* file : {"stored.npz", "deflated.npz"}) {
    const auto tensors = load_npz(GROOVE_SOURCE_DIR "/tests/front/numpy/"s + file);
    ASSERT_EQ(tensors.size(), 4u);
    EXPECT_TRUE(same_bits(tensors["weight"], arange(2048, kFloat).reshape({32, 64}) / 8));
    EXPECT_TRUE(same_bits(tensors["columns"], arange(24, kInt).reshape({2, 3, 4})));
    EXPECT_TRUE(same_bits(tensors["mask"], tensor({true, false, true})));
    EXPECT_TRUE(same_bits(tensors["step"], tensor(7)));
  }
}

TEST(Npz, TensorsOfAModuleComeBack) {
  const TemporaryFolder folder;
  nn::Sequential net(nn::Linear(4, 3), nn::Linear(3, 2));
  save_npz(folder / "net.npz", net->named_parameters());
  const auto tensors = load_npz(folder / "net.npz");
  EXPECT_EQ(tensors.size(), 4u);
  for (const auto& item : net->named_parameters())
    EXPECT_TRUE(same_bits(tensors[item.key()], item.value())) << item.key();
  save_npz(folder / "none.npz", OrderedDict<std::string, Tensor>());
  EXPECT_TRUE(load_npz(folder / "none.npz").is_empty());
}

void expect(const std::string& part, const std::string& bytes) {
  const std::string text = error_of([&] { loaded(bytes); });
  EXPECT_NE(text.find(part), std::string::npos) << text << "\n  is not about: " << part;
}

TEST(Npy, ComplexNumbers) {
  const double parts[] = {1.5, -2, 3, 0.25};
  const std::string bytes(reinterpret_cast<const char*>(parts), sizeof parts);
  const Tensor numbers = loaded(npy(dict("<c16", "(2,)"), bytes));
  ASSERT_EQ(numbers.scalar_type(), kComplexDouble);
  EXPECT_EQ(numbers[1].item<std::complex<double>>(), std::complex<double>(3, 0.25));
  const TemporaryFolder folder;
  save_npy(folder / "numbers.npy", numbers);
  EXPECT_TRUE(equal(load_npy(folder / "numbers.npy"), numbers));
}

TEST(Npy, FilesThatLie) {
  expect("does not begin as", "");
  expect("does not begin as", "PK\3\4 and more");
  expect("ends within the header", "\x93NUMPY\1\0v"s);
  expect("version 4.0", npy(dict("<f4", "()"), "", 4));
  expect("118 bytes; 0 follow", "\x93NUMPY\1\0v\0"s);
  expect("no '{'", npy("", ""));
  expect("'shape' twice", npy("{'shape': (), 'shape': ()}", ""));
  expect("unknown key 'x'", npy("{'x': 1}", ""));
  expect("lacks one of", npy("{}", ""));
  expect("goes on after its end", npy(dict("<f4", "()") + "}", "1234"));
  expect("no dtype in quotes", npy("{'descr': 1}", ""));
  expect("dtype '<u4', which Groove has not", npy(dict("<u4", "()"), "1234"));
  expect("dtype '<c32', which Groove has not", npy(dict("<c32", "()"), "12345678"));
  expect("dtype '|O', which Groove has not", npy(dict("|O", "()"), "1234"));
  expect("records of dtype [('a', '<f4')]", npy("{'descr': [('a', '<f4')], }", ""));
  expect("neither True nor False", npy(dict("<f4", "()", "Maybe"), "1234"));
  expect("no list of 64-bit numbers", npy(dict("<f4", "(-1,)"), ""));
  expect("no list of 64-bit numbers", npy(dict("<f4", "(18446744073709551616,)"), ""));
  expect("2^63", npy(dict("<f4", "(4294967296, 4294967296)"), ""));
  expect("2^63", npy(dict("<f4", "(18446744073709551615, 0)"), ""));
  expect("whose shape takes 4000000000000", npy(dict("<f4", "(1000000000000,)"), "1234"));
  expect("5 bytes follow", npy(dict("<f4", "()"), "12345"));
  expect("element 1 of 'array' is 2", npy(dict("|b1", "(2,)"), "\1\2"));
  std::string many;
  for (int i = 0; i < 65; ++i) many += "1, ";
  expect("more than 64 dimensions", npy(dict("|u1", "(" + many + ")"), "1"));
  EXPECT_NE(error_of([] { load_npy("/nowhere/a.npy"); }).find("load_npy: /nowhere/a.npy: cannot"),
            std::string::npos);
}

TEST(Npy, DamagedCopies) {
  const std::string good = npy(dict(">f4", "(2, 3)", "True"), std::string(24, '\1'));
  const std::string zip = read(GROOVE_SOURCE_DIR "/tests/front/numpy/deflated.npz");
  std::mt19937 random(1);
  const TemporaryFolder folder;
  int errors = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = i % 2 == 0 ? good : zip;
    for (unsigned n = 1 + random() % 3; n > 0; --n)
      bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
    if (i % 5 == 0) bytes.resize(random() % bytes.size());
    write(folder / "a", bytes);
    try {
      if (i % 2 == 0)
        load_npy(folder / "a");
      else
        load_npz(folder / "a");
    } catch (const Error&) {
      ++errors;
    }
  }
  EXPECT_GT(errors, 1000);
}

}  // namespace
}  // namespace groove
