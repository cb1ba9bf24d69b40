"""How programs written for LibTorch are compiled and linked with Groove, and with LibTorch."""

import os

OPTIMISED = ["-std=c++20", "-O2", "-DNDEBUG", "-w"]


def groove_folders(root):
    return [os.path.join(root, "include/groove/compat"), os.path.join(root, "include")]


def groove_link(archive):
    others = ["-lasmjit", "-lpthread", "-lrt", "-lfmt", "-lz", "-ldl"]
    return ["-Wl,--whole-archive", archive, "-Wl,--no-whole-archive", *others]


def libtorch_folders(package):
    include = os.path.join(package, "include")
    return [include, os.path.join(include, "torch/csrc/api/include")]


def libtorch_link(package):
    lib = os.path.join(package, "lib")
    return [
        "-Wl,--no-as-needed",
        os.path.join(lib, "libtorch_cpu.so"),
        os.path.join(lib, "libc10.so"),
        "-Wl,--allow-shlib-undefined",
        f"-Wl,-rpath,{lib}",
        "-lpthread",
    ]
