#!/usr/bin/env python3
"""Draws the studies of this folder: NN/decisions.csv, options.json, assignment.csv.

Seeded: the same program writes the same bytes. Only random.random() is used
of Python's generator, the one method whose sequence Python promises to keep.

    python3 generate.py    remove and draw every study again, then run oracle.py on them

Each entry of STUDIES says what its study must show ("want", values of
expected.json). Seeds are tried in order until it does, and until nothing in the study
hangs on a reading that the definitions leave open (see ambiguities).
"""

import csv
import io
import json
import random
import shutil
import sys
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from fractions import Fraction
from pathlib import Path

sys.dont_write_bytecode = True
import oracle
from oracle import WITH, WITHOUT, other

HERE = Path(__file__).resolve().parent
COLUMNS = ["case", "reviewer", "condition", "decision", "reference", "ai_output"]
TIMES = ["started_at", "decided_at"]

DEFAULTS = {
    "shape": "crossed",  # how conditions are given out: crossed, before_after, mixed, sparse, three (two with, one without)
    "people": 5,
    "cases": 8,
    "labels": ["yes", "no"],
    "own_cases": None,  # cases a person gets: a number, or (fewest, most); None is all
    "declared": "",
    "max_left_out": 0.1,
    "assignment": False,
    "abstain": [],
    "system": 0.7,  # chance that the system is right
    "abstains": 0.0,  # chance that a case's output is an abstention
    "several": 0,  # cases whose with rows show several outputs
    "beside": 0,  # cases some of whose with rows show an abstention instead of the case's output
    "no_decision": 0.0,  # chance that a row has no decision
    "no_output": 0.0,  # chance that a with row has no output
    "stray_output": 0.0,  # chance that a without row has one, which means nothing
    "absent": 0.0,  # chance that an assigned row is not in the file
    "drop_with": 0.0,  # chance that a with row is not in the file
    "drop_without": 0.0,
    "lost": 0,  # rows that are not in the file
    "one_armed": 0,  # people who lose all rows of one condition, with and without in turn
    "one_armed_assigned": 0,  # people who are assigned one condition only
    "silent": 0,  # people without any decision recorded in one condition
    "no_show": 0,  # assigned people without a row
    "switched": 0,  # rows recorded in the other condition than assigned
    "unassigned": 0,  # rows of assigned people on cases that were not assigned to them
    "doubled": 0,  # assigned pairs recorded in the other condition too
    "strangers": 0,  # people with rows, but not in the assignment
    "times": "",  # iso, iso_zone, unix, seconds
    "no_time": 0.0,  # chance that a time is not recorded
    "no_start": False,  # no started_at at all: order without durations
    "wrong_order": 0,  # pairs decided with before without
    "spaces": False,  # white space around values, columns shuffled, a column more
    "site": "",  # what the value of the column site goes by: case, person, row; none where empty
    "no_site": 0.0,  # chance that a row's site is not recorded
    "blank": 0,  # cases or people (what the site goes by) none of whose rows record it
    "slices": [],  # the sites that a rule's where asks for
    "want": {},
}


class Draw:
    """A seeded source of choices."""

    def __init__(self, seed):
        self.source = random.Random(seed)

    def chance(self, p):
        return self.source.random() < p

    def below(self, n):
        return int(self.source.random() * n)

    def pick(self, values):
        return values[self.below(len(values))]

    def shuffled(self, values):
        values = list(values)
        for i in range(len(values) - 1, 0, -1):
            j = self.below(i + 1)
            values[i], values[j] = values[j], values[i]
        return values

    def some(self, values, count):
        return self.shuffled(values)[:count]


def assignment_of(spec, draw):
    """The plan: a list of (person, case, condition)."""
    people = [f"r{i + 1:02}" for i in range(spec["people"])]
    cases = [f"c{i + 1:02}" for i in range(spec["cases"])]
    plan = []
    if spec["shape"] == "sparse":
        for case in cases:
            first, second = draw.some(people, 2)
            plan += [(first, case, WITH), (second, case, WITHOUT)]
        return plan
    if spec["shape"] == "three":
        for case in cases:
            for i, person in enumerate(draw.some(people, 3)):
                plan.append((person, case, WITH if i < 2 else WITHOUT))
        return plan
    for person in people:
        fewest, most = own_cases(spec)
        own = draw.some(cases, fewest + draw.below(most - fewest + 1))
        # At least one case on each side where there are two.
        cut = 1 + draw.below(len(own) - 1) if len(own) > 1 else draw.below(2)
        for i, case in enumerate(own):
            if spec["shape"] == "before_after" or (spec["shape"] == "mixed" and draw.chance(0.5)):
                plan += [(person, case, WITHOUT), (person, case, WITH)]
            else:
                plan.append((person, case, WITH if i < cut else WITHOUT))
    for i, person in enumerate(people[: spec["one_armed_assigned"]]):
        kept = WITH if i % 2 == 0 else WITHOUT
        plan = [p for p in plan if p[0] != person or p[2] == kept]
    return plan


