"""The assignment of package study, written a second time from its package comment alone.

It is where the two CSV files beside it come from:
    python3 assign.py crossed      > crossed.csv
    python3 assign.py before_after > before_after.csv
"""
import hashlib
import sys

SEED, REVIEWERS = "autumn 2026", ["r1", "r2", "Zoë"]
CASES = ["c1", "c2", "c3", "c4", "5, six", 'the "seventh"', "c7"]
design = sys.argv[1]


def mark(reviewer, purpose, case):
    texts = ["oloproof-assign/1", SEED, design, reviewer, purpose, case]
    data = b"".join(b"%d:%s," % (len(t.encode()), t.encode()) for t in texts)
    return hashlib.sha256(data).digest()


def quote(text):
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\n\r') else text


print("reviewer,case,condition,position")
for reviewer in REVIEWERS:
    split = sorted(CASES, key=lambda c: mark(reviewer, "split", c))
    middle = mark(reviewer, "extra", "")[-1] & 1 if len(CASES) % 2 else 0
    shown = set(split[: len(CASES) // 2 + middle])
    position = 0
    for case in sorted(CASES, key=lambda c: mark(reviewer, "order", c)):
        conditions = ["without", "with"]
        if design == "crossed":
            conditions = ["with" if case in shown else "without"]
        for condition in conditions:
            position += 1
            print(f"{reviewer},{quote(case)},{condition},{position}")
