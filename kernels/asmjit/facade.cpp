// The one file that deals with asmjit's objects and their life: see facade.h.
#include "kernels/asmjit/facade.h"

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "groove/error.h"
#include "kernels/asmjit/code_memory.h"
#include "src/core/environment.h"
#include "src/core/fork.h"

namespace groove::kernels::assembly {
namespace {

thread_local Listing* open_listing = nullptr;

[[noreturn]] void fail(const std::string& what) { throw Error("asmjit: " + what); }

}  // namespace

const asmjit::Environment& environment() {
  static const asmjit::Environment host = asmjit::Environment::host();
  return host;
}

Listing::Listing() : outer_(open_listing) { open_listing = this; }
Listing::~Listing() { open_listing = outer_; }

void Listing::add_comment(const std::string& comment) {
  logger_.log(("; " + comment + "\n").c_str());
}

std::string Listing::text() const { return std::string(logger_.data(), logger_.dataSize()); }

void* publish(asmjit::CodeHolder& code) {
  if (open_listing) return nullptr;
  const auto check = [](asmjit::Error error) {
    if (error) fail(asmjit::DebugUtils::errorAsString(error));
  };
  check(code.flatten());
  check(code.resolveUnresolvedLinks());
  const std::size_t bytes = code.codeSize();
  const CodeMemory memory = reserve_code(bytes);
  const asmjit::Error error = code.relocateToBase(reinterpret_cast<std::uintptr_t>(memory.code));
  if (!error) {
    code.copyFlattenedData(memory.writable, bytes, asmjit::CopySectionFlags::kPadSectionBuffer);
    return memory.code;
  }
  release_code(memory.code);
  fail(asmjit::DebugUtils::errorAsString(error));
}

void log_code(asmjit::CodeHolder& code) {
  if (open_listing) {
    code.setLogger(&open_listing->logger_);
    return;
  }
  static asmjit::FileLogger* const logger = new asmjit::FileLogger(stderr);
  if (groove::environment().logs("code")) code.setLogger(logger);
}

// Never destroyed: functions may be made while the process ends.
struct Function::Workshops {
  std::mutex mutex;
  std::vector<std::unique_ptr<Workshop>> idle;

  std::unique_ptr<Workshop> take() {
    const ForkGate gate;
    const std::lock_guard lock(mutex);
    if (idle.empty()) return std::make_unique<Workshop>();
    std::unique_ptr<Workshop> last = std::move(idle.back());
    idle.pop_back();
    return last;
  }
  void give_back(std::unique_ptr<Workshop> workshop) {
    const ForkGate gate;
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(workshop));
  }
};

Function::Workshops& Function::workshops() {
  static Workshops& all = *new Workshops;
  return all;
}

Function::Function(Isa isa)
    : isa_(isa),
      workshop_(workshops().take()),
      code_(workshop_->code),
      compiler_(workshop_->compiler) {
  code_.init(environment());
  log_code(code_);
  code_.setErrorHandler(this);
  code_.attach(&compiler_);
  node_ = compiler_.addFunc(asmjit::FuncSignatureT<void, const void*>());
  node_->frame().setAvxEnabled();
  node_->frame().setAvxCleanup();
  if (is_wide()) node_->frame().setAvx512Enabled();
  argument_ = compiler_.newIntPtr();
  node_->setArg(0, argument_);
}

Function::~Function() {
  code_.reset(asmjit::ResetPolicy::kSoft);
  workshops().give_back(std::move(workshop_));
}

Gp Function::new_gp() {
  return take(gps_, [&] { return compiler_.newInt64(); });
}
Vec Function::new_vec() {
  return take(vecs_, [&] { return is_wide() ? Vec(compiler_.newZmm()) : Vec(compiler_.newYmm()); });
}
Vec Function::new_half_vec() { return low_half(new_vec()); }
Vec Function::new_xmm() {
  return take(xmms_, [&] { return Vec(compiler_.newXmm()); });
}
MaskReg Function::new_mask() {
  return take(masks_, [&] { return compiler_.newKw(); });
}
Label Function::new_label() { return compiler_.newLabel(); }
Mem Function::new_stack(std::uint32_t size) { return compiler_.newStack(size, 64); }
void Function::bind(const Label& label) { compiler_.bind(label); }

Mem Function::constant(const void* data, std::size_t size) {
  return compiler_.newConst(asmjit::ConstPoolScope::kLocal, data, size);
}

Mem Function::constant32(std::uint32_t bits) {
  return constant64(static_cast<std::uint64_t>(bits) << 32 | bits);
}

Mem Function::constant64(std::uint64_t bits) {
  std::uint64_t lanes[8];
  for (std::uint64_t& lane : lanes) lane = bits;
  return constant(lanes, static_cast<std::size_t>(vector_bytes()));
}

void* Function::finish() {
  compiler_.endFunc();
  const auto width = static_cast<std::uint32_t>(vector_bytes());
  if (assign_registers(compiler_, *node_, argument_, width, new_uses_)) {
    asmjit::x86::Assembler assembler(&code_);
    compiler_.serializeTo(&assembler);
  } else {
    compiler_.finalize();
  }
  return publish(code_);
}

void Function::handleError(asmjit::Error error, const char* message, asmjit::BaseEmitter*) {
  fail(std::string(asmjit::DebugUtils::errorAsString(error)) + ": " + message);
}

}  // namespace groove::kernels::assembly
