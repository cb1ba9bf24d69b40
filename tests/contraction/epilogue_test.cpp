// Epilogues, applied in registers or over blocks of sums, against the interpreter's.
#include "kernels/contraction/inline_epilogue.h"

#include <functional>

#include "kernels/contraction/generator.h"
#include "kernels/contraction/reference.h"
#include "kernels/expr.h"
#include "tests/contraction/problem.h"

namespace groove::kernels::testing {
namespace {

using enum StrideClass;

// An epilogue with what its operands look like: one entry an access, without access 0.
struct Operand {
  ScalarType dtype;
  bool is_store;
  bool along_n, along_m;  // which axes it varies along
};
enum Inline { kNever, kAlways };
struct Case {
  const char* name;
  Inline is_inline;
  std::function<void(Builder&, ScalarType, Expr)> build;
  std::vector<Operand> operands;
};

const ScalarType kSame = ScalarType::Undefined;  // the contraction's own dtype

std::vector<Case> cases() {
  const Operand out{kSame, true, true, true};
  const Operand full{kSame, false, true, true}, per_column{kSame, false, true, false},
      per_row{kSame, false, false, true};
  return {
      {"bias",
       kAlways,
       [](Builder& b, ScalarType t, Expr sum) {
         const Expr bias = b.load(t, kContiguous);
         b.store(t, kContiguous, sum + bias);
       },
       {per_column, out}},
      {"bias_relu",
       kAlways,
       [](Builder& b, ScalarType t, Expr sum) {
         const Expr x = sum + b.load(t, kContiguous);
         b.store(t, kContiguous, select(le(x, 0.0), b.constant(t, 0), x));
       },
       {per_column, out}},
      {"max_nan",
       kAlways,
       [](Builder& b, ScalarType t, Expr sum) {
         b.store(t, kContiguous, max_nan(sum, b.constant(t, 0)));
       },
       {out}},
      {"relu_gradient",
       kAlways,
       [](Builder& b, ScalarType t, Expr sum) {
         const Expr x = b.load(t, kContiguous);
         b.store(t, kContiguous, select(gt(x, 0.0), sum, b.constant(t, 0)));
       },
       {full, out}},
      {"scaled_residual",
       kAlways,
       [](Builder& b, ScalarType t, Expr sum) {
         const Expr scale = b.param(t), shift = b.param(t);
         const Expr x = b.load(t, kContiguous);
         b.store(t, kContiguous, fma(sum, scale, x) - shift);
       },
       {full, out}},
      {"per_row",
       kAlways,
       [](Builder& b, ScalarType t, Expr sum) {
         const Expr scale = b.load(t, kBroadcast);
         b.store(t, kContiguous, -abs(sum * scale) / sqrt(scale * scale + 1.0));
       },
       {per_row, out}},
      {"two_results",
       kAlways,
       [](Builder& b, ScalarType t, Expr sum) {
         const Expr x = sum + b.load(t, kContiguous);
         b.store(t, kContiguous, x);
         b.store(t, kContiguous, min(max(x, b.constant(t, -0.5)), b.constant(t, 0.5)));
       },
       {per_column, out, out}},
      {"mask",
       kAlways,
       [](Builder& b, ScalarType t, Expr sum) {
         const Expr keep = b.load(kBool, kContiguous);
         b.store(t, kContiguous, select(keep, sum * 2.0, b.constant(t, 0)));
       },
       {{kBool, false, true, true}, out}},
      {"mask_of_the_sum",
       kAlways,
       [](Builder& b, ScalarType t, Expr sum) {
         b.store(t, kContiguous, max(sum, b.constant(t, 0)));
         b.store(kBool, kContiguous, le(sum, b.constant(t, 0)));
       },
       {out, {kBool, true, true, true}}},
      {"exponential",
       kNever,
       [](Builder& b, ScalarType t, Expr sum) { b.store(t, kContiguous, exp(sum)); },
       {out}},
      {"index",
       kNever,
       [](Builder& b, ScalarType t, Expr sum) {
         const Expr where = b.index(0) * b.constant_int(kLong, 1000) + b.index(1);
         b.store(t, kContiguous, sum + convert(where, t));
       },
       {out}},
  };
}

template <typename T>
struct Arguments {
  std::vector<std::unique_ptr<Guarded<char>>> memory;
  std::vector<void*> pointers;
  std::vector<std::array<std::int64_t, kMaxAxes>> strides;
  std::uint64_t scalars[2] = {};

