#!/usr/bin/env python3
"""Reference values for the human-ai gate, by a route of its own.

Reads study folders (decisions.csv, options.json, assignment.csv where one is
used) and writes expected.json beside them. Every quantity is counted straight
from its definition, over plain lists, with exact fractions. Nothing here is
shared with the Go code: where the two agree, both have read the definitions
the same way. The definitions and the choices made where they leave room are in
README.md.

    python3 oracle.py FOLDER...           write expected.json
    python3 oracle.py --check FOLDER...   compare with the expected.json there
"""

import csv
import json
import sys
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timezone
from fractions import Fraction
from math import comb
from pathlib import Path

WITH, WITHOUT = "with", "without"

# Reasons for leaving something out.
ABSTAINED = "the system abstained"
NO_OUTPUT = "no output recorded"
DEPARTS = "not as assigned"
NO_VALUE = "the column of `where` is not recorded"

INFINITE = "inf"  # a duration without an upper end

# Error allowed on each side of the median's interval: (1 - 0.95) / 2.
SIDE_ERROR = Fraction(1, 40)

# A number from here on is a Unix time; below it, seconds from any start.
FIRST_UNIX_SECOND = 10**8


@dataclass(frozen=True)
class Row:
    """One recorded line of decisions.csv; empty text is "not recorded"."""

    case: str
    reviewer: str
    condition: str
    decision: str
    reference: str
    ai_output: str
    started_at: str
    decided_at: str
    cells: tuple = ()  # (column, value) for each column that a slice asks for

    def cell(self, column):
        return dict(self.cells)[column]


@dataclass(frozen=True)
class Decision:
    """One decision of the study, made or due.

    decision is "" where none was recorded. reference is "" only for a decision
    without a row. output is "" for a row that recorded none, and None where
    nobody can know it: a decision without a row in a case whose rows show no
    output, or in a file where some case shows two.

    row is the line it was recorded on, None for an absent decision.
    """

    case: str
    reviewer: str
    condition: str
    decision: str
    reference: str
    output: str | None
    seconds: Fraction | None
    row: Row | None

    @property
    def missing(self):
        return self.decision == ""

    @property
    def correct(self):
        return not self.missing and self.decision == self.reference


@dataclass
class Study:
    rows: list
    assigned: list | None  # (reviewer, case, condition), or None without an assignment
    declared: str
    abstain: list
    max_left_out: Fraction
    slices: list  # (column, value) of each `where`


@dataclass
class Part:
    """What one rule is about: the whole study, or the slice that its `where` names."""

    decisions: list
    people: list  # those who can be left out of accuracy_difference
    departing: list  # rows
    no_value: list  # rows that do not record the column of `where`


# Reading


def read_study(folder):
    folder = Path(folder)
    with open(folder / "options.json", encoding="utf-8") as file:
        # The decimal as written: 0.1 is one tenth, not the nearest double.
        options = json.load(file, parse_float=Fraction, parse_int=Fraction)
    slices = [(one["column"], one["value"]) for one in options.get("slices", [])]
    rows = []
    for line in read_csv(folder / "decisions.csv"):
        rows.append(
            Row(
                line["case"],
                line["reviewer"],
                line["condition"],
                line["decision"],
                line["reference"],
                line["ai_output"],
                line.get("started_at", ""),
                line.get("decided_at", ""),
                tuple((column, line[column]) for column in sorted({column for column, _ in slices})),
            )
        )
    assigned = None
    if options["assignment"] is not None:
        assigned = [
            (line["reviewer"], line["case"], line["condition"])
            for line in read_csv(folder / options["assignment"])
        ]
    refuse_bad_input(folder, rows, assigned, options)
    return Study(rows, assigned, options["design"], options["abstain"], options["max_left_out"], slices)


