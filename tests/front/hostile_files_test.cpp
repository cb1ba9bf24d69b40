// Files that lie: every damaged one is an error that names the file, or loads as what it says.
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#include "front_files.h"
#include "groove/factories.h"
#include "groove/nn.h"
#include "groove/ops/creation.h"
#include "groove/optim.h"
#include "groove/serialize.h"

namespace groove {
namespace {

std::string file_of(const std::string& header, std::size_t data_bytes = 0) {
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header +
         std::string(data_bytes, '\1');
}

std::string error_of(const std::string& bytes) {
  serialize::InputArchive archive;
  try {
    archive.load_from(bytes.data(), bytes.size());
  } catch (const Error& error) {
    return error.msg();
  }
  return "(no error)";
}

void expect(const std::string& part, const std::string& bytes) {
  const std::string text = error_of(bytes);
  EXPECT_NE(text.find(part), std::string::npos) << text << "\n  is not about: " << part;
}

TEST(HostileFiles, Lengths) {
  expect("at least 8", "");
  expect("at least 8", "1234567");
  expect("the file has 8", std::string(8, '\xff'));
  expect("header has 9", file_of("{}").replace(0, 1, "\x09"));
  expect("does not begin with", file_of(""));
  expect("does not begin with", file_of(" {}"));
  EXPECT_EQ(error_of(file_of("{}")), "(no error)");
  EXPECT_EQ(error_of(file_of("{}      ")), "(no error)");
  expect("goes on after its end", file_of("{}", 1));
}

TEST(HostileFiles, HeadersThatAreNoHeader) {
  expect("is not JSON", file_of("{"));
  expect("is not JSON", file_of("{}x"));
  expect("is not JSON in UTF-8", file_of("{\"\xff\":1}"));
  expect("list out of place", file_of("{\"a\":" + std::string(100000, '[')));
  expect("object where none belongs", file_of(R"({"a":{"dtype":{}}})"));
  expect("number out of place", file_of(R"({"a":1})"));
  expect("null", file_of(R"({"a":null})"));
  expect("text out of place", file_of(R"({"a":"b"})"));
  expect("text out of place", file_of(R"({"a":{"shape":"b"}})"));
  expect("list out of place", file_of(R"({"__metadata__":{"a":["b"]}})"));
  expect("lacks dtype", file_of(R"({"a":{}})"));
  expect("lacks dtype", file_of(R"({"a":{"dtype":"F32","shape":[]}})"));
  expect("two entries 'a'",
         file_of(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{}})"));
  expect("two entries '__metadata__'", file_of(R"({"__metadata__":{},"__metadata__":{}})"));
  expect("two texts 'k'", file_of(R"({"__metadata__":{"k":"1","k":"2"}})"));
  expect("two fields 'shape'", file_of(R"({"a":{"shape":[1],"shape":[2]}})"));
  expect("unknown field 'x'", file_of(R"({"a":{"x":1}})"));
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":[)" + shape + R"(],"data_offsets":[)" + offsets +
         "]}";
}

TEST(HostileFiles, ShapesAndOffsets) {
  const auto one = [](const std::string& dtype, const std::string& shape,
                      const std::string& offsets, std::size_t bytes) {
    return file_of("{\"a\":" + entry(dtype, shape, offsets) + "}", bytes);
  };
  EXPECT_EQ(error_of(one("U8", "2,2", "0,4", 4)), "(no error)");
  expect("dtype F8_E4M3, which Groove has not", one("F8_E4M3", "4", "0,4", 4));
  expect("by its shape", one("F32", "2,2", "0,4", 4));
  expect("no range", one("U8", "4", "4,0", 4));
  expect("no range", one("U8", "4", "0", 4));
  expect("no range", one("U8", "4", "0,4,4", 4));
  expect("negative", one("U8", "-4", "0,4", 4));
  expect("no 64-bit integer", one("U8", "4.0", "0,4", 4));
  expect("no 64-bit integer", one("U8", "18446744073709551616", "0,4", 4));
  expect("2^63", one("U8", "4294967296,4294967296", "0,0", 0));
  expect("2^63", one("F64", "2305843009213693952", "0,0", 0));
  expect("2^63", one("U8", "18446744073709551615,0", "0,0", 0));
  expect("speaks of 1099511627776", one("U8", "1099511627776", "0,1099511627776", 4));
  expect("begins at 1", one("U8", "4", "1,5", 5));
  std::string many = "1";
  for (int i = 0; i < 64; ++i) many += ",1";
  expect("more than 64 dimensions", one("U8", many, "0,1", 1));
  expect("element 1 of 'a' is 2", [&] {
    std::string bytes = one("BOOL", "3", "0,3", 3);
    bytes[bytes.size() - 2] = 2;
    return bytes;
  }());
  const auto two = [](const std::string& a, const std::string& b, std::size_t bytes) {
    return file_of("{\"a\":" + entry("U8", "4", a) + ",\"b\":" + entry("U8", "4", b) + "}", bytes);
  };
  EXPECT_EQ(error_of(two("4,8", "0,4", 8)), "(no error)");
  expect("begins at 2", two("0,4", "2,6", 8));
  expect("begins at 0", two("0,4", "0,4", 4));
  expect("begins at 5", two("0,4", "5,9", 9));
}

TEST(HostileFiles, StreamsThatPromiseMuch) {
  std::stringstream stream(
      file_of("{\"a\":" + entry("U8", "1099511627776", "0,1099511627776") + "}", 10));
  serialize::InputArchive archive;
  EXPECT_THROW(archive.load_from(stream), Error);
}

TEST(HostileFiles, TwoThousandDamagedCopies) {
  struct Net : nn::Module {
    Net() : one(register_module("one", nn::Linear(2, 3))) {
      register_buffer("mask", tensor({true, false}));
    }
    nn::Linear one{nullptr};
  };
  const TemporaryFolder folder;
  Net net;
  optim::Adam adam(net.parameters(), 0.1);
  net.one->forward(ones({1, 2})).sum().backward();
  adam.step();
  serialize::OutputArchive whole, model, optimizer;
  net.save(model);
  adam.save(optimizer);
  whole.write("model", model);
  whole.write("optimizer", optimizer);
  std::stringstream stream;
  whole.save_to(stream);
  const std::string good = stream.str();

  std::mt19937 random(1);
  int errors = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = good;
    const std::size_t at = random() % bytes.size();
    switch (i % 4) {
      case 0:
        bytes.resize(at);
        break;
      case 1:
        bytes[at] = static_cast<char>(random());
        break;
      case 2:  // of the header, more often
        bytes[at % (bytes.size() / 2)] ^= static_cast<char>(1 << random() % 8);
        break;
      default:
        bytes.erase(at, random() % 20);
        bytes.insert(random() % bytes.size(), random() % 20, static_cast<char>(random()));
    }
    Net target;
    optim::Adam of_target(target.parameters(), 0.1);
    const Tensor before = target.one->weight.detach().clone();
    serialize::InputArchive archive, nested;
    try {
      archive.load_from(bytes.data(), bytes.size());
      archive.read("model", nested);
      target.load(nested);
    } catch (const Error&) {
      ++errors;
      EXPECT_TRUE(same_bits(before, target.one->weight));
      continue;
    }
    try {
      archive.read("optimizer", nested);
      of_target.load(nested);
      target.one->forward(ones({1, 2})).sum().backward();
      of_target.step();
    } catch (const Error&) {
      ++errors;
    }
  }
  EXPECT_GT(errors, 1000);
}

}  // namespace
}  // namespace groove
