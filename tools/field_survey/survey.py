"""What becomes of one program: built, run in both modes in turns, and with LibTorch."""

import json
import os
import statistics
import sys
from dataclasses import asdict, dataclass, field

from . import output, run

LOOKS = 6  # rounds of finding out what is missing
LOOK_SECONDS = 10
SHORT = 2  # seconds


@dataclass
class Row:
    """A program in the table. Ratios are of processor time, to the last line that both runs had
    printed if the limit ended one of them."""

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

    def kept(self):
        return asdict(self)


def ratio(one, other):
    """(processor seconds of one, of the other, lines) to what both have reached; None where
    that is nothing."""
    if not one.is_ended and not other.is_ended:
        return one.seconds, other.seconds
    count = min(len(output.lines(r.output, not r.is_ended)) for r in (one, other))
    if count == 0:
        return None
    pair = one.seconds_at(count), other.seconds_at(count)
    return pair if min(pair) > 0 else None


def reasons(report, most=5):
    """What the report says first of where time is lost."""
    rows = []
    for loss in report.get("where_time_is_lost", [])[:most]:
        place = str(loss.get("place", "")).rsplit("/", 1)[-1]
        rows.append(f"{loss['lost_milliseconds']:.1f} ms: {place}: {loss['text']}")
    return rows


class Survey:
    def __init__(self, options, groove, libtorch, world_library):
        self.options, self.groove, self.libtorch = options, groove, libtorch
        self.world_library = world_library
        self.arguments = {}
        if options.arguments:
            with open(options.arguments) as stream:
                self.arguments = json.load(stream)

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
        arguments = self.arguments.get(program.name, [])
        made = []
        for _ in range(LOOKS):
            look = min(LOOK_SECONDS, self.options.limit)
            seen = world.run(binary, arguments, self.environment("eager"), look)
            if not world.make_up(self.options.mnist, made):
                break
        row.made_up = [f"{kind} {path}" for kind, path in made]
        report = os.path.join(folder, "report.json")
        runs = {"eager": [], "auto": []}
        if seen.seconds < SHORT:  # writing the report takes time that counts
            missing = world.missing()
            told = self.environment("auto", report)
            runs["auto"].append(world.run(binary, arguments, told, self.options.limit))
            runs["eager"].append(seen)
            if self.has_failed(row, runs, missing):
                self.compare(row, runs, lambda: seen)
                return row
            runs = {"eager": [], "auto": []}
        for number in range(self.options.pairs):
            for mode in ("eager", "auto") if number % 2 == 0 else ("auto", "eager"):
                is_told = mode == "auto" and seen.seconds >= SHORT
                told = self.environment(mode, report if is_told else None)
                runs[mode].append(world.run(binary, arguments, told, self.options.limit))
                if number == 0 and mode == "eager":
                    missing = world.missing()
            if number == 0 and self.has_failed(row, runs, missing):
                break
        self.compare(row, runs, lambda: world.run(
            binary, arguments, self.environment("eager"), self.options.limit))
        if os.path.exists(report):
            with open(report) as stream:
                self.read_report(row, json.load(stream))
        elif row.state in ("runs", "limit"):
            row.remark = (row.remark + "; no report was written").strip("; ")
        if self.libtorch and row.state in ("runs", "limit"):
            self.ask_libtorch(row, program, world, arguments, runs["auto"])
        if not self.options.keep:
            run.shutil.rmtree(folder, ignore_errors=True)
        return row

    def has_failed(self, row, runs, missing):
        eager, auto = runs["eager"][0], runs["auto"][0]
        row.state = "limit" if eager.is_ended or auto.is_ended else "runs"
        if eager.has_failed:
            row.missing = [path for _, path in missing]
            row.state = "needs data" if missing else "fails"
            row.remark = eager.why()
        if auto.has_failed and not eager.has_failed:
            row.state, row.remark = "fails", "only in automatic mode: " + auto.why()
        if eager.has_failed and not auto.has_failed:
            row.remark = "only in eager mode: " + row.remark
        return row.state in ("needs data", "fails")

    def compare(self, row, runs, again):
        """Bits and times of the runs of both modes."""
        eager, auto = runs["eager"][0], runs["auto"][0]

        def same(a, b):
            return output.same(a.output, b.output, not (a.is_ended or b.is_ended))

        is_same, row.lines, where = same(eager, auto)
        row.bits = "same" if is_same else "DIFFER"
        if is_same and row.lines == 0 or not (eager.output.strip() or auto.output.strip()):
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
        row.operators = overall["operators_compiled"] + overall["operators_eager"]
        row.share = overall["share_compiled"] if row.operators else None
        row.compile_milliseconds = overall["compile_milliseconds"]
        row.reasons = reasons(report)

    def ask_libtorch(self, row, program, world, arguments, ours):
        binary, error = self.libtorch.build(program)
        if not binary:
            row.remark = (row.remark + "; LibTorch: " + error).strip("; ")
            return
        threads = {"OMP_NUM_THREADS": str(self.options.threads)} if self.options.threads else {}
        pairs = []
        for mine in ours:
            theirs = world.run(binary, arguments, threads, self.options.limit)
            if theirs.has_failed:
                row.remark = (row.remark + "; LibTorch: " + theirs.why()).strip("; ")
                return
            pairs += [p for p in [ratio(mine, theirs)] if p]
        if pairs:
            row.to_libtorch = statistics.median(p[0] / p[1] for p in pairs)


def tell(text):
    print(text, file=sys.stderr, flush=True)
