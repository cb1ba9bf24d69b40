// Printing, against text that LibTorch 2.15 printed for the same tensors.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "groove/factories.h"
#include "src/core/tensor_impl.h"

namespace groove {
namespace {

std::string text(const Tensor& tensor) {
  std::ostringstream out;
  out << tensor;
  return out.str();
}

// 1, 2, 3 … times `step` in a shape.
Tensor counting(const Shape& sizes, double first, double step) {
  Tensor result = make_empty(sizes, kFloat);
  for (std::int64_t i = 0; i < result.numel(); ++i)
    result.data_ptr<float>()[i] =
        static_cast<float>(first + static_cast<double>(i)) * static_cast<float>(step);
  return result;
}

struct Case {
  Tensor tensor;
  const char* expected;
};

TEST(Print, AsLibTorch) {
  const double nan = NAN, infinity = INFINITY;
  const Case cases[] = {
      {Tensor(), "[ Tensor (undefined) ]"},
      {tensor(3), "3\n[ CPULongType{} ]"},
      {tensor(2.5), "2.5\n[ CPUFloatType{} ]"},
      {tensor(1e-7), "1.0000000116860974e-07\n[ CPUFloatType{} ]"},
      {tensor(0.1), "0.10000000149011612\n[ CPUFloatType{} ]"},
      {tensor(1e6), "1000000\n[ CPUFloatType{} ]"},
      {tensor(123456789.0, kDouble), "123456789\n[ CPUDoubleType{} ]"},
      {tensor(1e16, kDouble), "1e+16\n[ CPUDoubleType{} ]"},
      {tensor(true), "1\n[ CPUBoolType{} ]"},
      {tensor(-infinity), "-inf\n[ CPUFloatType{} ]"},
      {tensor({1., 2., 3.}), " 1\n 2\n 3\n[ CPUFloatType{3} ]"},
      {tensor({1.5, 2.25, -3.125}), " 1.5000\n 2.2500\n-3.1250\n[ CPUFloatType{3} ]"},
      {tensor({1, 2, 300}), "   1\n   2\n 300\n[ CPULongType{3} ]"},
      {tensor({true, false}), " 1\n 0\n[ CPUBoolType{2} ]"},
      {tensor({1e-3, 2e-3}), "0.001 *\n 1.0000\n 2.0000\n[ CPUFloatType{2} ]"},
      {tensor({1e-3, 2., 1000.}), " 1.0000e-03\n 2.0000e+00\n 1.0000e+03\n[ CPUFloatType{3} ]"},
      {tensor({1e6, 2e6}), "   1e+06\n   2e+06\n[ CPUFloatType{2} ]"},
      {tensor({1234567., 7654321.}), "1.23457e+06\n7.65432e+06\n[ CPUFloatType{2} ]"},
      {tensor({123456.5, 654321.25}, kDouble), "100000 *\n 1.2346\n 6.5432\n[ CPUDoubleType{2} ]"},
      {tensor({0., 0.5}), " 0.0000\n 0.5000\n[ CPUFloatType{2} ]"},
      {tensor({0., 0.}), " 0\n 0\n[ CPUFloatType{2} ]"},
      {tensor({nan, 1.0, infinity}), "nan\n 1\ninf\n[ CPUFloatType{3} ]"},
      {tensor({nan, 1.5, -infinity}), "    nan\n 1.5000\n   -inf\n[ CPUFloatType{3} ]"},
      {tensor({nan, nan}), "nan\nnan\n[ CPUFloatType{2} ]"},
      {tensor({-1, -20}), " -1\n-20\n[ CPULongType{2} ]"},
      {tensor({99999.5, 1.}), " 99999.5000\n     1.0000\n[ CPUFloatType{2} ]"},
      {tensor({9007199254740993L, 1L}), " 9.0072e+15\n 1.0000e+00\n[ CPULongType{2} ]"},
      {tensor({1e300, 2e-300}, kDouble), " 1.0000e+300\n 2.0000e-300\n[ CPUDoubleType{2} ]"},
      {tensor({1e-40, 1.0}), " 9.9999e-41\n 1.0000e+00\n[ CPUFloatType{2} ]"},
      {tensor({1e-5, 2e-5}), "1e-05 *\n 1.0000\n 2.0000\n[ CPUFloatType{2} ]"},
      {tensor({1.5, 2.5}, kHalf), " 1.5000\n 2.5000\n[ CPUHalfType{2} ]"},
      {tensor({1, 2}, kUInt8), " 1\n 2\n[ CPUByteType{2} ]"},
      {tensor({{1.5, 2.}, {3., 4.}}), " 1.5000  2.0000\n 3.0000  4.0000\n[ CPUFloatType{2,2} ]"},
      {tensor({{1., -2.}, {3., 400.}}), "   1   -2\n   3  400\n[ CPUFloatType{2,2} ]"},
      {tensor({{1, 2, 3}, {4, 5, -6}}), " 1  2  3\n 4  5 -6\n[ CPULongType{2,3} ]"},
      {tensor({{nan, 1.5}, {2.5, -infinity}}),
       "    nan  1.5000\n 2.5000    -inf\n[ CPUFloatType{2,2} ]"},
      {tensor({{0.001, 0.002}, {0.003, 0.004}}),
       "0.001 *\n 1.0000  2.0000\n  3.0000  4.0000\n[ CPUFloatType{2,2} ]"},
      {tensor({{{1.5}}}), "(1,.,.) = \n 1.5000\n[ CPUFloatType{1,1,1} ]"},
      {make_empty({0}, kFloat), "[ CPUFloatType{0} ]"},
      {make_empty({2, 0, 3}, kFloat), "[ CPUFloatType{2,0,3} ]"},
      {counting({2, 2, 3}, 0, 1),
       "(1,.,.) = \n 0  1  2\n  3  4  5\n\n(2,.,.) = \n  6   7   8\n   9  10  11\n"
       "[ CPUFloatType{2,2,3} ]"},
      {counting({2, 2, 1, 2}, 0, 0.25),
       "(1,1,.,.) = \n 0.0000  0.2500\n\n(2,1,.,.) = \n 1.0000  1.2500\n\n"
       "(1,2,.,.) = \n 0.5000  0.7500\n\n(2,2,.,.) = \n 1.5000  1.7500\n[ CPUFloatType{2,2,1,2} ]"},
      {counting({2, 3, 3}, 1, 1e-4),
       "(1,.,.) = \n0.0001 *\n  1.0000  2.0000  3.0000\n   4.0000  5.0000  6.0000\n"
       "   7.0000  8.0000  9.0000\n\n(2,.,.) = \n0.001 *\n  1.0000  1.1000  1.2000\n"
       "   1.3000  1.4000  1.5000\n   1.6000  1.7000  1.8000\n[ CPUFloatType{2,3,3} ]"},
      {counting({2, 30}, 0, 1),
       "Columns 1 to 20  0   1   2   3   4   5   6   7   8   9  10  11  12  13  14  15  16  17  18"
       "  19\n 30  31  32  33  34  35  36  37  38  39  40  41  42  43  44  45  46  47  48  49\n\n"
       "Columns 21 to 30 20  21  22  23  24  25  26  27  28  29\n"
       " 50  51  52  53  54  55  56  57  58  59\n[ CPUFloatType{2,30} ]"},
      {counting({1, 12}, 1, 1e-5),
       "Columns 1 to 100.0001 *\n"
       " 0.1000  0.2000  0.3000  0.4000  0.5000  0.6000  0.7000  0.8000  0.9000  1.0000\n\n"
       "Columns 11 to 120.0001 *\n 1.1000  1.2000\n[ CPUFloatType{1,12} ]"},
  };
  for (const Case& c : cases) EXPECT_EQ(text(c.tensor), c.expected);
}

TEST(Print, ViewsPrintTheirOwnElementsAndTheStreamKeepsItsFormat) {
  const Tensor base = tensor({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(text(make_view(base, {{3, 2}, {1, 3}, 0})),
            " 1  4\n 2  5\n 3  6\n[ CPULongType{3,2} ]");
  std::ostringstream out;
  out.precision(2);
  out << std::fixed << tensor({1.5, 2.5}) << " " << 3.14159;
  EXPECT_EQ(out.str(), " 1.5000\n 2.5000\n[ CPUFloatType{2} ] 3.14");
}

TEST(Print, TheFunctionEndsNoLineAndTheMethodTellsTheTypeOnTheErrorStream) {
  testing::internal::CaptureStdout();
  print(tensor({1, 2}));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), " 1\n 2\n[ CPULongType{2} ]");
  testing::internal::CaptureStderr();
  tensor({{1, 2, 3}}).print();
  Tensor().print();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "[CPULongType [1, 3]]\n[UndefinedTensor]\n");
}

TEST(Print, SizesDtypesAndDevices) {
  std::ostringstream out;
  out << tensor({{1, 2, 3}}).sizes() << tensor(1).sizes() << kFloat << Device("cuda:1");
  EXPECT_EQ(out.str(), "[1, 3][]Floatcuda:1");
}

}  // namespace
}  // namespace groove
