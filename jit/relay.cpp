// Running a relay. Nothing here allocates, throws or takes a lock.
#include "jit/relay.h"

#include <algorithm>

#include "kernels/contraction/pack.h"
#include "kernels/nest_driver.h"

namespace groove::jit {

using kernels::kMaxAccesses;

struct Relay::Block {
  std::int64_t first, count;  // rows
  void* const* pointers;
  const std::uint64_t* scalars;
  char* scratch;

  char* base(const Source& source) const {
    return source.operand >= 0 ? static_cast<char*>(pointers[source.operand]) : scratch + source.at;
  }
};

namespace {

template <typename T>
void lay_out(const kernels::ContractionShape& s, const void* b, void* to, std::int64_t to_row) {
  if (s.b_row == 1) {
    kernels::transpose(static_cast<const T*>(b), s.b_col, static_cast<T*>(to), to_row, s.n, s.k,
                       true);
  } else {
    kernels::copy_matrix(static_cast<const T*>(b), s.b_row, s.b_col, static_cast<T*>(to), to_row,
                         s.k, s.n);
  }
}

}  // namespace

std::int64_t Relay::row_access(std::size_t operand) const {
  for (const Source& source : rows.sources) {
    if (source.operand == static_cast<std::int32_t>(operand)) return source.access;
  }
  return -1;
}

void Relay::run(void* const* pointers, const std::uint64_t* scalars, const kernels::Callable& code,
                int part, int parts, char* scratch) const noexcept {
  const std::int64_t all = blocks();
  std::int64_t turned[kMostProducts];  // per product: of which batch entry B was laid out
  std::fill_n(turned, kMostProducts, -1);
  for (std::int64_t i = all * part / parts; i < all * (part + 1) / parts; ++i) {
    const std::int64_t within = i % blocks_per_unit;
    const std::int64_t begin = unit * within / blocks_per_unit;
    const std::int64_t end = unit * (within + 1) / blocks_per_unit;
    const Block block{i / blocks_per_unit * unit + begin, end - begin, pointers, scalars, scratch};
    for (std::size_t p = 0; p < before; ++p) run_product(products[p], block, turned[p]);
    run_rows(block, code);
    for (std::size_t p = before; p < products.size(); ++p) {
      run_product(products[p], block, turned[p]);
    }
  }
}

void Relay::run_product(const Product& product, const Block& block,
                        std::int64_t& turned) const noexcept {
  const kernels::ContractionShape& s = product.shape;
  const std::int64_t batch = block.first / s.m, row = block.first % s.m;
  kernels::ContractionLaunch launch;
  launch.shape = s;
  launch.shape.batch = 1;
  launch.shape.m = block.count;
  const char* a = block.base(product.a);
  if (!product.a.is_block) a += (batch * s.a_batch + row * s.a_row) * product.element;
  if (product.a.is_block) launch.shape.a_row = product.a.strides[1];
  launch.a = a;
  const char* b = block.base(product.b) + batch * s.b_batch * product.element;
  if (product.turned >= 0) {
    char* const own = block.scratch + product.turned;
    const std::int64_t of = s.b_batch == 0 ? 0 : batch;
    if (turned != of) {
      if (product.element == 4) lay_out<float>(s, b, own, product.turned_row);
      if (product.element == 8) lay_out<double>(s, b, own, product.turned_row);
      turned = of;
    }
    b = own;
    launch.shape.b_row = product.turned_row;
    launch.shape.b_col = 1;
  }
  launch.b = b;
  void* own[kMaxAccesses];
  for (std::size_t i = 0; i < product.epilogue.size(); ++i) {
    const Source& source = product.epilogue[i];
    const std::int64_t skipped =
        source.is_block ? 0 : batch * source.strides[2] + row * source.strides[1];
    own[i] = block.base(source) + skipped * source.bytes;
  }
  launch.pointers = own;
  launch.strides =
      reinterpret_cast<const std::int64_t(*)[kernels::kMaxAxes]>(product.strides.data());
  launch.scalars = block.scalars + product.first_scalar;
  product.code[block.count > height() ? 1 : 0]->run(launch, 0, 1, block.scratch + products_at);
}

// The kernel's launch has the rows along axis 1 and those further out.
void Relay::run_rows(const Block& block, const kernels::Callable& code) const noexcept {
  kernels::Launch launch = rows.launch;
  std::int64_t at = block.first;
  for (int axis = 1; axis < launch.rank; ++axis) {
    launch.begin[axis] = at % rows.launch.count[axis];
    at /= rows.launch.count[axis];
    launch.count[axis] = 1;
  }
  launch.count[1] = block.count;
  void* own[kMaxAccesses];
  for (std::size_t i = 0; i < rows.sources.size(); ++i) {
    const Source& source = rows.sources[i];
    char* base = block.base(source);
    // Launch pointers address row 0.
    if (source.is_block) base -= launch.begin[1] * source.strides[1] * source.bytes;
    own[i] = base;
  }
  launch.pointers = own;
  launch.strides = reinterpret_cast<const std::int64_t(*)[kernels::kMaxAxes]>(rows.strides.data());
  launch.scalars = block.scalars;
  code.run(launch);
}

}  // namespace groove::jit
