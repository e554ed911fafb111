#!/usr/bin/env python3
"""Draws the studies of this folder: NN/labels.csv, NN/policy.yaml and NN/draw.csv.

Seeded: the same program writes the same bytes. Only random.random() is used
of Python's generator, the one method whose sequence Python promises to keep.

    python3 generate.py         remove and draw every study again, then run oracle.py on them
    python3 generate.py 7 12    only these

Each entry of STUDIES says what its study must show ("want": the rules' verdicts, None for any; "shows": classes, reasons
and departures that must occur). Seeds are tried in order until it does, and until nothing in its rules hangs on a reading
that the definitions leave open or on the last digit of an interval (the doubts of oracle.py). A threshold "@lower" or
"@upper" is the printed end of the rule's own interval, and "@lower+" the next decimal above it.
"""

import csv
import io
import json
import random
import shutil
import sys
from collections import defaultdict
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

sys.dont_write_bytecode = True
import oracle
from oracle import FAIL, PASS, REVIEW

HERE = Path(__file__).resolve().parent
UNSURE = "INSUFFICIENT_EVIDENCE"

DEFAULTS = {
    "people": 1,
    "items": 60,
    "labels_an_item": 1,  # how many people label each item; None: all of them
    "sides": None,  # in turn, the one side on which each person labels ("blind", "visible" or None for both)
    "blind": 0.4,  # chance that an item is blind; with `draw`, the draw decides
    "exactly": None,  # so many items are blind, the first ones
    "draw": None,  # batches: (items, chance of being drawn blind, probability written); True at the end: exactly that share
    "absent": 0.0,  # chance that an item of the draw has no row
    "unknown": 0,  # so many further items that the draw does not know, blind
    "unknown_visible": 0,
    "depart": {},  # "shown" / "blind": chance that an item drawn blind is labelled visible, or one drawn visible blind
    "words": ["yes", "no"],
    "agree": 0.85,  # chance that a blind label is the suggestion
    "agree_visible": 0.95,
    "spread": 0.0,  # a person's own chance differs by up to this
    "alike": 0.0,  # chance that a blind label that is not the suggestion is the first other word (people agree beside the model)
    "no_label": 0.0,
    "no_label_visible": 0.0,
    "no_suggestion": 0.0,  # of an item
    "peek": 0.0,  # chance that a blind row comes after a visible one of the same person and item
    "peek_label": 1.0,
    "relabel": 0.0,  # chance that a blind label that differs from the suggestion is followed by a second row
    "relabel_visible": 0.0,  # … that is marked visible
    "repeat": 0.0,  # chance that a blind label that is the suggestion is followed by another blind row
    "retry": 0.0,  # chance that a blind row has an empty one before it
    "reveal": 0.0,  # chance that a blind row is followed by a visible one of the same person and item
    "overlap": None,  # with all times: chance that such a visible row was put on the screen before the blind label; None: not told
    "blanked": 0.0,  # chance that a row alone does not record the suggestion
    "verify": 0.0,  # chance that a visible item is a verify row
    "verify_blind": 0.0,  # chance that a blind item's kind is verify
    "verify_first": 0.0,  # chance that a blind row comes after a verify row that shows the suggestion
    "kinds": {},  # kind: chance, of blind rows
    "accepted": None,  # chance that a visible row is accepted where the label is the suggestion; None: no column
    "accepted_empty": 0.0,
    "chances": None,  # column inclusion_probability, in turn, one for each item
    "times": "none",  # all, some, none; tied: the rows of a pair have the same time
    "cut": False,  # the rows lie in two files
    "forms": False,
    "settings": {},
    "rules": [],
    "want": None,
    "shows": [],
}


class Draw:
    """A seeded source of choices."""

    def __init__(self, seed):
        self.source = random.Random(seed)

    def chance(self, p):
        return self.source.random() < p

    def number(self, low, high):
        return low + int(self.source.random() * (high - low + 1))

    def shuffled(self, items):
        items = list(items)
        for i in range(len(items) - 1, 0, -1):
            j = self.number(0, i)
            items[i], items[j] = items[j], items[i]
        return items


# Drawing


def draw_frame(spec, draw):
    """[(item, visible, probability)] of the draw file, or None."""
    if spec["draw"] is None:
        return None
    frame = []
    for batch in spec["draw"]:
        size, chance, probability = batch[:3]
        if len(batch) == 4:
            blind = draw.shuffled([True] * round(size * chance) + [False] * (size - round(size * chance)))
        else:
            blind = [draw.chance(chance) for _ in range(size)]
        frame += [(f"i{len(frame) + j + 1:03d}", not hidden, probability) for j, hidden in enumerate(blind)]
    return frame


