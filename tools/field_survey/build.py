"""Compiles and links whole programs, with what third parties' headers ask for."""

import concurrent.futures
import os
import re
import threading

from compat_survey import compiler

# What a program links with follows from the headers it includes: one row a library.
LINK = [
    ("opencv2/", ["-lopencv_" + part for part in (
        "dnn", "objdetect", "video", "videoio", "calib3d", "features2d", "photo", "imgcodecs",
        "highgui", "imgproc", "core")]),
    ("boost/program_options", ["-lboost_program_options"]),
    ("boost/filesystem", ["-lboost_filesystem"]),
    ("boost/regex", ["-lboost_regex"]),
    ("spdlog/", ["-lspdlog", "-lfmt"]),
    ("fmt/", ["-lfmt"]),
]  # fmt: skip


class Program:
    """A file with main() and what is compiled with it."""

    def __init__(self, repository, main, files):
        self.repository, self.main, self.files = repository, main, files
        self.name = f"{repository.name}/{main}"

    @property
    def outside(self):
        return sorted({h for f in self.files for h in self.repository.sources[f].outside})


def link_flags(outside, more=()):
    """What headers that a program includes ask to be linked; more: rows as in LINK, which come
    first."""
    found = []
    for head, flags in [*more, *LINK]:
        if any(name.startswith(head) for name in outside):
            found += [f for f in flags if f not in found]
    return found


def first_error(output):
    """The line of a compiler's or a linker's output that says most."""
    rows = output.split("\n")
    for pattern in (r"fatal error: ", r"error: ", r"undefined reference", r"cannot find", r"ld: "):
        for row in rows:
            if re.search(pattern, row):
                return re.sub(r"^\S*/", "", row.strip())[:200]
    return " ".join(output.split())[:200]


class Builder:
    """Compiles and links programs, and keeps objects: a second run compiles what has changed."""

    def __init__(self, gcc, folder, library, link, more=(), jobs=1):
        self.gcc, self.folder, self.library, self.link = gcc, folder, library, link
        self.more, self.jobs = more, jobs
        os.makedirs(folder, exist_ok=True)

    def compile(self, repository, path):
        """(object, error)"""
        source = repository.sources[path]
        uses = self.library if source.uses_torch else None
        target = os.path.join(self.folder, self.gcc.key(uses, repository, source) + ".o")
        if os.path.exists(target):
            return target, None
        arguments = [
            *self.gcc.flags,
            *self.gcc.includes(uses, repository, source),
            "-c",
            os.path.join(repository.folder, path),
            "-o",
            part := f"{target}.{threading.get_ident()}.part",  # programs share sources
        ]
        status, output = self.gcc.run(arguments)
        if status:
            return None, first_error(output)
        os.replace(part, target)
        return target, None

    def build(self, program):
        """(binary, error)"""
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            made = list(pool.map(lambda f: self.compile(program.repository, f), program.files))
        failed = next((error for _, error in made if error), None)
        if failed:
            return None, failed
        objects = [target for target, _ in made]
        key = compiler.digest(program.name, *objects, *self.link, self.stamp())
        binary = os.path.join(self.folder, key)
        if not os.path.exists(binary):
            flags = [*self.link, *link_flags(program.outside, self.more)]
            status, output = self.gcc.run([*objects, "-o", binary + ".part", *flags])
            if status:
                return None, first_error(output)
            os.replace(binary + ".part", binary)
        return binary, None

    def stamp(self):
        """Changes when a library that is linked does."""
        paths = [f for f in self.link if os.path.isabs(f) and os.path.exists(f)]
        return " ".join(f"{p}:{os.stat(p).st_mtime_ns}" for p in paths)