def own_cases(spec):
    own = spec["own_cases"] or spec["cases"]
    return own if isinstance(own, tuple) else (own, own)


def recorded_of(spec, draw, plan):
    """What was recorded of the plan: (person, case, condition), with what departs from it."""
    people = sorted({person for person, _, _ in plan})
    recorded = list(plan)
    for i, person in enumerate(draw.some(people, spec["one_armed"])):
        lost = WITHOUT if i % 2 == 0 else WITH
        recorded = [r for r in recorded if r[0] != person or r[2] != lost]
    absent_people = set(draw.some(people, spec["no_show"]))
    recorded = [r for r in recorded if r[0] not in absent_people]
    drop = {WITH: spec["drop_with"], WITHOUT: spec["drop_without"]}
    recorded = [r for r in recorded if not draw.chance(spec["absent"]) and not draw.chance(drop[r[2]])]
    recorded = draw.shuffled(recorded)[spec["lost"] :]

    for person, case, condition in draw.some(recorded, spec["switched"]):
        if (person, case, other(condition)) not in recorded:
            recorded[recorded.index((person, case, condition))] = (person, case, other(condition))
    present = sorted({person for person, _, _ in recorded})
    cases = [f"c{i + 1:02}" for i in range(spec["cases"])] + ["c98", "c99"]
    for _ in range(spec["unassigned"]):
        person = draw.pick(present)
        free = [case for case in cases if not any(p[:2] == (person, case) for p in plan + recorded)]
        if free:
            recorded.append((person, draw.pick(free), draw.pick([WITH, WITHOUT])))
    doubled = draw.some(plan, spec["doubled"]) if spec["doubled"] else []
    for person, case, condition in doubled:
        if (person, case, other(condition)) not in recorded:
            recorded.append((person, case, other(condition)))
    for i in range(spec["strangers"]):
        for case in draw.some(cases[:-2], 2):
            recorded.append((f"z{i + 1:02}", case, draw.pick([WITH, WITHOUT])))
    return recorded


def rows_of(spec, draw, recorded):
    labels = spec["labels"]
    cases = sorted({case for _, case, _ in recorded})
    reference = {case: draw.pick(labels) for case in cases}
    outputs = {case: [output_of(spec, draw, reference[case])] for case in cases}
    for case in draw.some(cases, spec["several"]):
        outputs[case] = draw.some(labels, 2 + draw.below(len(labels) - 1))
    beside = draw.some(cases, spec["beside"]) if spec["beside"] else []
    for case in beside:
        outputs[case] = outputs[case] + [draw.pick(spec["abstain"])]
    people = sorted({person for person, _, _ in recorded})
    silent = {person: draw.pick([WITH, WITHOUT]) for person in draw.some(people, spec["silent"])}
    skill = {person: 0.4 + 0.5 * draw.source.random() for person in people}

    rows = []
    for person, case, condition in recorded:
        output = draw.pick(outputs[case])
        decision = reference[case]
        if not draw.chance(skill[person]):
            decision = draw.pick(labels)
        if condition == WITH and draw.chance(0.3) and output in labels:
            decision = output
        if draw.chance(spec["no_decision"]) or silent.get(person) == condition:
            decision = ""
        if condition == WITH:
            shown = "" if draw.chance(spec["no_output"]) else output
        else:
            shown = draw.pick(labels) if draw.chance(spec["stray_output"]) else ""
        rows.append(
            {
                "case": case,
                "reviewer": person,
                "condition": condition,
                "decision": decision,
                "reference": reference[case],
                "ai_output": shown,
            }
        )
    return rows


def output_of(spec, draw, reference):
    if draw.chance(spec["abstains"]):
        return draw.pick(spec["abstain"])
    if draw.chance(spec["system"]):
        return reference
    return draw.pick([label for label in spec["labels"] if label != reference])