  Arguments(const Case& c, const ContractionShape& s, unsigned seed) {
    std::mt19937 random(seed);
    for (const Operand& operand : c.operands) {
      const std::size_t size = operand.dtype == kBool ? 1 : sizeof(T);
      const std::int64_t n = operand.along_n ? s.n : 1, m = operand.along_m ? s.m : 1;
      const auto count = static_cast<std::size_t>(s.batch * n * m);
      memory.push_back(std::make_unique<Guarded<char>>(count * size));
      for (std::size_t i = 0; i < count; ++i) {
        char* at = memory.back()->data() + i * size;
        if (operand.dtype == kBool) {
          *at = static_cast<char>(random() % 2);
        } else {
          const T value = operand.is_store ? T(42) : draw<T>(random, Values::kSpecial);
          std::memcpy(at, &value, size);
        }
      }
      pointers.push_back(memory.back()->data());
      strides.push_back({operand.along_n ? 1 : 0, operand.along_m ? n : 0, n * m});
    }
    for (std::uint64_t& scalar : scalars) {
      const T value = draw<T>(random, Values::kSmall);
      std::memcpy(&scalar, &value, sizeof(T));
    }
  }

  void run(const ContractionCallable& callable, const Problem<T>& p, int parts) {
    ContractionLaunch launch{p.shape,
                             p.a->data(),
                             p.b->data(),
                             pointers.data(),
                             reinterpret_cast<const std::int64_t(*)[kMaxAxes]>(strides.data()),
                             scalars};
    for (int part = 0; part < parts; ++part) {
      Guarded<char> scratch((callable.scratch_bytes(launch, parts) + 63) / 64 * 64);
      callable.run(launch, part, parts, scratch.data());
    }
  }
};

class Epilogues : public ::testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!has_isa(GetParam())) GTEST_SKIP() << "this CPU lacks AVX-512; its code is not tested here";
    if (!find_backend("interpreter") || !find_backend("asmjit")) {
      GTEST_SKIP() << "epilogues need the interpreter and asmjit backends";
    }
  }

  template <typename T>
  void check(const Case& c, Sizes sizes, Layout a, Layout b, unsigned seed) {
    std::mt19937 random(seed);
    const Problem<T> p(sizes, a, b, random, seed % 2 ? Values::kSmall : Values::kSpecial);
    Contraction contraction = p.contraction(order_class(sizes.m, sizes.n, sizes.k), seed % 3 == 0);
    Builder builder;
    const Expr sum = builder.load(dtype_of<T>, kContiguous);
    c.build(builder, dtype_of<T>, sum);
    contraction.epilogue = builder.finish();
    EXPECT_EQ(InlineEpilogue(contraction, GetParam()).is_possible(), c.is_inline == kAlways)
        << c.name;

    Arguments<T> expected(c, p.shape, seed);
    expected.run(*make_reference_contraction(contraction, *find_backend("interpreter")), p, 1);
    const auto callable = make_asmjit_contraction(contraction, GetParam());
    for (int parts : {1, 2, 3}) {
      Arguments<T> actual(c, p.shape, seed);
      actual.run(*callable, p, parts);
      for (std::size_t i = 0; i < c.operands.size(); ++i) {
        if (!c.operands[i].is_store) continue;
        if (c.operands[i].dtype == kBool) {
          ASSERT_EQ(std::memcmp(expected.memory[i]->data(), actual.memory[i]->data(),
                                expected.memory[i]->size()),
                    0)
              << c.name << ", " << p.describe() << ", parts " << parts << ", operand " << i;
          continue;
        }
        const T* x = reinterpret_cast<const T*>(expected.memory[i]->data());
        const T* y = reinterpret_cast<const T*>(actual.memory[i]->data());
        for (std::size_t j = 0; j < expected.memory[i]->size() / sizeof(T); ++j) {
          ASSERT_TRUE(same_bits(x[j], y[j]))
              << c.name << ", " << p.describe() << ", parts " << parts << ", operand " << i
              << ", element " << j << ": " << x[j] << ", " << y[j];
        }
      }
    }
  }
};

TEST_P(Epilogues, EqualTheInterpreter) {
  unsigned seed = 0;
  for (const Case& c : cases()) {
    for (const Sizes& s : {Sizes{1, 32, 32, 32},
                           {1, 3, 5, 7},
                           {2, 17, 35, 20},
                           {1, 64, 10, 300},
                           {1, 1, 100, 257},
                           {1, 2, 50, 300},
                           {1, 60, 3, 300},
                           {1, 100, 1, 9},
                           {1, 33, 8, 40},
                           {1, 40, 24, 520},
                           {1, 300, 24, 5},
                           {1, 9, 16, 0}}) {
      for (Layout b : {Layout::kRowMajor, Layout::kColumnMajor}) {
        const Layout a = seed % 2 ? Layout::kRowMajor : Layout::kColumnMajor;
        check<float>(c, s, a, b, ++seed);
        check<double>(c, s, a, b, ++seed);
        if (HasFatalFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isa, Epilogues, ::testing::Values(Isa::kAvx2, Isa::kAvx512),
                         [](const auto& info) {
                           return info.param == Isa::kAvx2 ? "Avx2" : "Avx512";
                         });

}  // namespace
}  // namespace groove::kernels::testing
