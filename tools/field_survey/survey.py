"""What becomes of one program: built, run in both modes in turns, and with LibTorch."""

import json
import os
import shutil
import statistics
import sys
import time
from dataclasses import asdict, dataclass, field

from . import data, output, run

LOOKS = 60  # rounds of finding out what is missing
LOOK_SECONDS = 5  # a round; all of them take ten times as long at most
SHORT = 2  # seconds


@dataclass
class Row:
    """A program in the table. Ratios are of processor time for the same work."""

    program: str
    compiles: bool = False
    state: str = ""  # does not compile, needs data, fails, runs, limit
    remark: str = ""
    bits: str = ""  # same, DIFFER, not repeatable, nothing printed
    lines: int = 0  # that were compared
    operators: int = 0
    share: float | None = None
    eager_seconds: float | None = None
    automatic_seconds: float | None = None
    to_eager: float | None = None
    to_libtorch: float | None = None
    compile_milliseconds: float | None = None
    made_up: list = field(default_factory=list)
    missing: list = field(default_factory=list)
    reasons: list = field(default_factory=list)

    @staticmethod
    def built(program, made):
        binary, error = made
        state = "compiles" if binary else "does not compile"
        return Row(program.name, bool(binary), state, error or "")

    def brief(self):
        return " ".join(filter(None, (self.state, self.bits, self.program, self.remark)))

    def kept(self):
        return asdict(self)


def ratio(one, other):
    """(processor seconds of one, of the other) for the same work: all of it; or, where the limit
    ended one of them, up to the last line that both had printed, if that is at least half of
    both; or else the other's for as many operators as the one has run. None where neither is
    known."""
    if not one.is_ended and not other.is_ended:
        return one.seconds, other.seconds
    count = min(len(output.lines(r.output, not r.is_ended)) for r in (one, other))
    at = [run.seconds_at(count) if count else 0.0 for run in (one, other)]
    if one.operators and other.operators and any(
        part < run.seconds / 2 for part, run in zip(at, (one, other))
    ):
        return one.seconds, other.seconds * one.operators / other.operators
    return tuple(at) if min(at) > 0 else None


def load(path):
    """What a JSON file holds; None where there is none, or the writer was ended half way."""
    if not os.path.exists(path):
        return None
    with open(path) as stream:
        try:
            return json.load(stream)
        except ValueError:
            return None


def operators(report):
    overall = report["overall"] if report else {}
    return overall.get("operators_compiled", 0) + overall.get("operators_eager", 0)


def reasons(report, most=5):
    """What the report says first of where time is lost."""
    rows = []
    for loss in report.get("where_time_is_lost", [])[:most]:
        source = str(loss.get("source", "")).rsplit("/", 1)[-1]
        rows.append(f"{loss['lost_milliseconds']:.1f} ms: {source}: {loss['text']}")
    return rows


