"""Whether errors that a study found are what a paper claims: for each, what was found, and a verdict."""
from study_found import MISSING, interval_text, number, seeds_text, without_error

CONFIDENT = 2  # seeds from which on there is an interval
D16_TYPES = ["dynamic8", "linear8", "static8", "mantissa8"]


def runs_text(count):
    return "one run" if count == 1 else f"{count} runs"


def seeds_of(row):
    return int(float(row["seeds"]))


def difference_text(row):
    where = ", ".join(filter(None, (row.get("network"), row.get("data"), f"{row.get('parallel', '')} parallel")))
    lost = without_error(row)
    if number(row, "difference (points)") is None:
        return f"`{row['codec']}` {where}: {seeds_text(lost)} left no error"
    points = interval_text(row, "difference (points)", "points", sign="+", count=seeds_of(row))
    return f"`{row['codec']}` {where}: {points}, {row['verdict']}" + (f"; {seeds_text(lost)} left no error" if lost else "")


def texts_of(rows):
    return "<br>".join(difference_text(row) for row in rows)


def counted(rows, *verdicts):
    return sum(row["verdict"] in verdicts for row in rows)


def too_few(rows):
    return all(seeds_of(row) < CONFIDENT for row in rows)


def loses_nothing(rows):
    """The claim is that errors are the same as in fp32."""
    if not rows:
        return MISSING
    worse, same = counted(rows, "worse"), counted(rows, "same", "better")
    if worse:
        return texts_of(rows), f"no: worse in {worse} of {len(rows)}"
    if same == len(rows):
        return texts_of(rows), "yes"
    if any(map(without_error, rows)):
        return texts_of(rows), f"not shown: {runs_text(sum(map(without_error, rows)))} left no error"
    if too_few(rows):
        return texts_of(rows), "too few seeds to say"
    return texts_of(rows), f"not contradicted: shown in {same} of {len(rows)}, no difference found in the others"


def loses(rows):
    """The claim is that errors are larger than in fp32."""
    if not rows:
        return MISSING
    worse, same = counted(rows, "worse"), counted(rows, "same", "better")
    if worse == len(rows):
        return texts_of(rows), "yes"
    if worse:
        return texts_of(rows), f"in {worse} of {len(rows)}"
    if same == len(rows):
        return texts_of(rows), "no: it loses nothing here"
    return texts_of(rows), "too few seeds to say" if too_few(rows) else "not shown: no loss was found"


def learns_nothing(rows):
    """The claim is that training fails: the error of guessing, of ten classes."""
    if not rows:
        return MISSING
    known = [row for row in rows if number(row, "last error (%)") is not None]
    if not known:
        return texts_of(rows), "it leaves no error at all"
    text = "<br>".join(f"{row.get('network')}, {row.get('data')}: error "
                       f"{interval_text(row, 'last error (%)', '%', digits=1, count=seeds_of(row))} %" for row in known)
    if min(number(row, "last error (%)") for row in known) > 85:
        return text, "yes"
    return text, loses(rows)[1].replace("yes", "no, but it loses much")


def within_part(found, codecs, part, **columns):
    """The claim is that errors are within this part of fp32's."""
    rows = found.accuracy(codecs, **columns)
    if not rows:
        return MISSING
    outside, shown = 0, 0
    for row in rows:
        if number(row, "difference (points)") is None:
            continue
        bound = part * (number(row, "last error (%)") - number(row, "difference (points)"))
        low, high = number(row, "difference from (points)"), number(row, "difference to (points)")
        outside += abs(number(row, "difference (points)")) > bound
        shown += low is not None and -bound <= low and high <= bound and not without_error(row)
    if shown == len(rows):
        return texts_of(rows), "yes"
    if outside:
        return texts_of(rows), f"{len(rows) - outside} of {len(rows)} means are; too few seeds to tell"
    return texts_of(rows), "the means are; too few seeds to show it"


def anova(found, **columns):
    rows = [row for row in found.rows("anova", **columns)
            if all(kind in row["codecs"] for kind in D16_TYPES) and number(row, "p, last") is not None]
    if not rows:
        return MISSING
    row = rows[-1]
    each_type = found.accuracy(D16_TYPES, **columns)
    seeds = sorted({seeds_of(each) for each in each_type})
    p = number(row, "p, last")
    text = f"F({row['df, last']}) = {number(row, 'F, last'):.2f}, p = {p:.2f}; {seeds_text(seeds[0])} each" \
        + (" at least" if len(seeds) > 1 else "")
    differences = texts_of(each_type)
    lost = sum(map(without_error, each_type))
    none_found = f"not shown: {runs_text(lost)} left no error" if lost else "yes: none found"
    return f"{text}<br>{differences}", none_found if p > 0.05 else "no"


def levels(found, low, high, **columns):
    """The claim is that best errors lie in this range; a tenth of a point beside it is near."""
    rows = [row for codec in ["fp32", *D16_TYPES] for row in found.rows("accuracy", codec=codec, **columns)
            if number(row, "best error (%)") is not None]
    if not rows:
        return MISSING
    text = "<br>".join(f"`{row['codec']}` {interval_text(row, 'best error (%)', '%', count=seeds_of(row))}" for row in rows)
    best = [number(row, "best error (%)") for row in rows]
    if low <= min(best) and max(best) <= high:
        return text, "yes"
    return text, "near" if low - 0.1 <= min(best) and max(best) <= high + 0.1 else "no"
