// Generator: a random state of a program's own, which functions that draw take besides their
// arguments.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "groove/options.h"
#include "groove/random.h"

namespace groove {

class Tensor;

/// Draws depend on its seed and on how many were made from it, whatever the process draws besides.
/// Copies share the state.
class Generator {
 public:
  /// Undefined.
  Generator() = default;
  explicit Generator(std::uint64_t seed);
  /// The process's own, which manual_seed() sets.
  static Generator of_process();
  Device device() const { return Device(); }
  bool defined() const { return own_ || is_process_; }
  /// From here on the draws depend on the seed alone.
  void set_current_seed(std::uint64_t seed) const;
  std::uint64_t current_seed() const { return state().seed; }
  /// Sets a seed that nobody can foretell, and returns it.
  std::uint64_t seed() const;
  /// Seed and number of draws, as a tensor of bytes.
  Tensor get_state() const;
  void set_state(const Tensor& state) const;
  /// The same state, not shared.
  Generator clone() const;
  bool operator==(const Generator& other) const {
    return own_ == other.own_ && is_process_ == other.is_process_;
  }

 private:
  friend class DrawsFrom;
  struct Own;
  RandomState state() const;
  void set(const RandomState& state) const;
  std::shared_ptr<Own> own_;
  bool is_process_ = false;
};

/// While one is open, this thread draws from the generator; without one, or from the process's, as
/// before.
class DrawsFrom {
 public:
  explicit DrawsFrom(const std::optional<Generator>& generator);
  ~DrawsFrom();
  DrawsFrom(const DrawsFrom&) = delete;
  DrawsFrom& operator=(const DrawsFrom&) = delete;
  /// The next draw of the generator that this thread draws from, if there is one.
  static std::optional<RandomState> next();

 private:
  std::shared_ptr<Generator::Own> generator_;
  DrawsFrom* previous_;
};

}  // namespace groove
