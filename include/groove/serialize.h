// Saving and loading: save(value, file) and load(value, file) for modules, optimizers and tensors,
// and the archives below them.
//
// A file is safetensors: Python's safetensors reads the tensors of a module under the names of its
// state_dict. What is no tensor lies in the header's metadata. load() reads PyTorch's own files as
// well: load(net, "net.pt") takes what Python's torch.save(net.state_dict(), "net.pt") wrote.
// save() to a path is atomic: the file appears whole or not at all, and an older one stays until
// then. load() checks all of a value (names, shapes, dtypes, ranges) before it changes anything;
// nothing in a file is trusted. All throw groove::Error naming the file and the reason.
//
// To resume a run bit for bit, write into one archive the model, the optimizer, the data loader
// (its save() holds the sampler's order and the position in the epoch), get_random_state() and the
// number of the step, and read them back before the next step:
//
//   serialize::OutputArchive archive, model, optimizer, loader;
//   net->save(model);           archive.write("model", model);
//   adam.save(optimizer);       archive.write("optimizer", optimizer);
//   data_loader->save(loader);  archive.write("loader", loader);
//   archive.write("random", get_random_state());
//   archive.write("step", step);
//   archive.save_to("checkpoint.safetensors");
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "groove/autograd.h"
#include "groove/detail/call_scope.h"
#include "groove/detail/owned.h"
#include "groove/nn/holder.h"
#include "groove/optim/optimizer.h"
#include "groove/random.h"
#include "groove/tensor.h"

namespace groove {
namespace serialize {

namespace detail {
struct Contents;  // of a file, src/io/contents.h
struct Entries;   // what is to be written
}  // namespace detail

/// What programs of LibTorch hand from an archive to those within it.
struct CompilationUnit {};

class OutputArchive {
 public:
  OutputArchive();
  /// An archive is of no unit: there is no TorchScript.
  explicit OutputArchive(const std::shared_ptr<CompilationUnit>&) : OutputArchive() {}
  OutputArchive(OutputArchive&&) noexcept;
  OutputArchive& operator=(OutputArchive&&) noexcept;
  ~OutputArchive();

  std::shared_ptr<CompilationUnit> compilation_unit() const { return nullptr; }
  /// The tensor itself is kept, not a copy: what save_to() writes is its value then. A key may be
  /// written once.
  void write(const std::string& key, const Tensor& value, bool is_buffer = false);
  void write(const std::string& key, const IValue& value);
  void write(const std::string& key, const RandomState& state);
  /// All entries of `nested`, under "key.".
  void write(const std::string& key, OutputArchive& nested);
  template <typename... Args>
  void operator()(Args&&... args) {
    write(std::forward<Args>(args)...);
  }

  /// Writes a temporary file beside `path` and renames it over `path`.
  void save_to(const std::string& path);
  void save_to(std::ostream& stream);
  /// The function gets the bytes in pieces and returns how many it took.
  void save_to(const std::function<std::size_t(const void*, std::size_t)>& writer);

 private:
  void check_new(const std::string& key) const;
  groove::detail::Owned<detail::Entries> entries_;
};

class InputArchive {
 public:
  InputArchive();

  /// A tensor of the same shape and dtype as the entry is overwritten; another one becomes the
  /// entry; an undefined one is made. try_read gives false when there is no such entry.
  void read(const std::string& key, Tensor& tensor, bool is_buffer = false);
  bool try_read(const std::string& key, Tensor& tensor, bool is_buffer = false);
  void read(const std::string& key, IValue& value);
  bool try_read(const std::string& key, IValue& value);
  void read(const std::string& key, RandomState& state);
  /// The entries below "key.".
  void read(const std::string& key, InputArchive& archive);
  bool try_read(const std::string& key, InputArchive& archive);
  /// First parts of the entries' names, in ascending order.
  std::vector<std::string> keys() const;
  template <typename... Args>
  void operator()(Args&&... args) {
    read(std::forward<Args>(args)...);
  }

  /// Reads the whole file.
  void load_from(const std::string& path, std::optional<Device> device = std::nullopt);
  void load_from(std::istream& stream, std::optional<Device> device = std::nullopt);
  void load_from(const char* data, std::size_t size, std::optional<Device> device = std::nullopt);
  /// `read` is given a position and a place for so many bytes, and returns how many it put there.
  void load_from(const std::function<std::size_t(std::uint64_t, void*, std::size_t)>& read,
                 const std::function<std::size_t()>& size,
                 std::optional<Device> device = std::nullopt);