def draw_rows(spec, draw, frame):
    people = [f"p{j + 1:02d}" for j in range(spec["people"])]
    side = {p: spec["sides"][j % len(spec["sides"])] if spec["sides"] else None for j, p in enumerate(people)}
    own = {p: spec["spread"] * (2 * draw.source.random() - 1) for p in people}
    if frame is not None:
        items = [(item, not visible) for item, visible, _ in frame if not draw.chance(spec["absent"])]
    else:
        items = [(f"i{j + 1:03d}", draw.chance(spec["blind"]) if spec["exactly"] is None else j < spec["exactly"]) for j in range(spec["items"])]
    items += [(f"new{j + 1}", True) for j in range(spec["unknown"])]
    items += [(f"shown{j + 1}", False) for j in range(spec["unknown_visible"])]
    rows = []  # in order within each pair

    def label_of(p, suggestion, chance):
        if draw.chance(chance + own[p]):
            return suggestion
        others = [word for word in spec["words"] if word != suggestion]
        return others[0] if draw.chance(spec["alike"]) else others[draw.number(0, len(others) - 1)]

    turn = 0
    for place, (item, blind) in enumerate(items):
        suggestion = spec["words"][draw.number(0, len(spec["words"]) - 1)]
        shown = "" if draw.chance(spec["no_suggestion"]) else suggestion
        number = spec["labels_an_item"] if spec["labels_an_item"] is not None else len(people)
        who = [people[(turn + j) % len(people)] for j in range(number)]
        turn += number
        for p in who:
            hidden = blind
            if side[p]:
                hidden = side[p] == "blind"
            if frame is not None and not hidden and draw.chance(spec["depart"].get("blind", 0)):
                hidden = True
            elif frame is not None and hidden and draw.chance(spec["depart"].get("shown", 0)):
                hidden = False

            def add(label, visibility, kind="", accepted=""):
                blank = spec["blanked"] and visibility == "blind" and draw.chance(spec["blanked"])
                rows.append(
                    {"item": item, "annotator": p, "suggestion": "" if blank else shown, "label": label, "visibility": visibility, "kind": kind,
                     "accepted": accepted, "inclusion_probability": spec["chances"][place % len(spec["chances"])] if spec["chances"] else ""}
                )

            def visible_row():
                label = "" if draw.chance(spec["no_label_visible"]) else label_of(p, suggestion, spec["agree_visible"])
                accepted = ""
                if spec["accepted"] is not None and not draw.chance(spec["accepted_empty"]):
                    accepted = "1" if label == suggestion and draw.chance(spec["accepted"]) else "0"
                add(label, "visible", "verify" if draw.chance(spec["verify"]) else "", accepted)

            if not hidden:
                visible_row()
                if rows[-1]["kind"] == "verify":
                    rows[-1]["accepted"] = ""
                continue
            kind = "verify" if draw.chance(spec["verify_blind"]) else ""
            for name, chance in spec["kinds"].items():
                kind = name if not kind and draw.chance(chance) else kind
            if draw.chance(spec["peek"]):
                add(label_of(p, suggestion, spec["agree_visible"]), "visible")
                add(label_of(p, suggestion, spec["agree_visible"]) if draw.chance(spec["peek_label"]) else "", "blind", kind)
                continue
            if draw.chance(spec["verify_first"]):
                add(suggestion, "visible", "verify")
                add(suggestion, "blind", kind)
                continue
            if draw.chance(spec["retry"]):
                add("", "blind", "label")
                kind = "audit"
            label = "" if draw.chance(spec["no_label"]) else label_of(p, suggestion, spec["agree"])
            add(label, "blind", kind)
            if label and label != suggestion and draw.chance(spec["relabel"]):
                if draw.chance(spec["relabel_visible"]):
                    add(suggestion, "visible", kind)
                else:
                    add(suggestion if draw.chance(0.7) else label, "blind", kind)
            elif spec["reveal"] and draw.chance(spec["reveal"]):
                add(label_of(p, suggestion, spec["agree_visible"]), "visible")
            elif label and label == suggestion and draw.chance(spec["repeat"]):
                add(label_of(p, suggestion, 0.6), "blind", "audit" if kind == "" else "certification")
    return rows


def timed(spec, draw, rows):
    """Times, and an order of the rows that keeps that of each pair where no time tells it."""
    pairs = defaultdict(list)
    for row in rows:
        pairs[row["item"], row["annotator"]].append(row)
    clock = 0
    for pair in pairs.values():
        told = spec["times"] in ("all", "tied") or spec["times"] == "some" and draw.chance(0.6)
        tied = spec["times"] == "tied"
        keys = [draw.source.random() for _ in pair]
        if not told or tied:
            keys.sort()
        for row, key in zip(pair, keys):
            clock += 0 if tied and row is not pair[0] else 20 + draw.number(0, 50)
            row["key"] = key
            row["labelled_at"] = f"2026-03-{1 + clock // 86400:02d}T{clock // 3600 % 24:02d}:{clock // 60 % 60:02d}:{clock % 60:02d}Z" if told else ""
        if spec["overlap"] is not None:
            before = draw.chance(spec["overlap"])  # the row before was given 20 to 70 seconds earlier
            for row in pair:
                at = datetime.fromisoformat(row["labelled_at"]) - timedelta(seconds=75 if before and row["visibility"] == "visible" else 10)
                row["started_at"] = at.strftime("%Y-%m-%dT%H:%M:%SZ")
        if not told and spec["times"] == "some" and len(pair) > 1:
            pair[0]["labelled_at"] = ""  # a part of the times does not tell the order
    return sorted(rows, key=lambda row: row["key"])


# Writing


def text_of_csv(columns, lines):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(lines)
    return out.getvalue()


