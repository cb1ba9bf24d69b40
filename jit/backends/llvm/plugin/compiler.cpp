// The library's C interface: kernel text to machine code, one module a kernel. The IR comes
// vectorised and masked, so LLVM only selects instructions and allocates registers; what links the
// result into the program's memory is in linked_code.h.
#include <llvm/ADT/SmallString.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/CommandLine.h>
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
#include "jit/backends/llvm/plugin/linked_code.h"
#include "jit/backends/llvm/plugin/nest.h"
#include "kernels/scalings.h"
#include "src/core/faults.h"

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
  std::int64_t first_cache = 0;  // bytes
  CodeGenerator generator;
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

orc::JITTargetMachineBuilder target(bool is_wide) {
  orc::JITTargetMachineBuilder builder(llvm::Triple("x86_64-unknown-linux-gnu"));
  builder.setCPU("x86-64");
  builder.addFeatures({"+avx2", "+fma", "+f16c"});
  if (is_wide) builder.addFeatures({"+avx512f", "+avx512bw", "+avx512dq", "+avx512vl"});
  builder.setCodeGenOptLevel(kCodeGenLevel);
  // All sections of a kernel lie together: constants are operands, not addresses in registers.
  builder.setCodeModel(llvm::CodeModel::Small);
  builder.setRelocationModel(llvm::Reloc::PIC_);
  builder.getOptions().AllowFPOpFusion = groove::has_fault(groove::Fault::kLlvmContracts)
                                             ? llvm::FPOpFusion::Fast
                                             : llvm::FPOpFusion::Strict;
  return builder;
}

// Passes that cost a quarter of the time and find nothing in loops that are written as machine code
// wants them. An option that this LLVM does not know is ignored.
void choose_passes() {
  static const bool is_done = [] {
    const char* const options[] = {"groove",
                                   "-disable-lsr",
                                   "-disable-constant-hoisting",
                                   "-disable-partial-libcall-inlining",
                                   "-disable-cgp",
                                   "-disable-peephole",
                                   "-disable-machine-sink",
                                   "-disable-postra-machine-sink",
                                   "-disable-early-taildup",
                                   "-disable-tail-duplicate",
                                   "-disable-mergeicmps",
                                   "-x86-cmov-converter=0",
                                   "-disable-x86-domain-reassignment",
                                   "-disable-x86-lea-opt",
                                   "-enable-shrink-wrap=false",
                                   "-disable-branch-fold",
                                   "-disable-replace-with-vec-lib",
                                   "-enable-misched=false"};
    return llvm::cl::ParseCommandLineOptions(static_cast<int>(std::size(options)), options, "",
                                             &llvm::nulls());
  }();
  static_cast<void>(is_done);
}

void set_up(CodeGenerator& generator, bool is_wide) {
  generator.machine = take(target(is_wide).createTargetMachine());
  llvm::MCContext* context = nullptr;
  if (generator.machine->addPassesToEmitMC(generator.passes, context, generator.out)) {
    throw Error("this LLVM writes no object files");
  }
}

std::unique_ptr<llvm::Module> make_module(const GrooveLlvmCompiler& compiler,
                                          const std::string& text, llvm::LLVMContext& context) {
  Kernel kernel = kernels::parse_kernel(text);
  const bool has_instruction = compiler.is_wide && kernel.order != kernels::Order::kTree;
  if (has_instruction && kernels::has_scalings(kernel)) kernel = kernels::join_scalings(kernel);
  auto module = std::make_unique<llvm::Module>("kernel", context);
  module->setDataLayout(compiler.generator.machine->createDataLayout());
  Nest(*module, kernel, compiler.is_wide, compiler.first_cache).emit(kEntry);
  std::string problem;
  llvm::raw_string_ostream out(problem);
  if (llvm::verifyModule(*module, &out)) throw Error("malformed IR: " + out.str());
  return module;
}

char* listing(GrooveLlvmCompiler& compiler, const std::string& text) {
  llvm::LLVMContext context;
  const auto module = make_module(compiler, text, context);
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

std::unique_ptr<GrooveLlvmCode> compile(GrooveLlvmCompiler& compiler, const std::string& text) {
  CodeGenerator& generator = compiler.generator;
  generator.object.clear();
  llvm::LLVMContext context;
  const auto module = make_module(compiler, text, context);
  generator.passes.run(*module);
  return std::make_unique<GrooveLlvmCode>(generator.out.str());
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

std::unique_ptr<GrooveLlvmCompiler> create(const std::string& isa, std::size_t first_cache) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  choose_passes();
  auto compiler = std::make_unique<GrooveLlvmCompiler>();
  compiler->is_wide = isa == "avx512";
  compiler->first_cache = static_cast<std::int64_t>(first_cache);
  set_up(compiler->generator, compiler->is_wide);
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
    [](const char* isa, std::size_t first_cache, char** error) {
      return guarded(error, [&] { return create(isa, first_cache).release(); });
    },
    [](GrooveLlvmCompiler* compiler, const char* kernel, std::size_t* bytes, char** error) {
      return guarded(error, [&] {
        auto code = compile(*compiler, kernel);
        *bytes = code->bytes();
        return code.release();
      });
    },
    [](GrooveLlvmCode* code, void* address, void* writable, char** error) {
      const std::unique_ptr<GrooveLlvmCode> owned(code);
      return guarded(error, [&] { return owned->place(address, writable); });
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
