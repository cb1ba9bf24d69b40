// The library's C interface: kernel text to machine code through ORC, one module a kernel. The IR
// comes vectorised and masked, so LLVM only selects instructions and allocates registers.
#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>
#include <memory>
#include <string>

#include "groove/error.h"
#include "jit/backends/llvm/interface.h"
#include "jit/backends/llvm/plugin/nest.h"

extern "C" {
void LLVMInitializeX86TargetInfo();
void LLVMInitializeX86Target();
void LLVMInitializeX86TargetMC();
void LLVMInitializeX86AsmPrinter();
}

// One set of the code generator's hundred passes serves all kernels, as in `llc -compile-twice`:
// building and destroying them took an eighth of a kernel's time.
struct CodeGenerator {
  std::unique_ptr<llvm::TargetMachine> machine;
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream out{object};
  llvm::legacy::PassManager passes;
};

struct GrooveLlvmCompiler {
  bool is_wide = false;
  CodeGenerator generator;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::string message;  // of the execution session's last error
  std::uint64_t kernels = 0;
};

namespace groove::llvm_tier {
namespace {

namespace orc = llvm::orc;

#if LLVM_VERSION_MAJOR >= 18
constexpr auto kCodeGenLevel = llvm::CodeGenOptLevel::Less;
constexpr auto kAssembly = llvm::CodeGenFileType::AssemblyFile;
#else
constexpr auto kCodeGenLevel = llvm::CodeGenOpt::Less;
constexpr auto kAssembly = llvm::CGFT_AssemblyFile;
#endif

template <typename T>
T take(llvm::Expected<T> value) {
  if (!value) throw Error(llvm::toString(value.takeError()));
  return std::move(*value);
}
void check(llvm::Error error) {
  if (error) throw Error(llvm::toString(std::move(error)));
}

orc::JITTargetMachineBuilder target(bool is_wide) {
  orc::JITTargetMachineBuilder builder(llvm::Triple("x86_64-unknown-linux-gnu"));
  builder.setCPU("x86-64");
  builder.addFeatures({"+avx2", "+fma", "+f16c"});
  if (is_wide) builder.addFeatures({"+avx512f", "+avx512bw", "+avx512dq", "+avx512vl"});
  builder.setCodeGenOptLevel(kCodeGenLevel);
  builder.getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return builder;
}

// Passes that cost a quarter of the time and find nothing in loops that are written as machine code
// wants them. An option that this LLVM does not know is ignored.
void choose_passes() {
  static const bool is_done = [] {
    const char* const options[] = {"groove", "-disable-lsr", "-disable-constant-hoisting",
                                   "-disable-partial-libcall-inlining"};
    return llvm::cl::ParseCommandLineOptions(static_cast<int>(std::size(options)), options, "",
                                             &llvm::nulls());
  }();
  static_cast<void>(is_done);
}

// All that generated code may call: what LLVM makes of plain copies. No libm, by contract.
void define_symbols(orc::LLJIT& jit) {
  orc::SymbolMap symbols;
  const auto add = [&](const char* name, void* address) {
    const auto at = orc::ExecutorAddr::fromPtr(address);
#if LLVM_VERSION_MAJOR >= 17
    symbols[jit.mangleAndIntern(name)] = {at, llvm::JITSymbolFlags::Exported};
#else
    symbols[jit.mangleAndIntern(name)] =
        llvm::JITEvaluatedSymbol(at.getValue(), llvm::JITSymbolFlags::Exported);
#endif
  };
  add("memset", reinterpret_cast<void*>(&std::memset));
  add("memcpy", reinterpret_cast<void*>(&std::memcpy));
  add("memmove", reinterpret_cast<void*>(&std::memmove));
  check(jit.getMainJITDylib().define(orc::absoluteSymbols(std::move(symbols))));
}

void set_up(CodeGenerator& generator, bool is_wide) {
  generator.machine = take(target(is_wide).createTargetMachine());
  llvm::MCContext* context = nullptr;
  if (generator.machine->addPassesToEmitMC(generator.passes, context, generator.out)) {
    throw Error("this LLVM writes no object files");
  }
}

std::unique_ptr<llvm::Module> make_module(const GrooveLlvmCompiler& compiler,
                                          const std::string& text, const std::string& name,
                                          llvm::LLVMContext& context) {
  const Kernel kernel = kernels::parse_kernel(text);
  auto module = std::make_unique<llvm::Module>(name, context);
  module->setDataLayout(compiler.jit->getDataLayout());
  Nest(*module, kernel, compiler.is_wide).emit(name);
  std::string problem;
  llvm::raw_string_ostream out(problem);
  if (llvm::verifyModule(*module, &out)) throw Error("malformed IR: " + out.str());
  return module;
}

char* listing(GrooveLlvmCompiler& compiler, const std::string& text) {
  llvm::LLVMContext context;
  const auto module = make_module(compiler, text, "kernel", context);
  const auto machine = take(target(compiler.is_wide).createTargetMachine());
  llvm::SmallString<4096> assembly;
  llvm::raw_svector_ostream out(assembly);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr, kAssembly)) {
    throw Error("this LLVM prints no assembly");
  }
  passes.run(*module);
  return ::strdup(assembly.c_str());
}

