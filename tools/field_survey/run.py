"""Runs a program in a world of its own, to a limit, and tells what it printed, when, and what
processor time it took."""

import filecmp
import hashlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from compat_survey import sources
from . import data, output

HERE = os.path.dirname(os.path.abspath(__file__))
MOST_OUTPUT = 64 << 20
MOST_KEPT = 512 << 20
LISTS, MOST_LISTED = (".txt", ".csv"), 1 << 20  # texts that may list files
GRACE = 60  # seconds to write a report in after the limit
WAITING = 8  # times the limit may pass by the clock: the machine is busy, or the program waits


def build_world_library(folder):
    target = os.path.join(folder, "world.so")
    command = ["gcc", "-shared", "-fPIC", "-O1", os.path.join(HERE, "world.c"), "-o", target]
    subprocess.run([*command, "-ldl"], check=True)
    return target


class Stamp:
    """How much had been printed when the process had taken so much processor time."""

    def __init__(self, size, seconds):
        self.size, self.seconds = size, seconds


class Run:
    def __init__(self, status, seconds, printed, errors, is_ended, stamps):
        self.status, self.seconds, self.output, self.errors = status, seconds, printed, errors
        self.is_ended = is_ended  # at the limit, by the tool
        self.stamps = stamps
        self.operators = 0  # that it ran, if it was asked
        self.files = {}  # hashes of what it wrote

    @property
    def has_failed(self):
        return self.status != 0 and not self.is_ended

    def seconds_at(self, line):
        """The processor time at which so many lines had been printed."""
        size = len(self.output[: output.end_of_line(self.output, line)].encode())
        return next((s.seconds for s in self.stamps if s.size >= size), self.seconds)

    def why(self):
        """What a failed run says of itself."""
        told = [r.strip() for r in (self.errors + "\n" + self.output[-2000:]).split("\n")]
        told = [r for r in told if r]
        for word in ("what():", "error", "fail", "usage"):  # what says most comes first
            worth = [r for r in told if word in r.lower()]
            if worth:
                break
        ended = f"signal {-self.status}" if self.status < 0 else f"status {self.status}"
        return f"{ended}: {(worth or told or ['says nothing'])[0][:200]}"


def processor_clock(pid):
    """The id of another process's processor clock (clock_getcpuclockid)."""
    return (~pid << 3) | 2


def run(command, folder, environment, limit):
    """Runs it; at the limit, in seconds of processor time, it is asked to end."""
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment,
            start_new_session=True,
        )
        chunks, stamps, size = [], [], 0
        ended, gone = threading.Event(), threading.Event()

        clock = processor_clock(child.pid)

        def watch():
            begun = time.time()
            while not gone.wait(0.1):
                try:
                    used = time.clock_gettime_ns(clock) * 1e-9
                except OSError:
                    return
                if used > limit or time.time() - begun > WAITING * limit:
                    break
            else:
                return
            ended.set()
            for signal_, patience in ((signal.SIGTERM, GRACE), (signal.SIGKILL, None)):
                try:
                    os.killpg(child.pid, signal_)
                except ProcessLookupError:
                    return
                if gone.wait(patience):
                    return

        watcher = threading.Thread(target=watch)
        watcher.start()
        while True:
            chunk = os.read(child.stdout.fileno(), 1 << 16)
            if not chunk:
                break
            size += len(chunk)
            if size <= MOST_OUTPUT:
                chunks.append(chunk)
                try:
                    stamps.append(Stamp(size, time.clock_gettime_ns(clock) * 1e-9))
                except OSError:
                    pass
        child.stdout.close()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        gone.set()
        watcher.join()
        errors.seek(0)
        return Run(
            child.returncode,
            used.ru_utime + used.ru_stime,
            b"".join(chunks).decode(errors="replace"),
            errors.read(1 << 20).decode(errors="replace"),
            ended.is_set(),
            stamps,
        )