def add_times(spec, draw, rows):
    """Everyone works through their rows one after the other, without first."""
    if not spec["times"]:
        return
    pairs = sorted({(r["reviewer"], r["case"]) for r in rows})
    pairs = [p for p in pairs if sum((r["reviewer"], r["case"]) == p for r in rows) == 2]
    wrong = set(draw.some(pairs, spec["wrong_order"]))
    clock = {}
    for row in sorted(rows, key=lambda r: (r["reviewer"], r["case"], place(r, wrong))):
        # Quarters of a second: exact in decimals and in binary alike.
        start = clock.get(row["reviewer"], 0.0) + draw.below(40) / 4
        end = start + draw.below(160) / 4
        clock[row["reviewer"]] = end
        row["started_at"] = "" if spec["no_start"] or draw.chance(spec["no_time"]) else written(spec, start)
        row["decided_at"] = "" if draw.chance(spec["no_time"]) else written(spec, end)


def add_sites(spec, draw, rows):
    if not spec["site"]:
        return
    keys = [{"case": r["case"], "person": r["reviewer"], "row": i}[spec["site"]] for i, r in enumerate(rows)]
    site = {key: draw.pick(["north", "south"]) for key in sorted(set(keys))}
    for key in draw.some(sorted(set(keys)), spec["blank"]):
        site[key] = ""
    for key, row in zip(keys, rows):
        row["site"] = "" if draw.chance(spec["no_site"]) else site[key]


def place(row, wrong):
    first = WITH if (row["reviewer"], row["case"]) in wrong else WITHOUT
    return 0 if row["condition"] == first else 1


def written(spec, seconds):
    start = datetime(2026, 3, 2, 9, 0, 0, tzinfo=timezone.utc)
    if spec["times"] == "seconds":
        return f"{seconds:.2f}".rstrip("0").rstrip(".")
    if spec["times"] == "unix":
        return f"{start.timestamp() + seconds:.2f}".rstrip("0").rstrip(".")
    time = start + timedelta(seconds=seconds)
    if spec["times"] == "iso_zone":
        # The same moment, written in a zone that changes with the second.
        time = time.astimezone(timezone(timedelta(hours=time.second % 5 - 2)))
        return time.isoformat(timespec="milliseconds")
    return time.strftime("%Y-%m-%dT%H:%M:%S") + f".{time.microsecond // 10000:02}"


def csv_text(columns, lines):
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return out.getvalue()


def write_study(folder, spec, seed):
    draw = Draw(seed)
    plan = assignment_of(spec, draw)
    recorded = recorded_of(spec, draw, plan)
    rows = rows_of(spec, draw, recorded)
    add_times(spec, draw, rows)
    add_sites(spec, draw, rows)
    columns = COLUMNS + (TIMES if spec["times"] else []) + (["site"] if spec["site"] else [])
    if spec["spaces"]:
        columns = draw.shuffled(columns + ["note"])
        for row in rows:
            row["note"] = draw.pick(["", "seen, twice", 'said "no"'])
            for name in ("decision", "reference", "ai_output", "case"):
                row[name] = draw.pick(["", " ", "\t"]) + row[name] + draw.pick(["", " "])

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "decisions.csv").write_text(csv_text(columns, draw.shuffled(rows)), encoding="utf-8")
    options = {
        "design": spec["declared"],
        "abstain": spec["abstain"],
        "assignment": "assignment.csv" if spec["assignment"] else None,
        "max_left_out": spec["max_left_out"],
    }
    if spec["slices"]:
        options["slices"] = [{"column": "site", "value": value} for value in spec["slices"]]
    (folder / "options.json").write_text(json.dumps(options, ensure_ascii=False) + "\n", encoding="utf-8")
    if spec["assignment"]:
        position, lines = {}, []
        for person, case, condition in sorted(draw.shuffled(plan), key=lambda p: p[0]):
            position[person] = position.get(person, 0) + 1
            lines.append({"reviewer": person, "case": case, "condition": condition, "position": position[person]})
        text = csv_text(["reviewer", "case", "condition", "position"], lines)
        (folder / "assignment.csv").write_text(text, encoding="utf-8")


