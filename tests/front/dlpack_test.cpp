// Memory that goes to other libraries and comes from them by DLPack's structures.
#include "groove/dlpack.h"

#include <gtest/gtest.h>

#include <limits>
#include <thread>
#include <vector>

#include "groove/compat/ATen/DLConvertor.h"
#include "groove/groove.h"
#include "tests/core/error_of.h"

namespace groove {
namespace {

// A library's tensor of floats, which counts how often it was given back.
template <typename Managed>
struct Foreign {
  std::vector<float> values{0, 1, 2, 3, 4, 5, 6, 7};
  std::vector<std::int64_t> shape{2, 3}, strides{4, 1};
  int deleted = 0;
  Managed managed{};
  Foreign() {
    managed.dl_tensor = {values.data(),  {kDLCPU, 0},  2, {kDLFloat, 32, 1}, shape.data(),
                         strides.data(), sizeof(float)};
    managed.manager_ctx = this;
    managed.deleter = [](Managed* self) { ++static_cast<Foreign*>(self->manager_ctx)->deleted; };
  }
  DLTensor& tensor() { return managed.dl_tensor; }
  std::string error() {
    return error_of([&] { from_dlpack(&managed); });
  }
};

TEST(Dlpack, ForeignMemoryIsShared) {
  Foreign<DLManagedTensor> foreign;
  {
    Tensor rows;
    {
      const Tensor x = from_dlpack(&foreign.managed);
      EXPECT_TRUE(x.equal(tensor({{1.0, 2.0, 3.0}, {5.0, 6.0, 7.0}})));
      EXPECT_EQ(x.strides(), IntArrayRef({4, 1}));
      x.mul_(2);
      EXPECT_EQ(foreign.values, (std::vector<float>{0, 2, 4, 6, 4, 10, 12, 14}));
      foreign.values[1] = 9;
      EXPECT_EQ(x[0][0].item<float>(), 9);
      rows = x[1];
    }
    EXPECT_EQ(foreign.deleted, 0);
    EXPECT_EQ(rows.sum().item<float>(), 36);
  }
  EXPECT_EQ(foreign.deleted, 1);
}

TEST(Dlpack, RowMajorWithoutStrides) {
  Foreign<DLManagedTensorVersioned> foreign;
  foreign.managed.version = {1, 7};
  foreign.tensor().strides = nullptr;
  int called = 0;
  {
    const Tensor x = from_dlpack(&foreign.managed, [&](void*) { ++called; });
    EXPECT_TRUE(x.is_contiguous());
    EXPECT_TRUE(x.equal(tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}})));
  }
  EXPECT_EQ(called, 1);
  EXPECT_EQ(foreign.deleted, 0);
}

TEST(Dlpack, OwnMemoryOutlivesTheTensor) {
  Tensor base = arange(24, kFloat).reshape({2, 3, 4});
  DLManagedTensor* lent = to_dlpack(base.permute({2, 0, 1})[1]);
  const DLTensor& out = lent->dl_tensor;
  EXPECT_EQ(out.ndim, 2);
  EXPECT_EQ(IntArrayRef(out.shape, 2), IntArrayRef({2, 3}));
  EXPECT_EQ(IntArrayRef(out.strides, 2), IntArrayRef({12, 4}));
  EXPECT_EQ(out.byte_offset, 0u);
  auto* const values = static_cast<float*>(out.data);
  EXPECT_EQ(values[12 + 8], 21);
  values[0] = 100;
  EXPECT_EQ(base[0][0][1].item<float>(), 100);
  base.add_(1);
  base.sum().item<float>();
  EXPECT_EQ(values[0], 101);
  base.set_data(zeros({2}));
  base = Tensor();
  EXPECT_EQ(values[12], 14);
  std::thread([&] { lent->deleter(lent); }).join();
}

TEST(Dlpack, EveryDtypeGoesThere) {
  for (const ScalarType dtype :
       {kByte, kChar, kShort, kInt, kLong, kHalf, kBFloat16, kFloat, kDouble, kBool}) {
    const Tensor x = tensor({0, 1, 1}).to(dtype);
    const Tensor old = from_dlpack(to_dlpack(x)), versioned = from_dlpack(to_dlpack_versioned(x));
    EXPECT_EQ(old.scalar_type(), dtype);
    EXPECT_EQ(versioned.scalar_type(), dtype);
    EXPECT_TRUE(old.equal(x) && versioned.equal(x));
    EXPECT_EQ(old.data_ptr(), x.data_ptr());
  }
  EXPECT_EQ(from_dlpack(to_dlpack(zeros({0, 3}))).sizes(), IntArrayRef({0, 3}));
  EXPECT_EQ(from_dlpack(to_dlpack(tensor(2.5))).item<double>(), 2.5);
  EXPECT_EQ(at::fromDLPack(at::toDLPack(ones({2}))).sum().item<float>(), 2);
  EXPECT_EQ(at::fromDLPackVersioned(at::toDLPackVersioned(ones({2}))).sum().item<float>(), 2);
  EXPECT_EQ(error_of([] { to_dlpack(Tensor()); }),
            "to_dlpack: the tensor is undefined; give it a value first");
}

