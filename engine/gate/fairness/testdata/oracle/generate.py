#!/usr/bin/env python3
"""Draws the studies of this folder: NN/cases.csv and NN/fairness.yaml.

Seeded: the same program writes the same bytes. Only random.random() is used
of Python's generator, the one method whose sequence Python promises to keep.

    python3 generate.py         remove and draw every study again, then run oracle.py on them
    python3 generate.py 7 12    only these

Each entry of STUDIES says what its study must show ("want": the rules' verdicts, None for any; "survives": what
with_left_out says). Seeds are tried in order until it does, and until nothing in the study hangs on a reading that
the definitions leave open or on the last digit of an interval (the doubts of oracle.py).
"""

import csv
import io
import json
import random
import re
import shutil
import sys
from decimal import Decimal
from pathlib import Path

sys.dont_write_bytecode = True
import oracle
from oracle import FAIL, PASS

HERE = Path(__file__).resolve().parent
UNSURE = "INSUFFICIENT_EVIDENCE"

DEFAULTS = {
    "rows": 100,
    "cells": None,  # rows in the order given instead of drawn: (number, label, prediction, {attribute: value})
    # Each attribute: the values it is drawn from, with their weights. Those that start with "?" are not declared.
    # A list of two numbers for an attribute is the range of whole numbers of one that has `bins`.
    "attributes": {"sex": {"female": 1, "male": 1}},
    "declared": {},  # attribute: declared groups, or {"bins": [...]}; without one, the values above
    "intersections": [],
    "positive": 0.5,  # chance of label 1
    "hit": 0.8,  # chance of prediction 1 where the label is 1
    "alarm": 0.2,  # chance of prediction 1 where the label is 0
    "by": {},  # value of any attribute: {"positive" | "hit" | "alarm": chance there}
    "no_prediction": 0.0,
    "no_label": 0.0,
    "no_value": {},  # attribute or column: chance that it is empty
    "columns_more": {},  # further columns for where: {name: {value: weight}}
    "scores": None,  # decimals of the probability; None is no column
    "no_score": 0.0,
    "settings": {},  # of the declaration
    "rules": [],
    "forms": False,  # 0.0, TRUE … instead of 0 and 1
    "spaces": False,  # white space around values, columns shuffled
    "delimiter": ",",
    "header": {},  # what a column is called by the declaration, where that is not label, sex …
    "names": {},  # the declaration's name of a column: the file's
    "same": {},  # attribute: the attribute drawn before it that has the same column in the file
    "words": {},  # column: (negative, positive)
    "empty": [""],  # how "not recorded" is written
    "want": None,
    "survives": None,
    "verdict": None,
}


class Draw:
    """A seeded source of choices."""

    def __init__(self, seed):
        self.source = random.Random(seed)

    def chance(self, p):
        return self.source.random() < p

    def number(self, low, high):
        return low + int(self.source.random() * (high - low + 1))

    def of(self, weights):
        if isinstance(weights, list):
            return str(self.number(*weights))
        left = self.source.random() * sum(weights.values())
        for value, weight in weights.items():
            left -= weight
            if left < 0:
                return value
        return value

    def shuffled(self, items):
        items = list(items)
        for i in range(len(items) - 1, 0, -1):
            j = self.number(0, i)
            items[i], items[j] = items[j], items[i]
        return items


# Drawing


def draw_cases(spec, draw):
    """Dicts of the declaration's column names; None is not recorded."""
    cases = []
    if spec["cells"]:
        for number, label, prediction, values in spec["cells"]:
            cases += [{"label": label, "prediction": prediction, **values} for _ in range(number)]
        return cases
    for _ in range(spec["rows"]):
        values = {}
        for name, weights in spec["attributes"].items():
            values[name] = values[spec["same"][name]] if name in spec["same"] else draw.of(weights).lstrip("?")
        more = {name: draw.of(weights) for name, weights in spec["columns_more"].items()}
        chances = {name: spec[name] for name in ("positive", "hit", "alarm", "no_prediction", "no_label")}
        for value in [*values.values(), *more.values()]:
            chances.update(spec["by"].get(value, {}))
        label = int(draw.chance(chances["positive"]))
        case = {"label": label, "prediction": int(draw.chance(chances["hit"] if label else chances["alarm"]))}
        if spec["scores"] is not None:
            steps = 10 ** spec["scores"]
            middle = 0.65 if label else 0.35
            at = min(1.0, max(0.0, middle + (draw.source.random() - 0.5)))  # the ends 0 and 1 come up
            case["score"] = f"{Decimal(round(at * steps)) / steps:f}"
            if draw.chance(spec["no_score"]):
                case["score"] = None
        case.update(values)
        case.update(more)
        if draw.chance(chances["no_prediction"]):
            case["prediction"] = None
        if draw.chance(chances["no_label"]):
            case["label"] = None
        for name, chance in spec["no_value"].items():
            if draw.chance(chance):
                case[name] = None
        cases.append(case)
    return cases


def write_cases(path, spec, cases, draw):
    columns = ["id", *(name for name in cases[0] if name not in spec["same"])]
    if "unit" in spec["settings"]:
        columns.append("person")
    for number, case in enumerate(draw.shuffled(cases), 1):
        case["id"] = f"c{number:03}"
        case["person"] = str(900 - number)
    cases.sort(key=lambda case: case["id"])

    def written(case, name):
        value = case[name]
        if value is None:
            return spec["empty"][draw.number(0, len(spec["empty"]) - 1)]
        if name in ("label", "prediction"):
            if name in spec["words"]:
                return spec["words"][name][value]
            if spec["forms"]:
                forms = (["0", "0.0", "false", "FALSE"], ["1", "1.0", "true", "True"])[value]
                return forms[draw.number(0, 3)]
        return str(value)

    if spec["spaces"]:
        columns = draw.shuffled(columns)
    out = io.StringIO()
    writer = csv.writer(out, delimiter=spec["delimiter"], lineterminator="\n")
    declared = [spec["header"].get(name, name) for name in columns]
    writer.writerow([spec["names"].get(name, name) for name in declared])
    for case in cases:
        values = [written(case, name) for name in columns]
        if spec["spaces"]:
            values = [" " * draw.number(0, 2) + value + " " * draw.number(0, 2) for value in values]
        writer.writerow(values)
    path.write_text(out.getvalue(), encoding="utf-8")


