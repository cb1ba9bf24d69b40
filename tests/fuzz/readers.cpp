// What reads files of others, given anything at all: each input either is read or throws
// groove::Error. libFuzzer's target; tests/fuzz/run builds and runs it. The environment variable
// FUZZ_READER names the reader: archive, checkpoint, pickle, zip, graph, idx. With FUZZ_SEEDS it
// writes files to begin with into that folder instead, and ends.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "groove/groove.h"
#include "groove/jit/capture.h"
#include "src/data/idx.h"
#include "src/io/checkpoint.h"
#include "src/io/graph_json.h"
#include "src/io/pickle.h"
#include "src/io/zip.h"

namespace {

using groove::IValue;
using Bytes = std::string_view;

// A module into which what was read is loaded, so that names and shapes are compared, too.
void load_into_module(groove::serialize::InputArchive& archive) {
  groove::nn::Sequential net(groove::nn::Linear(4, 3), groove::nn::BatchNorm1d(3));
  net->load(archive);
}

void read_archive(Bytes bytes) {
  groove::serialize::InputArchive archive;
  archive.load_from(bytes.data(), bytes.size());
  for (const std::string& key : archive.keys()) {
    groove::Tensor tensor;
    IValue value;
    if (!archive.try_read(key, tensor)) archive.try_read(key, value);
  }
  load_into_module(archive);
}
void read_checkpoint(Bytes bytes) { groove::serialize::read_checkpoint(bytes, "input"); }
void read_pickle(Bytes bytes) {
  groove::serialize::read_pickle(bytes, "input",
                                 [](const std::string&) { return std::string(64, '\1'); });
}
void read_zip(Bytes bytes) {
  const groove::serialize::ZipReader zip(bytes, "input");
  for (const std::string& name : zip.names()) zip.read(name);
}
void read_graph(Bytes bytes) { groove::serialize::read_graph_json(std::string(bytes), "input"); }
void read_idx(Bytes bytes) {
  static const int file = memfd_create("idx", 0);
  if (ftruncate(file, 0) != 0 ||
      pwrite(file, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    std::abort();
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  for (const int dims : {1, 3}) {
    try {
      groove::data::read_idx(path, dims);
    } catch (const groove::Error&) {
    }
  }
}

// ---- files to begin with ----

void write(const std::string& name, Bytes bytes) {
  std::ofstream stream(std::filesystem::path(std::getenv("FUZZ_SEEDS")) / name, std::ios::binary);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string archive_of(const std::function<void(groove::serialize::OutputArchive&)>& fill) {
  groove::serialize::OutputArchive archive;
  fill(archive);
  std::string bytes;
  archive.save_to([&](const void* piece, std::size_t size) {
    bytes.append(static_cast<const char*>(piece), size);
    return size;
  });
  return bytes;
}

IValue values() {
  groove::Dict<std::string, IValue> dict;
  dict.insert("step", 7);
  dict.insert("lr", 0.5);
  dict.insert("name", "groove");
  dict.insert("weights", groove::ones({2, 3}));
  dict.insert("half", groove::zeros({2}, groove::kHalf));
  dict.insert("sizes", std::vector<std::int64_t>{1, 2, 3});
  return dict;
}

void seed_archive() {
  write("module", archive_of([](auto& archive) {
          groove::nn::Sequential net(groove::nn::Linear(4, 3), groove::nn::BatchNorm1d(3));
          net->save(archive);
        }));
  write("values", archive_of([](auto& archive) {
          archive.write("step", IValue(3));
          archive.write("random", groove::get_random_state());
        }));
}
void seed_checkpoint() { write("values", groove::serialize::write_checkpoint(values())); }
void seed_pickle() {
  std::vector<groove::Tensor> storages;
  write("values", groove::serialize::write_pickle(values(), storages));
}
void seed_zip() {
  groove::serialize::ZipWriter zip;
  zip.add("a/data.pkl", "content");
  zip.add("a/version", "3");
  write("two", zip.finish());
}
void seed_graph() {
  const groove::jit::Graph graph = groove::jit::capture(
      [](const std::vector<groove::Tensor>& x) {
        return std::vector<groove::Tensor>{(x[0].mm(x[1]) + 0.5).relu().sum(1)};
      },
      {groove::ones({2, 3}), groove::ones({3, 4})});
  const std::string path =
      (std::filesystem::path(std::getenv("FUZZ_SEEDS")) / "graph.json").string();
  graph.save(path);
}
void seed_idx() {
  using namespace std::string_literals;
  write("images", "\0\0\x08\x03\0\0\0\1\0\0\0\2\0\0\0\2abcd"s);
  write("labels", "\0\0\x08\x01\0\0\0\3abc"s);
}

struct Reader {
  void (*read)(Bytes);
  void (*seed)();
};
const Reader& reader() {
  static const std::map<std::string, Reader> readers = {
      {"archive", {read_archive, seed_archive}},
      {"checkpoint", {read_checkpoint, seed_checkpoint}},
      {"pickle", {read_pickle, seed_pickle}},
      {"zip", {read_zip, seed_zip}},
      {"graph", {read_graph, seed_graph}},
      {"idx", {read_idx, seed_idx}},
  };
  const char* const name = std::getenv("FUZZ_READER");
  const auto found = readers.find(name ? name : "");
  if (found == readers.end()) {
    std::fprintf(stderr, "FUZZ_READER is '%s'; it must be one of:", name ? name : "");
    for (const auto& [known, unused] : readers) std::fprintf(stderr, " %s", known.c_str());
    std::fprintf(stderr, "\n");
    std::exit(2);
  }
  return found->second;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  if (std::getenv("FUZZ_SEEDS")) {
    reader().seed();
    std::exit(0);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    reader().read({reinterpret_cast<const char*>(data), size});
  } catch (const groove::Error&) {
  }
  return 0;
}