def ambiguities(study, result):
    """Where two careful readers of the definitions could count differently."""
    found = []
    departing = oracle.departing_rows(study)
    people = oracle.people_of(study)
    one_armed = [p for p in people if len({r.condition for r in study.rows if r.reviewer == p}) == 1]
    if result["design"] != "before_after" or departing:
        everyone = {(r.reviewer, r.case, r.condition): r for r in study.rows}
        for (reviewer, case, condition), row in everyone.items():
            first = everyone.get((reviewer, case, WITHOUT))
            if condition == WITH and first and None not in (oracle.moment(row), oracle.moment(first)):
                if oracle.moment(row) < oracle.moment(first):
                    found.append("a wrong order where order may not count")
    if result["design"] == "sparse" and study.declared == "crossed" and one_armed:
        found.append("declared crossed, found sparse, an arm is absent")
    if study.assigned is not None and study.declared == "crossed":
        if oracle.detected_design(study.assigned) == "sparse":
            found.append("declared crossed, the assignment itself is sparse")

    found += part_ambiguities(study, oracle.whole(study), result)
    for column, value in study.slices:
        part = oracle.slice_of(study, column, value)
        found += part_ambiguities(study, part, result["slices"][f"{column}={value}"])
        if any(r.cell(column) == "" for r in departing):
            found.append("a departing row without the column of where")
        kept = [r for r in study.rows if r not in departing]
        for d in oracle.decisions_of(study):
            if d.row is None:
                if len({oracle.absent_is_in(rows, d, column, value) for rows in (kept, study.rows)}) == 2:
                    found.append("a departing row changes which slice an absent decision is in")
                of_case = {r.cell(column) for r in study.rows if r.case == d.case}
                of_person = {r.cell(column) for r in study.rows if r.reviewer == d.reviewer}
                if len(of_case) != 1 and "" in of_person and len(of_person) == 2:
                    found.append("a person's rows agree on a value of where, but for those without one")
        of_slice = [r for r in study.rows if r.cell(column) == value]
        for rows in (of_slice, of_slice + part.no_value):
            too_many = len(part.departing) > study.max_left_out * len(rows)
            if too_many != (len(departing) > study.max_left_out * len(study.rows)):
                found.append("too many departing rows in the slice or in the file, not in both")
        if any(r.reviewer not in part.people for r in part.departing):
            found.append("a person whose only rows in the slice depart")
        for person in people if study.assigned is None and study.declared == "crossed" else []:
            in_slice = {d.condition for d in part.decisions if d.reviewer == person}
            if person in one_armed and not in_slice:
                found.append("an absent arm that may be in the slice or not")
            if person not in one_armed and len(in_slice) == 1:
                found.append("declared crossed, an arm is absent in the slice only")
    return found


def part_ambiguities(study, part, result):
    found = []
    departing = {r.case for r in part.departing if r.condition == WITH}
    no_value = {r.case for r in part.no_value if r.condition == WITH}
    with_row = {d.case for d in part.decisions if d.condition == WITH and d.row}
    absent = {d.case for d in part.decisions if d.condition == WITH} - with_row
    if (departing | no_value) & absent or (departing & no_value) - with_row:
        found.append("a case left out of system_accuracy for two reasons")
    difference = result["accuracy_difference"]
    if difference["people"] >= 2 and difference["estimate"] is None and any(not d.missing for d in part.decisions):
        found.append("something is recorded, but nobody has both arms recorded: two names for the reason")
    return found


def decided(design, **more):
    return {"design": design, "decidable": True, **more}


def not_decided(design, *reasons, **more):
    return {"design": design, "not_decided": list(reasons), **more}


THREE = ["red", "green", "blue"]
UNSURE = {"abstain": ["unsure"], "abstains": 0.3}
PLAN = {"assignment": True}

