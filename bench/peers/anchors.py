"""The Python peers' side of the comparison of bench/anchors: PyTorch, torch.compile and JAX.

`anchors.py --serve <library> <anchor> <threads>` (0: all cores) speaks the protocol of
bench/anchors/anchors_child.cpp: its first line is the library's name; then it reads a number of
steps from each line of standard input, runs them and answers `<seconds> <last loss>`. The first
step compiles. An anchor that a library cannot run gives `none` and the reason as its first line.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time

LIBRARIES = ("torch", "torch.compile", "jax")


def make(library, anchor, threads):
    """The library's name with its version, and an object whose run(steps) gives the last loss.

    Raises NotImplementedError with the reason for what a library does not have.
    """
    if library == "jax":
        import anchors_jax

        return anchors_jax.name(), anchors_jax.make(anchor)
    import anchors_torch

    anchors_torch.use_threads(threads)
    return anchors_torch.name(library), anchors_torch.make(anchor, library == "torch.compile")


def prepare_environment(library, threads):
    """What the libraries read when they are imported."""
    if library == "jax":
        os.environ["JAX_PLATFORMS"] = "cpu"
        if threads:
            os.environ["NPROC"] = str(threads)
        if threads == 1:
            os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    else:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
        if threads:
            os.environ["OMP_NUM_THREADS"] = str(threads)


def serve(library, anchor, threads):
    # What is printed by anybody else must not look like an answer.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    # Compile times are of a cold start: nothing cached, nothing left behind.
    cache = tempfile.mkdtemp(prefix="anchors-")
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = cache
    try:
        prepare_environment(library, threads)
        try:
            name, work = make(library, anchor, threads)
        except NotImplementedError as reason:
            print(f"none: {reason}", file=answers)
            return
        print(name, file=answers)
        for line in sys.stdin:
            start = time.perf_counter()
            loss = work.run(int(line))
            print(f"{time.perf_counter() - start:.9f} {loss:.6f}", file=answers)
    finally:
        shutil.rmtree(cache, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description="A Python library's side of build/bench/anchors.")
    parser.add_argument("--serve", action="store_true", required=True, help="all that it does")
    parser.add_argument("library", choices=LIBRARIES)
    parser.add_argument("anchor", help="A1 to A13; bench/anchors/anchors.cpp lists them")
    parser.add_argument("threads", type=int, help="0: all cores")
    arguments = parser.parse_args()
    serve(arguments.library, arguments.anchor, arguments.threads)


if __name__ == "__main__":
    main()
