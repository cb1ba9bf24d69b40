// See harness.h.
#include "harness.h"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <limits>

#include "src/core/half.h"

namespace groove::kernels::testing {
namespace {

constexpr std::size_t kPage = 4096;

template <typename T>
bool same_element(const std::uint8_t* a, const std::uint8_t* b) {
  T x, y;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  return std::memcmp(a, b, sizeof x) == 0 || (x != x && y != y);
}

bool is_half(ScalarType dtype) { return dtype == kHalf || dtype == kBFloat16; }
float half_at(ScalarType dtype, const std::uint8_t* at) {
  std::uint16_t bits;
  std::memcpy(&bits, at, sizeof bits);
  return dtype == kHalf ? float_from_half(bits) : float_from_bfloat16(bits);
}

bool same(ScalarType dtype, const std::uint8_t* a, const std::uint8_t* b) {
  if (is_half(dtype) && std::isnan(half_at(dtype, a)) && std::isnan(half_at(dtype, b))) return true;
  if (dtype == kFloat) return same_element<float>(a, b);
  if (dtype == kDouble) return same_element<double>(a, b);
  return std::memcmp(a, b, element_size(dtype)) == 0;
}

std::string show(ScalarType dtype, const std::uint8_t* at) {
  char text[64];
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, std::min(element_size(dtype), sizeof bits));
  double value = static_cast<double>(static_cast<std::int64_t>(bits));
  if (dtype == kFloat) {
    float f;
    std::memcpy(&f, at, 4);
    value = f;
  }
  if (dtype == kDouble) std::memcpy(&value, at, 8);
  if (is_half(dtype)) value = half_at(dtype, at);
  std::snprintf(text, sizeof text, "%.9g (0x%llx)", value, static_cast<unsigned long long>(bits));
  return text;
}

template <typename T>
std::uint64_t pick(Random& random, std::initializer_list<T> specials, T other) {
  const std::size_t which = random() % (specials.size() * 2);
  const T value = which < specials.size() ? specials.begin()[which] : other;
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <typename T>
std::uint64_t special_float(Random& random) {
  using Limits = std::numeric_limits<T>;
  T other = static_cast<T>(static_cast<double>(random() % 20001) / 1000.0 - 10.0);
  if (random() % 4 == 0) {
    other = static_cast<T>(std::ldexp(other, static_cast<int>(random() % 160) - 80));
  }
  return pick<T>(random,
                 {T(0),
                  -T(0),
                  T(1),
                  T(-1),
                  T(0.5),
                  T(2.5),
                  T(-1.5),
                  Limits::infinity(),
                  -Limits::infinity(),
                  Limits::quiet_NaN(),
                  Limits::denorm_min(),
                  -Limits::min(),
                  Limits::max(),
                  Limits::lowest(),
                  T(2147483648.0),
                  T(-2147483648.0),
                  T(9223372036854775808.0),
                  T(-9223372036854775808.0),
                  T(300.7),
                  T(65519.99609375),
                  T(65520.0),
                  T(0x1p-25),
                  T(1.00048828125),
                  T(1.00390625),
                  T(16777217.0)},
                 other);
}

template <typename T>
std::uint64_t special_integer(Random& random) {
  using Limits = std::numeric_limits<T>;
  return pick<T>(
      random,
      {T(0), T(1), T(-1), T(2), Limits::max(), Limits::lowest(), T(7), T(31), T(33), T(63), T(-3)},
      random() % 2 ? static_cast<T>(random())
                   : static_cast<T>(static_cast<std::int64_t>(random() % 199) - 99));
}

}  // namespace

GuardedBuffer::GuardedBuffer(std::size_t bytes, bool at_end) : size_(bytes) {
  const std::size_t pages = (bytes + kPage - 1) / kPage;
  mapped_ = (pages + 2) * kPage;
  mapping_ = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto* first = static_cast<std::uint8_t*>(mapping_) + kPage;
  if (pages > 0) mprotect(first, pages * kPage, PROT_READ | PROT_WRITE);
  data_ = at_end ? first + pages * kPage - bytes : first;
}

GuardedBuffer::~GuardedBuffer() { munmap(mapping_, mapped_); }

std::uint64_t special_bits(ScalarType dtype, Random& random) {
  switch (dtype) {
    case kBool:
      return random() % 2;
    case kByte:
      return special_integer<std::uint8_t>(random);
    case kChar:
      return special_integer<std::int8_t>(random);
    case kShort:
      return special_integer<std::int16_t>(random);
    case kInt:
      return special_integer<std::int32_t>(random);
    case kLong:
      return special_integer<std::int64_t>(random);
    case kFloat:
      return special_float<float>(random);
    case kHalf:  // any bits: zeros, denormals, infinities and NaN are a good part of them
      return pick<std::uint16_t>(
          random, {0, 0x8000, 0x3c00, 1, 0x83ff, 0x400, 0x7bff, 0x7c00, 0xfc00, 0x7e00},
          static_cast<std::uint16_t>(random()));
    case kBFloat16:
      return pick<std::uint16_t>(
          random, {0, 0x8000, 0x3f80, 1, 0x807f, 0x80, 0x7f7f, 0x7f80, 0xff80, 0x7fc0},
          static_cast<std::uint16_t>(random()));
    default:
      return special_float<double>(random);
  }
}

void fill(std::uint8_t* data, std::size_t count, ScalarType dtype, Random& random) {
  const std::size_t size = element_size(dtype);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = special_bits(dtype, random);
    std::memcpy(data + i * size, &bits, size);
  }
}

