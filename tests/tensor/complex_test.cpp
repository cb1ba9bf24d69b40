// Complex tensors: what they share, what they refuse, and what cannot be compared with LibTorch's
// C++.
#include <gtest/gtest.h>

#include <functional>
#include <sstream>

#include "groove/groove.h"

namespace groove::testing {
namespace {

using Number = std::complex<double>;

Tensor numbers(IntArrayRef sizes, double step = 0.37) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  const Tensor at = arange(count, kDouble).reshape(sizes);
  return complex(sin(at * step), cos(at * step * 1.7));
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.msg();
  }
  return "(no error)";
}

TEST(Complex, SharesItsMemoryWithItsParts) {
  Tensor z = numbers({2, 3});
  const Tensor pair = view_as_real(z), turned = z.t();
  pair.fill_(2);
  EXPECT_EQ(z[1][2].item<Number>(), Number(2, 2));
  turned[0][1] = -1;
  EXPECT_EQ(pair[1][0][0].item<double>(), -1);
  EXPECT_EQ(pair[1][0][1].item<double>(), 0);
  z.data_ptr<Number>()[1] = Number(5, 6);
  EXPECT_EQ(imag(z)[0][1].item<double>(), 6);
  EXPECT_TRUE(z.is_alias_of(pair));
  EXPECT_EQ((z.accessor<Number, 2>()[0][1]), Number(5, 6));
}

TEST(Complex, SaysWhatIsNotBuilt) {
  const Tensor z = numbers({2, 2});
  EXPECT_NE(error_of([&] { relu(z); }).find("relu: not built for complex tensors (ComplexDouble)"),
            std::string::npos);
  EXPECT_NE(error_of([&] { z.item(); }).find("has 4 elements"), std::string::npos);
  EXPECT_NE(error_of([&] { z[0][0].item(); }).find("item<c10::complex<float>>()"),
            std::string::npos);
  EXPECT_NE(error_of([&] { zeros({2, 2}).add_(z); }).find("can't be cast"), std::string::npos);
  EXPECT_NE(error_of([&] { fft::rfft(z); }).find("rfft expects a real input tensor"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              z.clone().requires_grad_().sum().backward();
            }).find("only for real scalar outputs"),
            std::string::npos);
  EXPECT_NE(error_of([&] { z.add_(numbers({3, 2, 2})); }).find("does not fit"), std::string::npos);
}

TEST(Complex, PrintsAsLibTorchDoes) {  // the real parts, with a warning
  std::ostringstream text;
  text << complex(tensor({1., -0.5}), tensor({3., 4.}));
  EXPECT_EQ(text.str(), " 1.0000\n-0.5000\n[ CPUComplexFloatType{2} ]");
}

TEST(Complex, HooksSeeComplexGradients) {
  const Tensor z = numbers({3}).requires_grad_();
  const Tensor twice = z * 2;
  Tensor seen;
  twice.register_hook([&](const Tensor& grad) {
    seen = grad;
    return grad * 3;
  });
  twice.abs().square().sum().backward();
  EXPECT_TRUE(allclose(seen, twice.detach() * 2));
  EXPECT_TRUE(allclose(z.grad(), twice.detach() * 12));
}

// As torch.optim.Adam of Python: both parts have moments of their own. (LibTorch's C++ squares
// complex numbers.)
TEST(Complex, AdamHasMomentsOfBothParts) {
  const auto filled = [](std::int64_t j) {
    std::vector<double> values;
    for (std::int64_t k = 0; k < 4; ++k)
      values.push_back(static_cast<double>((k * 61 + 37 * j + 11) % 199 - 99) / 100);
    return tensor(values, kDouble).reshape({2, 2});
  };
  const Tensor goal = complex(filled(8), filled(11));
  const Tensor z = complex(filled(0), filled(3)).requires_grad_();
  optim::Adam adam({z}, optim::AdamOptions(0.1));
  for (int i = 0; i < 5; ++i) {
    adam.zero_grad();
    (z - goal).abs().square().sum().backward();
    adam.step();
  }
  const Tensor known =
      tensor({-0.3883595593503457, -0.26228153963664946, 0.2216404406496543, 0.3477184603633505,
              -0.15228153963664948, -0.04835955935034572, 0.4577184603633505, -0.42228153963664944},
             kDouble);
  EXPECT_LT((view_as_real(z.detach()).flatten() - known).abs().max().item<double>(), 1e-14);
}

TEST(Complex, ModulesTakeGradientsOfComplexParametersAway) {
  nn::Module module;
  const Tensor z = module.register_parameter("z", numbers({3}));
  z.abs().sum().backward();
  ASSERT_TRUE(z.grad().defined());
  module.zero_grad(false);
  EXPECT_EQ(z.grad().abs().sum().item<double>(), 0);
  module.zero_grad();
  EXPECT_FALSE(z.grad().defined());
}

TEST(Complex, DtypesPromoteByTheirParts) {
  EXPECT_EQ(promote_types(kComplexHalf, kFloat), kComplexFloat);
  EXPECT_EQ(promote_types(kComplexFloat, kDouble), kComplexDouble);
  EXPECT_EQ(promote_types(kLong, kComplexFloat), kComplexFloat);
  EXPECT_EQ(promote_types(kBool, kComplexDouble), kComplexDouble);
  EXPECT_EQ(toRealValueType(kComplexHalf), kHalf);
}

TEST(Complex, TransformsHaveTheSameBitsForEveryNumberOfThreads) {
  const int before = get_num_threads();
  for (const std::int64_t n : {7, 64, 100, 331}) {
    const Tensor x = sin(arange(40 * n, kFloat)).view({40, n});
    const Tensor z = complex(x, x.flip({0}));
    set_num_threads(1);
    const Tensor alone = fft::fft(z), half = fft::rfft(x), back = fft::irfft(half, n);
    set_num_threads(2);
    EXPECT_TRUE(equal(alone, fft::fft(z))) << n;
    EXPECT_TRUE(equal(half, fft::rfft(x))) << n;
    EXPECT_TRUE(equal(back, fft::irfft(half, n))) << n;
    // Nor do the lines beside a line count.
    EXPECT_TRUE(equal(alone[17], fft::fft(z[17]))) << n;
  }
  set_num_threads(before);
}

TEST(Complex, ExamplesBecomeBatches) {
  std::vector<data::Example<>> examples;
  for (int i = 0; i < 3; ++i) examples.push_back({numbers({2}, 0.1 + i), tensor(std::int64_t{i})});
  const data::Example<> batch = data::transforms::Stack<>().apply_batch(examples);
  EXPECT_TRUE(equal(batch.data[2], examples[2].data));
}

}  // namespace
}  // namespace groove::testing
