// The text form, the builder's sharing and cleaning, and what the verifier refuses.
#include "groove/error.h"
#include "tests/kernels/kernel_harness.h"

namespace groove::kernels::testing {
namespace {

Kernel softmax() {
  Builder b(Order::kRow);
  const int x = b.access(kFloat, false, StrideClass::kContiguous);
  const Expr scale = b.param(kFloat);
  const Expr greatest = b.reduce(Prim::kReduceMax, b.load(x) * scale);
  b.next_phase();
  const Expr sum = b.reduce(Prim::kReduceSum, exp(b.load(x) * scale - greatest));
  b.next_phase();
  const Expr inverse = b.constant(kFloat, 1.0) / sum;
  b.store(kFloat, StrideClass::kContiguous, exp(b.load(x) * scale - greatest) * inverse);
  return b.finish();
}

Kernel sine() {
  Builder b;
  b.store(kDouble, StrideClass::kStrided, sin(b.load(kDouble, StrideClass::kBroadcast)));
  return b.finish();
}

TEST(KernelText, RoundTrips) {
  for (const Kernel& kernel : {softmax(), sine()}) {
    const Kernel parsed = parse_kernel(print(kernel));
    EXPECT_EQ(parsed, kernel);
    EXPECT_EQ(print(parsed), print(kernel));
    EXPECT_EQ(hash(parsed), hash(kernel));
  }
  EXPECT_NE(hash(softmax()), hash(sine()));
}

TEST(KernelText, IsReadable) {
  Builder b;
  const Expr x = b.load(kFloat, StrideClass::kContiguous);
  b.store(kFloat, StrideClass::kContiguous, x * 2.0);
  EXPECT_EQ(print(b.finish()),
            "kernel map\n"
            "access 0 load f32 contiguous\n"
            "access 1 store f32 contiguous\n"
            "phase\n"
            "%0 = load f32 @0\n"
            "%1 = constant f32 0x40000000  # 2\n"
            "%2 = mul f32 %0 %1\n"
            "%3 = store f32 %2 @1\n");
}

TEST(Builder, SharesEqualAndDropsUnused) {
  Builder b;
  const Expr x = b.load(kFloat, StrideClass::kContiguous);
  exp(x);
  b.store(kFloat, StrideClass::kContiguous, (x * 2.0) + (x * 2.0));
  const Kernel kernel = b.finish();
  EXPECT_EQ(kernel.code.size(), 5u) << print(kernel);
}

TEST(Builder, DoesNotShareOutOfARegion) {
  Builder b;
  const Expr x = b.load(kFloat, StrideClass::kContiguous);
  const Expr slow = if_any(
      gt(x, 1.0), x, [](Expr v) { return v * v; }, x);
  b.store(kFloat, StrideClass::kContiguous, slow + x * x);
  const Kernel kernel = b.finish();
  EXPECT_EQ(verify(kernel), "");
}

TEST(Builder, RejectsMixedDtypes) {
  Builder b;
  const Expr x = b.load(kFloat, StrideClass::kContiguous);
  EXPECT_THROW(x + convert(x, kDouble), Error);
  EXPECT_THROW(convert(x, kInt) + 0.5, Error);
}

std::string problem(const std::string& text) {
  try {
    parse_kernel(text);
  } catch (const Error& error) {
    return error.msg();
  }
  return "accepted";
}

struct Rejection {
  const char* reason;
  const char* text;
};

TEST(Verifier, Rejects) {
  const Rejection rejections[] = {
      {"is not defined before", "kernel map\nphase\n%0 = neg f32 %1\n%1 = constant f32 0x0\n"},
      {"dtypes do not fit",
       "kernel map\nphase\n%0 = constant f32 0x0\n%1 = constant f64 0x0\n%2 = add f32 %0 %1\n"},
      {"dtypes do not fit", "kernel map\nphase\n%0 = constant i32 0x0\n%1 = sqrt i32 %0\n"},
      {"dtypes do not fit", "kernel map\nphase\n%0 = constant f32 0x0\n%1 = bitcast i64 %0\n"},
      {"bits above", "kernel map\nphase\n%0 = constant u8 0x100\n"},
      {"no such access", "kernel map\nphase\n%0 = load f32 @0\n"},
      {"reads a store access",
       "kernel map\naccess 0 store f32 contiguous\nphase\n%0 = load f32 @0\n"},
      {"one phase", "kernel map\nphase\nphase\n"},
      {"two phases", "kernel column\nphase\n%0 = constant f32 0x0\n"},
      {"map kernels do not reduce",
       "kernel map\nphase\n%0 = constant f32 0x0\n%1 = reduce_sum f32 %0\n"},
      {"used in the phase that reduces it",
       "kernel row\nphase\n%0 = constant f32 0x0\n%1 = reduce_sum f32 %0\n%2 = neg f32 %1\n"},
      {"is not uniform",
       "kernel row\naccess 0 load f32 contiguous\nphase\n%0 = load f32 @0\nphase\n"
       "%1 = neg f32 %0\n"},
      {"is not uniform",
       "kernel column\naccess 0 load f32 broadcast\nphase\n%0 = load f32 @0\nphase\n"
       "%1 = neg f32 %0\n"},
      {"varies along the row",
       "kernel row\naccess 0 load f32 contiguous\naccess 1 store f32 broadcast\nphase\n"
       "%0 = load f32 @0\n%1 = store f32 %0 @1\n"},
      {"store in the last phase",
       "kernel column\naccess 0 store f32 contiguous\nphase\n%0 = constant f32 0x0\n"
       "%1 = store f32 %0 @0\nphase\n"},
      {"only the first phase",
       "kernel tree\nphase\nphase\n%0 = constant f32 0x0\n%1 = reduce_sum f32 %0\n"},
      {"do not nest", "kernel map\nphase\n%0 = constant bool 0x1\n%1 = if_any_begin bool %0\n"},
      {"outside its if_any region",
       "kernel map\nphase\n%0 = constant bool 0x1\n%1 = if_any_begin bool %0\n"
       "%2 = constant f32 0x0\n%3 = if_any_end bool %0 %0 %0\n%4 = neg f32 %2\n"},
      {"made inside the slow region",
       "kernel map\nphase\n%0 = constant bool 0x1\n%1 = if_any_begin bool %0\n"
       "%2 = constant f32 0x0\n%3 = if_any_end f32 %0 %2 %2\n"},
      {"stands inside if_any",
       "kernel map\naccess 0 store bool contiguous\nphase\n%0 = constant bool 0x1\n"
       "%1 = if_any_begin bool %0\n%2 = store bool %0 @0\n%3 = if_any_end bool %0 %0 %0\n"},
      {"has no value",
       "kernel map\nphase\n%0 = constant bool 0x1\n%1 = if_any_begin bool %0\n"
       "%2 = if_any_end bool %0 %0 %1\n"},
      {"no primitive", "kernel map\nphase\n%0 = frobnicate f32\n"},
      {"no dtype", "kernel map\nphase\n%0 = constant f33 0x0\n"},
      {"line 3: expected `%0", "kernel map\nphase\n%1 = constant f32 0x0\n"},
      {"begins with `kernel", "phase\n"},
      {"unexpected `0x1`", "kernel map\nphase\n%0 = constant f32 0x0 0x1\n"},
      {"expected a number", "kernel map\nphase\n%0 = constant f32 zero\n"},
  };
  for (const Rejection& rejection : rejections) {
    const std::string message = problem(rejection.text);

    const std::string wanted = rejection.reason;
    EXPECT_NE(message.find(wanted), std::string::npos)
        << "wanted: " << wanted << "\ngot: " << message << "\nfor:\n"
        << rejection.text;
  }
}

}  // namespace
}  // namespace groove::kernels::testing
