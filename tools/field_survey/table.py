"""The table as text: what became of each program, and how many keep what is promised."""

GOOD_SHARE = 0.9
SLOWER = 1.05
LEAST_SECONDS = 0.005  # less than this is the machine's noise, not slower
BRIEF = 0.1  # seconds: a program that ends so soon in eager mode repeats little, if anything

RULES = """\
bits: the files that both modes write and what they print, but for dates, addresses, and numbers
before a unit of time or speed or right after a word like `time`; a program whose eager mode does
not repeat itself is told apart.
compiled: operators that ran compiled, of all. eager, /eager, /LibTorch: processor time (user and
system, compiling included), and the automatic mode's share of it; where the limit ended a run, up
to the last line that both had printed, or for as many operators. Chance and the calendar repeat
(field_survey/world.c)."""


def number(value, form):
    return format(value, form) if value is not None else "-"


def falls_short(row):
    """What of the promises this program that runs does not keep."""
    short = []
    if row.bits == "DIFFER":
        short.append("bits")
    if row.share is not None and row.share < GOOD_SHARE:
        short.append("compiled")
    if is_slower(row):
        short.append("slower")
    return short


def is_slower(row):
    return (
        row.to_eager is not None
        and row.to_eager > SLOWER
        and row.automatic_seconds - row.eager_seconds > LEAST_SECONDS
    )


def text(rows, title, libtorch):
    found = [title, "", RULES, ""]
    heads = ("state", "bits", "operators", "compiled", "eager s", "/eager")
    head = "{:10} {:15} {:>9} {:>8} {:>8} {:>6}".format(*heads)
    found.append(head + (f" {'/LibTorch':>9}" if libtorch else "") + "  program")
    for row in rows:
        share = f"{100 * row.share:.1f} %" if row.share is not None else "-"
        line = (
            f"{row.state[:10]:10} {row.bits:15} {row.operators or '-':>9} {share:>8} "
            f"{number(row.eager_seconds, '.3f'):>8} {number(row.to_eager, '.2f'):>6}"
        )
        if libtorch:
            line += f" {number(row.to_libtorch, '.2f'):>9}"
        short = falls_short(row)
        found.append(f"{line}  {row.program}" + (f"  [{', '.join(short)}]" if short else ""))
        if row.remark:
            found.append(f"{'':11}{row.remark}")
        if row.state == "needs data":
            found.append(f"{'':11}missing: {', '.join(row.missing[:6])}")
        if row.made_up:
            found.append(f"{'':11}made up: {', '.join(row.made_up[:4])}"
                         + (f" and {len(row.made_up) - 4} more" if len(row.made_up) > 4 else ""))
        if short:
            found += [f"{'':11}{reason}" for reason in row.reasons[:3]]
    return "\n".join([*found, "", *summary(rows)]) + "\n"


def summary(rows):
    ran = [r for r in rows if r.state in ("runs", "limit")]
    long = [r for r in ran if r.state == "limit" or (r.eager_seconds or 0) >= BRIEF]
    return [
        f"programs {len(rows)}, compile {sum(r.compiles for r in rows)}, run {len(ran)}",
        f"bits: same {sum(r.bits == 'same' for r in ran)}, "
        f"differ {sum(r.bits == 'DIFFER' for r in ran)}, "
        f"not repeatable {sum(r.bits == 'not repeatable' for r in ran)}, "
        f"nothing printed {sum(r.bits == 'nothing printed' for r in ran)}",
        *figures("all that run", ran),
        *figures(f"those that take {BRIEF:g} s or more in eager mode", long),
    ]


def figures(label, rows):
    shares = [r.share for r in rows if r.share is not None]
    timed = [r for r in rows if r.to_eager is not None]
    ratios = sorted(r.to_eager for r in timed)
    middle = f", median /eager {ratios[len(ratios) // 2]:.2f}" if ratios else ""
    return [
        f"{label}: {sum(s >= GOOD_SHARE for s in shares)} of {len(shares)} at least 90 % compiled, "
        f"{sum(map(is_slower, timed))} of {len(timed)} slower than eager mode by more than 5 %"
        + middle
    ]
