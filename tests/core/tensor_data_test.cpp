// Tensors over host memory: shape queries, item, pointers, accessors, tensor(), from_blob().
#include <gtest/gtest.h>

#include "groove/factories.h"
#include "src/core/tensor_impl.h"
#include "tests/core/error_of.h"

namespace groove {
namespace {

TEST(Data, ShapeQueries) {
  const Tensor x = make_empty({2, 3, 4}, kFloat);
  EXPECT_EQ(x.dim(), 3);
  EXPECT_EQ(x.size(-1), 4);
  EXPECT_EQ(x.size(0), 2);
  EXPECT_EQ(x.stride(-3), 12);
  EXPECT_EQ(x.numel(), 24);
  EXPECT_EQ(x.nbytes(), 96u);
  EXPECT_EQ(x.element_size(), 4);
  EXPECT_TRUE(x.is_contiguous() && x.is_cpu() && !x.is_cuda() && x.is_floating_point());
  EXPECT_EQ(error_of([&] { x.size(3); }),
            "size: dimension 3 is out of range for shape [2, 3, 4] (use -3 to 2)");
  EXPECT_EQ(error_of([] { make_empty({}, kFloat).size(0); }),
            "size: a 0-d tensor has no dimension 0");
  EXPECT_EQ(error_of([] { Tensor().sizes(); }),
            "sizes: the tensor is undefined; give it a value first");
  EXPECT_NE(error_of([] { make_empty({2, -1}, kFloat); }).find("[2, -1]"), std::string::npos);
  EXPECT_EQ(Tensor().numel(), 0);
}

TEST(Data, ItemAndPointers) {
  const Tensor x = tensor({{1.5, 2.5}, {3.5, 4.5}});
  EXPECT_EQ(tensor(7).item<int>(), 7);
  EXPECT_EQ(tensor({2.5}).item().toDouble(), 2.5);
  EXPECT_EQ(tensor((std::int64_t{1} << 62) + 1).item<std::int64_t>(), (std::int64_t{1} << 62) + 1);
  EXPECT_NE(error_of([&] { x.item(); }).find("item: the tensor has 4 elements (shape [2, 2])"),
            std::string::npos);
  EXPECT_EQ(x.impl()->storage->flags & Storage::kExposed, 0u);
  EXPECT_EQ(x.const_data_ptr<float>()[3], 4.5f);
  EXPECT_EQ(x.impl()->storage->flags & Storage::kExposed, 0u);
  x.data_ptr<float>()[3] = 9;
  EXPECT_NE(x.impl()->storage->flags & Storage::kExposed, 0u);
  EXPECT_EQ((x.accessor<float, 2>()[1][1]), 9);
  EXPECT_EQ(error_of([&] { x.data_ptr<double>(); }),
            "data_ptr: expected dtype Double but the tensor has dtype Float; convert it with to()");
  EXPECT_NE(error_of([&] { x.accessor<float, 1>(); }).find("expected 1 dimensions"),
            std::string::npos);
  const Tensor column = make_view(x, {{2}, {2}, 1});
  EXPECT_EQ((column.accessor<float, 1>()[1]), 9);
  EXPECT_EQ(column.data_ptr<float>(), x.data_ptr<float>() + 1);
  EXPECT_TRUE(column.is_alias_of(x));
  EXPECT_FALSE(column.is_same(x));
}

TEST(Data, HandlesShareAndMove) {
  Tensor a = tensor({1, 2});
  Tensor b = a;
  EXPECT_TRUE(a.is_same(b));
  EXPECT_EQ(a.use_count(), 2);
  b = Tensor();
  EXPECT_EQ(a.use_count(), 1);
  std::swap(a, b);
  EXPECT_FALSE(a.defined());
}

TEST(TensorFactory, DtypesAndNesting) {
  EXPECT_EQ(tensor({1, 2}).dtype(), kLong);
  EXPECT_EQ(tensor({1.f, 2.f}).dtype(), kFloat);
  EXPECT_EQ(tensor(2.0).dtype(), kFloat);
  EXPECT_EQ(tensor({true}).dtype(), kBool);
  EXPECT_EQ(tensor(std::vector<std::uint8_t>{1}).dtype(), kByte);
  EXPECT_EQ(tensor(std::vector<int>{1}).dtype(), kLong);
  EXPECT_EQ(tensor(std::vector<bool>{true, false}).sizes(), (IntArrayRef{2}));
  EXPECT_EQ(tensor({1.9, -1.9}, kInt).data_ptr<std::int32_t>()[1], -1);
  EXPECT_EQ(tensor({{{1, 2, 3}, {4, 5, 6}}}).sizes(), (IntArrayRef{1, 2, 3}));
  EXPECT_EQ(tensor({}).sizes(), (IntArrayRef{0}));
  EXPECT_EQ(tensor(5).dim(), 0);
  EXPECT_TRUE(tensor(2.0, requires_grad()).impl()->requires_grad);
  EXPECT_EQ(scalar_tensor(3).dtype(), kFloat);
  EXPECT_NE(error_of([] { tensor({{1, 2}, {3}}); }).find("unequal"), std::string::npos);
  EXPECT_NE(error_of([] {
              tensor({detail::TensorData(1), detail::TensorData(2.5)});
            }).find("Long beside Double"),
            std::string::npos);
  EXPECT_NE(error_of([] { tensor(1, requires_grad()); }).find("only floating-point"),
            std::string::npos);
  EXPECT_NE(error_of([] { tensor(1, kCUDA); }).find("no GPU"), std::string::npos);
}

TEST(FromBlob, SharesMemoryStridesAndDeleter) {
  float values[6] = {0, 1, 2, 3, 4, 5};
  const Tensor x = from_blob(values, {2, 3});
  values[4] = 44;
  EXPECT_EQ((x.accessor<float, 2>()[1][1]), 44);
  EXPECT_EQ(x.data_ptr<float>(), values);
  EXPECT_NE(x.impl()->storage->flags & Storage::kExposed, 0u);
  const Tensor turned = from_blob(values, {3, 2}, {1, 3});
  EXPECT_EQ((turned.accessor<float, 2>()[1][1]), 44);
  EXPECT_FALSE(turned.is_contiguous());
  int deleted = 0;
  {
    const Tensor owned = from_blob(
        values, {6}, [&](void* p) { deleted += p == values; }, TensorOptions(kFloat));
    const Tensor view = make_view(owned, {{2}, {1}, 0});
  }
  EXPECT_EQ(deleted, 1);
  EXPECT_EQ(from_blob(values, {3}, kInt).dtype(), kInt);
  EXPECT_NE(error_of([&] {
              from_blob(values, {2, 3}, {1});
            }).find("2 sizes but 1 strides"),
            std::string::npos);
  EXPECT_NE(error_of([&] { from_blob(nullptr, {2}); }).find("null pointer"), std::string::npos);
  EXPECT_EQ(from_blob(nullptr, {0}).numel(), 0);
}

}  // namespace
}  // namespace groove