# The declaration


def json_of(value):
    """JSON with a Decimal as the digits it is."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key, ensure_ascii=False)}: {json_of(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(json_of(one) for one in value) + "]"
    if isinstance(value, Decimal):
        return f"{value:f}"
    return json.dumps(value, ensure_ascii=False)


def declaration(spec, number):
    attributes = {}
    for name, weights in spec["attributes"].items():
        attributes[name] = spec["declared"].get(name) or [value for value in weights if not value.startswith("?")]
    declared = {"name": f"study-{number:02}", "cases": "cases.csv"}
    if spec["scores"] is not None:
        declared["probability"] = "score"
    declared["attributes"] = attributes
    if spec["intersections"]:
        declared["intersections"] = spec["intersections"]
    if spec["names"]:
        declared["columns"] = spec["names"]
    declared["min_cell"] = 5
    return {**declared, **spec["settings"]}


def write_declaration(path, declared, rules):
    lines = ["fairness:"]
    for key, value in declared.items():
        plain = isinstance(value, str) and re.fullmatch(r"[A-Za-z][A-Za-z_.-]*[A-Za-z]", value) and value not in ("true", "false", "null")
        lines.append(f"  {key}: {value if plain else json_of(value)}")
    lines.append("  rules:")
    lines += [f"    - {json_of(rule)}" for rule in rules]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


# Rules are written short: gap(rate, attribute, threshold, **keys) and so on. A threshold is a decimal as text, or
# ("lower" | "upper", steps): that many steps in the last of its digits beyond the end that comes out.


def rule(kind, rate, attribute, threshold, **more):
    return {"kind": kind, "rate": rate, "attribute": attribute, "threshold": threshold, **more}


def gap(rate, attribute, threshold, **more):
    return rule("max_group_gap", rate, attribute, threshold, **more)


def worst(side, rate, attribute, threshold, **more):
    return rule(side, rate, attribute, threshold, **more)


def ratio(rate, attribute, threshold, **more):
    return rule("min_group_ratio", rate, attribute, threshold, **more)


def written_rules(rules, thresholds):
    result = []
    for number, (short, threshold) in enumerate(zip(rules, thresholds), 1):
        one = {"id": f"r{number}", "rate": short["rate"], "attribute": short["attribute"]}
        kind = short["kind"]
        if kind in ("minimum", "maximum"):
            one["worst_group"] = {kind: threshold}
        else:
            one[kind] = threshold
        more = {key: value for key, value in short.items() if key not in ("kind", "rate", "attribute", "threshold")}
        result.append({**one, **more})
    return result


def step_of(end, kind):
    """A step in the last digit that is printed: 1e-10 for gaps, the tenth significant one for rates and ratios."""
    if kind == "max_group_gap" or end == 0:
        return Decimal("1e-10")
    return Decimal(1).scaleb(end.adjusted() - 9)


def placed(short, end):
    """The threshold of a rule whose end came out as given."""
    side, steps = short["threshold"]
    return end + steps * step_of(end, short["kind"])


def write_study(folder, spec, number, seed):
    """False where a threshold would lie outside its range."""
    folder.mkdir(exist_ok=True)
    draw = Draw(seed)
    write_cases(folder / "cases.csv", spec, draw_cases(spec, draw), draw)
    declared = declaration(spec, number)
    thresholds = [Decimal("0.5") if isinstance(r["threshold"], tuple) else Decimal(r["threshold"]) for r in spec["rules"]]
    write_declaration(folder / "fairness.yaml", declared, written_rules(spec["rules"], thresholds))
    if any(isinstance(r["threshold"], tuple) for r in spec["rules"]):
        found, _ = oracle.expected(oracle.read_study(folder))
        for i, (short, result) in enumerate(zip(spec["rules"], found["rules"])):
            if isinstance(short["threshold"], tuple):
                thresholds[i] = placed(short, result["interval"][short["threshold"][0]])
                if not 0 < thresholds[i] < 1:
                    return False
        write_declaration(folder / "fairness.yaml", declared, written_rules(spec["rules"], thresholds))
    return True


# The studies

SEX = {"sex": {"female": 1, "male": 1}}
APART = {"by": {"female": {"hit": 0.95, "alarm": 0.1}, "male": {"hit": 0.45, "alarm": 0.6}}}
SOME_MISSING = {"no_prediction": 0.05}
REGIONS = {"region": {"north": 3, "south": 2, "west": 2, "east": 1}}
AGES = {"age": [18, 80]}
AGE_BINS = {"age": {"bins": [30, 60]}}
SEX_AGE = {"attributes": {**SEX, **AGES}, "declared": AGE_BINS, "intersections": [["sex", "age"]]}

EVERY = list(oracle.RATES)


def apart_for(rate):
    """Groups far apart in the rate, so that its gap has a lower end above 0."""
    if rate in ("error", "accuracy"):
        return {"by": {"female": {"hit": 0.95, "alarm": 0.05}, "male": {"hit": 0.45, "alarm": 0.55}}}
    if rate == "selection":
        return {"by": {"female": {"hit": 0.9, "alarm": 0.7}, "male": {"hit": 0.3, "alarm": 0.1}}}
    if rate in ("precision", "false_discovery", "false_omission", "negative_predictive_value"):
        return {"by": {"female": {"positive": 0.75, "hit": 0.75, "alarm": 0.25}, "male": {"positive": 0.25, "hit": 0.5, "alarm": 0.5}}}
    return {"by": {"female": {"hit": 0.92, "alarm": 0.08}, "male": {"hit": 0.4, "alarm": 0.6}}}


def close_for(rate):
    return {"hit": 0.8, "alarm": 0.3}


def gap_study(i, rate):
    attributes = SEX if i % 2 else {"sex": {"female": 3, "male": 2, "other": 0.7}}
    return {
        "attributes": attributes, "rows": 220 + 15 * i, **apart_for(rate), "no_prediction": 0.02 * (i % 3), "no_label": 0.01 * (i % 4),
        "rules": [gap(rate, "sex", ("upper", 0)), gap(rate, "sex", ("upper", -1)), gap(rate, "sex", ("upper", 1)),
                  gap(rate, "sex", ("lower", 0)), gap(rate, "sex", ("lower", -1)), gap(rate, "sex", ("lower", 1))],
        "want": [PASS, UNSURE, PASS, UNSURE, FAIL, UNSURE],
    }


def worst_study(i, rate):
    return {
        "attributes": REGIONS if i % 2 else SEX, "rows": 120 + 20 * i, **close_for(rate), "no_prediction": 0.03 * (i % 3), "no_label": 0.01 * (i % 4),
        "rules": [worst("minimum", rate, next(iter(REGIONS if i % 2 else SEX)), ("lower", s)) for s in (0, 1, -1)]
        + [worst("minimum", rate, next(iter(REGIONS if i % 2 else SEX)), ("upper", s)) for s in (0, 1)]
        + [worst("maximum", rate, next(iter(REGIONS if i % 2 else SEX)), ("upper", s)) for s in (0, -1)]
        + [worst("maximum", rate, next(iter(REGIONS if i % 2 else SEX)), ("lower", s)) for s in (0, -1)],
        "want": [PASS, UNSURE, PASS, UNSURE, FAIL, PASS, UNSURE, UNSURE, FAIL],
    }


def ratio_study(i, rate):
    return {
        "rows": 230 + 15 * i, **apart_for(rate), "no_prediction": 0.02 * (i % 3), "no_label": 0.01 * ((i + 1) % 4),
        "rules": [ratio(rate, "sex", ("lower", 0)), ratio(rate, "sex", ("lower", 1)), ratio(rate, "sex", ("lower", -1)),
                  # The exact quotient lies below its printed upper end, so that a threshold at that end fails.
                  ratio(rate, "sex", ("upper", 0)), ratio(rate, "sex", ("upper", -1)), ratio(rate, "sex", ("upper", 1))],
        "want": [PASS, UNSURE, PASS, FAIL, UNSURE, FAIL],
    }


def both(number, label, prediction, **values):
    return (number, label, prediction, values)


STUDIES = [
    # checked by hand: see README.md
    # 01: rates 1 and 0, whose ends are powers
    {"cells": [both(20, 1, 0, sex="female"), both(20, 1, 1, sex="male")],
     "rules": [gap("false_negative", "sex", "0.6"), gap("false_negative", "sex", "0.61"), worst("maximum", "false_negative", "sex", "0.8"),
               worst("minimum", "true_positive", "sex", "0.19"), ratio("true_positive", "sex", "0.25")],
     "want": [FAIL, UNSURE, FAIL, UNSURE, FAIL]},
    # 02: precision with missing predictions of both labels
    {"cells": [both(12, 1, 1, sex="female"), both(4, 1, None, sex="female"), both(3, 0, None, sex="female"),
               both(10, 0, 1, sex="male"), both(2, 1, None, sex="male"), both(5, 0, 0, sex="male")],
     "rules": [worst("minimum", "precision", "sex", "0.53"), worst("maximum", "false_discovery", "sex", "0.47"), gap("precision", "sex", "0.1"), worst("minimum", "selection", "sex", "0.05")],
     "want": [FAIL, FAIL, UNSURE, PASS]},
    # 03: left out by reason, exactly the share and one more
    {"cells": [both(8, 1, 1, sex="female"), both(8, 1, 1, sex="male"), both(1, 1, 0, sex=None), both(1, 0, 1, sex="other"), both(2, None, 1, sex="male")],
     "rules": [worst("minimum", "accuracy", "sex", "0.5", max_left_out=Decimal("0.2")), worst("minimum", "accuracy", "sex", "0.5", max_left_out=Decimal("0.19")),
               worst("minimum", "selection", "sex", "0.47"), worst("minimum", "selection", "sex", "0.65")],
     "want": [PASS, UNSURE, PASS, UNSURE], "survives": [False, None, True, None]},
    # 04: a small cell keeps a rule from passing, not from failing
    {"attributes": {"region": {"north": 1, "south": 1, "west": 1}}, "settings": {"min_cell": 6},
     "cells": [both(28, 0, 0, region="north"), both(28, 0, 1, region="south"), both(5, 0, 1, region="west"), both(1, 0, None, region="west")],
     "rules": [gap("false_positive", "region", "0.5"), worst("minimum", "accuracy", "region", "0.5"), worst("maximum", "error", "region", "0.8"), gap("false_positive", "region", "0.9")],
     "want": [FAIL, FAIL, FAIL, UNSURE]},
    # 05: undivided PASS of pairwise worst_group; Fisher's product is wider where both counts are 0
    {"cells": [both(25, 1, 1, sex="female"), both(25, 1, 1, sex="male")],
     "rules": [worst("minimum", "true_positive", "sex", "0.86", interval="pairwise"), worst("minimum", "true_positive", "sex", "0.86"),
               gap("false_negative", "sex", "0.17", interval="pairwise"), gap("false_negative", "sex", "0.17")],
     "want": [PASS, UNSURE, UNSURE, PASS]},
    # every rate, every kind of rule, thresholds at the ends and a step to either side
    *[gap_study(i, rate) for i, rate in enumerate(EVERY)],
    *[worst_study(i, rate) for i, rate in enumerate(EVERY)],
    *[ratio_study(i, rate) for i, rate in enumerate(EVERY)],
    # left out: the share exactly, one more; every reason; verdicts that survive and that do not
    {"cells": [both(22, 1, 1, sex="female"), both(23, 1, 1, sex="male"), both(3, 1, 0, sex=None), both(2, 0, 0, sex="Female")],
     "rules": [worst("minimum", "true_positive", "sex", "0.8"), worst("minimum", "true_positive", "sex", "0.6"), gap("selection", "sex", "0.5")], "want": [PASS, PASS, PASS], "survives": [False, True, True]},
    {"cells": [both(22, 1, 1, sex="female"), both(22, 1, 1, sex="male"), both(3, 1, 0, sex=None), both(2, 0, 0, sex="Female")],
     "rules": [worst("minimum", "true_positive", "sex", "0.8"), gap("selection", "sex", "0.5"), ratio("selection", "sex", "0.5", max_left_out=Decimal("0.102"))], "want": [UNSURE, UNSURE, UNSURE]},
    {"cells": [both(22, 1, 1, sex="female"), both(22, 1, 1, sex="male"), both(3, 1, 0, sex=None), both(2, 0, 0, sex="Female")], "settings": {"max_left_out": Decimal("0.103")},
     "rules": [worst("minimum", "true_positive", "sex", "0.8"), gap("selection", "sex", "0.5", max_left_out=Decimal("0")), ratio("selection", "sex", "0.5")], "want": [PASS, UNSURE, PASS]},
    {"rows": 300, "attributes": {"sex": {"female": 8, "male": 8, "?other": 0.4, "?x": 0.3}}, **apart_for("error"), **SOME_MISSING, "no_label": 0.02, "no_value": {"sex": 0.02},
     "rules": [gap("error", "sex", ("lower", -1)), gap("error", "sex", ("lower", -1_200_000_000)), gap("error", "sex", ("upper", 0)), gap("error", "sex", ("upper", 2_000_000_000))],
     "want": [FAIL, FAIL, PASS, PASS], "survives": [False, True, False, True]},
    {"rows": 350, "attributes": {"sex": {"female": 8, "male": 8, "?other": 0.4}}, **apart_for("precision"), **SOME_MISSING, "no_label": 0.03, "no_value": {"sex": 0.02},
     "rules": [gap("precision", "sex", ("lower", -1)), gap("precision", "sex", ("lower", -1_000_000_000)), gap("precision", "sex", ("upper", 0)), gap("precision", "sex", ("upper", 1_000_000_000)),
               worst("minimum", "false_omission", "sex", ("lower", 0)), worst("maximum", "negative_predictive_value", "sex", ("upper", 0))],
     "want": [FAIL, None, PASS, None, PASS, PASS]},
    {"rows": 320, "attributes": REGIONS, "hit": 0.9, "alarm": 0.1, "no_label": 0.06, "no_value": {"region": 0.02},
     "rules": [worst("minimum", "accuracy", "region", ("lower", 0)), worst("minimum", "accuracy", "region", ("lower", -2_000_000_000)), worst("minimum", "selection", "region", ("lower", 0)),
               worst("maximum", "false_positive", "region", ("upper", 0)), worst("maximum", "false_negative", "region", ("upper", 2_000_000_000))],
     "want": [PASS, PASS, PASS, PASS, PASS], "survives": [False, None, False, False, None]},
    {"rows": 260, **apart_for("false_omission"), "no_label": 0.08, **SOME_MISSING, "settings": {"max_left_out": Decimal("0.2")},
     "rules": [gap("false_omission", "sex", ("lower", -1)), gap("false_discovery", "sex", ("upper", 0)), ratio("negative_predictive_value", "sex", ("lower", 0)), ratio("precision", "sex", ("lower", -100_000_000)),
               worst("maximum", "false_discovery", "sex", ("upper", 0))],
     "want": [FAIL, PASS, PASS, PASS, PASS]},
    {"rows": 240, **apart_for("selection"), "no_label": 0.5, "no_value": {"sex": 0.04},  # labels seen for half: only selection is decided
     "rules": [gap("selection", "sex", ("lower", -1)), gap("error", "sex", "0.9"), ratio("selection", "sex", ("upper", 1)), worst("minimum", "precision", "sex", "0.01"), worst("minimum", "selection", "sex", ("upper", 1))],
     "want": [FAIL, UNSURE, FAIL, UNSURE, FAIL]},
    {"rows": 200, "attributes": {"sex": {"female": 1, "male": 1}}, "no_value": {"sex": 1.0}, "rules": [gap("error", "sex", "0.3"), worst("minimum", "error", "sex", "0.3", max_left_out=Decimal("1"))], "want": [UNSURE, UNSURE]},
    {"rows": 150, "no_label": 1.0, "rules": [gap("false_negative", "sex", "0.3", max_left_out=Decimal("1")), worst("minimum", "selection", "sex", ("lower", 0)), ratio("precision", "sex", "0.8")], "want": [UNSURE, PASS, UNSURE]},
    # small and empty cells
    {"rows": 120, "declared": {"sex": ["female", "male", "other"]}, **apart_for("false_negative"),
     "rules": [gap("false_negative", "sex", ("lower", -1)), gap("false_negative", "sex", ("lower", 0)), gap("false_negative", "sex", "0.999"), ratio("true_positive", "sex", ("upper", 1)), ratio("true_positive", "sex", "0.01"),
               worst("minimum", "true_positive", "sex", ("upper", 1)), worst("maximum", "false_negative", "sex", "0.9999")],
     "want": [FAIL, UNSURE, UNSURE, FAIL, UNSURE, FAIL, UNSURE]},
    {"rows": 40, "declared": {"sex": ["x", "y"]}, "attributes": {"sex": {"female": 1, "male": 1}}, "rules": [gap("error", "sex", "0.5", max_left_out=Decimal("1")), worst("maximum", "error", "sex", "0.5"), ratio("error", "sex", "0.5", max_left_out=Decimal("1"))], "want": [UNSURE] * 3},
    # min_cell: exactly, one less; missing predictions do not count
    {"settings": {"min_cell": 12}, "cells": [both(12, 1, 1, sex="female"), both(3, 1, None, sex="female"), both(20, 1, 1, sex="male"), both(9, 0, 1, sex="male"), both(11, 0, 0, sex="female")],
     "rules": [worst("minimum", "true_positive", "sex", "0.4"), worst("minimum", "false_positive", "sex", "0.01"), gap("true_positive", "sex", "0.7"), worst("maximum", "false_positive", "sex", "0.9")], "want": [PASS, UNSURE, PASS, UNSURE]},
    {"settings": {"min_cell": 13}, "cells": [both(12, 1, 1, sex="female"), both(3, 1, None, sex="female"), both(20, 1, 1, sex="male"), both(14, 0, 1, sex="male"), both(14, 0, 0, sex="female")],
     "rules": [worst("minimum", "true_positive", "sex", "0.4"), worst("minimum", "false_positive", "sex", "0.5"), gap("true_positive", "sex", "0.7"), gap("false_positive", "sex", "0.2"), worst("minimum", "precision", "sex", "0.01")], "want": [UNSURE, FAIL, UNSURE, FAIL, UNSURE]},
    # the defaults: min_cell 30, max_left_out .10; a widest gap that only a small cell has
    {"attributes": {"region": {"north": 8, "south": 8, "west": 0.8}}, "rows": 260, "by": {"west": {"hit": 0.0, "alarm": 1.0}}, "settings": {"min_cell": 30},
     "rules": [gap("error", "region", "0.3"), gap("error", "region", "0.05"), worst("minimum", "accuracy", "region", "0.5"), ratio("accuracy", "region", "0.5"), worst("maximum", "error", "region", "0.01")],
     "want": [UNSURE, UNSURE, UNSURE, UNSURE, FAIL]},
    {"rows": 60, "settings": {"min_cell": 1}, "attributes": REGIONS, "rules": [gap("error", "region", "0.9"), ratio("accuracy", "region", ("lower", 0)), worst("maximum", "precision", "region", ("upper", 0)), worst("minimum", "false_omission", "region", "0.3")], "want": [PASS, PASS, None, None]},
    # rates of 0 in every group: 0 over 0, a ratio without an estimate
    {"rows": 90, "hit": 0.0, "alarm": 0.0, "no_prediction": 0.0, "rules": [ratio("selection", "sex", "0.8"), gap("selection", "sex", ("upper", 0)), gap("precision", "sex", "0.5"), ratio("precision", "sex", "0.5"), worst("maximum", "selection", "sex", ("upper", 0)), ratio("true_negative", "sex", ("lower", 0))],
     "want": [UNSURE, PASS, UNSURE, UNSURE, PASS, PASS]},
    # an upper end of 1: the ratio's lower end is the rate's own, so that a product meets its equal
    {"cells": [both(30, 1, 1, sex="female"), both(24, 1, 1, sex="male"), both(6, 1, 0, sex="male")], "rules": [ratio("true_positive", "sex", ("lower", 0)), ratio("true_positive", "sex", ("lower", 1)), ratio("accuracy", "sex", ("lower", -1)), ratio("false_negative", "sex", "0.01")], "want": [PASS, UNSURE, PASS, UNSURE]},
    # no prediction at all in one group, and in all
    {"rows": 80, "by": {"male": {"no_prediction": 1.0}}, "rules": [gap("error", "sex", "0.99"), worst("minimum", "precision", "sex", "0.1"), worst("maximum", "false_omission", "sex", "0.9"), ratio("selection", "sex", "0.1")], "want": [UNSURE, UNSURE, UNSURE, UNSURE]},
    {"rows": 30, "no_prediction": 1.0, "rules": [gap("error", "sex", "0.99"), ratio("precision", "sex", "0.1"), worst("minimum", "negative_predictive_value", "sex", "0.1")], "want": [UNSURE] * 3},
    # one declared group
    {"rows": 70, "attributes": {"sex": {"female": 20, "?male": 1}}, "no_value": {"sex": 0.02}, "rules": [worst("minimum", "accuracy", "sex", ("lower", 0)), worst("maximum", "accuracy", "sex", ("upper", -1)), worst("minimum", "accuracy", "sex", ("upper", 1))], "want": [PASS, UNSURE, FAIL]},
    # crossings and bins
    {**SEX_AGE, "rows": 400, "hit": 0.9, "alarm": 0.1, **SOME_MISSING,
     "rules": [gap("error", ["sex", "age"], ("upper", 0)), gap("error", ["age", "sex"], ("upper", -1)), worst("minimum", "accuracy", "age", ("lower", 0)), ratio("accuracy", ["sex", "age"], ("lower", 0)), gap("false_negative", "sex", ("upper", 0))],
     "want": [PASS, UNSURE, PASS, PASS, PASS]},
    {**SEX_AGE, "rows": 380, "by": {"female": {"hit": 1.0, "alarm": 0.0}, "male": {"hit": 0.3, "alarm": 0.7}}, "no_label": 0.02, "no_value": {"sex": 0.02, "age": 0.02}, "settings": {"max_left_out": Decimal("0.12")},
     "rules": [gap("error", ["sex", "age"], ("lower", -1)), ratio("accuracy", ["sex", "age"], ("upper", 1)), worst("maximum", "error", ["age", "sex"], ("lower", -1)), worst("minimum", "accuracy", "age", ("upper", 0)), gap("error", "age", ("upper", 0))],
     "want": [FAIL, FAIL, FAIL, UNSURE, PASS]},
    {**SEX_AGE, "rows": 60, "rules": [gap("error", ["sex", "age"], "0.9"), worst("minimum", "error", ["sex", "age"], "0.001"), gap("false_discovery", ["sex", "age"], "0.5")], "settings": {"min_cell": 8, "confidence": Decimal("0.8")}, "want": [UNSURE, UNSURE, UNSURE]},
    {"attributes": {**SEX, "region": {"north": 3, "south": 2, "west": 2, "east": 1}, **AGES}, "declared": {"age": {"bins": [45]}}, "intersections": [["sex", "region"], ["sex", "region", "age"], ["age", "sex"]], "rows": 400, "settings": {"min_cell": 6},
     "hit": 0.95, "alarm": 0.05, "rules": [gap("selection", ["region", "sex"], ("upper", 0)), worst("minimum", "accuracy", ["age", "sex"], ("lower", 1)), gap("error", ["age", "region", "sex"], ("upper", 0)), ratio("accuracy", ["sex", "age"], ("lower", 0))],
     "want": [PASS, UNSURE, PASS, PASS]},
    {"attributes": {"country": {name: 1 for name in "at be ch de es fr it lu nl pl pt se".split()}}, "rows": 400, "hit": 0.95, "alarm": 0.05, "rules": [gap("error", "country", ("upper", 0)), gap("error", "country", ("upper", -1)), worst("minimum", "accuracy", "country", ("lower", 0)), ratio("accuracy", "country", ("lower", 0)), ratio("accuracy", "country", ("lower", 1))],
     "want": [PASS, UNSURE, PASS, PASS, UNSURE]},
    {"attributes": {"country": {name: 1 for name in "at be ch de es fr it lu nl pl pt se".split()}}, "rows": 390, "by": {"at": {"hit": 0, "alarm": 1}, "se": {"hit": 1, "alarm": 0}}, "no_value": {"country": 0.03},
     "rules": [gap("error", "country", ("lower", -1)), gap("error", "country", ("lower", 0)), worst("minimum", "accuracy", "country", ("upper", 1)), ratio("accuracy", "country", ("upper", 1)), ratio("accuracy", "country", ("upper", -1))],
     "want": [FAIL, UNSURE, FAIL, FAIL, UNSURE]},
    # bins: values on a bound, exponents, signs, decimals, bounds below 0 and with places
    {"attributes": {"score_c": {"-5": 2, "-2.5": 3, "-2.50": 1, "-2.4999": 1, "0": 1, "1e1": 1, "1.05E1": 2, "10.50": 2, "10.499999": 2, "+3": 1, ".5": 1, "1e6": 2}}, "declared": {"score_c": {"bins": [Decimal("-2.5"), Decimal("10.5")]}}, "rows": 200,
     "rules": [gap("error", "score_c", ("upper", 0)), worst("minimum", "accuracy", "score_c", ("lower", 0))], "want": [PASS, PASS]},
    {"attributes": {"age": [0, 99], "age_fine": [0, 99]}, "same": {"age_fine": "age"}, "names": {"age": "years", "age_fine": "years"}, "declared": {"age": {"bins": [50]}, "age_fine": {"bins": [25, 50, 75]}}, "rows": 240, "no_value": {},
     "rules": [gap("error", "age", ("upper", 0)), gap("error", "age_fine", ("upper", 0)), gap("error", "age_fine", ("upper", -1))], "want": [PASS, PASS, UNSURE]},
    {"attributes": {"age": {"29": 1, "30": 1, "59.9": 1, "60": 1, "61": 1}}, "declared": {"age": {"bins": [30, 60]}}, "rows": 90, "no_value": {"age": 0.05}, "no_label": 0.02, "rules": [gap("selection", "age", ("upper", 0)), worst("maximum", "selection", "age", ("upper", 0))], "want": [PASS, PASS]},
    # where: a column of its own, a declared attribute, its bins, two columns, nothing there
    {"rows": 300, "columns_more": {"site": {"a": 2, "b": 1}}, "no_value": {"site": 0.03}, **apart_for("error"),
     "rules": [gap("error", "sex", ("lower", -1), where={"site": "a"}), gap("error", "sex", ("upper", 0), where={"site": "b"}), gap("error", "sex", ("upper", 0)), worst("minimum", "accuracy", "sex", "0.1", where={"site": "z"})],
     "want": [FAIL, PASS, PASS, UNSURE]},
    {"rows": 200, "columns_more": {"site": {"a": 1, "b": 1}}, "no_value": {"site": 0.12}, "rules": [gap("error", "sex", ("upper", 0), where={"site": "a"}, max_left_out=Decimal("0.5")), gap("error", "sex", ("upper", 0), where={"site": "a"}), worst("minimum", "accuracy", "sex", ("lower", 0), where={"site": "b"}, max_left_out=Decimal("0.3"))],
     "want": [PASS, UNSURE, PASS]},
    {**SEX_AGE, "rows": 360, "no_value": {"age": 0.02, "sex": 0.02}, "no_label": 0.01,
     "rules": [gap("error", "sex", ("upper", 0), where={"age": "30_to_60"}), worst("minimum", "accuracy", "sex", ("lower", 0), where={"age": "under_30"}), gap("selection", "age", ("upper", 0), where={"sex": "female"}), gap("error", "age", "0.99", where={"sex": "female"}),
               worst("minimum", "accuracy", "age", "0.01", where={"sex": "male"}), ratio("accuracy", "age", ("lower", 0), where={"sex": "male"})],
     "want": [PASS, PASS, PASS, PASS, PASS, PASS]},
    {"rows": 400, "columns_more": {"site": {"a": 3, "b": 1}, "year": {"2025": 1, "2026": 3}}, "no_value": {"site": 0.03, "year": 0.03}, "names": {"site": "hospital"},
     "rules": [gap("error", "sex", ("upper", 0), where={"site": "a", "year": "2026"}), worst("maximum", "error", "sex", ("upper", -1), where={"year": "2026"}), ratio("accuracy", "sex", ("lower", 0), where={"year": "2025", "site": "a"}, max_left_out=Decimal("0.3"))], "want": [PASS, UNSURE, PASS]},
    {"attributes": {**SEX, "region": {"north": 3, "south": 2, "?nowhere": 1}}, "rows": 250, "no_value": {"region": 0.04, "sex": 0.02}, "intersections": [["sex", "region"]],
     "rules": [gap("error", "sex", ("upper", 0), where={"region": "north"}, max_left_out=Decimal("0.5")), gap("error", "region", "0.5"), gap("error", ["sex", "region"], ("upper", 0), max_left_out=Decimal("0.5")), gap("error", "sex", "0.01", where={"region": "south"})],
     "want": [PASS, UNSURE, PASS, UNSURE]},
    # looks: repeated
    *[{"rows": 200 + 30 * i, **apart_for(rate), "no_prediction": 0.02 * i, "no_label": 0.01 * (i % 2), "settings": {"looks": "repeated"},
       "rules": [gap(rate, "sex", ("upper", 0)), gap(rate, "sex", ("upper", -1)), gap(rate, "sex", ("lower", -1)), worst("minimum", rate, "sex", ("lower", 0)), worst("maximum", rate, "sex", ("lower", -1)), ratio(rate, "sex", ("lower", 0)), ratio(rate, "sex", ("upper", 1))],
       "want": [PASS, UNSURE, FAIL, PASS, FAIL, PASS, FAIL]} for i, rate in enumerate(["selection", "false_negative", "precision"])],
    {"rows": 100, "hit": 1.0, "alarm": 0.0, "rules": [worst("minimum", "accuracy", "sex", ("lower", 0), looks="repeated"), worst("minimum", "accuracy", "sex", ("lower", 0)), gap("false_negative", "sex", ("upper", 0), looks="repeated"), ratio("accuracy", "sex", ("lower", 1), looks="repeated"), worst("maximum", "error", "sex", ("upper", 0), looks="repeated")],
     "want": [PASS, PASS, PASS, UNSURE, PASS]},
    # confidence of the section and of a rule
    {"rows": 160, "settings": {"confidence": Decimal("0.5")}, "rules": [gap("error", "sex", ("upper", 0)), gap("error", "sex", ("upper", 0), confidence=Decimal("0.999")), worst("minimum", "accuracy", "sex", ("lower", 1), confidence=Decimal("0.9")), ratio("selection", "sex", ("lower", 0))], "want": [PASS, PASS, UNSURE, PASS]},
    {"rows": 80, "attributes": REGIONS, "rules": [gap("error", "region", ("upper", 0), max_left_out=Decimal("0")), worst("minimum", "error", "region", "0.9", confidence=Decimal("0.6")), ratio("accuracy", "region", ("lower", 0), confidence=Decimal("0.95"))], "settings": {"confidence": Decimal("0.99"), "min_cell": 4}, "want": [PASS, FAIL, PASS]},
    # pairwise worst_group: PASS undivided, FAIL divided
    *[{"rows": 150 + 40 * i, "attributes": [SEX, REGIONS, {"sex": {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1}}][i % 3], **close_for(rate), "no_prediction": 0.02 * (i % 3), "no_value": {"sex": 0.02} if i != 1 else {},
       "rules": [worst(side, rate, ["sex", "region", "sex"][i % 3], (end, step), interval="pairwise") for side, end, step in
                 [("minimum", "lower", 0), ("minimum", "lower", 1), ("minimum", "upper", 0), ("minimum", "upper", 1), ("maximum", "upper", 0), ("maximum", "upper", -1), ("maximum", "lower", 0), ("maximum", "lower", -1)]],
       "want": [PASS, UNSURE, UNSURE, FAIL, PASS, UNSURE, UNSURE, FAIL]} for i, rate in enumerate(["accuracy", "false_negative", "selection", "precision"])],
    # pairwise gap: a millionth to either side of the ends, which are not known to the last digit
    *[{"rows": 120 + 30 * i, "attributes": SEX if i % 2 == 0 else {"sex": {"female": 2, "male": 2, "other": 1}}, **apart_for(rate), "no_prediction": 0.02 * (i % 3), "no_label": 0.01 * (i % 2), "no_value": {"sex": 0.01},
       "rules": [gap(rate, "sex", (end, step), interval="pairwise") for end, step in [("upper", 10_000), ("upper", -10_000), ("lower", -10_000), ("lower", 10_000)]],
       "want": [PASS, UNSURE, FAIL, UNSURE]} for i, rate in enumerate(["error", "false_positive", "precision", "selection", "false_omission"])],
    {"rows": 200, "attributes": REGIONS, "rules": [gap("error", "region", ("upper", 10_000), interval="pairwise"), gap("error", "region", ("upper", 0)), gap("precision", "region", ("upper", -10_000), interval="pairwise", confidence=Decimal("0.9"))], "want": [PASS, PASS, UNSURE]},
    {"rows": 60, "declared": {"sex": ["female", "male", "other"]}, "hit": 1.0, "alarm": 0.0, "by": {"male": {"hit": 0.0, "alarm": 1.0}}, "rules": [gap("error", "sex", "0.3", interval="pairwise"), gap("error", "sex", "0.99", interval="pairwise"), gap("accuracy", "sex", ("lower", 10_000), interval="pairwise"), gap("selection", "sex", "0.3", interval="pairwise")], "want": [FAIL, UNSURE, UNSURE, UNSURE]},
    {"cells": [both(40, 1, 1, sex="female"), both(40, 1, 1, sex="male"), both(20, 0, 0, sex="female"), both(20, 0, 1, sex="male"), both(2, 1, 0, sex=None)],
     "rules": [gap("false_negative", "sex", "0.15", interval="pairwise"), gap("false_negative", "sex", "0.12", interval="pairwise"), gap("false_positive", "sex", "0.6", interval="pairwise"), gap("true_negative", "sex", "0.75", interval="pairwise")], "want": [PASS, UNSURE, FAIL, UNSURE]},
    # words, names, forms, several ways of "not recorded", delimiters, a person a case
    {"rows": 90, "words": {"label": ("denied", "granted"), "prediction": ("denied", "granted")}, "settings": {"positive": "granted", "negative": "denied"}, **SOME_MISSING, "no_label": 0.03,
     "rules": [gap("false_negative", "sex", ("upper", 0)), worst("minimum", "accuracy", "sex", ("lower", 0)), ratio("selection", "sex", ("lower", 0))], "want": [PASS, PASS, PASS]},
    {"rows": 90, "words": {"label": ("bad", "good"), "prediction": ("no", "yes")}, "header": {"label": "outcome", "prediction": "said", "id": "case_no"}, "names": {"outcome": "y", "sex": "gender"}, "spaces": True,
     "settings": {"id": "case_no", "label": {"column": "outcome", "positive": "good", "negative": "bad"}, "prediction": {"column": "said", "positive": "yes", "negative": "no"}},
     "rules": [gap("true_negative", "sex", ("upper", 0)), worst("maximum", "false_discovery", "sex", ("upper", 0))], "want": [PASS, PASS]},
    {"rows": 100, "words": {"prediction": ("1", "0")}, "settings": {"prediction": {"positive": "0", "negative": "1"}}, "forms": True, "rules": [gap("error", "sex", ("upper", 0)), worst("minimum", "selection", "sex", ("lower", 0))], "want": [PASS, PASS]},
    {"rows": 120, "forms": True, "spaces": True, "delimiter": ";", "empty": ["", "NA", "n/a"], "settings": {"missing_values": ["NA", "n/a"], "unit": "person"}, **SOME_MISSING, "no_label": 0.03, "no_value": {"sex": 0.03},
     "rules": [gap("error", "sex", ("upper", 0)), gap("sensitivity", "sex", ("upper", -1)), worst("minimum", "specificity", "sex", ("lower", 0)), ratio("positive_predictive_value", "sex", ("lower", 1)), worst("minimum", "recall", "sex", ("lower", 1))],
     "want": [PASS, UNSURE, PASS, UNSURE, UNSURE]},
    {"attributes": {"groupe né": {"à, b": 1, "c \"d\"": 1, "×": 1}}, "rows": 110, "delimiter": "\t", "rules": [gap("error", "groupe né", ("upper", 0)), worst("minimum", "accuracy", "groupe né", ("lower", 0))], "want": [PASS, PASS]},
    # calibration: on the bounds of bins, the last closed, many digits, cases without a score or a label, many bins
    {"rows": 80, "scores": 1, "rules": [gap("error", "sex", ("upper", 0))], "want": [PASS]},
    {"rows": 120, "scores": 2, "no_score": 0.1, "no_label": 0.05, "no_value": {"sex": 0.03}, **SOME_MISSING, "settings": {"calibration_bins": 4}, "rules": [gap("error", "sex", ("upper", 0))], "want": [PASS]},
    {**SEX_AGE, "rows": 200, "scores": 3, "settings": {"calibration_bins": 7}, "rules": [gap("error", ["sex", "age"], ("upper", 0)), worst("minimum", "accuracy", "age", ("lower", 0))], "want": [PASS, PASS]},
    {"rows": 60, "scores": 6, "declared": {"sex": ["female", "male", "other"]}, "settings": {"calibration_bins": 1000}, "rules": [gap("error", "sex", "0.9")], "want": [UNSURE]},
    {"rows": 25, "scores": 15, "settings": {"calibration_bins": 2}, "no_score": 0.5, "rules": [worst("maximum", "error", "sex", ("upper", 0))], "want": [PASS]},
    {"rows": 40, "scores": 2, "no_score": 1.0, "rules": [gap("error", "sex", ("upper", 0))], "want": [PASS]},
]


def shows(spec, result):
    rules = result["rules"]
    want, survives = spec["want"] or [None] * len(rules), spec["survives"] or [None] * len(rules)
    if len(want) != len(rules) or len(survives) != len(rules):
        raise SystemExit("a want of another length than the rules")
    return (
        all(w is None or w == r["verdict"] for w, r in zip(want, rules))
        and all(s is None or s == r.get("with_left_out", {}).get("survives") for s, r in zip(survives, rules))
        and spec["verdict"] in (None, result["verdict"])
    )


def main(arguments):
    numbers = [int(text) for text in arguments]
    for old in HERE.glob("[0-9]*"):
        if not numbers or int(old.name) in numbers:
            shutil.rmtree(old)
    for number, entry in enumerate(STUDIES, 1):
        if numbers and number not in numbers:
            continue
        unknown = set(entry) - set(DEFAULTS)
        if unknown:
            raise SystemExit(f"study {number}: unknown settings {sorted(unknown)}")
        spec = {**DEFAULTS, **entry}
        folder = HERE / f"{number:03}"
        for attempt in range(1 if spec["cells"] else 100):
            if not write_study(folder, spec, number, 1000 * number + attempt * 1_000_003):
                result, doubts = None, ["a threshold outside its range"]
                continue
            study = oracle.read_study(folder)
            result, doubts = oracle.expected(study)
            if shows(spec, result) and not doubts:
                break
        else:
            found = result and [(r["verdict"], r["interval"], r.get("with_left_out")) for r in result["rules"]]
            raise SystemExit(f"study {number}: no seed shows {spec['want']}: {found}, {doubts}")
        (folder / "expected.json").write_text(oracle.text_of(oracle.plain(result)) + "\n", encoding="utf-8")
        print(f"{number:03} attempt {attempt}: {result['rows']} rows, {' '.join(r['verdict'][:4] for r in result['rules'])}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