void* compile(GrooveLlvmCompiler& compiler, const std::string& text) {
  const std::string name = "kernel" + std::to_string(compiler.kernels++);
  CodeGenerator& generator = compiler.generator;
  generator.object.clear();
  {
    llvm::LLVMContext context;
    const auto module = make_module(compiler, text, name, context);
    generator.passes.run(*module);
  }
  compiler.message.clear();
  check(compiler.jit->addObjectFile(
      llvm::MemoryBuffer::getMemBufferCopy(generator.out.str(), name)));
  auto address = compiler.jit->lookup(name);
  if (!address) {
    throw Error(llvm::toString(address.takeError()) +
                (compiler.message.empty() ? "" : ": " + compiler.message));
  }
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address->getValue()));
}

// Compiled with the compiler itself, so that LLVM's own first use (its pages, its tables) is not
// counted as the time of somebody's kernel.
constexpr const char* kFirstKernel = R"(kernel row
access 0 store f32 broadcast
access 1 load f32 contiguous
scalar 0 f32
phase
%0 = load f32 @1
%1 = reduce_sum f32 %0
phase
%2 = store f32 %1 @0
)";

std::unique_ptr<GrooveLlvmCompiler> create(const std::string& isa) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  choose_passes();
  auto compiler = std::make_unique<GrooveLlvmCompiler>();
  compiler->is_wide = isa == "avx512";
  set_up(compiler->generator, compiler->is_wide);
  orc::LLJITBuilder builder;
  builder.setJITTargetMachineBuilder(target(compiler->is_wide));
  builder.setPlatformSetUp(orc::setUpInactivePlatform);
#if LLVM_VERSION_MAJOR >= 17
  builder.setLinkProcessSymbolsByDefault(false);
#endif
  compiler->jit = take(builder.create());
  std::string* const message = &compiler->message;
  compiler->jit->getExecutionSession().setErrorReporter(
      [message](llvm::Error error) { *message = llvm::toString(std::move(error)); });
  define_symbols(*compiler->jit);
  compile(*compiler, kFirstKernel);
  return compiler;
}

// Runs `body`; an exception becomes a text that free_text() frees.
template <typename Body>
auto guarded(char** error, const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::exception& thrown) {
    *error = ::strdup(thrown.what());
  }
  return nullptr;
}

const GrooveLlvmInterface kInterface = {
    GROOVE_LLVM_INTERFACE,
    LLVM_VERSION_STRING,
    [](const char* isa, char** error) {
      return guarded(error, [&] { return create(isa).release(); });
    },
    [](GrooveLlvmCompiler* compiler, const char* kernel, char** error) {
      return guarded(error, [&] { return compile(*compiler, kernel); });
    },
    [](GrooveLlvmCompiler* compiler, const char* kernel, char** error) {
      return guarded(error, [&] { return listing(*compiler, kernel); });
    },
    [](GrooveLlvmCompiler* compiler) { delete compiler; },
    [](char* text) { std::free(text); },
};

}  // namespace
}  // namespace groove::llvm_tier

extern "C" __attribute__((visibility("default"))) const GrooveLlvmInterface*
groove_llvm_interface() {
  return &groove::llvm_tier::kInterface;
}