def write_study(folder, spec, draw, name):
    folder.mkdir(exist_ok=True)
    frame = draw_frame(spec, draw)
    rows = timed(spec, draw, draw_rows(spec, draw, frame))
    columns = ["item", "annotator", "suggestion", "label", "visibility"]
    columns += [c for c in ("kind", "accepted", "inclusion_probability", "started_at", "labelled_at") if any(row.get(c) for row in rows)]
    if spec["forms"]:
        columns = draw.shuffled(columns)
        for row in rows:
            if row.get("accepted"):
                row["accepted"] = {"0": ["0.0", "FALSE", "0"], "1": ["1.0", "True", "1"]}[row["accepted"]][draw.number(0, 2)]
            row["label"] = " " * draw.number(0, 1) + row["label"]
    parts = {"labels.csv": rows}
    if spec["cut"]:
        parts = {"later.csv": rows[: len(rows) // 2], "labels.csv": rows[len(rows) // 2 :]}  # read in the order of the policy
    for file, part in parts.items():
        (folder / file).write_text(text_of_csv(columns, [[row[c] for c in columns] for row in part]), encoding="utf-8")
    settings = {"labels": list(parts) if spec["cut"] else "labels.csv"}
    draw_file = folder / "draw.csv"
    if frame is None:
        draw_file.unlink(missing_ok=True)
    else:
        settings["draw"] = "draw.csv"
        lines = [[item, "visible" if visible else "blind", probability] for item, visible, probability in frame]
        draw_file.write_text(text_of_csv(["item", "visibility", "inclusion_probability"], lines), encoding="utf-8")
    settings.update(spec["settings"])
    rules = [{"id": f"r{j + 1}", **rule} for j, rule in enumerate(spec["rules"])]

    def write_policy():
        lines = ["anchoring:"]
        lines += [f"  {key}: {value if isinstance(value, str) else json.dumps(value)}" for key, value in settings.items()]
        lines += ["  rules:"] + ["    - " + json.dumps(rule) for rule in rules]
        (folder / "policy.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")

    given = [dict(rule) for rule in rules]
    for rule in rules:
        for kind in ("minimum", "maximum"):
            if isinstance(rule.get(kind), str):
                rule[kind] = 0.5
    write_policy()
    study = oracle.read_study(folder)
    for rule, first, typed in zip(rules, given, study.policy["rules"]):
        for kind in ("minimum", "maximum"):
            if isinstance(first.get(kind), str):
                found = oracle.decide(study, typed, [])["interval"]
                word = first[kind].strip("@+")
                end = found[word]
                step = Decimal("1e-10") if first["metric"] == "anchoring_gap" or found["method"] == "uniform-mixture" else Decimal(1).scaleb(end.adjusted() - 9)
                rule[kind] = float(end + (step if first[kind].endswith("+") else 0))
    write_policy()


def suits(spec, result, doubts):
    if doubts:
        return False
    if spec["want"] and any(w not in (None, rule["verdict"]) for w, rule in zip(spec["want"], result["rules"])):
        return False
    data = result["data"]
    return all(data["classes"].get(s) or data["reasons"].get(s) or data["departures"].get(s) for s in spec["shows"])


def main(arguments):
    chosen = [int(text) for text in arguments] or range(1, len(STUDIES) + 1)
    if not arguments:
        for old in HERE.glob("[0-9][0-9]"):
            shutil.rmtree(old)
    for number in chosen:
        spec = {**DEFAULTS, **STUDIES[number - 1]}
        unknown = set(STUDIES[number - 1]) - set(DEFAULTS) - {"what"}
        if unknown:
            raise SystemExit(f"study {number}: {unknown}")
        assert spec["want"] is None or len(spec["want"]) == len(spec["rules"]), number
        folder = HERE / f"{number:02d}"
        for attempt in range(60):
            write_study(folder, spec, Draw(1000 * number + attempt), f"{number:02d}")
            result, doubts = oracle.expected(oracle.read_study(folder))
            if suits(spec, result, doubts):
                break
        else:
            seen = result["data"]["classes"], result["data"]["reasons"], result["data"]["departures"]
            raise SystemExit(f"study {number}: no seed suits; the last: {[r['verdict'] for r in result['rules']]} {[r['interval'] for r in result['rules']]} {seen} {doubts}")
        print(f"{number:02d} seed {attempt}: {[rule['verdict'] for rule in result['rules']]}")
        (folder / "expected.json").write_text(oracle.text_of(oracle.plain(result)) + "\n", encoding="utf-8")


def rule(metric, **keys):
    return {"metric": metric, **keys}


BLIND, VISIBLE, GAP = "blind_agreement", "visible_agreement", "anchoring_gap"

STUDIES = [
    # 1-5 can be checked by hand.
    {"what": "one annotator, all agree: ends are powers; thresholds at the ends that come out", "exactly": 20, "items": 40, "agree": 1.0, "agree_visible": 1.0,
     "rules": [rule(BLIND, minimum="@lower"), rule(BLIND, minimum="@lower+"), rule(BLIND, minimum=0.83), rule(BLIND, maximum=0.83), rule(GAP, maximum="@upper"), rule(GAP, minimum=-0.2)],
     "want": [PASS, UNSURE, PASS, FAIL, PASS, PASS]},
    {"what": "eight people who always agree: the lower end of a mean cannot exceed .53", "people": 8, "items": 64, "exactly": 40, "agree": 1.0, "agree_visible": 1.0,
     "rules": [rule(BLIND, minimum=0.5), rule(BLIND, minimum=0.53), rule(BLIND, minimum=0.9, per="item"), rule(GAP, per="item", minimum=-0.17), rule(GAP, per="item", maximum=0.103)],
     "want": [PASS, UNSURE, PASS, PASS, UNSURE]},
    {"what": "a corpus: the rule is about its rest", "exactly": 20, "items": 40, "agree": 0.95, "settings": {"corpus_size": 40},
     "rules": [rule(BLIND, minimum="@lower"), rule(BLIND, minimum="@lower+"), rule(BLIND, maximum="@upper")], "want": [PASS, UNSURE, PASS]},
    {"what": "peeking: a missing blind label each, and visible evidence", "exactly": 30, "items": 50, "agree": 1.0, "peek": 0.15,
     "rules": [rule(BLIND, minimum=0.6), rule(BLIND, minimum=0.9), rule(VISIBLE, minimum=0.5)], "want": [None, UNSURE, PASS], "shows": ["suggestion seen before"]},
    {"what": "two people on the same items: agreement with each other, beside the model", "people": 2, "labels_an_item": None, "items": 30, "exactly": 24, "agree": 0.7,
     "rules": [rule("people_agreement", minimum=0.3), rule("model_minus_people", minimum=-0.5), rule(BLIND, per="item", minimum=0.4), rule(BLIND, per="label", minimum=0.1)],
     "want": [None, None, None, REVIEW]},
    # One annotator.
    {"what": "one annotator, a wide gap", "items": 120, "agree": 0.6, "agree_visible": 0.98, "rules": [rule(GAP, minimum=0.02), rule(GAP, maximum=0.05), rule(GAP, maximum=0.9), rule(BLIND, minimum=0.9)],
     "want": [PASS, FAIL, PASS, FAIL]},
    {"what": "missing labels on both sides", "items": 100, "no_label": 0.1, "no_label_visible": 0.1, "rules": [rule(BLIND, minimum=0.5), rule(VISIBLE, minimum=0.7), rule(GAP, maximum=0.6)],
     "want": [None, PASS, PASS], "shows": ["blind label missing"]},
    {"what": "relabelling after a disagreement, marked blind", "exactly": 40, "items": 60, "agree": 0.7, "relabel": 0.6,
     "rules": [rule(BLIND, minimum=0.3), rule(BLIND, minimum="@lower"), rule(GAP, maximum=0.9), rule(VISIBLE, minimum=0.5)], "want": [None, PASS, None, None],
     "shows": ["relabelling after a disagreement"]},
    {"what": "relabelling marked visible", "exactly": 40, "items": 60, "agree": 0.7, "relabel": 0.8, "relabel_visible": 1.0, "rules": [rule(BLIND, minimum=0.4), rule(VISIBLE, minimum=0.5)]},
    {"what": "repeats of a first label that agreed, with another kind", "exactly": 40, "items": 60, "repeat": 0.4, "rules": [rule(BLIND, minimum=0.6), rule(BLIND, maximum=0.99)],
     "shows": ["repeated blind label"]},
    {"what": "order by times, rows shuffled: peeking, relabelling, repeats", "exactly": 50, "items": 70, "agree": 0.75, "peek": 0.1, "relabel": 0.4, "repeat": 0.2, "times": "all",
     "rules": [rule(BLIND, minimum=0.3), rule(VISIBLE, minimum=0.5)], "shows": ["suggestion seen before", "relabelling after a disagreement", "repeated blind label"]},
    {"what": "times of a part of the pairs: the others by place", "exactly": 50, "items": 70, "agree": 0.75, "peek": 0.2, "repeat": 0.2, "times": "some",
     "rules": [rule(BLIND, minimum=0.3), rule(GAP, maximum=0.7)], "shows": ["suggestion seen before", "repeated blind label"]},
    {"what": "verify rows shown, and served blind", "items": 90, "verify": 0.5, "verify_blind": 0.3, "rules": [rule("verify_acceptance", minimum=0.6), rule(BLIND, minimum=0.5), rule(VISIBLE, minimum=0.5), rule("verify_acceptance", maximum=0.3)],
     "want": [PASS, None, None, FAIL], "shows": ["verify"]},
    {"what": "a verify row shows the suggestion: blind rows after it", "exactly": 40, "items": 60, "verify_first": 0.2, "rules": [rule(BLIND, minimum=0.4), rule("verify_acceptance", minimum=0.2), rule(VISIBLE, minimum=0.5)],
     "shows": ["verify", "suggestion seen before"]},
    {"what": "kinds of blind rows", "exactly": 50, "items": 80, "kinds": {"calibration": 0.2, "certification": 0.2, "audit": 0.3}, "rules": [rule(BLIND, minimum=0.6), rule(GAP, maximum=0.5)]},
    {"what": "items without a suggestion, few enough", "items": 100, "no_suggestion": 0.05, "rules": [rule(BLIND, minimum=0.5), rule(GAP, maximum=0.6), rule(VISIBLE, minimum=0.7)],
     "want": [None, PASS, PASS], "shows": ["no suggestion"]},
    {"what": "items without a suggestion, too many", "items": 100, "no_suggestion": 0.3, "rules": [rule(BLIND, minimum=0.2), rule(GAP, maximum=0.9), rule(VISIBLE, minimum=0.2)],
     "want": [UNSURE, UNSURE, UNSURE], "shows": ["no suggestion"]},
    {"what": "max_left_out of the policy lets them", "items": 100, "no_suggestion": 0.3, "settings": {"max_left_out": 0.6}, "rules": [rule(BLIND, minimum=0.2), rule(VISIBLE, minimum=0.2)], "want": [PASS, PASS]},
    {"what": "19 blind comparisons: under the floor", "exactly": 19, "items": 40, "agree": 1.0, "rules": [rule(BLIND, minimum=0.2), rule(GAP, maximum=0.9), rule(VISIBLE, minimum=0.5)], "want": [UNSURE, UNSURE, PASS]},
    {"what": "a lower floor, and too few visible for the gap", "exactly": 12, "items": 16, "agree": 1.0, "settings": {"minimum_blind_sample": 10},
     "rules": [rule(BLIND, minimum=0.5), rule(GAP, maximum=1), rule(VISIBLE, minimum=0.1)], "want": [PASS, UNSURE, None]},
    {"what": "the acceptance rate, and visible rows that do not record it", "items": 80, "accepted": 0.9, "accepted_empty": 0.2, "forms": True, "rules": [rule("acceptance_rate", minimum=0.6), rule("acceptance_rate", maximum=0.6)]},
    {"what": "looks: repeated on the policy", "items": 100, "settings": {"looks": "repeated"}, "rules": [rule(BLIND, minimum=0.5), rule(VISIBLE, minimum="@lower"), rule(GAP, maximum="@upper"), rule(BLIND, minimum="@lower+")],
     "want": [None, PASS, PASS, UNSURE]},
    {"what": "looks: repeated on one rule, confidence on another", "items": 100, "rules": [rule(BLIND, minimum=0.5), rule(BLIND, minimum=0.5, looks="repeated"), rule(BLIND, minimum=0.5, confidence=0.99), rule(GAP, maximum=0.4, confidence=0.8)]},
    {"what": "the pairwise gap", "items": 120, "agree": 0.7, "rules": [rule(GAP, interval="pairwise", minimum=0.05), rule(GAP, interval="pairwise", maximum=0.5), rule(GAP, maximum=0.5)], "want": [PASS, None, None]},
    {"what": "the pairwise gap where an item is on both sides", "exactly": 50, "items": 100, "agree": 0.8, "peek": 0.1, "rules": [rule(GAP, interval="pairwise", maximum=0.9), rule(GAP, maximum=0.9)], "want": [UNSURE, PASS]},
    {"what": "the pairwise gap with missing labels, at another confidence", "items": 110, "no_label": 0.08, "no_label_visible": 0.05, "settings": {"confidence": 0.9},
     "rules": [rule(GAP, interval="pairwise", maximum=0.4), rule(GAP, interval="pairwise", minimum=-0.3)]},
    {"what": "one annotator, per: each", "items": 90, "rules": [rule(m, per=p, minimum=0.01) for m in (BLIND, VISIBLE) for p in ("person", "item", "label")] + [rule(GAP, per=p, minimum=-0.9) for p in ("person", "item", "label")]},
    # A corpus.
    {"what": "a corpus of 300, no draw", "exactly": 60, "items": 120, "agree": 0.93, "settings": {"corpus_size": 300}, "rules": [rule(BLIND, minimum=0.8), rule(BLIND, minimum="@lower"), rule(BLIND, minimum="@lower+")], "want": [None, PASS, UNSURE]},
    {"what": "a corpus drawn, some items without a row", "draw": [(150, 0.3, "0.3", True)], "absent": 0.05, "agree": 0.95, "settings": {"corpus_size": 150}, "rules": [rule(BLIND, minimum=0.6), rule(BLIND, maximum=0.7)],
     "shows": ["drawn blind, no blind row"]},
    {"what": "corpus_size on the rule, missing labels", "exactly": 50, "items": 60, "no_label": 0.1, "rules": [rule(BLIND, minimum=0.6, corpus_size=80), rule(BLIND, minimum=0.6)]},
    {"what": "everything was drawn: nothing rests", "exactly": 40, "items": 40, "agree": 0.9, "no_label": 0.05, "settings": {"corpus_size": 40}, "rules": [rule(BLIND, minimum="@lower"), rule(BLIND, maximum="@upper"), rule(BLIND, minimum="@upper+")],
     "want": [PASS, PASS, FAIL]},
    {"what": "a corpus and several annotators, one label an item", "people": 4, "exactly": 60, "items": 100, "settings": {"corpus_size": 250}, "rules": [rule(BLIND, per="item", minimum=0.6), rule(BLIND, per="item", minimum="@lower")], "want": [None, PASS]},
    {"what": "a corpus, and several labels an item", "people": 3, "labels_an_item": 2, "exactly": 40, "items": 60, "settings": {"corpus_size": 100}, "rules": [rule(BLIND, per="item", minimum=0.1)], "want": [UNSURE]},
    {"what": "a corpus with peeking", "exactly": 60, "items": 80, "peek": 0.1, "settings": {"corpus_size": 200}, "rules": [rule(BLIND, minimum=0.5), rule(BLIND, maximum=0.99)], "shows": ["suggestion seen before"]},
    # A draw.
    {"what": "a draw that was kept to", "draw": [(100, 0.4, "0.4")], "rules": [rule(BLIND, minimum=0.6), rule(GAP, maximum=0.5)]},
    {"what": "items drawn blind without a row, one annotator", "draw": [(100, 0.4, "0.4")], "absent": 0.1, "rules": [rule(BLIND, minimum=0.5), rule(BLIND, per="label", minimum=0.5), rule(BLIND, minimum=0.85)], "want": [None, None, UNSURE],
     "shows": ["drawn blind, no blind row"]},
    {"what": "items drawn blind without a row: missing for everyone", "people": 5, "labels_an_item": 2, "draw": [(60, 0.5, "0.5")], "absent": 0.08, "rules": [rule(BLIND, minimum=0.1), rule(BLIND, per="item", minimum=0.5), rule(BLIND, minimum="@lower")],
     "want": [None, None, PASS], "shows": ["drawn blind, no blind row"]},
    {"what": "departures: drawn blind and shown", "draw": [(100, 0.5, "0.5")], "depart": {"shown": 0.1}, "rules": [rule(BLIND, minimum=0.2), rule(GAP, maximum=0.9), rule(VISIBLE, minimum=0.5)], "want": [REVIEW, REVIEW, PASS],
     "shows": ["drawn blind, shown"]},
    {"what": "departures: drawn visible and blind", "draw": [(100, 0.4, "0.4")], "depart": {"blind": 0.1}, "rules": [rule(BLIND, minimum=0.2), rule(BLIND, minimum=1), rule(VISIBLE, minimum=0.5)], "want": [REVIEW, REVIEW, PASS],
     "shows": ["drawn visible, blind"]},
    {"what": "departures: blind and not in the draw; visible ones are a note", "draw": [(80, 0.5, "0.5")], "unknown": 2, "unknown_visible": 3, "rules": [rule(BLIND, minimum=0.2), rule(VISIBLE, minimum=0.5)], "want": [REVIEW, PASS],
     "shows": ["blind and not in the draw", "visible and not in the draw"]},
    {"what": "visible and not in the draw alone", "draw": [(80, 0.5, "0.5")], "unknown_visible": 3, "rules": [rule(BLIND, minimum=0.2), rule(VISIBLE, minimum=0.5)], "want": [PASS, PASS], "shows": ["visible and not in the draw"]},
    {"what": "departures and the floor: the floor is first", "draw": [(40, 0.4, "0.4", True)], "depart": {"blind": 0.05}, "rules": [rule(BLIND, minimum=0.2), rule(GAP, maximum=0.9)], "want": [UNSURE, UNSURE],
     "shows": ["drawn visible, blind"]},
    {"what": "departures of several people", "people": 4, "labels_an_item": 2, "draw": [(60, 0.5, "0.5")], "depart": {"shown": 0.1, "blind": 0.1},
     "rules": [rule(BLIND, minimum=0.1), rule(BLIND, per="item", minimum=0.1), rule("people_agreement", minimum=0.01), rule("model_minus_people", minimum=-0.99), rule(VISIBLE, minimum=0.01)],
     "want": [REVIEW, REVIEW, REVIEW, REVIEW, None]},
    # Unequal probabilities.
    {"what": "two batches of a draw", "draw": [(50, 0.4, "0.4", True), (60, 0.2, "0.2")], "agree": 0.9, "rules": [rule(BLIND, minimum=0.5), rule(BLIND, minimum="@lower"), rule(BLIND, minimum="@lower+"), rule(GAP, maximum=0.9)],
     "want": [None, PASS, UNSURE, REVIEW]},
    {"what": "three batches, one drawn as a whole; missing labels", "draw": [(20, 1, "1", True), (40, 0.5, "0.5"), (60, 0.25, "0.25")], "no_label": 0.06, "rules": [rule(BLIND, minimum=0.4), rule(BLIND, maximum="@upper"), rule(BLIND, minimum=0.4, looks="repeated")],
     "want": [None, PASS, UNSURE]},
    {"what": "two batches and the rest of the corpus", "draw": [(50, 0.5, "0.5", True), (70, 0.3, "0.3")], "agree": 0.95, "settings": {"corpus_size": 120}, "rules": [rule(BLIND, minimum=0.5), rule(BLIND, minimum="@lower")], "want": [None, PASS]},
    {"what": "two batches, several people with one label an item; per: person is not decided", "people": 3, "draw": [(50, 0.5, "0.5"), (70, 0.3, "0.3")], "rules": [rule(BLIND, per="item", minimum=0.4), rule(BLIND, minimum=0.01), rule(BLIND, per="person", minimum=0.01)],
     "want": [None, REVIEW, REVIEW]},
    {"what": "two batches and several labels an item: not decided", "people": 3, "labels_an_item": 2, "draw": [(40, 0.5, "0.5"), (40, 0.3, "0.3")], "rules": [rule(BLIND, per="item", minimum=0.01), rule("people_agreement", minimum=0.01)], "want": [REVIEW, REVIEW]},
    {"what": "column probabilities without the least one: not decided", "items": 100, "chances": ["0.2", "0.5", "0.4"], "rules": [rule(BLIND, minimum=0.01), rule(GAP, maximum=1)], "want": [REVIEW, REVIEW]},
    {"what": "column probabilities and least_inclusion_probability: the weighted mixture", "items": 120, "exactly": 50, "chances": ["0.2", "0.5", "0.4"], "settings": {"least_inclusion_probability": 0.2}, "rules": [rule(BLIND, minimum=0.5), rule(BLIND, minimum=0.99), rule(BLIND, maximum=0.2)],
     "want": [None, None, FAIL]},
    {"what": "a least probability under all of the rows', missing labels", "items": 120, "exactly": 45, "no_label": 0.05, "chances": ["0.25", "0.5", "0.9", "0.8"], "settings": {"least_inclusion_probability": 0.1}, "rules": [rule(BLIND, minimum=0.3), rule(BLIND, minimum=0.3, looks="repeated")],
     "want": [None, UNSURE]},
    {"what": "column probabilities all equal: nothing changes", "items": 80, "chances": ["0.4", "0.40"], "settings": {"least_inclusion_probability": 0.1}, "rules": [rule(BLIND, minimum=0.5), rule(GAP, maximum=0.6)]},
    {"what": "twelve batches", "draw": [(9, 0.2 + 0.05 * j, f"{0.2 + 0.05 * j:.2f}") for j in range(12)], "absent": 0.03, "rules": [rule(BLIND, minimum=0.4), rule(BLIND, maximum=0.3)], "want": [None, None]},
    # Several annotators.
    {"what": "forty people: means are decided", "people": 40, "items": 400, "blind": 0.5, "agree": 0.9, "spread": 0.08, "rules": [rule(BLIND, minimum=0.7), rule(GAP, maximum=0.3), rule(VISIBLE, minimum=0.75), rule(BLIND, per="item", minimum=0.8), rule(BLIND, maximum=0.5)],
     "want": [PASS, PASS, PASS, PASS, FAIL]},
    {"what": "several people, per: each", "people": 6, "labels_an_item": 2, "items": 60, "spread": 0.1, "rules": [rule(m, per=p, minimum=0.01) for m in (BLIND, VISIBLE) for p in ("person", "item", "label")] + [rule(GAP, per=p, minimum=-0.99) for p in ("person", "item", "label")],
     "want": [PASS, PASS, REVIEW, PASS, PASS, REVIEW, PASS, PASS, REVIEW]},
    {"what": "people on one side only: too many", "people": 8, "items": 120, "sides": ["blind", None, None, "visible", None, None, None, None], "rules": [rule(GAP, maximum=0.99), rule(BLIND, minimum=0.01), rule(VISIBLE, minimum=0.01)], "want": [UNSURE, PASS, PASS]},
    {"what": "one of eleven people on one side only", "people": 11, "items": 165, "blind": 0.5, "sides": ["blind"] + [None] * 10, "rules": [rule(GAP, maximum=0.99), rule(GAP, maximum="@upper")], "want": [PASS, PASS]},
    {"what": "nobody on both sides: two means", "people": 30, "items": 240, "sides": ["blind", "visible"], "agree": 0.6, "agree_visible": 0.97, "rules": [rule(GAP, minimum=-0.1), rule(GAP, maximum=0.9), rule(GAP, minimum="@lower"), rule(BLIND, minimum=0.3)],
     "want": [None, PASS, PASS, None]},
    {"what": "missing labels of several people", "people": 7, "items": 140, "no_label": 0.1, "no_label_visible": 0.1, "spread": 0.1, "rules": [rule(BLIND, minimum=0.2), rule(GAP, maximum=0.9), rule(GAP, per="item", maximum=0.5)], "shows": ["blind label missing"]},
    {"what": "three people on each item, four words: alpha, people and model", "people": 3, "labels_an_item": None, "items": 70, "exactly": 60, "agree": 0.6, "alike": 0.7, "words": ["a", "b", "c", "d"],
     "rules": [rule("people_agreement", minimum=0.2), rule("model_minus_people", maximum=0.4), rule("people_agreement", minimum="@lower"), rule("people_agreement", minimum="@lower+")], "want": [None, None, PASS, UNSURE]},
    {"what": "a different number of people on the items; some items with one", "people": 5, "labels_an_item": 2, "items": 80, "sides": [None, None, None, None, "visible"], "blind": 0.6, "words": ["a", "b", "c"],
     "rules": [rule("people_agreement", minimum=0.1), rule("model_minus_people", minimum=-0.9), rule(BLIND, minimum=0.05)]},
    {"what": "two people, a label missing on some items", "people": 2, "labels_an_item": None, "items": 50, "exactly": 40, "no_label": 0.06, "rules": [rule("people_agreement", minimum=0.1), rule("people_agreement", maximum="@upper"), rule(BLIND, per="item", minimum=0.4)],
     "want": [None, PASS, None], "shows": ["blind label missing"]},
    {"what": "no item with two labels: people's agreement has nothing", "people": 3, "items": 90, "rules": [rule("people_agreement", minimum=0.1), rule("model_minus_people", maximum=0.9), rule(BLIND, per="item", minimum=0.4)], "want": [UNSURE, UNSURE, None]},
    {"what": "peeking by several people", "people": 5, "items": 150, "blind": 0.6, "peek": 0.1, "rules": [rule(BLIND, minimum=0.1), rule(BLIND, per="item", minimum=0.5), rule(GAP, maximum=0.9), rule(GAP, per="item", maximum=0.9), rule(VISIBLE, per="item", minimum=0.4)],
     "want": [None, None, None, PASS, PASS], "shows": ["suggestion seen before"]},
    {"what": "relabelling by several people, one label an item", "people": 5, "items": 120, "blind": 0.6, "agree": 0.7, "relabel": 0.3, "rules": [rule(BLIND, minimum=0.01), rule(BLIND, per="item", minimum=0.3)], "shows": ["relabelling after a disagreement"]},
    {"what": "verify and acceptance of several people", "people": 6, "items": 150, "verify": 0.4, "accepted": 0.9, "rules": [rule("verify_acceptance", minimum=0.1), rule("acceptance_rate", minimum=0.1), rule("acceptance_rate", per="item", minimum=0.6), rule("verify_acceptance", per="label", minimum=0.1)],
     "want": [PASS, PASS, PASS, REVIEW]},
    {"what": "an empty blind row before the one with a label: two labels missing, and a visible one", "exactly": 50, "items": 70, "retry": 0.2, "rules": [rule(BLIND, minimum=0.4), rule(BLIND, minimum="@lower"), rule(VISIBLE, minimum=0.2), rule(GAP, maximum=0.9)],
     "want": [None, PASS, None, None], "shows": [oracle.UNCLEAR]},
    {"what": "looks: repeated, several people and one label an item", "people": 4, "items": 120, "settings": {"looks": "repeated"}, "rules": [rule(BLIND, per="item", minimum="@lower"), rule(BLIND, minimum=0.05), rule(GAP, per="item", maximum=0.8)], "want": [PASS, None, None]},
    {"what": "nothing blind at all", "exactly": 0, "items": 40, "rules": [rule(BLIND, minimum=0), rule(GAP, maximum=1), rule(VISIBLE, minimum=0.5)], "want": [UNSURE, UNSURE, PASS]},
    {"what": "each person once, each item once: pooled labels are decided", "people": 60, "items": 60, "exactly": 30, "rules": [rule(BLIND, per="label", minimum=0.4), rule(VISIBLE, per="label", minimum=0.5), rule(BLIND, minimum=0.4), rule(GAP, per="label", maximum=0.9)],
     "want": [PASS, PASS, None, PASS]},
    {"what": "equal times: order by place", "exactly": 50, "items": 70, "peek": 0.2, "repeat": 0.3, "times": "tied", "rules": [rule(BLIND, minimum=0.3), rule(VISIBLE, minimum=0.5)], "shows": ["suggestion seen before", "repeated blind label"]},
    {"what": "two files, in the order of the policy: order by place goes on from one to the other", "exactly": 50, "items": 70, "agree": 0.75, "peek": 0.2, "relabel": 0.4, "cut": True, "rules": [rule(BLIND, minimum=0.3), rule(GAP, maximum=0.9)],
     "shows": ["suggestion seen before", "relabelling after a disagreement"]},
    # Where what is not recorded could help.
    {"what": "a blank first label, several people: no evidence of people's agreement either", "people": 2, "labels_an_item": None, "items": 50, "exactly": 40, "retry": 0.1,
     "rules": [rule("people_agreement", minimum=0.1), rule(BLIND, minimum=0.01), rule(BLIND, per="item", minimum=0.3), rule(GAP, per="item", maximum=0.9)], "shows": [oracle.UNCLEAR]},
    {"what": "suggestions that other rows of the item record: missing, not left out", "people": 3, "labels_an_item": 2, "items": 80, "blind": 0.6, "blanked": 0.3, "rules": [rule(BLIND, minimum=0.01), rule(BLIND, per="item", minimum=0.3), rule(GAP, maximum=0.9)],
     "shows": ["blind label missing", "no suggestion"]},
    {"what": "suggestions not recorded of items drawn blind: missing", "draw": [(100, 0.5, "0.5")], "blanked": 0.1, "absent": 0.03, "rules": [rule(BLIND, minimum=0.4), rule(BLIND, minimum="@lower")], "want": [None, PASS], "shows": ["blind label missing"]},
    {"what": "reclassified rows without a label or a suggestion: missing on both sides", "exactly": 60, "items": 90, "peek": 0.2, "peek_label": 0.5, "blanked": 0.2, "rules": [rule(BLIND, minimum=0.2), rule(VISIBLE, minimum=0.3), rule(GAP, maximum=0.95)],
     "shows": ["suggestion seen before"]},
    {"what": "a suggestion on the screen before the blind label was given, though its own label came later", "exactly": 60, "items": 80, "reveal": 0.5, "times": "all", "overlap": 0.3,
     "rules": [rule(BLIND, minimum=0.4), rule(VISIBLE, minimum=0.4), rule(GAP, maximum=0.9)], "shows": ["suggestion seen before"]},
    {"what": "blind, then visible, by their place alone: a rule that the other order would turn is for a person", "exactly": 60, "items": 80, "reveal": 0.3, "rules": [rule(BLIND, minimum=0.6), rule(BLIND, minimum=0.3), rule(VISIBLE, minimum=0.4), rule(BLIND, minimum=0.999)],
     "want": [REVIEW, PASS, PASS, FAIL]},
    {"what": "blind, then visible, at equal times: by their place too", "exactly": 60, "items": 80, "reveal": 0.3, "times": "tied", "rules": [rule(BLIND, minimum=0.6), rule(BLIND, minimum=0.3)], "want": [REVIEW, PASS]},
    {"what": "a draw with more than a hundred probabilities: the weighted mixture", "draw": [(1, 0.2 + 0.005 * j, f"{0.2 + 0.005 * j:.3f}") for j in range(120)], "absent": 0.03, "rules": [rule(BLIND, minimum=0.4), rule(BLIND, maximum=0.3)], "want": [PASS, FAIL]},
    {"what": "labels that look like markers of missing values, which the model suggests as well", "words": ["none", "some"], "exactly": 50, "items": 80, "agree": 0.95, "rules": [rule(BLIND, minimum=0.6), rule(BLIND, minimum=0.2), rule(VISIBLE, minimum=0.6)],
     "want": [REVIEW, PASS, REVIEW]},
]

if __name__ == "__main__":
    main(sys.argv[1:])