def read_csv(path):
    with open(path, encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            yield {name.strip(): value.strip() for name, value in line.items()}


def refuse_bad_input(folder, rows, assigned, options):
    """The studies are meant to be readable; anything else is a fault of theirs."""
    faults = []
    if not rows:
        faults.append("no rows")
    if len({(r.case, r.reviewer, r.condition) for r in rows}) < len(rows):
        faults.append("the same (case, reviewer, condition) twice")
    if any(r.condition not in (WITH, WITHOUT) for r in rows):
        faults.append("an unknown condition")
    if any(r.reference == "" for r in rows):
        faults.append("an empty reference")
    if len({(r.case, r.reference) for r in rows}) > len({r.case for r in rows}):
        faults.append("two references for one case")
    if any(duration(r) is not None and duration(r) < 0 for r in rows):
        faults.append("a negative duration")
    if len({kind for r in rows for kind in time_kinds(r)}) > 1:
        faults.append("mixed kinds of times")
    if assigned is not None and len(set(assigned)) < len(assigned):
        faults.append("the same assignment twice")
    if options["design"] not in ("", "crossed", "before_after"):
        faults.append("an unknown design")
    if faults:
        raise SystemExit(f"{folder}: {'; '.join(faults)}")


# Times


def seconds_of(text):
    """Seconds since 1970 for an ISO 8601 time (no zone = UTC), else the number."""
    if time_kind(text) != "iso":
        return Fraction(text)
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        time = time.replace(tzinfo=timezone.utc)
    since = time - datetime(1970, 1, 1, tzinfo=timezone.utc)
    return Fraction(since.days * 86400 + since.seconds) + Fraction(since.microseconds, 10**6)


def time_kind(text):
    if "-" in text or ":" in text:
        return "iso"
    return "unix" if Fraction(text) >= FIRST_UNIX_SECOND else "seconds"


def time_kinds(row):
    return [time_kind(text) for text in (row.started_at, row.decided_at) if text != ""]


def duration(row):
    if row.started_at == "" or row.decided_at == "":
        return None
    return seconds_of(row.decided_at) - seconds_of(row.started_at)


def moment(row):
    """When the row was decided, where the file tells a point in time, else None."""
    text = row.decided_at or row.started_at
    if text == "" or time_kind(text) == "seconds":
        return None
    return seconds_of(text)


# Design


def triples(rows):
    return [(r.reviewer, r.case, r.condition) for r in rows]


def pair_design(decided):
    """The design by how often each person decides each case, of (reviewer, case, condition)."""
    conditions_of_pair = Counter((reviewer, case) for reviewer, case, _ in decided)
    if all(count == 2 for count in conditions_of_pair.values()):
        return "before_after"
    if any(count == 2 for count in conditions_of_pair.values()):
        return "mixed"
    return "crossed"


def detected_design(decided):
    """Like pair_design, but a crossed one may be found sparse."""
    if pair_design(decided) != "crossed":
        return pair_design(decided)
    rows_of_cell = Counter((case, condition) for _, case, condition in decided)
    cases = {case for _, case, _ in decided}
    both = all(rows_of_cell[(case, WITH)] and rows_of_cell[(case, WITHOUT)] for case in cases)
    cells = [count for count in rows_of_cell.values() if count]
    single = sum(count == 1 for count in cells)
    if both and 2 * single > len(cells):
        return "sparse"
    return "crossed"


def effective_design(study):
    detected = detected_design(triples(study.rows))
    if detected == "sparse":
        return "sparse"
    if study.assigned is not None and detected_design(study.assigned) == "sparse":
        return "sparse"
    if study.declared:
        return study.declared
    if study.assigned is not None:
        return pair_design(study.assigned)
    return detected


def contradicts(study):
    """Does the assignment, or without one the file, contradict the declared design?"""
    if not study.declared:
        return False
    if study.assigned is not None:
        given = pair_design(study.assigned)
        return given != study.declared and not (given == "mixed" and study.declared == "before_after")
    pairs = Counter((r.reviewer, r.case) for r in study.rows)
    some_twice = any(count == 2 for count in pairs.values())
    if study.declared == "crossed":
        return some_twice
    return {r.condition for r in study.rows} == {WITH, WITHOUT} and not some_twice


def order_broken(study):
    """before_after only: some person decided some case with before without."""
    if effective_design(study) != "before_after":
        return False
    for first in study.rows:
        for second in study.rows:
            if (first.reviewer, first.case) != (second.reviewer, second.case):
                continue
            if (first.condition, second.condition) != (WITHOUT, WITH):
                continue
            without, with_ = moment(first), moment(second)
            if without is not None and with_ is not None and with_ < without:
                return True
    return False


# What the study consists of


def departing_rows(study):
    if study.assigned is None:
        return []
    assigned = set(study.assigned)
    return [r for r in study.rows if (r.reviewer, r.case, r.condition) not in assigned]


def people_of(study):
    """Everyone in the file or in the assignment, sorted so that nothing hangs on order."""
    people = {r.reviewer for r in study.rows}
    if study.assigned is not None:
        people |= {reviewer for reviewer, _, _ in study.assigned}
    return sorted(people)


def decisions_of(study):
    """Every decision of the study: the rows that do not depart, and the absent ones."""
    departing = set(departing_rows(study))
    kept = [r for r in study.rows if r not in departing]
    recorded = {(r.reviewer, r.case, r.condition) for r in kept}

    if study.assigned is not None:
        due = set(study.assigned)
    elif study.declared == "before_after" and effective_design(study) == "before_after":
        due = {(r.reviewer, r.case, c) for r in study.rows for c in (WITH, WITHOUT)}
    else:
        due = recorded

    decisions = [
        Decision(
            r.case,
            r.reviewer,
            r.condition,
            r.decision,
            r.reference,
            # What a without row says about the system was not on the screen.
            r.ai_output if r.condition == WITH else None,
            duration(r),
            r,
        )
        for r in kept
    ]
    for reviewer, case, condition in sorted(due - recorded):
        references = {r.reference for r in study.rows if r.case == case}
        reference = references.pop() if references else ""
        output = inferred_output(study, case) if condition == WITH else None
        decisions.append(Decision(case, reviewer, condition, "", reference, output, None, None))
    return decisions


def shown_outputs(study):
    """case -> the different outputs on the file's with rows, whether they depart or not."""
    outputs = {}
    for r in study.rows:
        if r.condition == WITH and r.ai_output != "":
            outputs.setdefault(r.case, set()).add(r.ai_output)
    return outputs


def inferred_output(study, case):
    """What an absent with decision of the case would have been shown, None where nobody can know.

    A system that answered one case in two ways may have answered any case in another way.
    """
    outputs = shown_outputs(study)
    if case not in outputs or any(len(values) > 1 for values in outputs.values()):
        return None
    return next(iter(outputs[case]))


# Parts


def whole(study):
    return Part(decisions_of(study), people_of(study), departing_rows(study), [])


def slice_of(study, column, value):
    decisions = [
        d
        for d in decisions_of(study)
        if (d.row.cell(column) == value if d.row else absent_is_in(study.rows, d, column, value))
    ]
    departing = departing_rows(study)
    return Part(
        decisions,
        sorted({d.reviewer for d in decisions} | {r.reviewer for r in departing if r.cell(column) == value}),
        [r for r in departing if r.cell(column) == value],
        [r for r in study.rows if r.cell(column) == "" and r not in departing],
    )


def absent_is_in(rows, d, column, value):
    """Does an absent decision belong to the slice? Where its value is not known, it may, and so it does.

    The rows do not say whether the column tells of cases or of people. It is known where both have rows and one of
    the two agrees on a value, which the other does not contradict by agreeing on another.
    """
    of_case = {r.cell(column) for r in rows if r.case == d.case}
    of_person = {r.cell(column) for r in rows if r.reviewer == d.reviewer}
    if not of_case or not of_person:
        return True
    agreed = [values for values in (of_case, of_person) if len(values) == 1]
    if not agreed or any(values != agreed[0] for values in agreed):
        return True
    return agreed[0] <= {value, ""}


# accuracy_difference


def absent_arm(study, person):
    """The condition that declared crossed promises a person, and of which the file has no row; else None."""
    if study.assigned is not None or study.declared != "crossed" or effective_design(study) != "crossed":
        return None
    conditions = {r.condition for r in study.rows if r.reviewer == person}
    return other(conditions.pop()) if len(conditions) == 1 else None


def other(condition):
    return WITHOUT if condition == WITH else WITH


def accuracy_difference(study, part):
    decisions = part.decisions
    people = part.people
    design = effective_design(study)

    low, high, recorded_gains, left_out = [], [], [], 0
    for person in people:
        with_ = [d for d in decisions if d.reviewer == person and d.condition == WITH]
        without = [d for d in decisions if d.reviewer == person and d.condition == WITHOUT]
        absent = absent_arm(study, person)
        if (not with_ and absent != WITH) or (not without and absent != WITHOUT):
            left_out += 1
            continue
        worst_with, best_with = ends(with_)
        worst_without, best_without = ends(without)
        low.append(worst_with - best_without)
        high.append(best_with - worst_without)
        if any(not d.missing for d in with_) and any(not d.missing for d in without):
            recorded_gains.append(recorded_accuracy(with_) - recorded_accuracy(without))

    nothing_recorded = all(d.missing for d in decisions)
    not_decided = []
    if design in ("sparse", "mixed"):
        not_decided.append(design)
    if contradicts(study):
        not_decided.append("contradiction")
    if order_broken(study):
        not_decided.append("order")
    if left_out > study.max_left_out * len(people):
        not_decided.append("left_out")
    rows = sum(d.row is not None for d in decisions) + len(part.departing) + len(part.no_value)
    if len(part.departing) > study.max_left_out * rows:
        not_decided.append("departures")
    if len(low) < 2:
        not_decided.append("fewer_than_two_people")
    if nothing_recorded:
        not_decided.append("nothing_recorded")

    return {
        "low": fractions(low),
        "high": fractions(high),
        "estimate": fraction(mean(recorded_gains)),
        "people": len(low),
        "left_out": left_out,
        "completions": [fraction(mean(low)), fraction(mean(high))],
        "decidable": not not_decided,
        "not_decided": not_decided,
    }


def ends(arm):
    """Least and greatest accuracy of an arm over all completions; [0, 1] for an absent one."""
    if not arm:
        return Fraction(0), Fraction(1)
    correct = sum(d.correct for d in arm)
    missing = sum(d.missing for d in arm)
    return Fraction(correct, len(arm)), Fraction(correct + missing, len(arm))


def recorded_accuracy(arm):
    return Fraction(sum(d.correct for d in arm), sum(not d.missing for d in arm))


# Rates


def system_said(study, d):
    """What a with decision's output tells: "right", "wrong", "unknown", or why it tells nothing."""
    if d.output is None:
        return "unknown"
    if d.output == "":
        return NO_OUTPUT
    if d.output in study.abstain:
        return ABSTAINED
    return "right" if d.output == d.reference else "wrong"


# name -> (condition, kinds of output that belong to the denominator, what is counted).
# An unknown output may belong to any denominator, so it is in all of them, missing.
RATES = {
    "agreement": (WITH, ("right", "wrong", "unknown"), lambda d: d.decision == d.output),
    "over_reliance": (WITH, ("wrong", "unknown"), lambda d: d.decision == d.output),
    "correct_override": (WITH, ("wrong", "unknown"), lambda d: d.decision == d.reference),
    "harmful_override": (WITH, ("right", "unknown"), lambda d: d.decision != d.output),
    "accuracy_with": (WITH, None, lambda d: d.decision == d.reference),
    "accuracy_without": (WITHOUT, None, lambda d: d.decision == d.reference),
}


def rate(study, part, name):
    condition, kinds, counts = RATES[name]
    of_condition = [d for d in part.decisions if d.condition == condition]
    if kinds is None:
        denominator = of_condition
    else:
        denominator = [d for d in of_condition if system_said(study, d) in kinds]

    left_out = Counter()
    left_out[DEPARTS] = sum(r.condition == condition for r in part.departing)
    left_out[NO_VALUE] = sum(r.condition == condition for r in part.no_value)
    if kinds is not None:
        for reason in (ABSTAINED, NO_OUTPUT):
            left_out[reason] = sum(system_said(study, d) == reason for d in of_condition)

    low, high, estimates, people_left_out = [], [], [], 0
    for person in part.people:
        own = [d for d in denominator if d.reviewer == person]
        if absent_arm(study, person) == condition:
            low.append(Fraction(0))
            high.append(Fraction(1))
            continue
        if not own:
            people_left_out += 1
            continue
        k, n, m = tally(own, counts)
        low.append(Fraction(k, n))
        high.append(Fraction(k + m, n))
        if n > m:
            estimates.append(Fraction(k, n - m))

    k, n, m = tally(denominator, counts)
    return {
        "numerator": k,
        "denominator": n,
        "missing": m,
        "estimate": fraction(Fraction(k, n - m) if n > m else None),
        "left_out": present(left_out),
        "repeats": repeats(d.reviewer for d in denominator) or repeats(d.case for d in denominator),
        "per_person": {
            "low": fractions(low),
            "high": fractions(high),
            "estimate": fraction(mean(estimates)),
            "left_out": people_left_out,
        },
    }


def tally(decisions, counts):
    """Counted events, decisions and missing decisions."""
    events = sum(not d.missing and counts(d) for d in decisions)
    return events, len(decisions), sum(d.missing for d in decisions)


def repeats(values):
    return any(count > 1 for count in Counter(values).values())


def system_accuracy(study, part):
    with_ = [d for d in part.decisions if d.condition == WITH]
    departing = {r.case for r in part.departing if r.condition == WITH}
    no_value = {r.case for r in part.no_value if r.condition == WITH}
    right = missing = units = several = 0
    left_out = Counter()
    for case in sorted({d.case for d in with_} | departing | no_value):
        rows = [d.row for d in with_ if d.case == case and d.row]
        outputs = {r.ai_output for r in rows} - {""}
        committed = outputs - set(study.abstain)
        if not rows and case in departing:
            left_out[DEPARTS] += 1
        elif not rows and case in no_value:
            left_out[NO_VALUE] += 1
        elif not outputs:
            left_out[NO_OUTPUT] += 1
        elif not committed:
            left_out[ABSTAINED] += 1
        else:
            units += 1
            several += len(outputs) > 1
            is_right = rows[0].reference in committed
            right += is_right and len(committed) == 1
            missing += is_right and len(committed) > 1
    return {
        "numerator": right,
        "denominator": units,
        "missing": missing,
        "estimate": fraction(Fraction(right, units - missing) if units > missing else None),
        "left_out": present(left_out),
        "repeats": False,  # cases are the units
        "several_outputs": several,
    }


# Decision time


def decision_time(study):
    """Per condition, or None where the file records no duration at all."""
    if all(duration(r) is None for r in study.rows):
        return None
    return {condition: condition_time(study, condition) for condition in (WITH, WITHOUT)}


def condition_time(study, condition):
    decisions = [d for d in decisions_of(study) if d.condition == condition]
    recorded = [d.seconds for d in decisions if d.seconds is not None]
    low, high, estimates, left_out = [], [], [], 0
    for person in people_of(study):
        own = [d.seconds for d in decisions if d.reviewer == person]
        if not own:
            left_out += 1
            continue
        known = [s for s in own if s is not None]
        unknown = len(own) - len(known)
        low.append(median([Fraction(0)] * unknown + sorted(known)))
        high.append(median(sorted(known) + [INFINITE] * unknown))
        if known:
            estimates.append(median(sorted(known)))
    low.sort()
    high.sort(key=lambda value: (value == INFINITE, 0 if value == INFINITE else value))
    return {
        "pooled_median": fraction(median(sorted(recorded)) if recorded else None),
        "recorded": len(recorded),
        "missing": len(decisions) - len(recorded),
        "per_person": {
            "low": [fraction(value) for value in low],
            "high": [fraction(value) for value in high],
            "estimate": fraction(median(sorted(estimates)) if estimates else None),
            "left_out": left_out,
            "interval_95": median_interval(low, high),
        },
    }


def median(ordered):
    """The middle value of an ordered list, or the mean of the two middle ones."""
    n = len(ordered)
    below, above = ordered[(n - 1) // 2], ordered[n // 2]
    if INFINITE in (below, above):
        return INFINITE
    return (below + above) / 2


def median_interval(low, high):
    """[low(j), high(n+1-j)], j the largest with P(Bin(n, 1/2) <= j-1) <= 1/40; None without one."""
    n = len(low)
    j = 0
    while Fraction(sum(comb(n, i) for i in range(j + 1)), 2**n) <= SIDE_ERROR:
        j += 1
    if j == 0:
        return None
    return [fraction(low[j - 1]), fraction(high[n - j])]


# Writing


def mean(values):
    return sum(values, Fraction(0)) / len(values) if values else None


def fraction(value):
    if value is None or value == INFINITE:
        return value
    return f"{value.numerator}/{value.denominator}"


def fractions(values):
    return [fraction(value) for value in sorted(values)]


def present(counter):
    return {reason: counter[reason] for reason in sorted(counter) if counter[reason]}


def measures(study, part):
    return {
        "accuracy_difference": accuracy_difference(study, part),
        "rates": {name: rate(study, part, name) for name in RATES},
        "system_accuracy": system_accuracy(study, part),
    }


def expected(study):
    result = {
        "design": effective_design(study),
        "detected": detected_design(triples(study.rows)),
        "contradiction": contradicts(study),
        "order_broken": order_broken(study),
        "rows": len(study.rows),
        "absent": len(decisions_of(study)) + len(departing_rows(study)) - len(study.rows),
        "departing": len(departing_rows(study)),
        "people": len(people_of(study)),
        **measures(study, whole(study)),
        "decision_time": decision_time(study),
    }
    if study.slices:
        result["slices"] = {
            f"{column}={value}": measures(study, slice_of(study, column, value)) for column, value in study.slices
        }
    return result


def text_of(value):
    """JSON with lists on one line each, so that a difference is a difference of few lines."""
    lines = json.dumps(value, indent=1, ensure_ascii=False).split("\n")
    out, inside = [], False
    for line in lines:
        if inside:
            out[-1] += ("" if line.strip() == "]" or line.strip() == "]," else " " * (out[-1][-1] != "[")) + line.strip()
            inside = not line.strip().startswith("]")
        else:
            out.append(line)
            inside = line.endswith("[")
    return "\n".join(out) + "\n"


def main(arguments):
    check = arguments[:1] == ["--check"]
    folders = arguments[1:] if check else arguments
    if not folders:
        raise SystemExit("usage: oracle.py [--check] FOLDER...")
    wrong = 0
    for folder in folders:
        text = text_of(expected(read_study(folder)))
        path = Path(folder) / "expected.json"
        if not check:
            path.write_text(text, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != text:
            print(f"{path}: differs from what the oracle computes")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
