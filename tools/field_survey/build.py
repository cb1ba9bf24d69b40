"""Compiles and links whole programs, with what third parties' headers ask for."""

import concurrent.futures
import os
import re
import threading

from compat_survey import compiler

ROUNDS = 4  # of looking for sources that a program's headers do not name
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
    ("omp.h", ["-lgomp"]),
    ("png.h", ["-lpng"]),
    ("png++/", ["-lpng"]),
    ("jpeglib.h", ["-ljpeg"]),
    ("gflags/", ["-lgflags"]),
    ("openssl/", ["-lssl", "-lcrypto"]),
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
    for pattern in ("fatal error: ", "error: (?!ld returned)", "undefined reference", "ld: "):
        for row in rows:
            if re.search(pattern, row):
                return re.sub(r"^\S*/", "", row.strip())[:200]
    return " ".join(output.split())[:200]


def undefined(output):
    """The functions that a linker did not find, by their last name."""
    found = re.findall(r"undefined reference to `(?:vtable for )?([^'(]*)", output)
    return {re.sub(r"<.*", "", name).split("::")[-1].strip() for name in found} - {""}


def defining(repository, files, names):
    """Other sources that seem to define what a program lacks, functions and static members: those
    beside its own if there are any, otherwise wherever a line begins with such a definition."""
    others = [p for p, s in repository.sources.items() if p not in files and not s.has_main]
    beside = {os.path.dirname(f) for f in files}
    any_name = "|".join(map(re.escape, sorted(names)))

    def found(paths, pattern):
        return [p for p in paths if re.search(pattern, repository.text(p), re.M)]

    near = [p for p in others if os.path.dirname(p) in beside]
    return found(near, rf"\b(?:{any_name})\s*\(|::(?:{any_name})\s*[\[={{;]") or found(
        others, rf"^(?:\w[^\n;=]*\b)?(?:{any_name})\s*\("
    )


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
        failure = target + ".error"
        if os.path.exists(target):
            return target, None
        if os.path.exists(failure):
            with open(failure) as stream:
                return None, stream.read()
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
            with open(failure, "w") as stream:
                stream.write(first_error(output))
            return None, first_error(output)
        os.replace(part, target)
        return target, None

    def build(self, program):
        """(binary, error)"""
        files = list(program.files)
        for _ in range(ROUNDS):
            with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
                made = list(pool.map(lambda f: self.compile(program.repository, f), files))
            failed = next((error for _, error in made if error), None)
            if failed:
                return None, failed
            binary, output = self.link_objects(program, [target for target, _ in made])
            if binary:
                return binary, None
            lacking = undefined(output)
            more = defining(program.repository, files, lacking) if lacking else []
            if not more:
                break
            files += more
        return None, first_error(output)

    def link_objects(self, program, objects):
        """(binary, messages)"""
        binary = os.path.join(
            self.folder, compiler.digest(program.name, *objects, *self.link, self.stamp())
        )
        if os.path.exists(binary):
            return binary, ""
        part = f"{binary}.{threading.get_ident()}.part"
        flags = [*self.link, *link_flags(program.outside, self.more)]
        status, output = self.gcc.run([*objects, "-o", part, *flags])
        if status:
            return None, output
        os.replace(part, binary)
        return binary, ""

    def stamp(self):
        """Changes when a library that is linked does."""
        paths = [f for f in self.link if os.path.isabs(f) and os.path.exists(f)]
        return " ".join(f"{p}:{os.stat(p).st_mtime_ns}" for p in paths)