STUDIES = [
    # crossed, found from the file
    {"want": decided("crossed", detected="crossed")},
    {"people": 6, "cases": 12, "labels": THREE, "system": 0.5, "want": decided("crossed")},
    {"people": 7, "no_decision": 0.2, "want": decided("crossed")},
    {"people": 6, "no_output": 0.25, "no_decision": 0.1, "want": decided("crossed")},
    {"people": 6, "cases": 10, **UNSURE, "no_output": 0.1, "no_decision": 0.1, "want": decided("crossed")},
    {"people": 6, "several": 3, "labels": THREE, "want": decided("crossed", several=3)},
    {"people": 6, "several": 4, "labels": THREE, "no_decision": 0.1, "want": decided("crossed", several=3, several_wrong=1)},
    {"people": 7, "several": 2, **UNSURE, "want": decided("crossed", several=2)},
    {"people": 5, "own_cases": (2, 6), "cases": 9, "stray_output": 0.5, "want": decided("crossed")},
    {"people": 4, "system": 1.0, "want": decided("crossed", over_reliance=0)},
    {"people": 4, "system": 0.0, "want": decided("crossed", harmful_override=0)},
    {"people": 9, "one_armed": 1, "want": not_decided("crossed", "left_out")},
    {"people": 10, "one_armed": 1, "cases": 6, "want": decided("crossed", left_out=1)},  # exactly 0.1
    {"people": 8, "one_armed": 3, "max_left_out": 0.375, "cases": 6, "want": decided("crossed", left_out=3)},
    {"people": 8, "one_armed": 3, "max_left_out": 0.374, "cases": 6, "want": not_decided("crossed", "left_out")},
    {"people": 5, "silent": 2, "want": decided("crossed")},
    {"people": 3, "cases": 5, "spaces": True, "labels": ["oui", "non", "à revoir"], "want": decided("crossed")},
    # declared crossed: an absent arm is a missing one
    {"people": 6, "declared": "crossed", "one_armed": 2, "no_decision": 0.15, "want": decided("crossed", left_out=0)},
    {"people": 7, "declared": "crossed", "one_armed": 3, **UNSURE, "want": decided("crossed", left_out=0)},
    {"people": 6, "declared": "crossed", "one_armed": 4, "max_left_out": 0.0, "want": decided("crossed", left_out=0)},
    # the people who have both arms gain more than the completions of everybody's gains allow
    {"people": 5, "cases": 4, "declared": "crossed", "one_armed": 3, "want": decided("crossed", estimate_outside=True)},
    {"shape": "mixed", "people": 5, "declared": "crossed", "want": not_decided("crossed", "contradiction", detected="mixed")},
    {"shape": "before_after", "people": 3, "declared": "crossed", "want": not_decided("crossed", "contradiction", detected="before_after")},
    # before_after
    {"shape": "before_after", "people": 5, "cases": 6, "want": decided("before_after", detected="before_after")},
    {"shape": "before_after", "people": 6, "cases": 5, "times": "iso", "want": decided("before_after", order_broken=False)},
    {"shape": "before_after", "people": 7, "cases": 4, "times": "unix", "no_time": 0.2, "want": decided("before_after", order_broken=False)},
    {"shape": "before_after", "people": 5, "cases": 5, "times": "iso", "wrong_order": 1, "want": not_decided("before_after", "order", order_broken=True)},
    {"shape": "before_after", "people": 5, "cases": 5, "times": "iso_zone", "wrong_order": 1, "want": not_decided("before_after", "order", order_broken=True)},
    {"shape": "before_after", "people": 4, "cases": 5, "times": "iso_zone", "no_start": True, "want": decided("before_after", order_broken=False)},
    {"shape": "before_after", "people": 4, "cases": 5, "times": "seconds", "wrong_order": 3, "want": decided("before_after", order_broken=False)},
    {"shape": "before_after", "people": 6, "cases": 6, "no_decision": 0.2, "labels": THREE, **UNSURE, "want": decided("before_after")},
    {"shape": "before_after", "people": 5, "cases": 5, "several": 2, "labels": THREE, "no_output": 0.2, "want": decided("before_after")},
    {"shape": "before_after", "people": 6, "own_cases": 1, "cases": 6, "want": decided("before_after")},
    # declared before_after, with partner rows that are not there
    {"shape": "before_after", "people": 6, "cases": 6, "declared": "before_after", "drop_with": 0.25, "want": decided("before_after", detected="mixed")},
    {"shape": "before_after", "people": 5, "cases": 6, "declared": "before_after", "drop_with": 0.3, "drop_without": 0.1, "several": 2, "labels": THREE, "no_decision": 0.1, "want": decided("before_after", detected="mixed")},
    {"shape": "before_after", "people": 7, "cases": 5, "declared": "before_after", "one_armed": 2, **UNSURE, "want": decided("before_after", detected="mixed", left_out=0)},
    {"shape": "before_after", "people": 6, "cases": 5, "declared": "before_after", "drop_with": 0.3, "times": "iso", "no_time": 0.1, "want": decided("before_after", detected="mixed")},
    {"people": 5, "declared": "before_after", "want": not_decided("before_after", "contradiction", detected="crossed")},
    {"shape": "before_after", "people": 1, "cases": 5, "declared": "before_after", "drop_with": 1.0, "want": not_decided("before_after", "fewer_than_two_people", detected="crossed", contradiction=False)},
    # mixed
    {"shape": "mixed", "people": 5, "cases": 7, "no_decision": 0.1, "want": not_decided("mixed", "mixed")},
    {"shape": "mixed", "people": 6, "cases": 5, "one_armed": 2, "max_left_out": 0.5, **UNSURE, "want": not_decided("mixed", "mixed")},
    # sparse
    {"shape": "sparse", "people": 6, "cases": 16, "own_cases": 4, "want": not_decided("sparse", "sparse")},
    {"people": 2, "cases": 9, "max_left_out": 1.0, "declared": "crossed", "want": {"design": "sparse"}},
    {"people": 4, "own_cases": 6, "cases": 10, "no_decision": 0.1, "max_left_out": 1.0, "want": not_decided("sparse", "sparse")},
    {"shape": "sparse", "people": 5, "cases": 14, "declared": "before_after", "max_left_out": 1.0, "want": not_decided("sparse", "sparse", "contradiction")},
    # one row less, and a case is in one condition only: no longer sparse by the definition
    {"shape": "sparse", "people": 4, "cases": 16, "lost": 1, "want": decided("crossed", detected="crossed")},
    # three people on every case: exactly half of the (case, condition) pairs hold one row, which is not sparse
    {"shape": "three", "people": 3, "cases": 9, "want": decided("crossed", detected="crossed")},
    # few people, few cases, nothing
    {"people": 1, "want": not_decided("crossed", "fewer_than_two_people")},
    {"people": 1, "cases": 1, "max_left_out": 1.0, "want": not_decided("crossed", "fewer_than_two_people")},
    {"shape": "before_after", "people": 1, "cases": 1, "want": not_decided("before_after", "fewer_than_two_people")},
    {"shape": "before_after", "people": 2, "cases": 3, "want": decided("before_after")},
    {"people": 3, "own_cases": 1, "cases": 9, "max_left_out": 1.0, "want": not_decided("crossed", "fewer_than_two_people")},
    {"people": 3, "cases": 4, "no_decision": 1.0, "want": not_decided("crossed", "nothing_recorded")},
    {"people": 4, "cases": 5, "abstain": ["unsure", "skip"], "abstains": 1.0, "want": decided("crossed", agreement=0)},
    {"people": 4, "cases": 5, "no_output": 1.0, "want": decided("crossed", agreement=0)},
    {"people": 5, "cases": 5, "drop_with": 1.0, "want": not_decided("crossed", "left_out", "fewer_than_two_people")},
    # repeats: the answers that need two cases of one person or two people on one case
    {"people": 5, "own_cases": 1, "cases": 30, "max_left_out": 1.0, "want": {"repeats": False}},
    {"people": 4, "own_cases": 2, "cases": 30, "max_left_out": 1.0, "want": {"design": "crossed", "repeats": False, "decidable": True}},
    # times
    {"people": 7, "cases": 6, "times": "iso", "no_time": 0.15, "want": decided("crossed")},
    {"people": 8, "cases": 5, "times": "seconds", "no_time": 0.1, "no_decision": 0.1, "max_left_out": 0.5, "want": decided("crossed")},
    {"people": 3, "cases": 5, "times": "unix", "want": decided("crossed")},
    # assignments
    {**PLAN, "people": 6, "cases": 7, "absent": 0.15, "want": decided("crossed")},
    {**PLAN, "people": 6, "cases": 7, "absent": 0.2, "no_decision": 0.1, "several": 3, "labels": THREE, "want": decided("crossed")},
    {**PLAN, "people": 5, "cases": 8, "absent": 0.1, "switched": 2, **UNSURE, "want": decided("crossed", departing=2)},
    {**PLAN, "people": 5, "cases": 8, "switched": 4, "want": decided("crossed", departing=4)},  # 4 of 40: exactly 0.1
    {**PLAN, "people": 5, "cases": 8, "switched": 5, "want": not_decided("crossed", "departures", departing=5)},
    {**PLAN, "people": 6, "own_cases": 4, "cases": 8, "unassigned": 3, "max_left_out": 0.2, "want": decided("crossed", departing=3)},
    {**PLAN, "people": 5, "cases": 8, "one_armed": 2, "absent": 0.05, "want": decided("crossed", left_out=0)},
    {**PLAN, "people": 6, "cases": 6, "one_armed_assigned": 1, "max_left_out": 0.2, "want": decided("crossed", left_out=1)},
    {**PLAN, "people": 6, "cases": 6, "one_armed_assigned": 2, "want": not_decided("crossed", "left_out")},
    {**PLAN, "people": 6, "cases": 6, "no_show": 2, "absent": 0.05, "want": decided("crossed", left_out=0)},
    {**PLAN, "people": 9, "cases": 6, "strangers": 1, "want": decided("crossed", left_out=1, departing=2)},
    {**PLAN, "shape": "before_after", "people": 5, "cases": 6, "absent": 0.15, "want": decided("before_after", detected="mixed")},
    {**PLAN, "shape": "before_after", "people": 5, "cases": 5, "absent": 0.1, "times": "iso", "no_time": 0.1, "unassigned": 1, "want": decided("before_after", departing=1)},
    {**PLAN, "shape": "before_after", "people": 4, "cases": 5, "drop_with": 0.6, "declared": "before_after", "no_output": 0.2, "want": decided("before_after", detected="mixed")},
    {**PLAN, "shape": "mixed", "people": 4, "cases": 6, "absent": 0.1, "want": not_decided("mixed", "mixed")},
    {**PLAN, "people": 7, "cases": 5, "absent": 0.2, "declared": "crossed", "times": "seconds", "want": decided("crossed")},
    {**PLAN, "people": 2, "cases": 7, "max_left_out": 1.0, "want": not_decided("sparse", "sparse")},
    {**PLAN, "people": 3, "cases": 7, "absent": 0.3, "spaces": True, "labels": THREE, "system": 1.0, "want": decided("crossed", over_reliance=0)},
    # an abstention beside a committed output of the same case
    {"people": 6, "beside": 2, **UNSURE, "abstains": 0.0, "want": decided("crossed", several=2, beside=2)},
    {"people": 6, "beside": 2, "several": 2, "labels": THREE, **UNSURE, "no_output": 0.1, "want": decided("crossed", several=4, beside=2)},
    # what an absent decision would have been shown: an abstention; not known as another case shows two outputs,
    # all or one of them on rows that depart; known from a row that departs
    {**PLAN, "people": 6, "cases": 7, "absent": 0.2, **UNSURE, "want": decided("crossed", absent_abstains=True, absent_known=True)},
    {**PLAN, "people": 6, "cases": 7, "absent": 0.15, "beside": 1, **UNSURE, "abstains": 0.0, "want": decided("crossed", beside=1, absent_unknown=True)},
    {**PLAN, "people": 6, "cases": 7, "absent": 0.15, "switched": 2, "several": 1, "labels": THREE, "want": decided("crossed", absent_unknown=True, unknown_by_departing=True)},
    {**PLAN, "people": 3, "cases": 7, "absent": 0.2, "switched": 1, "no_output": 0.4, "want": decided("crossed", known_by_departing=True)},
    {"shape": "before_after", "people": 4, "cases": 6, "declared": "before_after", "drop_with": 0.5, "abstain": ["unsure"], "beside": 1, "want": decided("before_after", detected="mixed", absent_unknown=True, all_absent=True)},
    # two people in the interval and more, fewer with both arms recorded
    {"people": 4, "silent": 3, "want": not_decided("crossed", "fewer_than_two_people", left_out=0)},
    # the assignment alone says whether a declared design is contradicted
    {**PLAN, "people": 5, "cases": 6, "declared": "before_after", "want": not_decided("before_after", "contradiction", detected="crossed", departing=0)},
    {**PLAN, "people": 5, "cases": 8, "declared": "crossed", "doubled": 3, "absent": 0.05, "want": decided("crossed", detected="mixed", departing=3)},
    {**PLAN, "shape": "mixed", "people": 5, "cases": 6, "declared": "crossed", "absent": 0.1, "want": decided("crossed", detected="mixed")},
    {**PLAN, "shape": "sparse", "people": 4, "cases": 10, "lost": 2, "max_left_out": 0.5, "want": not_decided("sparse", "sparse", detected="crossed")},
    # slices
    {"people": 6, "cases": 12, "no_decision": 0.1, "site": "case", "slices": ["north", "south", "west"], "want": decided("crossed", slices_decidable=[True, True, False])},
    {"people": 7, **UNSURE, "no_output": 0.1, "site": "person", "no_site": 0.15, "slices": ["north", "south"], "want": decided("crossed", slices_decidable=[True, True])},
    {"people": 8, "cases": 7, "beside": 1, "several": 2, "labels": THREE, **UNSURE, "spaces": True, "max_left_out": 0.13, "site": "row", "no_site": 0.1, "slices": ["south", "north"], "want": decided("crossed", slices_decidable=[True, False], slices_left_out=[1, 2])},
    {"shape": "before_after", "people": 7, "cases": 4, "no_decision": 0.1, "max_left_out": 0.2, "site": "row", "slices": ["north", "south"], "want": decided("before_after", slices_decidable=[True, True])},
    {"shape": "before_after", "people": 6, "cases": 6, "declared": "before_after", "drop_with": 0.25, "drop_without": 0.1, "site": "case", "no_site": 0.05, "blank": 1, "slices": ["north", "south"], "want": decided("before_after", absent_blank_case=True, absent_in_one=True, absent_in_every=True, absent_known=True)},
    {"people": 6, "cases": 14, "declared": "crossed", "one_armed": 2, "no_decision": 0.1, "site": "case", "no_site": 0.05, "slices": ["north", "south"], "want": decided("crossed", slices_left_out=[0, 0])},
    {**PLAN, "people": 7, "cases": 6, "absent": 0.1, "no_show": 1, **UNSURE, "site": "person", "no_site": 0.02, "blank": 1, "slices": ["north", "south"], "want": decided("crossed", absent_blank_person=True, absent_in_one=True, absent_in_every=True)},
    {**PLAN, "people": 6, "cases": 14, "absent": 0.1, "switched": 2, "no_decision": 0.1, "site": "case", "slices": ["north", "south"], "want": decided("crossed", departing=2, absent_in_one=True, slices_decidable=[True, True])},
]