class World:
    """What a program finds when it starts: a copy of its repository, at whose root it starts, and
    a folder in which the absolute paths of its author lie. Each run finds them as they were."""

    def __init__(self, folder, repository, main, library):
        self.folder, self.main, self.library = folder, main, library
        self.template, self.live = (os.path.join(folder, n) for n in ("as-it-was", "world"))
        self.log = os.path.join(folder, "missing.log")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(os.path.join(self.template, "root"))
        shutil.copytree(
            repository.folder,
            os.path.join(self.template, repository.name),
            symlinks=True,
            ignore=shutil.ignore_patterns(".git"),
        )
        shutil.copytree(self.template, self.live, symlinks=True)
        self.start = os.path.join(self.live, repository.name)
        self.bases = []  # the main file's folder, those above it, and a build folder in each
        at = os.path.dirname(os.path.join(self.start, main))
        while True:
            self.bases += [at, os.path.join(at, "build")]
            os.makedirs(self.in_template(os.path.join(at, "build")), exist_ok=True)
            os.makedirs(os.path.join(at, "build"), exist_ok=True)
            if len(at) <= len(self.start):
                break
            at = os.path.dirname(at)

    def in_template(self, path):
        return self.template + path[len(self.live) :]

    def reset(self):
        """Undoes what a run has done."""
        for base, folders, names in os.walk(self.live):
            was = self.in_template(base)
            for name in list(folders):
                if not os.path.isdir(os.path.join(was, name)):
                    shutil.rmtree(os.path.join(base, name), ignore_errors=True)
                    folders.remove(name)
            for name in names:
                old, new = os.path.join(was, name), os.path.join(base, name)
                if not os.path.lexists(old):
                    os.remove(new)
        for base, _, names in os.walk(self.template):
            now = self.live + base[len(self.template) :]
            os.makedirs(now, exist_ok=True)
            for name in names:
                old, new = os.path.join(base, name), os.path.join(now, name)
                if os.path.islink(old):
                    continue
                if not os.path.exists(new) or not filecmp.cmp(old, new):
                    shutil.copy2(old, new)

    def environment(self, more):
        keep = {k: v for k, v in os.environ.items() if not k.startswith(("GROOVE_", "FIELD_"))}
        return {
            **keep,
            "LD_PRELOAD": self.library,
            "FIELD_ROOT": os.path.join(self.live, "root"),
            "FIELD_BASES": ":".join(self.bases),
            "FIELD_LOG": self.log,
            "QT_QPA_PLATFORM": "offscreen",
            **more,
        }

    def run(self, binary, arguments, more, limit):
        self.reset()
        for old in (self.log, more.get("GROOVE_REPORT", "")):
            if os.path.exists(old):
                os.remove(old)
        done = run([binary, *arguments], self.start, self.environment(more), limit)
        done.files = {} if done.is_ended else self.written()
        return done

    def missing(self):
        """[(demand, path)] that the last run looked for in vain, each once."""
        if not os.path.exists(self.log):
            return []
        with open(self.log, errors="replace") as stream:
            rows = [row.rstrip("\n").split(" ", 1) for row in stream]
        seen = {}
        for row in rows:
            if len(row) == 2 and "/." not in row[1].replace("/..", ""):  # settings of libraries
                seen.setdefault(row[1], row[0])
                if row[0] == "folder":
                    seen[row[1]] = "folder"
        return [(demand, path) for path, demand in seen.items()]

    def fresh(self):
        """The files that the last run wrote."""
        for base, _, names in os.walk(self.live):
            for name in names:
                path = os.path.join(base, name)
                was = self.in_template(path)
                if os.path.isfile(path) and not os.path.islink(path):
                    if not os.path.isfile(was) or not filecmp.cmp(was, path):
                        yield path

    def written(self):
        """{path: a hash of what the last run wrote there}"""
        found = {}
        for path in self.fresh():
            with open(path, "rb") as stream:
                found[os.path.relpath(path, self.live)] = hashlib.file_digest(
                    stream, "sha256"
                ).hexdigest()
        return found

    def collect(self, pool):
        """Keeps what the last run wrote, for other programs of the repository that look for it."""
        for path in self.fresh():
            if 0 < os.path.getsize(path) < MOST_KEPT:
                os.makedirs(pool, exist_ok=True)
                shutil.copy2(path, os.path.join(pool, os.path.basename(path)))

    def place(self, path):
        """Where in the template a path of the program lies, or None."""
        at = os.path.join(self.live, "root") + path
        if not os.path.isabs(path):
            at = os.path.join(self.start, path)
        at = os.path.normpath(at)
        return self.in_template(at) if at.startswith(self.live + os.sep) else None

    def elsewhere(self, path):
        """A file of that name in another folder of the repository, the nearest, or None."""
        name = os.path.basename(path)
        root = self.in_template(self.start)
        if not os.path.splitext(name)[1]:
            return None
        found = [
            os.path.relpath(os.path.join(base, name), root)
            for base, _, names in os.walk(root)
            if name in names
        ]
        best = max(found, key=lambda f: (sources.common_parts(f, self.main), f), default=None)
        return os.path.join(root, best) if best else None

    def listed(self, path):
        """Where a text of the repository lists what is missing, what else stands in that column."""
        ending = os.path.splitext(path)[1]
        for base, _, names in os.walk(self.in_template(self.start)):
            for name in names:
                text = os.path.join(base, name)
                if not name.endswith(LISTS) or os.path.getsize(text) > MOST_LISTED:
                    continue
                with open(text, errors="replace") as stream:
                    rows = [re.split(r"[\s,;]+", row) for row in stream]
                for column, cell in ((c, w) for row in rows for c, w in enumerate(row)):
                    if cell.endswith(ending) and path.endswith("/" + cell):
                        cells = {row[column] for row in rows if len(row) > column}
                        head = path[: len(path) - len(cell)]
                        return [head + other for other in cells if other.endswith(ending)]
        return []

    def make_up(self, mnist, made, pool):
        """Makes up what the last run looked for in vain; returns how many files and folders.
        made: [(kind, path)] of what was made, which grows."""
        count = 0
        for demand, path in self.missing():
            kind = data.kind_of(path, demand)
            kept = os.path.join(pool, os.path.basename(path))
            kept = kept if os.path.isfile(kept) else self.elsewhere(path)
            kind = "found" if kept else kind
            if not kind or (kind, path) in made:
                continue
            at = self.place(path)
            if not at:
                continue
            if kind == "found":
                os.makedirs(os.path.dirname(at), exist_ok=True)
                shutil.copy2(kept, at)
            elif not data.make(kind, at, mnist):
                continue
            elif kind == "picture":
                for other in filter(None, map(self.place, self.listed(path))):
                    data.make(kind, other, mnist)
            made.append((kind, path))
            count += 1
        return count
