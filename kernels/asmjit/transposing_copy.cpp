#include "kernels/asmjit/transposing_copy.h"

#include <cstring>

#include "kernels/contraction/calls.h"
#include "kernels/nest_driver.h"

namespace groove::kernels {
namespace {

// A transposition of axes 0 and 1, in elements: rows of the source become columns of the target.
struct Turn {
  std::int64_t from_row = 0, to_row = 0, rows = 0, cols = 0;
};

bool find_turn(const Launch& launch, int from, int to, Turn& turn) {
  if (launch.rank < 2) return false;
  const std::int64_t* const source = launch.strides[from];
  const std::int64_t* const target = launch.strides[to];
  for (int inner = 0; inner < 2; ++inner) {
    const int other = 1 - inner;
    if (source[inner] != 1 || target[other] != 1 || target[inner] < launch.count[other]) continue;
    turn = {source[other], target[inner], launch.count[other], launch.count[inner]};
    return true;
  }
  return false;
}

class TransposingCopy final : public Callable, public BindableKernel {
 public:
  TransposingCopy(const Kernel& kernel, std::shared_ptr<const Callable> nest)
      : from_(static_cast<int>(kernel.code[0].imm)),
        to_(1 - from_),
        size_(static_cast<std::int64_t>(element_size(kernel.accesses[0].dtype))),
        nest_(std::move(nest)),
        bindable_(dynamic_cast<const BindableKernel*>(nest_.get())) {}

  void run(const Launch& launch) const noexcept override {
    Turn turn;
    if (!find_turn(launch, from_, to_, turn)) return nest_->run(launch);
    walk(launch, [&](const std::int64_t* index) {
      const void* const from =
          static_cast<char*>(launch.pointers[from_]) + at(launch, from_, index);
      void* const to = static_cast<char*>(launch.pointers[to_]) + at(launch, to_, index);
      if (size_ == 4) {
        call<float>(turn, from, to)();
      } else {
        call<double>(turn, from, to)();
      }
    });
  }
  std::string listing() const override { return nest_->listing(); }

  const NestCode& code() const noexcept override { return bindable_->code(); }
  bool bind(const Launch& launch, std::vector<BoundCall>& calls) const override {
    Turn turn;
    if (!find_turn(launch, from_, to_, turn)) return bindable_->bind(launch, calls);
    const std::size_t before = calls.size();
    walk(launch, [&](const std::int64_t* index) {
      if (calls.size() - before > kMostBoundCalls) return;
      calls.push_back(size_ == 4 ? bound<float>(turn) : bound<double>(turn));
      for (BoundCall::Address& address : calls.back().addresses) {
        address.offset = at(launch, address.operand, index);
      }
    });
    return calls.size() - before <= kMostBoundCalls;
  }

 private:
  // Elements are moved, not computed with: an integer of the same size is as good.
  template <typename T>
  static TransposeCall<T> call(const Turn& turn, const void* from, void* to) {
    return {static_cast<const T*>(from),
            turn.from_row,
            static_cast<T*>(to),
            turn.to_row,
            turn.rows,
            turn.cols,
            0};
  }
  template <typename T>
  BoundCall bound(const Turn& turn) const {
    const TransposeCall<T> call = TransposingCopy::call<T>(turn, nullptr, nullptr);
    BoundCall result;
    result.function = [](const void* given) { (*static_cast<const TransposeCall<T>*>(given))(); };
    const auto* const first = reinterpret_cast<const std::byte*>(&call);
    result.arguments.assign(first, first + sizeof call);
    result.addresses = {{offsetof(TransposeCall<T>, from), from_, 0},
                        {offsetof(TransposeCall<T>, to), to_, 0}};
    return result;
  }

  std::int64_t at(const Launch& launch, int access, const std::int64_t* index) const {
    std::int64_t elements = 0;
    for (int axis = 0; axis < launch.rank; ++axis) {
      elements += index[axis] * launch.strides[access][axis];
    }
    return elements * size_;
  }
  // Over the axes outside the two.
  template <typename Body>
  static void walk(const Launch& launch, const Body& body) {
    std::int64_t index[kMaxAxes], left = 1;
    for (int axis = 0; axis < launch.rank; ++axis) {
      index[axis] = launch.begin[axis];
      left *= axis < 2 ? launch.count[axis] > 0 : launch.count[axis];
    }
    for (; left > 0; --left) {
      body(index);
      for (int axis = 2; axis < launch.rank; ++axis) {
        if (++index[axis] < launch.begin[axis] + launch.count[axis]) break;
        index[axis] = launch.begin[axis];
      }
    }
  }

  const int from_, to_;  // accesses
  const std::int64_t size_;
  const std::shared_ptr<const Callable> nest_;
  const BindableKernel* const bindable_;
};

}  // namespace

bool may_transpose(const Kernel& kernel) {
  if (kernel.order != Order::kMap || kernel.code.size() != 2 || kernel.accesses.size() != 2) {
    return false;
  }
  const Instr &load = kernel.code[0], &store = kernel.code[1];
  if (load.prim != Prim::kLoad || store.prim != Prim::kStore || load.imm == store.imm) return false;
  const Access &from = kernel.accesses[load.imm], &to = kernel.accesses[store.imm];
  const std::size_t size = element_size(from.dtype);
  if (from.dtype != to.dtype || (size != 4 && size != 8)) return false;
  return (from.inner == StrideClass::kStrided && to.inner == StrideClass::kContiguous) ||
         (from.inner == StrideClass::kContiguous && to.inner == StrideClass::kStrided);
}

std::shared_ptr<const Callable> make_transposing_copy(const Kernel& kernel,
                                                      std::shared_ptr<const Callable> nest) {
  return std::make_shared<TransposingCopy>(kernel, std::move(nest));
}

}  // namespace groove::kernels