const std::vector<ScalarType>& all_dtypes() {
  static const std::vector<ScalarType> dtypes = {kBool, kByte,  kChar,   kShort, kInt,
                                                 kLong, kFloat, kDouble, kHalf,  kBFloat16};
  return dtypes;
}

const std::vector<std::int64_t>& lengths() {
  static const std::vector<std::int64_t> lengths = {0,  1,  7,  8,   9,    15,   16,   17,
                                                    31, 32, 33, 100, 4095, 4096, 4097, 10000};
  return lengths;
}

namespace {

// One run's memory: a buffer per access and the pointers and strides of the launch.
struct Memory {
  std::vector<std::unique_ptr<GuardedBuffer>> buffers;
  std::vector<void*> pointers;
  std::vector<std::int64_t> strides;  // [access * kMaxAxes + axis]
};

Memory make_memory(const Kernel& kernel, const Box& box, const Options& options, bool at_end) {
  Memory memory;
  Random random(options.seed);
  for (std::size_t a = 0; a < kernel.accesses.size(); ++a) {
    const Access& access = kernel.accesses[a];
    // Rows of a reduction's result have one element; elsewhere rows are a little apart.
    std::int64_t stride[kMaxAxes] = {};
    stride[0] = access.inner == StrideClass::kContiguous  ? 1
                : access.inner == StrideClass::kBroadcast ? 0
                                                          : 3;
    const bool is_turned =
        options.is_backwards && access.inner == StrideClass::kStrided && !access.is_store;
    if (is_turned) stride[0] = -1;
    std::int64_t span = 1;
    for (int axis = 0; axis < box.rank; ++axis) {
      const std::int64_t end = box.begin[axis] + box.count[axis];
      if (axis > 0) stride[axis] = span + (access.inner == StrideClass::kStrided ? 2 : 0);
      const bool is_reduced = axis == 1 && kernel.order == Order::kColumn && access.is_store;
      if (is_reduced) stride[axis] = 0;
      span += std::abs(stride[axis]) * std::max<std::int64_t>(end - 1, 0);
    }
    bool is_empty = false;
    for (int axis = 0; axis < box.rank; ++axis) {
      const bool ignores = access.inner == StrideClass::kBroadcast && axis == 0;
      const bool is_reduced = axis == 1 && kernel.order == Order::kColumn && access.is_store;
      is_empty |= box.count[axis] == 0 && !ignores && !is_reduced;
    }
    std::int64_t count = is_empty ? 0 : span;
    if (!access.is_store) count += options.extra;
    const std::size_t size = element_size(access.dtype);
    auto buffer = std::make_unique<GuardedBuffer>(static_cast<std::size_t>(count) * size, at_end);
    if (access.is_store) {
      std::memset(buffer->data(), 0xa5, buffer->size());
    } else if (options.fill) {
      options.fill(static_cast<int>(a), buffer->data(), static_cast<std::size_t>(count));
    } else {
      fill(buffer->data(), static_cast<std::size_t>(count), access.dtype, random);
    }
    const std::int64_t first = is_turned ? box.begin[0] + box.count[0] - 1 : 0;
    memory.pointers.push_back(buffer->data() + first * static_cast<std::int64_t>(size));
    memory.buffers.push_back(std::move(buffer));
    memory.strides.insert(memory.strides.end(), stride, stride + kMaxAxes);
  }
  return memory;
}

void run(const Callable& callable, const Box& box, Memory& memory,
         const std::vector<std::uint64_t>& scalars) {
  Launch launch;
  launch.rank = box.rank;
  for (int axis = 0; axis < kMaxAxes; ++axis) {
    launch.begin[axis] = box.begin[axis];
    launch.count[axis] = box.count[axis];
  }
  launch.pointers = memory.pointers.data();
  launch.strides = reinterpret_cast<const std::int64_t(*)[kMaxAxes]>(memory.strides.data());
  launch.scalars = scalars.data();
  callable.run(launch);
}

bool compare(const Kernel& kernel, const Memory& expected, const Memory& actual,
             const std::string& backend, const std::string& where) {
  for (std::size_t a = 0; a < kernel.accesses.size(); ++a) {
    const ScalarType dtype = kernel.accesses[a].dtype;
    const std::size_t size = element_size(dtype);
    const GuardedBuffer& want = *expected.buffers[a];
    const GuardedBuffer& got = *actual.buffers[a];
    for (std::size_t at = 0; at < want.size(); at += size) {
      if (same(dtype, want.data() + at, got.data() + at)) continue;
      ADD_FAILURE() << where << ": access " << a << " element " << at / size << ": interpreter "
                    << show(dtype, want.data() + at) << ", " << backend << " "
                    << show(dtype, got.data() + at) << "\n"
                    << print(kernel);
      return false;
    }
  }
  return true;
}

}  // namespace

