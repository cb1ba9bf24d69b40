// Backends turn kernels and contractions into something to call. Each registers itself; a missing
// backend is one that can say why it is missing. Compiled code is cached by structure for the
// life of the process.
#pragma once

#include <memory>
#include <string>

#include "kernels/asmjit/isa.h"
#include "kernels/contraction/contraction.h"
#include "kernels/ir.h"

namespace groove::kernels {

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const char* name() const = 0;
  /// Empty when the backend works on this machine, otherwise the reason why not.
  virtual std::string unavailable() const { return {}; }
  virtual std::shared_ptr<const Callable> compile(const Kernel& kernel) = 0;
  /// Code of that instruction set; whoever runs it asks has_isa().
  virtual std::shared_ptr<const ContractionCallable> compile(const Contraction& contraction,
                                                             Isa isa) = 0;
};

void register_backend(Backend& backend);
/// By name ("interpreter", "asmjit"); null when none of that name is registered.
Backend* find_backend(const std::string& name);

/// The highest usable backend allowed by GROOVE_TIER; what eager ops run on.
Backend& current_backend();
void set_current_backend(Backend& backend);

/// Compiled once per structure, backend and instruction set; thread-safe.
std::shared_ptr<const Callable> compile_cached(Backend& backend, const Kernel& kernel);
std::shared_ptr<const ContractionCallable> compile_cached(Backend& backend,
                                                          const Contraction& contraction,
                                                          Isa isa = kernels::isa());

}  // namespace groove::kernels