def shows(study, result, want):
    """Does the study show what its entry wants?"""
    difference = result["accuracy_difference"]
    shown = oracle.shown_outputs(study)
    absent_all = [d for d in oracle.decisions_of(study) if d.row is None]
    absent = [d for d in absent_all if d.condition == WITH]
    kept = [r for r in study.rows if r not in oracle.departing_rows(study)]
    shown_as_assigned = oracle.shown_outputs(replace(study, rows=kept))
    slices = result.get("slices", {})
    found = {
        "design": result["design"],
        "detected": result["detected"],
        "contradiction": result["contradiction"],
        "order_broken": result["order_broken"],
        "departing": result["departing"],
        "decidable": difference["decidable"],
        "not_decided": difference["not_decided"],
        "left_out": difference["left_out"],
        "agreement": result["rates"]["agreement"]["denominator"],
        "over_reliance": result["rates"]["over_reliance"]["denominator"],
        "harmful_override": result["rates"]["harmful_override"]["denominator"],
        "several": result["system_accuracy"]["several_outputs"],
        "several_wrong": result["system_accuracy"]["several_outputs"] - result["system_accuracy"]["missing"],
        "estimate_outside": estimate_outside(difference),
        "repeats": result["rates"]["over_reliance"]["repeats"],
        # A case with one committed output and an abstention.
        "beside": sum(len(outputs) == 2 and bool(outputs & set(study.abstain)) for outputs in shown.values()),
        "absent_abstains": any(d.output in study.abstain for d in absent),
        # Not known, although the rows of the case show one output only.
        "absent_unknown": any(d.output is None and len(shown.get(d.case, ())) == 1 for d in absent),
        "absent_known": any(d.output is not None for d in absent),
        "known_by_departing": any(d.output is not None and d.case not in shown_as_assigned for d in absent),
        "unknown_by_departing": most(shown) > 1 >= most(shown_as_assigned),
        "all_absent": any(d.case not in {r.case for r in study.rows if r.condition == WITH} for d in absent),
        "slices_decidable": [one["accuracy_difference"]["decidable"] for one in slices.values()],
        "slices_left_out": [one["accuracy_difference"]["left_out"] for one in slices.values()],
        # An absent decision whose site is known, and one whose site is not.
        "absent_in_one": any(count == 1 for count in slices_of_absent(study)),
        "absent_blank_case": any(cells_of(study, "case", d.case) == {""} for d in absent_all),
        "absent_blank_person": any(cells_of(study, "reviewer", d.reviewer) == {""} for d in absent_all),
        "absent_in_every": any(count == len(study.slices) for count in slices_of_absent(study)),
    }
    return all(found[name] == value for name, value in want.items())


