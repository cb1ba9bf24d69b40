#include "jit/backends/llvm/plugin/linked_code.h"

#include <llvm/ExecutionEngine/JITSymbol.h>
#include <llvm/ExecutionEngine/RuntimeDyld.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "groove/error.h"

namespace {

constexpr std::size_t kAlignment = 64;

}  // namespace

// Memory of the sections until they are placed, one after the other as they will lie.
class GrooveLlvmCode::Sections final : public llvm::RuntimeDyld::MemoryManager {
 public:
  struct Section {
    std::unique_ptr<std::uint8_t[]> memory;
    std::uint8_t* data = nullptr;
    std::size_t bytes = 0, at = 0;
  };

  std::uint8_t* allocateCodeSection(std::uintptr_t bytes, unsigned alignment, unsigned,
                                    llvm::StringRef) override {
    return add(bytes, alignment);
  }
  std::uint8_t* allocateDataSection(std::uintptr_t bytes, unsigned alignment, unsigned,
                                    llvm::StringRef, bool is_read_only) override {
    has_writable_data = has_writable_data || !is_read_only;
    return add(bytes, alignment);
  }
  bool finalizeMemory(std::string*) override { return false; }
  void registerEHFrames(std::uint8_t*, std::uint64_t, std::size_t) override {}
  void deregisterEHFrames() override {}

  std::vector<Section> all;
  std::size_t bytes = 0;
  bool has_writable_data = false;
  bool is_aligned = true;

 private:
  std::uint8_t* add(std::size_t size, unsigned alignment) {
    is_aligned = is_aligned && alignment <= kAlignment;
    Section section;
    section.memory = std::make_unique<std::uint8_t[]>(size + kAlignment);
    const auto begin = reinterpret_cast<std::uintptr_t>(section.memory.get());
    section.data = section.memory.get() + (kAlignment - begin % kAlignment);
    section.bytes = size;
    section.at = bytes;
    bytes += (size + kAlignment - 1) / kAlignment * kAlignment;
    all.push_back(std::move(section));
    return all.back().data;
  }
};

// All that generated code may call: what LLVM makes of plain copies. No libm, by contract.
class GrooveLlvmCode::Symbols final : public llvm::LegacyJITSymbolResolver {
 public:
  llvm::JITSymbol findSymbol(const std::string& name) override {
    const auto at = [](auto* function) {
      return llvm::JITSymbol(reinterpret_cast<std::uintptr_t>(function),
                             llvm::JITSymbolFlags::Exported);
    };
    if (name == "memset") return at(&std::memset);
    if (name == "memcpy") return at(&std::memcpy);
    if (name == "memmove") return at(&std::memmove);
    return nullptr;
  }
  llvm::JITSymbol findSymbolInLogicalDylib(const std::string&) override { return nullptr; }
};

struct GrooveLlvmCode::Linker {
  Sections sections;
  Symbols symbols;
  llvm::RuntimeDyld dyld{sections, symbols};
  std::string object;
};

GrooveLlvmCode::GrooveLlvmCode(llvm::StringRef object) : linker_(std::make_unique<Linker>()) {
  linker_->object = object.str();
  auto file = llvm::object::ObjectFile::createELFObjectFile(
      llvm::MemoryBufferRef(linker_->object, groove::llvm_tier::kEntry));
  if (!file) throw groove::Error(llvm::toString(file.takeError()));
  linker_->dyld.loadObject(**file);
  if (linker_->dyld.hasError()) throw groove::Error(linker_->dyld.getErrorString().str());
  if (linker_->sections.has_writable_data || !linker_->sections.is_aligned) {
    throw groove::Error("code with variables or of an unusual alignment");
  }
}

GrooveLlvmCode::~GrooveLlvmCode() = default;

std::size_t GrooveLlvmCode::bytes() const {
  return std::max<std::size_t>(linker_->sections.bytes, 1);
}

void* GrooveLlvmCode::place(void* address, void* writable) {
  const auto base = reinterpret_cast<std::uintptr_t>(address);
  for (const Sections::Section& section : linker_->sections.all) {
    linker_->dyld.mapSectionAddress(section.data, base + section.at);
  }
  linker_->dyld.resolveRelocations();
  if (linker_->dyld.hasError()) throw groove::Error(linker_->dyld.getErrorString().str());
  for (const Sections::Section& section : linker_->sections.all) {
    std::memcpy(static_cast<char*>(writable) + section.at, section.data, section.bytes);
  }
  const llvm::JITEvaluatedSymbol entry = linker_->dyld.getSymbol(groove::llvm_tier::kEntry);
  if (!entry) throw groove::Error("the kernel has no entry");
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(entry.getAddress()));
}