void expect_same(const Kernel& kernel, const Box& box, const Options& options) {
  const std::string problem = verify(kernel);
  ASSERT_TRUE(problem.empty()) << problem << "\n" << print(kernel);
  Backend& oracle = *find_backend("interpreter");
  std::vector<std::uint64_t> scalars = options.scalars;
  Random random(options.seed + 77);
  for (std::size_t s = scalars.size(); s < kernel.scalars.size(); ++s) {
    scalars.push_back(special_bits(kernel.scalars[s], random));
  }
  Memory expected = make_memory(kernel, box, options, false);
  run(*compile_cached(oracle, kernel), box, expected, scalars);
  const Isa usual_isa = isa();
  for (const Isa isa : {Isa::kAvx2, Isa::kAvx512}) {
    if (!has_isa(isa)) {
      static const bool said = [] {
        std::cout << "[ skipped  ] AVX-512 code: this CPU does not have it\n";
        return true;
      }();
      static_cast<void>(said);
      continue;
    }
    set_isa_limit(isa);
    for (Backend* const backend : code_generators()) {
      const auto compiled = compile_cached(*backend, kernel);
      for (const bool at_end : {true, false}) {
        Memory actual = make_memory(kernel, box, options, at_end);
        run(*compiled, box, actual, scalars);
        const std::string where = std::string(isa == Isa::kAvx2 ? "avx2" : "avx512") + " length " +
                                  std::to_string(box.count[0]) + " seed " +
                                  std::to_string(options.seed);
        if (!compare(kernel, expected, actual, backend->name(), where)) break;
      }
    }
  }
  set_isa_limit(usual_isa);
}

const std::vector<Backend*>& code_generators() {
  static const std::vector<Backend*> usable = [] {
    std::vector<Backend*> found;
    for (const char* name : {"asmjit", "llvm"}) {
      Backend* const backend = find_backend(name);
      const std::string problem = backend ? backend->unavailable() : "not linked";
      if (problem.empty()) {
        found.push_back(backend);
      } else {
        std::cout << "[ skipped  ] " << name << ": " << problem << "\n";
      }
    }
    return found;
  }();
  return usable;
}

}  // namespace groove::kernels::testing
