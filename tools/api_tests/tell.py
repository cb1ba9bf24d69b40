"""The tables of tools/api-tests."""

from compat_survey import report


class Lacking:
    """A test that does not compile, as the ranking of what is missing wants it."""

    def __init__(self, name, missing):
        self.label, self.missing = name, missing


def read_explained(text):
    """{test: reason} of lines `Suite.Name: reason`."""
    found = {}
    for row in text.split("\n"):
        name, colon, reason = row.partition(": ")
        if colon and not row.startswith("#"):
            found[name.strip()] = reason.strip()
    return found


def counts(results, explained):
    compiled = [t for t, r in results.items() if r["state"] != "none"]
    failed = [t for t in compiled if results[t]["state"] == "fail"]
    return (
        len(results),
        len(compiled),
        sum(1 for t in compiled if results[t]["state"] == "pass"),
        sum(1 for t in failed if t not in explained),
    )


def table(ours, theirs, explained, when):
    rows = [
        f"PyTorch 1.13.1's tests of its C++ API, {when}",
        "",
        f"{'':24} tests  Groove: compile  pass  unexplained"
        + ("   LibTorch: compile  pass" if theirs else ""),
    ]

    def line(label, tests):
        n, compiled, passed, unexplained = counts({t: ours[t] for t in tests}, explained)
        row = f"{label:24} {n:5}  {compiled:15}  {passed:4}  {unexplained:11}"
        if theirs:
            known = {t: theirs[t] for t in tests if t in theirs}
            row += f"   {counts(known, {})[1]:17}  {counts(known, {})[2]:4}"
        return row

    for file in sorted({r["file"] for r in ours.values()}):
        rows.append(line(file, [t for t, r in ours.items() if r["file"] == file]))
    rows.append(line("all", list(ours)))
    n, compiled, passed, unexplained = counts(ours, explained)
    failed = sum(1 for r in ours.values() if r["state"] == "fail")
    rows += [
        "",
        f"{compiled} of {n} compile, {passed} pass, {failed - unexplained} fail for "
        f"a known reason, unexplained: {unexplained}",
    ]
    stale = [t for t in explained if t in ours and ours[t]["state"] == "pass"]
    if stale:
        rows.append("explained, but pass: " + ", ".join(sorted(stale)))
    return "\n".join(rows) + "\n"


def their_state(theirs, test):
    if test not in theirs:
        return "not asked"
    return {
        "none": "does not compile it",
        "built": "was not run",
        "fail": "fails it too",
        "pass": "passes it",
    }[theirs[test]["state"]]


def missing(ours, theirs):
    lacking = [
        Lacking(f"{r['file']} {t}", r["missing"])
        for t, r in ours.items()
        if r["state"] == "none" and theirs.get(t, {"state": "pass"})["state"] != "none"
    ]
    return "\n".join(report.rank(lacking, "tests")) + "\n"


def failing(ours, theirs, explained):
    """The tests that compile and fail: those without a reason first."""
    rows = []
    failed = [t for t, r in ours.items() if r["state"] == "fail"]
    for test in sorted(failed, key=lambda t: (t in explained, ours[t]["file"], t)):
        reason = explained.get(test, "UNEXPLAINED")
        rows += [
            f"== {ours[test]['file']} {test}   (LibTorch 2.15 {their_state(theirs, test)})  "
            f"{reason}",
            ours[test]["message"],
            "",
        ]
    return "\n".join(rows) + "\n"