 private:
  friend class nn::Module;
  friend class optim::Optimizer;
  /// Throws groove::Error with the file and the whole name of the entry.
  [[noreturn]] void fail(const std::string& key, const std::string& reason) const;
  /// The entries below "key.", which may be none.
  InputArchive below(const std::string& key) const;
  /// As read(), but the tensor keeps shape and dtype and is written by commit().
  void read_later(const std::string& key, const Tensor& target);
  void begin();
  void commit();
  void abandon() noexcept;

  std::shared_ptr<detail::Contents> contents_;
  std::string prefix_;
};

}  // namespace serialize

// What save() and load() do with a value. A program's own types join by overloads.
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Tensor& tensor);
serialize::InputArchive& operator>>(serialize::InputArchive& archive, Tensor& tensor);
namespace nn {
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Module& module);
serialize::InputArchive& operator>>(serialize::InputArchive& archive, Module& module);
template <typename T, typename = std::enable_if_t<std::is_base_of_v<Module, T>>>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const std::shared_ptr<T>& module) {
  if (!module) throw_error("save: the pointer to the module is empty");
  return archive << static_cast<const Module&>(*module);
}
template <typename T, typename = std::enable_if_t<std::is_base_of_v<Module, T>>>
serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                    const std::shared_ptr<T>& module) {
  if (!module) throw_error("load: the pointer to the module is empty; make the module first");
  return archive >> static_cast<Module&>(*module);
}
template <typename T>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const ModuleHolder<T>& module) {
  return archive << module.ptr();
}
template <typename T>
serialize::InputArchive& operator>>(serialize::InputArchive& archive, ModuleHolder<T>& module) {
  return archive >> module.ptr();
}
}  // namespace nn
namespace optim {
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Optimizer& optimizer);
serialize::InputArchive& operator>>(serialize::InputArchive& archive, Optimizer& optimizer);
}  // namespace optim

/// save(module, path), save(tensor, stream), save(optimizer, …): to whatever save_to() takes.
template <typename Value, typename Target>
void save(const Value& value, Target&& target, Site site = Site::current()) {
  const detail::CallScope scope(site, "save");
  using nn::operator<<;
  serialize::OutputArchive archive;
  archive << value;
  archive.save_to(std::forward<Target>(target));
}
template <typename Target>
void save(const std::vector<Tensor>& tensors, Target&& target, Site site = Site::current()) {
  const detail::CallScope scope(site, "save");
  serialize::OutputArchive archive;
  for (std::size_t i = 0; i < tensors.size(); ++i) archive.write(std::to_string(i), tensors[i]);
  archive.save_to(std::forward<Target>(target));
}
namespace detail {
template <typename Value, typename... Source>
void load_from(Site site, Value& value, Source&&... source) {
  const detail::CallScope scope(site, "load");
  using nn::operator>>;
  serialize::InputArchive archive;
  archive.load_from(std::forward<Source>(source)...);
  archive >> value;
}
template <typename... Source>
void load_from(Site site, std::vector<Tensor>& tensors, Source&&... source) {
  const detail::CallScope scope(site, "load");
  serialize::InputArchive archive;
  archive.load_from(std::forward<Source>(source)...);
  for (std::size_t i = 0;; ++i) {
    Tensor tensor;
    if (!archive.try_read(std::to_string(i), tensor)) break;
    tensors.push_back(std::move(tensor));
  }
}
}  // namespace detail

/// A value with its tensors, from and as the bytes of a file of Python's torch.save() and
/// torch.load(): numbers, texts, lists, tuples and dictionaries of these. No program in a file is
/// run: what names a class, or is damaged, throws groove::Error.
IValue pickle_load(const std::vector<char>& data, Site site = Site::current());
std::vector<char> pickle_save(const IValue& value, Site site = Site::current());

/// load(module, path), load(tensor, stream), …: from whatever load_from() takes. A vector gets the
/// tensors of a file written from one at its end.
template <typename Value, typename Source>
void load(Value& value, Source&& source, Site site = Site::current()) {
  detail::load_from(site, value, std::forward<Source>(source));
}
template <typename Value, typename Source, typename More>
void load(Value& value, Source&& source, More&& more, Site site = Site::current()) {
  detail::load_from(site, value, std::forward<Source>(source), std::forward<More>(more));
}
template <typename Value>
void load(Value& value, const char* data, std::size_t size, std::optional<Device> device,
          Site site = Site::current()) {
  detail::load_from(site, value, data, size, device);
}

}  // namespace groove
