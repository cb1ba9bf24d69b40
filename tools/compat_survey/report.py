"""The tables: by repository, program and file, and what is missing by the programs it unlocks."""

from collections import Counter


class Program:
    """A program's files, what both libraries say to them, and all that Groove lacks for it."""

    def __init__(self, repository, main, files, groove, libtorch):
        self.repository, self.main, self.files = repository, main, files
        self.label = f"{repository}/{main}"
        self.groove = [groove.get((repository, f)) for f in files]
        self.libtorch = [libtorch.get((repository, f)) for f in files]
        self.compiles = all(a and a.accepted for a in self.groove)
        self.is_known = all(self.libtorch)
        self.libtorch_compiles = self.is_known and all(a.accepted for a in self.libtorch)
        self.outside = next((a.outside for a in self.groove if a and a.outside), None)
        self.missing = []
        for answer in self.groove:
            for name in answer.missing if answer else ():
                if name not in self.missing:
                    self.missing.append(name)


def share(part, whole):
    return f"{part} of {whole}" + (f" ({100 * part / whole:.0f} %)" if whole else "")


def mark(answer):
    if answer is None:
        return "?"
    return "yes" if answer.accepted else "-" if answer.outside else "no"


def programs_of(repositories, groove, libtorch):
    return [
        Program(r.name, main, files, groove, libtorch)
        for r in repositories
        for main, files in r.programs()
    ]


def table(repositories, groove, libtorch, title):
    """The whole table as text. groove and libtorch: {(repository, file): Answer}."""
    programs = programs_of(repositories, groove, libtorch)
    files = [(r.name, s.path) for r in repositories for s in r.sources.values() if s.uses_torch]
    rows = [title, ""]

    def line(label, some_programs, some_files):
        accepted = [f for f in some_files if f in libtorch and libtorch[f].accepted]
        good = [f for f in accepted if f in groove and groove[f].accepted]
        theirs = [p for p in some_programs if p.libtorch_compiles]
        ours = [p for p in theirs if p.compiles]
        return (
            f"{label:44} {sum(p.compiles for p in some_programs):4} {len(some_programs):4}   "
            f"{len(ours):4} {len(theirs):4}   {len(good):4} {len(accepted):4}   "
            f"{sum(1 for f in some_files if f in groove and groove[f].accepted):4} "
            f"{len(some_files):4}"
        )

    heads = ("programs", "of LibTorch's", "LibTorch's files", "all files")
    rows.append(f"{'Groove compiles':44} " + "  ".join(f"{h:>10}" for h in heads))
    for repository in repositories:
        rows.append(
            line(
                repository.name[:44],
                [p for p in programs if p.repository == repository.name],
                [f for f in files if f[0] == repository.name],
            )
        )
    rows.append(line("all", programs, files))
    theirs = [p for p in programs if p.libtorch_compiles]
    accepted = [f for f in files if f in libtorch and libtorch[f].accepted]
    rows += [
        "",
        "programs                             "
        + share(sum(p.compiles for p in programs), len(programs)),
    ]
    if libtorch:
        unknown = sum(1 for f in files if f not in libtorch)
        rows += [
            "programs that LibTorch compiles whole "
            + share(sum(p.compiles for p in theirs), len(theirs)),
            "files that LibTorch compiles          "
            + share(sum(1 for f in accepted if f in groove and groove[f].accepted), len(accepted)),
        ]
        if unknown:
            rows.append(f"LibTorch has not been asked about {unknown} files yet")

    rows += ["", "programs: Groove, LibTorch, files (accepted by Groove of all), first missing", ""]
    for p in sorted(programs, key=lambda p: (p.repository, p.main)):
        first = next((a.first for a in p.groove if a and not a.accepted), "")
        whole = "?" if not p.is_known else "yes" if p.libtorch_compiles else "no"
        rows.append(
            f"{'yes' if p.compiles else 'no':3} {whole:3} "
            f"{sum(1 for a in p.groove if a and a.accepted):2}/{len(p.files):<2} "
            f"{p.repository}/{p.main}  {first}"
        )
    rows += [
        "",
        "files: Groove, LibTorch (-: a third party's header is not installed), what is missing",
        "",
    ]
    for key in sorted(files):
        answer = groove.get(key)
        lacks = (
            "; ".join(answer.missing[:6])
            if answer and answer.missing
            else answer.first if answer else ""
        )
        rows.append(f"{mark(answer):3} {mark(libtorch.get(key)):3} {'/'.join(key)}  {lacks}")
        if answer and not answer.accepted and answer.message:
            rows.append(f"        {answer.message[:200]}")
        theirs = libtorch.get(key)
        if theirs and not theirs.accepted and answer and answer.accepted:
            rows.append(f"        LibTorch: {theirs.message[:200]}")
    return "\n".join(rows) + "\n"


def greedy(programs):
    """[(names, programs they complete, so far)]: again and again the smallest set of names that
    makes another program compile, those first that complete the most."""
    left = [(p, set(p.missing)) for p in programs if p.missing]
    steps, done = [], 0
    while left:

        def gain(names):
            return sum(1 for _, m in left if m <= names)

        _, best = min(
            left, key=lambda item: (len(item[1]) / gain(item[1]), len(item[1]), sorted(item[1]))
        )
        best = set(best)
        unlocked = [p for p, m in left if m <= best]
        done += len(unlocked)
        steps.append((sorted(best), unlocked, done))
        left = [(p, m - best) for p, m in left if not m <= best]
    return steps


def rank(lacking, what):
    """Rows that say what things lack, each a .label with its .missing names, and the shortest
    way on."""
    asked, alone, part = Counter(), Counter(), Counter()
    for thing in lacking:
        asked.update(thing.missing)
        if len(thing.missing) == 1:
            alone.update(thing.missing)
        for name in thing.missing:
            part[name] += 1 / len(thing.missing)
    rows = [
        f"{len(lacking)} {what} lack something; "
        f"in the median {median([len(t.missing) for t in lacking])} names",
        "",
        f"what is missing: {what} that lack it, those that lack nothing else, sum of 1/names",
        "",
    ]
    for name in sorted(asked, key=lambda n: (-alone[n], -part[n], n)):
        rows.append(f"{asked[name]:4} {alone[name]:4} {part[name]:6.2f}  {name}")
    rows += ["", f"the shortest way: what to add next, and the {what} that then compile", ""]
    for names, unlocked, done in greedy(lacking):
        rows.append(f"{done:4} (+{len(unlocked)})  {'; '.join(names)}")
        rows += [f"            {thing.label}" for thing in unlocked]
    return rows


def ranking(repositories, groove, libtorch):
    """What is missing, by the programs that it unlocks. Programs that LibTorch does not compile
    count only where it was not asked."""
    programs = [
        p
        for p in programs_of(repositories, groove, libtorch)
        if not p.compiles and not p.outside and (p.libtorch_compiles or not p.is_known)
    ]
    rows = rank(programs, "programs")
    files = Counter()
    for key, answer in groove.items():
        if (
            not answer.accepted
            and not answer.outside
            and (key not in libtorch or libtorch[key].accepted)
        ):
            files.update(answer.missing)
    rows += ["", "what is missing, by files", ""]
    rows += [f"{count:4}  {name}" for name, count in files.most_common()]
    return "\n".join(rows) + "\n"


def median(numbers):
    numbers = sorted(numbers)
    return numbers[len(numbers) // 2] if numbers else 0
