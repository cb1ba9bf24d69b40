// Tables of numbers: what a file says, to the last bit, and where it is wrong.
#include "groove/csv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <random>

#include "front_files.h"
#include "groove/groove.h"
#include "tests/core/error_of.h"

namespace groove {
namespace {

CsvTable table(const std::string& text, const CsvOptions& options = {}) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.csv", std::ios::binary) << text;
  return load_csv(folder / "a.csv", options);
}
std::string error(const std::string& text, const CsvOptions& options = {}) {
  const std::string message = error_of([&] { table(text, options); });
  const std::size_t file = message.find("a.csv: ");
  return file == message.npos ? message : message.substr(file + 7);
}

TEST(Csv, RowsOfNumbers) {
  const CsvTable read = table("1,2.5\n-3e1,+4\n");
  EXPECT_TRUE(same_bits(read.values, tensor({{1.0, 2.5}, {-30.0, 4.0}})));
  EXPECT_TRUE(read.names.empty());
  EXPECT_TRUE(same_bits(table("1;2\n3;4", CsvOptions().delimiter(';').dtype(kLong)).values,
                        tensor({{1, 2}, {3, 4}})));
  EXPECT_TRUE(
      same_bits(table("1\t2\n", CsvOptions().delimiter('\t')).values, tensor({{1.0, 2.0}})));
  EXPECT_EQ(table("").values.sizes(), IntArrayRef({0, 0}));
  EXPECT_EQ(table("a,b\n").values.sizes(), IntArrayRef({0, 2}));
}

TEST(Csv, NamesAndColumns) {
  const std::string text =
      "\xef\xbb\xbf"
      "time, \"price, \"\"new\"\"\" ,name\r\n1,2,x\r\n\r\n3,4,y\r\n";
  const CsvTable read = table(text, CsvOptions().columns({"price, \"new\"", "time"}));
  EXPECT_EQ(read.names, (std::vector<std::string>{"price, \"new\"", "time"}));
  EXPECT_TRUE(same_bits(read.values, tensor({{2.0, 1.0}, {4.0, 3.0}})));
  EXPECT_TRUE(read.column("time").equal(tensor({1.0, 3.0})));
  EXPECT_EQ(error_of([&] { read.column("x"); }), "column: the table has no column 'x'");
  EXPECT_EQ(error(text), "line 2, column 3: 'x' is no number of dtype Float");
  EXPECT_EQ(error(text, CsvOptions().columns({"x"})), "has no column 'x'");
  EXPECT_EQ(error("1,2\n", CsvOptions().columns({"x"})),
            "columns are asked for by name, but there is no row of names");
  EXPECT_EQ(table("1,2\n3,4\n", CsvOptions().header(true)).names,
            (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(error("a,b\n", CsvOptions().header(false)),
            "line 1, column 1: 'a' is no number of dtype Float");
}

TEST(Csv, QuotesMayHoldLines) {
  const CsvTable read = table("\"two\nlines\",b\n\" 1 \",\"2\"\n");
  EXPECT_EQ(read.names[0], "two\nlines");
  EXPECT_TRUE(same_bits(read.values, tensor({{1.0, 2.0}})));
  EXPECT_EQ(error("\"two\nlines\",b\n1,x\n"), "line 3, column 2: 'x' is no number of dtype Float");
  EXPECT_EQ(error("1,\"2\n"), "line 1, column 2: a quote is not closed");
  EXPECT_EQ(error("1,\"2\"3\n"), "line 1, column 2: text stands behind the closing quote");
}

TEST(Csv, MissingValues) {
  const Tensor values = table("a,b,c\n,NA, \nnan,null,1\n").values;
  EXPECT_TRUE(values.isnan().equal(tensor({{true, true, true}, {true, true, false}})));
  EXPECT_TRUE(same_bits(table("nan,-nan,\n").values, full({1, 3}, NAN)));
  EXPECT_TRUE(table("1,-\n", CsvOptions().missing({"-"})).values[0][1].isnan().item<bool>());
  EXPECT_EQ(error("1,2\n3,\n", CsvOptions().dtype(kInt)),
            "line 2, column 2: there is no value, and Int has no NaN");
}

TEST(Csv, NumbersAreRoundedOnce) {
  std::mt19937_64 random(1);
  std::string text;
  std::vector<std::string> numbers = {
      "0.1",        "1e-46", "-1e-400",   "3.4028235677973366e38",  "1e-310",
      "8.589973e9", "inf",   "-Infinity", "2.2250738585072011e-308"};
  char digits[64];
  for (int i = 0; i < 2000; ++i) {
    std::snprintf(
        digits, sizeof digits, "%.*e", static_cast<int>(random() % 20),
        std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 120) - 100));
    numbers.push_back(digits);
  }
  for (const std::string& number : numbers) text += number + "\n";
  const Tensor singles = table(text).values;
  const Tensor doubles = table(text, CsvOptions().dtype(kDouble)).values;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_EQ(singles.const_data_ptr<float>()[i], std::strtof(numbers[i].c_str(), nullptr));
    EXPECT_EQ(doubles.const_data_ptr<double>()[i], std::strtod(numbers[i].c_str(), nullptr));
  }
}

TEST(Csv, EveryDtype) {
  for (const ScalarType dtype :
       {kByte, kChar, kShort, kInt, kLong, kHalf, kBFloat16, kFloat, kDouble, kBool})
    EXPECT_TRUE(same_bits(table("true,0\n0,1\n", CsvOptions().dtype(dtype).header(false)).values,
                          eye(2, dtype)))
        << name(dtype);
  EXPECT_EQ(error("1.5\n", CsvOptions().dtype(kLong)),
            "line 1, column 1: '1.5' is no number of dtype Long");
  EXPECT_EQ(error("256\n", CsvOptions().dtype(kByte)),
            "line 1, column 1: 256 is out of the range of Byte");
  EXPECT_EQ(error("1e39\n"), "line 1, column 1: 1e39 is out of the range of Float");
  EXPECT_EQ(error("65520\n", CsvOptions().dtype(kHalf)),
            "line 1, column 1: 65520 is out of the range of Half");
  EXPECT_EQ(error("2\n", CsvOptions().dtype(kBool)),
            "line 1, column 1: 2 is out of the range of Bool");
  EXPECT_EQ(error("1\n", CsvOptions().dtype(kComplexFloat)),
            "load_csv: Groove does not compute with dtype ComplexFloat");
}

TEST(Csv, RowsOfAnotherLength) {
  EXPECT_EQ(error("1,2\n3\n"),
            "line 2, column 1: the row ends here, but the first one has 2 fields");
  EXPECT_EQ(error("1,2\n3,4,5\n"),
            "line 2, column 3: the row ends here, but the first one has 2 fields");
}

TEST(Csv, DamagedCopies) {
  const std::string good = "a,\"b\"\"c\"\r\n1.5,-2e3\r\n\"3\", nan\r\n";
  std::mt19937 random(1);
  int errors = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string text = good;
    for (unsigned n = 1 + random() % 3; n > 0; --n)
      text[random() % text.size()] =
          random() % 2 ? static_cast<char>(random()) : ",\"\n\r e"[random() % 6];
    if (i % 5 == 0) text.resize(random() % text.size());
    errors += error_of([&] { table(text); }) == "no error" ? 0 : 1;
  }
  EXPECT_GT(errors, 500);
}

}  // namespace
}  // namespace groove
