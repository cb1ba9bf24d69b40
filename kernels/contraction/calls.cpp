// Recorded calls: the arguments with symbols taken out of them.
#include "kernels/contraction/calls.h"

namespace groove::kernels {

BoundCall::Address CallRecorder::decoded(std::size_t at, const void* symbol) {
  const auto value = reinterpret_cast<std::intptr_t>(symbol);
  const std::intptr_t operand = (value + (std::intptr_t{1} << (kBits - 1))) >> kBits;
  return {static_cast<std::int32_t>(at), static_cast<std::int32_t>(operand) - kFirst,
          value - (operand << kBits)};
}

void CallRecorder::take_address(BoundCall& call, std::size_t at) {
  void* symbol = nullptr;
  std::memcpy(&symbol, call.arguments.data() + at, sizeof symbol);
  if (symbol == nullptr) return;
  call.addresses.push_back(decoded(at, symbol));
  std::memset(call.arguments.data() + at, 0, sizeof symbol);
}

ContractionLaunch CallRecorder::symbolic(const ContractionLaunch& launch, std::size_t count,
                                         std::vector<void*>& pointers) {
  ContractionLaunch symbols = launch;
  symbols.a = symbol(0);
  symbols.b = symbol(1);
  pointers.clear();
  for (std::size_t i = 0; i < count; ++i)
    pointers.push_back(symbol(static_cast<std::int32_t>(2 + i)));
  symbols.pointers = pointers.data();
  symbols.scalars = reinterpret_cast<const std::uint64_t*>(symbol(BoundCall::kScalars));
  return symbols;
}

// Further products and the table of accesses, which the last product has, lie behind the arguments.
void CallRecorder::tile(TileKernel kernel, const TileArguments& arguments, std::size_t accesses) {
  BoundCall call;
  call.function = reinterpret_cast<BoundFunction>(kernel);
  const auto append = [&](const void* from, std::size_t bytes) {
    const std::size_t at = call.arguments.size();
    const auto* const first = static_cast<const std::byte*>(from);
    call.arguments.insert(call.arguments.end(), first, first + bytes);
    return at;
  };
  const auto point = [&](std::size_t at, std::size_t to) {
    call.addresses.push_back(
        {static_cast<std::int32_t>(at), BoundCall::kArguments, static_cast<std::int64_t>(to)});
  };
  const TileArguments* last = &arguments;
  std::size_t at = 0;
  for (const TileArguments* each = last; each != nullptr; each = each->next) {
    const std::size_t own = append(each, sizeof *each);
    for (const std::size_t address :
         {offsetof(TileArguments, a), offsetof(TileArguments, b), offsetof(TileArguments, c),
          offsetof(TileArguments, totals), offsetof(TileArguments, scalars)}) {
      take_address(call, own + address);
    }
    if (each != last) point(at + offsetof(TileArguments, next), own);
    last = each;
    at = own;
  }
  if (accesses != 0) {
    const std::size_t table = append(last->accesses, accesses * sizeof(TileAccess));
    point(at + offsetof(TileArguments, accesses), table);
    for (std::size_t i = 0; i < accesses; ++i)
      take_address(call, table + i * sizeof(TileAccess) + offsetof(TileAccess, pointer));
  }
  calls_.push_back(std::move(call));
}

void CallRecorder::epilogue(const ContractionLaunch& launch, const SumBlock& block) {
  const std::size_t first = calls_.size();
  std::vector<void*> symbols;
  is_complete_ = is_complete_ && epilogue_.bind(launch, block, symbols, calls_);
  for (std::size_t i = first; i < calls_.size(); ++i) {
    for (BoundCall::Address& address : calls_[i].addresses) {
      if (address.operand >= 0) {
        move(address, symbols[static_cast<std::size_t>(address.operand)]);
      } else if (address.operand == BoundCall::kScalars) {
        move(address, launch.scalars);
      }
    }
  }
}

}  // namespace groove::kernels