// Training on memory that another library fills: compiled or not, it sees what is there.
TEST(Dlpack, ALoopSeesWhatOthersWrite) {
  std::vector<float> batch(8);
  std::vector<std::int64_t> shape{8};
  DLManagedTensor managed{};
  managed.dl_tensor = {batch.data(), {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape.data(), nullptr, 0};
  const Tensor input = from_dlpack(&managed);
  Tensor state = zeros({8});
  float expected = 0;
  for (int step = 0; step < 200; ++step) {
    for (float& value : batch) value = static_cast<float>(step);
    state = state * 0.5 + input * 2;
    expected = expected * 0.5f + static_cast<float>(step) * 2;
    if (step % 50 == 49) {
      EXPECT_EQ(state[3].item<float>(), expected);
    }
  }
}

TEST(Dlpack, StructuresThatLie) {
  using Old = Foreign<DLManagedTensor>;
  const auto error = [](const std::function<void(Old&)>& spoil) {
    Old foreign;
    spoil(foreign);
    const std::string text = foreign.error();
    EXPECT_EQ(foreign.deleted, 0);
    return text.substr(text.find(": ") + 2);
  };
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(error([](Old& f) { f.tensor().device.device_type = kDLCUDA; }),
            "the memory is on a device of type 2; Groove takes the CPU's (type 1)");
  EXPECT_EQ(error([](Old& f) {
              f.tensor().dtype = {kDLUInt, 32, 1};
            }),
            "elements of type code 1 with 32 bits and 1 lanes are of no dtype of Groove's");
  EXPECT_EQ(error([](Old& f) { f.tensor().dtype.lanes = 4; }),
            "elements of type code 2 with 32 bits and 4 lanes are of no dtype of Groove's");
  EXPECT_EQ(error([](Old& f) { f.tensor().ndim = -1; }), "-1 dimensions; there are 0 to 64");
  EXPECT_EQ(error([](Old& f) { f.tensor().ndim = 65; }), "65 dimensions; there are 0 to 64");
  EXPECT_EQ(error([](Old& f) { f.tensor().shape = nullptr; }), "the pointer to the shape is null");
  EXPECT_EQ(error([](Old& f) { f.shape[0] = -2; }), "the size -2 is negative");
  EXPECT_EQ(error([](Old& f) { f.strides[1] = -1; }), "the stride -1 is negative; pass a copy");
  EXPECT_NE(error([](Old& f) { f.shape[0] = kMost; }).find("more than 2^63 bytes"),
            std::string::npos);
  EXPECT_NE(error([](Old& f) { f.strides[0] = kMost; }).find("reaches over more than 2^63 bytes"),
            std::string::npos);
  EXPECT_NE(error([](Old& f) { f.tensor().data = nullptr; }).find("the memory is at 0x0"),
            std::string::npos);
  EXPECT_NE(
      error([](Old& f) { f.tensor().byte_offset = ~std::uint64_t{0}; }).find("with an offset"),
      std::string::npos);
  EXPECT_EQ(error([](Old& f) { f.tensor().byte_offset = 2; }),
            "the memory is not aligned to elements of 4 bytes; pass a copy");
  EXPECT_EQ(error_of([] { from_dlpack(static_cast<DLManagedTensor*>(nullptr)); }),
            "from_dlpack: the pointer is null");

  Foreign<DLManagedTensorVersioned> versioned;
  versioned.managed.version = {2, 0};
  EXPECT_EQ(versioned.error(), "from_dlpack: the structure is of DLPack 2.0; Groove knows 1.x");
  versioned.managed.version = {1, 0};
  versioned.managed.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  EXPECT_EQ(versioned.error(),
            "from_dlpack: the memory may only be read, and Groove's tensors can be written; pass a "
            "copy");
  EXPECT_EQ(versioned.deleted, 0);
}

}  // namespace
}  // namespace groove