class Survey:
    def __init__(self, options, groove, libtorch, world_library):
        self.options, self.groove, self.libtorch = options, groove, libtorch
        self.world_library = world_library
        self.arguments = (load(options.arguments) if options.arguments else None) or {}

    def environment(self, mode, report=None):
        found = {"GROOVE_MODE": mode}
        if report:
            found["GROOVE_REPORT"] = report
        if self.options.threads:
            found["GROOVE_NUM_THREADS"] = str(self.options.threads)
        return found

    def survey(self, program, built):
        """Everything about a program; built is (binary, error)."""
        row, binary = Row.built(program, built), built[0]
        if not binary:
            return row
        folder = os.path.join(self.options.out, "worlds", program.name.replace("/", "_"))
        world = run.World(folder, program.repository, program.main, self.world_library)
        seen, missing = self.find_data(row, program, world, binary)
        runs = self.run_in_turns(row, program, world, binary, seen, missing)
        self.compare(row, runs, lambda: self.run(program, world, binary, "eager"))
        if row.state in ("runs", "limit"):
            report = load(os.path.join(folder, "auto.json"))
            if report:
                self.read_report(row, report)
            else:
                row.remark = (row.remark + "; no report was written").strip("; ")
            world.collect(self.pool(program))
            if self.libtorch:
                self.ask_libtorch(row, program, world, runs["auto"])
        if not self.options.keep:
            shutil.rmtree(folder, ignore_errors=True)
        return row

    def pool(self, program):
        """Where lies what programs of the repository wrote."""
        return os.path.join(self.options.out, "written", program.repository.name)

    def can_be_had(self, program, row):
        """Another program has meanwhile written what this one misses."""
        names = {os.path.basename(path) for path in row.missing}
        pool = self.pool(program)
        return row.state == "needs data" and os.path.isdir(pool) and names & set(os.listdir(pool))

    def run(self, program, world, binary, mode, report=None, limit=None):
        told = self.environment(mode, report)
        arguments = self.arguments.get(program.name, [])
        return world.run(binary, arguments, told, limit or self.options.limit)

    def find_data(self, row, program, world, binary):
        """Makes up what is missing until nothing more can be; returns the last run and what is
        missing still."""
        look, begun, made = min(LOOK_SECONDS, self.options.limit), time.time(), []
        are_sorted = False
        for _ in range(LOOKS):
            seen = self.run(program, world, binary, "eager", limit=look)
            count = world.make_up(self.options.mnist, made, self.pool(program))
            if count and time.time() - begun > 10 * look:
                seen = self.run(program, world, binary, "eager", limit=look)
                break
            if not count:
                folders = [path for kind, path in made if kind == "folder"]
                if not seen.has_failed or are_sorted or not folders:
                    break
                are_sorted = True
                for path in folders:
                    data.sort_into_classes(world.place(path))
        row.made_up = [f"{kind} {path}" for kind, path in made]
        return seen, [path for _, path in world.missing()]

    def run_in_turns(self, row, program, world, binary, seen, missing):
        """{mode: [runs]}. The report is of a run by itself where writing it takes time that
        counts."""
        is_short = seen.seconds < SHORT and not seen.is_ended
        reports = {mode: os.path.join(world.folder, mode + ".json") for mode in ("eager", "auto")}
        if is_short or seen.has_failed:
            first = self.run(program, world, binary, "auto", reports["auto"])
            if self.has_failed(row, seen, first, missing):
                return {"eager": [seen], "auto": [first]}
        runs = {"eager": [], "auto": []}
        for number in range(self.options.pairs):
            for mode in ("eager", "auto") if number % 2 == 0 else ("auto", "eager"):
                told = None if is_short else reports[mode]
                done = self.run(program, world, binary, mode, told)
                done.operators = operators(load(told)) if told else 0
                runs[mode].append(done)
            eager, auto = runs["eager"][-1], runs["auto"][-1]
            if self.has_failed(row, eager, auto, missing):
                break
            if eager.is_ended and auto.is_ended:  # long enough to tell by one
                break
        return runs

    def has_failed(self, row, eager, auto, missing):
        row.state = "limit" if eager.is_ended or auto.is_ended else "runs"
        if eager.has_failed and auto.has_failed:
            row.missing = missing
            row.state = "needs data" if missing else "fails"
            row.remark = auto.why()
        elif eager.is_ended or auto.is_ended:
            if eager.has_failed or auto.has_failed:  # the other one had not got there
                row.state, row.missing = ("needs data" if missing else "fails"), missing
                row.remark = (auto if auto.has_failed else eager).why()
        elif eager.has_failed != auto.has_failed:
            failed = eager if eager.has_failed else auto
            mode = "eager" if eager.has_failed else "automatic"
            row.state, row.remark = "fails", f"only in {mode} mode: {failed.why()}"
        return row.state in ("needs data", "fails")

    def compare(self, row, runs, again):
        """Bits and times of the runs of both modes."""
        eager, auto = runs["eager"][0], runs["auto"][0]

        def same(a, b):
            is_whole = not (a.is_ended or b.is_ended)
            is_same, count, where = output.same(a.output, b.output, is_whole)
            if is_same and is_whole and a.files != b.files:
                odd = sorted(dict(a.files.items() ^ b.files.items()))
                return False, count, f"files that were written: {', '.join(odd[:3])}"
            return is_same, count, where

        is_same, row.lines, where = same(eager, auto)
        row.bits = "same" if is_same else "DIFFER"
        if is_same and (row.lines == 0 or not eager.output.strip()) and not eager.files:
            row.bits = "nothing printed"
        for other in runs["auto"][1:]:
            if is_same:
                is_same, _, where = same(eager, other)
                row.bits = row.bits if is_same else "DIFFER"
        if not is_same:
            others = runs["eager"][1:] or [again()]
            if not all(same(eager, other)[0] for other in others):
                row.bits = "not repeatable"
            row.remark = f"{row.remark}; {where}".strip("; ")
        pairs = [p for p in map(ratio, runs["auto"], runs["eager"]) if p]
        if pairs and row.state in ("runs", "limit"):
            row.automatic_seconds = statistics.median(p[0] for p in pairs)
            row.eager_seconds = statistics.median(p[1] for p in pairs)
            row.to_eager = statistics.median(p[0] / p[1] for p in pairs)

    def read_report(self, row, report):
        overall = report["overall"]
        row.operators = operators(report)
        row.share = overall["share_compiled"] if row.operators else None
        row.compile_milliseconds = overall["compile_milliseconds"]
        row.reasons = reasons(report)

    def ask_libtorch(self, row, program, world, ours):
        binary, error = self.libtorch.build(program)
        if not binary:
            row.remark = (row.remark + "; LibTorch: " + error).strip("; ")
            return
        threads = {"OMP_NUM_THREADS": str(self.options.threads)} if self.options.threads else {}
        pairs = []
        for mine in ours:
            arguments = self.arguments.get(program.name, [])
            theirs = world.run(binary, arguments, threads, self.options.limit)
            if theirs.has_failed:
                row.remark = (row.remark + "; LibTorch: " + theirs.why()).strip("; ")
                return
            pairs += [p for p in [ratio(mine, theirs)] if p]
        if pairs:
            row.to_libtorch = statistics.median(p[0] / p[1] for p in pairs)


def tell(text):
    print(text, file=sys.stderr, flush=True)