def most(outputs):
    return max(map(len, outputs.values()), default=0)


def cells_of(study, field, value):
    """The values of the columns of where on the rows of one case or person."""
    return {cell for r in study.rows if getattr(r, field) == value for _, cell in r.cells}


def slices_of_absent(study):
    """In how many slices each absent decision is."""
    absent = [d for d in oracle.decisions_of(study) if d.row is None]
    return [sum(oracle.absent_is_in(study.rows, d, *one) for one in study.slices) for d in absent]


def estimate_outside(difference):
    """Is the estimate, over people with both arms recorded, outside the two completions over all people?"""
    if difference["estimate"] is None:
        return False
    low, high = (Fraction(end) for end in difference["completions"])
    return not low <= Fraction(difference["estimate"]) <= high


def main():
    for old in HERE.glob("[0-9][0-9]"):
        shutil.rmtree(old)
    for number, entry in enumerate(STUDIES, 1):
        unknown = set(entry) - set(DEFAULTS)
        if unknown:
            raise SystemExit(f"study {number}: unknown settings {sorted(unknown)}")
        spec = {**DEFAULTS, **entry}
        folder = HERE / f"{number:02}"
        for attempt in range(2000):
            write_study(folder, spec, 1000 * number + attempt * 1_000_003)
            study = oracle.read_study(folder)
            result = oracle.expected(study)
            if shows(study, result, spec["want"]) and not ambiguities(study, result):
                break
        else:
            raise SystemExit(f"study {number}: no seed shows {spec['want']}")
        (folder / "expected.json").write_text(oracle.text_of(result), encoding="utf-8")
        print(f"{number:02} attempt {attempt}: {result['design']}, {result['rows']} rows, {result['accuracy_difference']['not_decided']}")


if __name__ == "__main__":
    main()
