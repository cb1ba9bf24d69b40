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

// The table of accesses lies behind the arguments.
void CallRecorder::tile(TileKernel kernel, const TileArguments& arguments, std::size_t accesses) {
  record(reinterpret_cast<BoundFunction>(kernel), arguments,
         {offsetof(TileArguments, a), offsetof(TileArguments, b), offsetof(TileArguments, c),
          offsetof(TileArguments, totals), offsetof(TileArguments, scalars)});
  if (accesses == 0) return;
  BoundCall& call = calls_.back();
  const std::size_t table = call.arguments.size();
  call.addresses.push_back({static_cast<std::int32_t>(offsetof(TileArguments, accesses)),
                            BoundCall::kArguments, static_cast<std::int64_t>(table)});
  const auto* const first = reinterpret_cast<const std::byte*>(arguments.accesses);
  call.arguments.insert(call.arguments.end(), first, first + accesses * sizeof(TileAccess));
  for (std::size_t i = 0; i < accesses; ++i) {
    take_address(call, table + i * sizeof(TileAccess) + offsetof(TileAccess, pointer));
  }
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
