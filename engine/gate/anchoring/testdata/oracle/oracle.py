#!/usr/bin/env python3
"""Reference values for the anchoring gate, by a route of its own.

Reads study folders (labels.csv, policy.yaml and, where there is one, draw.csv) and
writes expected.json beside them. Rows are classed one by one from the definitions;
ends of exact intervals are found by bisection over the decimals that can be printed,
on binomial sums of 60 digits, counts of a corpus in whole numbers, means by the
closed form of the uniform mixture in 60 digits, the weighted mixture by expanding its
product as a polynomial. Nothing here is shared with the Go code. The shape of
expected.json, and the choices made where the definitions leave room, are in README.md.

    python3 oracle.py FOLDER...           write expected.json
    python3 oracle.py --check FOLDER...   compare with the expected.json there
"""

import csv
import json
import math
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import comb
from pathlib import Path

PASS, FAIL, INSUFFICIENT, REVIEW = "PASS", "FAIL", "INSUFFICIENT_EVIDENCE", "MANUAL_REVIEW"
EXIT = {PASS: 0, FAIL: 1, INSUFFICIENT: 3, REVIEW: 4}

# Classes of rows.
BLIND, VISIBLE, VERIFY = "blind", "visible", "verify"
SEEN, RELABELLED, REPEATED = "suggestion seen before", "relabelling after a disagreement", "repeated blind label"
UNCLEAR = "after a blind row that lacks its label or suggestion"
NO_SUGGESTION = "no suggestion"
NOT_ACCEPTED = "accepted not recorded"
NO_COMPARISON, ONE_SIDE, ONE_PERSON = "person without such a label", "person with one kind only", "item that one person labelled"

RATES = ("blind_agreement", "visible_agreement", "acceptance_rate", "verify_acceptance")
ON_BLIND = ("blind_agreement", "anchoring_gap", "people_agreement", "model_minus_people")
BY_ITEM_ONLY = ("people_agreement", "model_minus_people")
METRICS = ("blind_agreement", "visible_agreement", "anchoring_gap", "acceptance_rate", "verify_acceptance", *BY_ITEM_ONLY)

LEAST_ON_A_SIDE = 5  # of recorded comparisons, for the gap
MOST_BATCHES = 100  # distinct probabilities of a draw that are read as batches

MARKERS = {"na", "n/a", "#n/a", "nan", "none", "null", "nil", "-", "--", "?", ".", "missing", "unknown", "not recorded"}  # in lower case

DIGITS = Context(prec=60)


# Ends. Rates: 10 significant digits, rounded outward after a guard of 2e-12 (relative). Means: multiples of 1e-10 after a
# guard of 2e-12 of the scale. An end so near a step that an error of CLOSE would round it otherwise is a doubt.

GUARD = Decimal("2e-12")
CLOSE = Decimal("2e-13")
STEP = Decimal("1e-10")
# Fisher's product and the weighted mixture are compared to 1e-8: a threshold this near to one of their ends is a doubt.
MARGIN = Decimal("1e-7")


def decimal(fraction):
    return Decimal(fraction.numerator) / Decimal(fraction.denominator)


def tail_at_least(k, n, p):
    """P(Bin(n, p) >= k) to about 55 digits, 0 < p < 1."""
    if 2 * k > n:
        return sum_of_terms(range(k, n + 1), n, p)
    return 1 - sum_of_terms(range(0, k), n, p)


def sum_of_terms(outcomes, n, p):
    q = 1 - p
    total, term = Decimal(0), None
    for i in outcomes:
        term = comb(n, i) * p**i * q ** (n - i) if term is None else term * (n - i + 1) * p / (i * q)
        total += term
    return total


def largest_step(fits):
    """(the largest decimal of 10 significant digits in (0, 1) that fits, where all smaller ones do too, the next one)."""
    exponent = -10
    while not fits(Decimal(10**9).scaleb(exponent)):
        exponent -= 1
    low, high = 10**9, 10**10  # low fits, high does not
    while high - low > 1:
        middle = (low + high) // 2
        if fits(Decimal(middle).scaleb(exponent)):
            low = middle
        else:
            high = middle
    return Decimal(low).scaleb(exponent), Decimal(low + 1).scaleb(exponent)


def lower_end(under, doubts):
    """The rounded lower end of a rate, where under(p) says whether p is at or under the exact one."""
    step, following = largest_step(lambda d: under(d / (1 - GUARD)))
    if not under(step / (1 - GUARD - CLOSE)) or under(following / (1 - GUARD + CLOSE)):
        doubts.append(f"a lower end at a step: {step}")
    return step


def upper_end(over, doubts):
    """The rounded upper end of a rate, where over(p) says whether p is at or over the exact one."""

    def below(d):
        x = d / (1 + GUARD)
        return not (x >= 1 or over(x))

    step, following = largest_step(below)
    if over(step / (1 + GUARD - CLOSE)) or following < 1 and not over(following / (1 + GUARD + CLOSE)):
        doubts.append(f"an upper end at a step: {following}")
    return min(following, Decimal(1))


def evidence(s, n, m):
    """Integral over q in [m, 1] of q^s (1-q)^(n-s), over (1-m) m^s (1-m)^(n-s): the 0/1 sequence."""
    # The incomplete beta integral of whole s and n is a binomial tail: P(Bin(n+1, m) <= s) / ((n+1) C(n, s)).
    integral = (1 - tail_at_least(s + 1, n + 1, m)) / ((n + 1) * comb(n, s))
    return integral / ((1 - m) * m**s * (1 - m) ** (n - s))


@lru_cache(maxsize=None)
def rate_ends(k, missing, n, a, repeated):
    """(lower, upper, doubts) of k events of n at the error a on each side, Clopper-Pearson or the 0/1 sequence."""
    doubts = []
    lower, upper = Decimal(0), Decimal(1)
    with localcontext(DIGITS):
        error, h = decimal(a), k + missing
        if k > 0 and repeated:
            lower = lower_end(lambda m: m * n < k and evidence(k, n, m) >= 1 / error, doubts)
        elif k > 0:
            lower = lower_end(lambda p: tail_at_least(k, n, p) <= error, doubts)
        if h < n and repeated:
            upper = upper_end(lambda m: (1 - m) * n < n - h and evidence(n - h, n, 1 - m) >= 1 / error, doubts)
        elif h < n:
            upper = upper_end(lambda p: 1 - tail_at_least(h + 1, n, p) <= error, doubts)
    return lower, upper, tuple(doubts)


def floor_end(at_or_under, lowest, highest, doubts):
    """The largest multiple of 1e-10 that, with the guard added, is at or under an exact end of a mean; at least lowest."""
    guard = GUARD * (highest - lowest)
    low, high = int(lowest / STEP) - 1, int(highest / STEP) + 1
    while high - low > 1:
        middle = (low + high) // 2
        if at_or_under(middle * STEP + guard):
            low = middle
        else:
            high = middle
    if low * STEP >= lowest:
        if not at_or_under(low * STEP + guard + CLOSE) or at_or_under((low + 1) * STEP + guard - CLOSE):
            doubts.append(f"an end of a mean at a step: {low}")
    return max(lowest, low * STEP)


@lru_cache(maxsize=None)
def mixture_lower(values, a, lowest, highest):
    """(lower end, doubts) of the uniform mixture: values (sorted Fractions) on the scale, E(m) = sum A_k m^-k / (n+1)."""
    doubts = []
    with localcontext(DIGITS):
        width = highest - lowest
        y = [(decimal(v) - lowest) / width for v in values]
        n = len(y)
        if n == 0 or sum(values) == n * int(lowest):
            return Decimal(lowest), ()
        mean, limit = sum(y) / n, 1 / decimal(a)
        symmetric = [Decimal(1)]
        for value in y:
            symmetric = [s + value * t for s, t in zip(symmetric + [Decimal(0)], [Decimal(0)] + symmetric)]
        averages = [s / comb(n, k) for k, s in enumerate(symmetric)]

        def at_or_under(x):
            m = (x - lowest) / width
            if m <= 0:
                return True
            if m >= mean:
                return False
            total, inverse = Decimal(0), 1 / m
            for average in reversed(averages):
                total = total * inverse + average
            return total / (n + 1) >= limit

        return floor_end(at_or_under, Decimal(lowest), Decimal(highest), doubts), tuple(doubts)


def mean_ends(low, high, a, lowest, doubts):
    """The ends of the mean of values from lowest (0 or -1) to 1."""
    lower, one = mixture_lower(tuple(sorted(low)), a, lowest, 1)
    upper, two = mixture_lower(tuple(sorted(-v for v in high)), a, -1, -lowest)
    doubts += one + two
    return lower, -upper


@lru_cache(maxsize=None)
def weighted_lower(items, a):
    """The lower end of the weighted mixture, exact to about 1e-15; items are (weight, value), Fractions."""
    with localcontext(DIGITS):
        pairs = [(decimal(v), decimal(z)) for v, z in items]
        total = sum(v * z for v, z in pairs)
        if total == 0:
            return Decimal(0)
        limit = 1 / decimal(a)

        def integral(m):
            # The product of 1 + t v (z/m - 1) as a polynomial in t, integrated term by term.
            polynomial = [Decimal(1)]
            for v, z in pairs:
                slope = v * (z / m - 1)
                polynomial = [p + slope * q for p, q in zip(polynomial + [Decimal(0)], [Decimal(0)] + polynomial)]
            return sum(p / (i + 1) for i, p in enumerate(polynomial))

        low, high = Decimal(0), total / sum(v for v, _ in pairs)
        for _ in range(44):  # to 6e-14
            middle = (low + high) / 2
            if integral(middle) >= limit:
                low = middle
            else:
                high = middle
        return low


def weighted_ends(low, high, weights, a):
    lower = weighted_lower(tuple(sorted(zip(weights, low))), a)
    upper = 1 - weighted_lower(tuple(sorted(zip(weights, (1 - z for z in high)))), a)
    return on_grid(lower, ROUND_FLOOR), on_grid(upper, ROUND_CEILING)


def on_grid(x, rounding):
    return x.quantize(STEP, rounding=rounding)


def difference(p, q):
    """The ends of p - q from the printed ends of both, outward on the grid."""
    return on_grid(p[0] - q[1], ROUND_FLOOR), on_grid(p[1] - q[0], ROUND_CEILING)


@lru_cache(maxsize=None)
def smallest_corpus(x, n, N, a):
    """(the smallest M of N with P(at least x of n | M) > a, doubts), in whole numbers."""
    doubts = []

    def above(M):
        tail = Fraction(sum(comb(M, j) * comb(N - M, n - j) for j in range(x, min(M, n) + 1)), comb(N, n))
        if abs(tail / a - 1) < Fraction(1, 10**9):
            doubts.append("a tail of the corpus at the error")
        return tail > a

    low, high = x - 1, N - (n - x)  # high is above: all n that can be have it
    while high - low > 1:
        middle = (low + high) // 2
        if above(middle):
            high = middle
        else:
            low = middle
    return high, tuple(doubts)


def ratio(m, n, up):
    """The exact m/n to 10 significant digits, outward."""
    if m == 0:
        return Decimal(0)
    exact, exponent = Fraction(m, n), -10
    while exact < Fraction(10) ** (exponent + 9):
        exponent -= 1
    if exact == 1:
        return Decimal(1)
    scaled = exact / Fraction(10) ** exponent
    whole = scaled.numerator // scaled.denominator
    if up and whole != scaled:
        whole += 1
    return Decimal(whole).scaleb(exponent)


@dataclass
class Batch:
    size: int
    drawn: int
    events: int
    missing: int


def corpus_ends(batches, a, doubts):
    """(ends of the whole corpus, ends of what was not drawn or None)."""
    partly = sum(0 < b.drawn < b.size for b in batches)
    share = a / max(partly, 1)  # a batch drawn as a whole, or not at all, is bounded without error
    size, drawn = sum(b.size for b in batches), sum(b.drawn for b in batches)
    least = most = 0
    for b in batches:
        low, one = smallest_corpus(b.events, b.drawn, b.size, share)
        without, two = smallest_corpus(b.drawn - b.events - b.missing, b.drawn, b.size, share)
        doubts += one + two
        least, most = least + low, most + b.size - without
    corpus = ratio(least, size, False), ratio(most, size, True)
    if size == drawn:
        return corpus, None
    x, h = sum(b.events for b in batches), sum(b.events + b.missing for b in batches)
    return corpus, (ratio(least - x, size - drawn, False), ratio(most - h, size - drawn, True))


# Fisher's product, in ordinary floating point.


def at_most(k, n, p):
    """P(Bin(n, p) <= k)."""
    if k >= n or p <= 0:
        return 1.0
    if p >= 1:
        return 0.0
    if k < n * p:
        return terms_down(k, n, p)
    return 1.0 - terms_down(n - k - 1, n, 1.0 - p)


def terms_down(k, n, p):
    odds = (1.0 - p) / p
    term = float(comb(n, k)) * p**k * (1.0 - p) ** (n - k)
    terms = [term]
    for i in range(k, 0, -1):
        term *= i / (n - i + 1) * odds
        terms.append(term)
    return math.fsum(terms)


def solve(value, target):
    """Where the decreasing function value(p) on [0, 1] crosses target."""
    low, high = 0.0, 1.0
    for _ in range(48):
        middle = (low + high) / 2
        if value(middle) >= target:
            low = middle
        else:
            high = middle
    return (low + high) / 2


@lru_cache(maxsize=None)
def fisher_upper(k_p, n_p, k_q, n_q, a):
    """max p - q over P(Bin(n_p, p) <= k_p) P(Bin(n_q, q) >= k_q) >= c, where c(1 - ln c) = a."""
    c_low, c = 0.0, 1.0
    for _ in range(200):
        middle = (c_low + c) / 2
        if middle > 0 and middle * (1 - math.log(middle)) > float(a):
            c = middle
        else:
            c_low = middle

    def least(p):
        """The least q that goes with p."""
        if k_q == 0:
            return 0.0
        share = min(1.0, c / max(at_most(k_p, n_p, p), c))
        return 1.0 - solve(lambda r: at_most(n_q - k_q, n_q, r), share)

    if k_p == n_p:
        return 1.0 - least(1.0)
    first, last, points = 0.0, solve(lambda p: at_most(k_p, n_p, p), c), 200
    best = -1.0
    for _ in range(9):  # a dense grid over p, then denser about its best point
        width = (last - first) / points
        grid = [first + width * s for s in range(points)] + [last]
        gains = [p - least(p) for p in grid]
        at = max(range(len(grid)), key=lambda s: gains[s])
        best = max(best, gains[at])
        first, last, points = grid[max(0, at - 1)], grid[min(len(grid) - 1, at + 1)], 12
    return best


def fisher_ends(p, q, a):
    """The ends of p - q; p and q are (events, missing, of)."""
    upper = fisher_upper(p[0] + p[1], p[2], q[0], q[2], a)
    lower = -fisher_upper(q[0] + q[1], q[2], p[0], p[2], a)
    return tuple(Decimal(round(x * 10**10)).scaleb(-10) for x in (lower, upper))


# Reading


def read_policy(path):
    """The policy: `anchoring:`, then keys with JSON or one plain word after the colon, and JSON rules in a list."""
    policy = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line == "anchoring:":
            continue
        text = line.strip()
        if text.startswith("- "):
            policy["rules"].append(json.loads(text[2:], parse_float=Decimal, parse_int=Decimal))
            continue
        key, value = text.split(":", 1)
        value = value.strip()
        if key == "rules":
            policy[key] = []
        else:
            try:
                policy[key] = json.loads(value, parse_float=Decimal, parse_int=Decimal)
            except json.JSONDecodeError:
                policy[key] = value
    return policy


@dataclass
class Row:
    item: str
    annotator: str
    suggestion: str
    label: str
    visible: bool
    kind: str
    accepted: int | None
    probability: Fraction | None
    started: datetime | None
    time: datetime | None
    place: int
    cls: str = ""


@dataclass
class Comparison:
    """One label against another: what a metric counts. `extra` has no label: it is beside another one of the same pair."""

    item: str
    annotator: str | None  # None: an item that was drawn blind and that nobody labelled
    value: int | None
    extra: bool = False
    perhaps: bool = False  # a visible one that may be none, but a repeat


@dataclass
class Study:
    policy: dict
    rows: list
    draw: dict | None  # item: (visible, probability)
    annotators: list = field(default_factory=list)
    blind: list = field(default_factory=list)
    visible: list = field(default_factory=list)
    accepted: list = field(default_factory=list)
    verify: list = field(default_factory=list)
    people: dict = field(default_factory=dict)  # item: {annotator: the blind evidence row, or None where only a missing one}
    left_out: dict = field(default_factory=lambda: defaultdict(Counter))  # metric: reasons
    absent: list = field(default_factory=list)
    departures: Counter = field(default_factory=Counter)
    order: Counter = field(default_factory=Counter)
    placed: int = 0  # pairs of which only the place tells whether a blind or a visible row came first
    doubts: list = field(default_factory=list)


BINARY = {"0": 0, "0.0": 0, "false": 0, "1": 1, "1.0": 1, "true": 1}


def read_rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return [{name.strip(): value.strip() for name, value in line.items()} for line in csv.DictReader(file)]


def moment(text):
    if text == "":
        return None
    if text.replace(".", "").isdigit():
        return datetime.fromtimestamp(float(text), timezone.utc)
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def read_study(folder):
    folder = Path(folder)
    policy = read_policy(folder / "policy.yaml")
    rows = []
    files = [policy["labels"]] if isinstance(policy["labels"], str) else policy["labels"]
    for place, line in enumerate(line for name in files for line in read_rows(folder / name)):
        get = lambda name: line.get(name, "")
        rows.append(
            Row(
                get("item"), get("annotator"), get("suggestion"), get("label"), {"visible": True, "blind": False}[get("visibility")],
                get("kind") or "label", BINARY[get("accepted").lower()] if get("accepted") else None,
                Fraction(get("inclusion_probability")) if get("inclusion_probability") else None, moment(get("started_at")), moment(get("labelled_at")), place,
            )
        )
    draw = None
    if "draw" in policy:
        draw = {}
        for line in read_rows(folder / policy["draw"]):
            draw[line["item"]] = (line["visibility"] == "visible", Fraction(line["inclusion_probability"]))
    return read_as(policy, rows, draw)


def read_as(policy, rows, draw, seen_first=False, not_recorded=()):
    """The study under one reading: people whose rows only their place orders saw the suggestion first, labels are not recorded."""
    study = Study(policy, [replace(row, cls="", label="" if row.label in not_recorded else row.label) for row in rows], draw)
    classify(study, seen_first)
    collect(study)
    return study


def other_readings(study):
    """[(what may be meant as well, the study so read)]: they are asked of rules that pass or fail."""
    readings = []
    looks_missing = {row.label for row in study.rows if row.label.lower() in MARKERS}
    if looks_missing:
        readings.append(("labels that may mean nothing recorded", read_as(study.policy, study.rows, study.draw, not_recorded=looks_missing)))
    if study.placed:
        readings.append(("rows that only their place orders", read_as(study.policy, study.rows, study.draw, seen_first=True)))
    return readings


# Classing


def pairs_in_order(study):
    """The rows of each (item, annotator), in the order in which they were given."""
    pairs = defaultdict(list)
    for row in study.rows:
        pairs[row.item, row.annotator].append(row)
    for rows in pairs.values():
        timed = all(row.time is not None for row in rows)
        if len(rows) > 1:
            study.order["time" if timed else "place"] += 1
        if timed:
            rows.sort(key=lambda row: row.time)  # stable: ties by place
    return pairs


def told_by_times(blind, visible, timed):
    """Do times tell which of the two rows came first? The time at which a suggestion was put on the screen does."""
    return timed and blind.time != visible.time or blind.time is not None and visible.started is not None


def classify(study, seen_first):
    with_suggestion = {row.item for row in study.rows if row.suggestion}
    for rows in pairs_in_order(study).values():
        timed = all(row.time is not None for row in rows)
        on_screen = [row for row in rows if row.visible]
        hidden = [row for row in rows if not row.visible]
        placed = any(not told_by_times(one, other, timed) for one in hidden for other in on_screen)
        study.placed += placed
        for row in on_screen:
            row.cls = VERIFY if row.kind == "verify" else VISIBLE
        own = []  # blind rows before which no suggestion was seen
        for row in hidden:
            before = any(other.visible or other.cls == SEEN for other in rows[: rows.index(row)])
            begun = any(other.started is not None and row.time is not None and other.started < row.time for other in on_screen)
            if before or begun or placed and seen_first:
                row.cls = SEEN
            else:
                own.append(row)
        disagrees = own and own[0].label and own[0].suggestion and own[0].label != own[0].suggestion
        for row in own:
            if row is own[0]:
                row.cls = BLIND
            elif disagrees:
                row.cls = RELABELLED
            elif own[0].item in with_suggestion and not (own[0].label and own[0].suggestion):
                row.cls = UNCLEAR
            else:
                row.cls = REPEATED
        for one, two in combinations(rows, 2):
            same = (one.visible, one.kind) == (two.visible, two.kind)
            if same and (one.time is None or two.time is None or one.time == two.time) and not seen_first:
                if not (disagrees and rows.index(own[0]) < rows.index(two)):
                    raise SystemExit(f"rows {one.place + 2} and {two.place + 2} are duplicates")


def agreement(row):
    return None if row.label == "" or row.suggestion == "" else int(row.label == row.suggestion)


def collect(study):
    study.annotators = sorted({row.annotator for row in study.rows})
    people = defaultdict(dict)
    reclassified = set()
    with_suggestion = {row.item for row in study.rows if row.suggestion}
    drawn_blind = {item for item, (visible, _) in (study.draw or {}).items() if not visible}
    for row in study.rows:
        of = row.item, row.annotator
        if row.cls == VERIFY:
            if row.suggestion == "":
                study.left_out["verify_acceptance"][NO_SUGGESTION] += 1
            else:
                study.verify.append(Comparison(*of, agreement(row)))
        elif row.cls == VISIBLE:
            if row.suggestion == "":
                study.left_out["visible_agreement"][NO_SUGGESTION] += 1
                if row.accepted is not None:
                    study.doubts.append("accepted on a visible row without a suggestion")
            else:
                study.visible.append(Comparison(*of, agreement(row)))
            if row.accepted is not None:
                study.accepted.append(Comparison(*of, row.accepted))
            else:
                study.left_out["acceptance_rate"][NOT_ACCEPTED] += 1
        elif row.cls == REPEATED:
            study.left_out["blind_agreement"][REPEATED] += 1
        elif row.cls == BLIND:
            people[row.item][row.annotator] = row
            if row.item in with_suggestion | drawn_blind:
                study.blind.append(Comparison(*of, agreement(row)))
            else:
                study.left_out["blind_agreement"][NO_SUGGESTION] += 1
        else:
            if row.accepted is not None:
                study.doubts.append("accepted on a row marked blind")
            study.visible.append(Comparison(*of, None if row.cls == UNCLEAR else agreement(row), perhaps=row.cls == UNCLEAR))
            had = any((r.item, r.annotator, r.cls) == (*of, BLIND) for r in study.rows)
            study.blind.append(Comparison(*of, None, extra=had or of in reclassified))
            reclassified.add(of)
            if row.cls == SEEN and not had:
                people[row.item].setdefault(row.annotator, None)
            if row.cls == SEEN and had:
                study.doubts.append("peeked after a blind label of its own")
    study.people = people
    if study.draw is not None:
        # With visible rows only, an item drawn blind would be dropped by looking at it.
        hidden = {row.item for row in study.rows if not row.visible}
        study.absent = [item for item, (visible, _) in study.draw.items() if not visible and item not in hidden]
        study.blind += [Comparison(item, None, None) for item in study.absent]
        find_departures(study)


def find_departures(study):
    for (item, _), rows in pairs_in_order(Study(study.policy, study.rows, None)).items():
        drawn = study.draw.get(item)
        own = False
        for row in rows:
            if drawn is None:
                study.departures["visible and not in the draw" if row.visible else "blind and not in the draw"] += 1
            elif row.visible and not drawn[0] and not own:
                study.departures["drawn blind, shown"] += 1
                if row.kind == "verify":
                    study.doubts.append("a verify row of an item drawn blind")
            elif not row.visible and drawn[0]:
                study.departures["drawn visible, blind"] += 1
            own = own or row.cls not in (VISIBLE, VERIFY, SEEN) and row.label != ""


def departs(study):
    return any(count for kind, count in study.departures.items() if kind != "visible and not in the draw")


def probabilities(study, doubts):
    """({item: probability}, "draw" or "column"), and whether they are unequal."""
    if study.draw is not None:
        known, source = {item: p for item, (_, p) in study.draw.items()}, "draw"
    else:
        known, source = {row.item: row.probability for row in study.rows if row.probability is not None}, "column"
        blind = {row.probability for row in study.rows if not row.visible and row.probability is not None}
        if len(set(known.values())) > 1 and len(blind) == 1:
            doubts.append("probabilities unequal on visible rows only")
    unequal = len(set(known.values())) > 1
    if unequal and any(c.item not in known for c in study.blind):
        doubts.append("a blind item without a probability, and unequal ones")
    return known, source, unequal


# Measuring


@dataclass
class Found:
    numerator: int | None = None
    denominator: int | None = None
    missing: int | None = None
    units: int = 0
    estimate: Fraction | None = None
    completions: tuple | None = None  # of the estimate
    ends: tuple | None = None
    method: str = ""
    exact: bool = True  # the ends are good to the last digit
    recorded: int = 0
    beside: tuple | None = None  # the interval of the whole corpus, where the rule is about its rest
    sides: dict | None = None
    left_out: Counter = field(default_factory=Counter)
    undecided: list = field(default_factory=list)
    review: list = field(default_factory=list)


def mean(values):
    return sum(values, Fraction(0)) / len(values) if values else None


def tally(comparisons):
    """(events, missing, all)."""
    return sum(c.value == 1 for c in comparisons), sum(c.value is None for c in comparisons), len(comparisons)


def by(comparisons, key):
    groups = defaultdict(list)
    for c in comparisons:
        groups[key(c)].append(c)
    return groups


def persons(study, comparisons):
    """{annotator: comparisons}; what nobody labelled is everyone's."""
    nobody = [c for c in comparisons if c.annotator is None]
    groups = by([c for c in comparisons if c.annotator is not None], lambda c: c.annotator)
    if nobody:
        for annotator in study.annotators:
            groups[annotator] = groups[annotator] + nobody
    return dict(groups)


def ends_of(group):
    k, m, n = tally(group)
    return Fraction(k, n), Fraction(k + m, n)


def recorded_rate(group):
    k, m, n = tally(group)
    return Fraction(k, n - m) if n > m else None


def known(values):
    return [v for v in values if v is not None]


def several_on_an_item(comparisons, doubts):
    items = by(comparisons, lambda c: c.item)
    several = any(sum(not c.extra for c in group) > 1 for group in items.values())
    if any(sum(c.extra for c in group) > 1 for group in items.values()):
        doubts.append("an item reclassified twice")
    return several


def exact_rate(comparisons, a, repeated, doubts):
    k, m, n = tally(comparisons)
    found = Found(k, n, m, n, recorded=n - m, method="uniform-mixture" if repeated else "clopper-pearson")
    lower, upper, more = rate_ends(k, m, n, a, repeated) if n else (Decimal(0), Decimal(1), ())
    doubts += more
    found.ends = lower, upper
    found.estimate = Fraction(k, n - m) if n > m else None
    if n:
        found.completions = Fraction(k, n), Fraction(k + m, n)
    return found


def mean_rate(groups, a, doubts):
    everything = [c for group in groups for c in group]
    k, m, n = tally(everything)
    found = Found(k, n, m, len(groups), recorded=n - m, method="uniform-mixture")
    low, high = [ends_of(g)[0] for g in groups], [ends_of(g)[1] for g in groups]
    found.ends = mean_ends(low, high, a, 0, doubts)
    found.estimate = mean(known(recorded_rate(g) for g in groups))
    if groups:
        found.completions = mean(low), mean(high)
    return found


def rate(study, comparisons, per, a, repeated, doubts):
    """A rate in one of its three forms."""
    if per == "person":
        groups = persons(study, comparisons)
        found = mean_rate(list(groups.values()), a, doubts)
        found.left_out[NO_COMPARISON] = len(study.annotators) - len(groups)
        if study.absent and found.left_out[NO_COMPARISON] == 0 and comparisons is study.blind:
            if len({c.annotator for c in comparisons} - {None}) < len(study.annotators):
                doubts.append("a person without blind rows, and items without a row")
        return found
    if per == "item":
        if several_on_an_item(comparisons, doubts):
            # A relabelling is a unit of its own.
            groups = by(comparisons, lambda c: (c.item, c.extra))
            return mean_rate(list(groups.values()), a, doubts)
        return exact_rate(comparisons, a, repeated, doubts)
    found = exact_rate(comparisons, a, repeated, doubts)
    several_on_an_item(comparisons, doubts)
    people = Counter(c.annotator for c in comparisons if c.annotator is not None)
    items = Counter(c.item for c in comparisons if not c.extra)
    if any(n > 1 for n in items.values()) or len(study.annotators) > 1 and any(n > 1 for n in people.values()):
        found.review.append("pooled labels of repeated people or items")
    return found


def corpus_rate(study, size, a, known_chances, doubts):
    """Blind agreement of a corpus in batches: one, or one for each probability of the draw."""
    one_each = {c.item: c for c in study.blind}
    if any(c.extra for c in study.blind):
        doubts.append("a relabelling in a corpus")
    if study.left_out["blind_agreement"][NO_SUGGESTION]:
        doubts.append("a blind row without a suggestion in a corpus")
    if study.draw is not None:
        drawn = [item for item, (visible, _) in study.draw.items() if not visible]
        outside = set(one_each) - set(drawn)
        if outside:
            doubts.append("a blind label of an item not drawn blind, in a corpus")
    else:
        drawn = list(one_each)
    if size is None:
        size = len(study.draw)
    if known_chances is None:
        groups, sizes = {None: drawn}, {None: size}
    else:
        sizes = Counter(known_chances.values())
        groups = {p: [item for item in drawn if known_chances[item] == p] for p in sizes}
    batches, estimates, low, high = [], [], Fraction(0), Fraction(0)
    for p, items in groups.items():
        k, m, n = tally([one_each.get(item, Comparison(item, None, None)) for item in items])
        batches.append(Batch(sizes[p], n, k, m))
        estimates.append(sizes[p] * Fraction(k, n - m) if n > m else None)
        if n:
            low, high = low + sizes[p] * Fraction(k, n), high + sizes[p] * Fraction(k + m, n)
    k, m, n = (sum(getattr(b, name) for b in batches) for name in ("events", "missing", "drawn"))
    found = Found(k, n, m, n, recorded=n - m, method="hypergeometric")
    if None not in estimates:
        found.estimate = sum(estimates) / size
    if all(b.drawn for b in batches):
        found.completions = low / size, high / size
    corpus, rest = corpus_ends(batches, a, doubts)
    return found, corpus, rest


def blind_rate(study, per, a, repeated, corpus_size, doubts):
    chances, source, unequal = probabilities(study, doubts)
    if per != "item":
        found = rate(study, study.blind, per, a, repeated, doubts)
        if unequal:
            if per == "label":
                doubts.append("pooled labels under unequal probabilities")
            found.review.append("unequal probabilities")
        return found
    several = several_on_an_item(study.blind, doubts)
    c = study.policy.get("least_inclusion_probability")
    if corpus_size is not None and several:
        found = rate(study, study.blind, per, a, repeated, doubts)
        found.ends = None
        found.undecided.append("corpus_size, and items with several labels")
        return found
    batched = unequal and not several and source == "draw" and len(set(chances.values())) <= MOST_BATCHES
    weighted = unequal and not several and not batched and (source == "draw" or c is not None)
    if batched or corpus_size is not None and not unequal:
        found, corpus, rest = corpus_rate(study, corpus_size, a, chances if batched else None, doubts)
        found.ends = corpus
        if corpus_size is not None and rest is not None:
            found.ends, found.beside = rest, corpus
    elif weighted:
        if corpus_size is not None:
            doubts.append("corpus_size, and a weighted mixture")
        if any(comparison.extra for comparison in study.blind):
            doubts.append("a relabelling in a weighted mixture")
        least = min(chances.values()) if source == "draw" else Fraction(c)
        weights = [least / chances[comparison.item] for comparison in study.blind]
        low = [Fraction(comparison.value or 0) for comparison in study.blind]
        high = [Fraction(1 if comparison.value is None else comparison.value) for comparison in study.blind]
        k, m, n = tally(study.blind)
        found = Found(k, n, m, n, recorded=n - m, method="weighted-mixture", exact=False)
        found.ends = weighted_ends(low, high, weights, a)
        recorded = [(v, comparison.value) for v, comparison in zip(weights, study.blind) if comparison.value is not None]
        if recorded:
            found.estimate = sum(v * z for v, z in recorded) / sum(v for v, _ in recorded)
        if n:
            found.completions = tuple(sum(v * z for v, z in zip(weights, zs)) / sum(weights) for zs in (low, high))
    else:
        found = rate(study, study.blind, per, a, repeated, doubts)
        if unequal:
            found.review.append("unequal probabilities")
    if repeated and (batched or weighted):
        found.ends = None
        found.undecided.append("one look only")
    return found


def gap(study, per, a, repeated, pairwise, doubts):
    _, _, unequal = probabilities(study, doubts)
    sides = {"visible": study.visible, "blind": study.blind}
    found = Found(sides={name: tally(side) for name, side in sides.items()})
    for reasons in ("blind_agreement", "visible_agreement"):
        found.left_out += study.left_out[reasons]
    recorded = {name: n - m for name, (_, m, n) in found.sides.items()}
    found.recorded = min(recorded.values())
    if unequal:
        found.review.append("unequal probabilities")
    if per == "person":
        visible, blind = persons(study, study.visible), persons(study, study.blind)
        both = sorted(set(visible) & set(blind))
        if study.absent and any(set(v) - {c.annotator for c in study.blind} for v in (visible, blind)):
            doubts.append("a person of one kind, and items without a row")
        if both:
            perhaps = {p for p in both if all(c.perhaps for c in visible[p])}  # anything, or left out
            low = [Fraction(-1) if p in perhaps else ends_of(visible[p])[0] - ends_of(blind[p])[1] for p in both]
            high = [Fraction(1) if p in perhaps else ends_of(visible[p])[1] - ends_of(blind[p])[0] for p in both]
            found.ends = mean_ends(low, high, a, -1, doubts)
            found.estimate = mean(
                [recorded_rate(visible[p]) - recorded_rate(blind[p]) for p in both
                 if recorded_rate(visible[p]) is not None and recorded_rate(blind[p]) is not None]
            )
            found.completions = mean(low), mean(high)
            found.units = len(both)
            one_sided = len(set(visible) ^ set(blind))
            found.left_out[ONE_SIDE] = one_sided
            found.left_out[NO_COMPARISON] = len(study.annotators) - len(both) - one_sided
            if found.left_out[NO_COMPARISON]:
                doubts.append("a person with neither kind, in a gap")
            if one_sided > share_allowed(study) * (len(both) + one_sided):
                found.undecided.append("people of one kind only")
        else:
            join_sides(found, *(rate(study, side, "person", a / 2, repeated, doubts) for side in sides.values()))
            if set(study.annotators) - set(visible) - set(blind):
                doubts.append("a person with neither kind, in a gap")
        found.method = "uniform-mixture"
    elif pairwise:
        items = [{c.item for c in side} for side in sides.values()]
        if items[0] & items[1] or any(several_on_an_item(side, doubts) for side in sides.values()):
            found.undecided.append("pairwise needs disjoint items with one label each")
            join_sides(found, *(rate(study, side, per, a / 2, repeated, doubts) for side in sides.values()))
            found.ends = None
        else:
            if any(c.extra for c in study.blind):
                doubts.append("a relabelling in Fisher's product")
            one, two = (exact_rate(side, a / 2, False, []) for side in sides.values())
            join_sides(found, one, two)
            found.ends = fisher_ends(found.sides["visible"], found.sides["blind"], a)
            found.method, found.exact = "fisher-product", False
    else:
        one, two = (rate(study, side, per, a / 2, repeated, doubts) for side in sides.values())
        join_sides(found, one, two)
        found.review += one.review or two.review
        found.method = one.method if one.method == two.method else "uniform-mixture"  # the name of the wider of the two
    if min(recorded.values()) < LEAST_ON_A_SIDE:
        found.estimate = None
        found.undecided.append("fewer than 5 on a side")
    return found


def join_sides(found, one, two):
    found.ends = difference(one.ends, two.ends)
    found.units = one.units + two.units
    if one.estimate is not None and two.estimate is not None:
        found.estimate = one.estimate - two.estimate
    if one.completions and two.completions:
        found.completions = one.completions[0] - two.completions[1], one.completions[1] - two.completions[0]


def people(study, metric, a, doubts):
    """Items that two or more people labelled blind: how far they agree, and the model with them beyond that."""
    _, _, unequal = probabilities(study, doubts)
    found = Found(recorded=sum(c.value is not None for c in study.blind), method="uniform-mixture")
    low, high, estimates = [], [], []
    agreeing = pairs = missing = 0
    if study.absent:
        doubts.append("people's agreement, and items without a row")
    for item in sorted(study.people):
        rows = list(study.people[item].values())
        labels = [row.label for row in rows if row is not None and row.label]
        if len(rows) < 2:
            found.left_out[ONE_PERSON] += len(rows)
            continue
        without = len(rows) - len(labels)
        if without and (len(rows) > 2 or metric == "model_minus_people"):
            doubts.append("people's agreement on an item with a missing label")
        of = comb(len(rows), 2)
        same = sum(x == y for x, y in combinations(labels, 2))
        unknown = of - comb(len(labels), 2)
        agreeing, pairs, missing = agreeing + same, pairs + of, missing + unknown
        least, most = Fraction(same, of), Fraction(same + unknown, of)
        if metric == "model_minus_people":
            if any(row is not None and row.suggestion == "" for row in rows):
                doubts.append("model_minus_people on an item without a suggestion")
                continue
            model = Fraction(sum(label == row.suggestion for row in rows if row is not None and (label := row.label)), len(rows))
            least, most = model - most, model - least
        low.append(least)
        high.append(most)
        if len(labels) >= 2:
            estimates.append(least if not without else Fraction(same, comb(len(labels), 2)))
    found.units = len(low)
    if metric == "people_agreement":
        found.numerator, found.denominator, found.missing = agreeing, pairs, missing
    found.ends = mean_ends(low, high, a, -1 if metric == "model_minus_people" else 0, doubts)
    found.estimate = mean(estimates)
    if low:
        found.completions = mean(low), mean(high)
    if unequal:
        found.review.append("unequal probabilities")
    if not estimates:
        found.undecided.append("no item with two labels")
    return found


def share_allowed(study):
    return Fraction(study.policy.get("max_left_out", Decimal("0.10")))


def default_per(study, metric):
    return "item" if metric in BY_ITEM_ONLY or len(study.annotators) == 1 else "person"


def find(study, metric, per, a, repeated, pairwise, corpus_size, doubts, departures=True):
    """What a rule of this metric finds, with everything that stands in the way of a comparison."""
    _, _, unequal = probabilities(study, doubts)
    if metric == "anchoring_gap":
        found = gap(study, per, a, repeated, pairwise, doubts)
        rows = list(study.visible) + list(study.blind)
    elif metric in BY_ITEM_ONLY:
        found = people(study, metric, a, doubts)
        rows = []
    elif metric == "blind_agreement":
        found = blind_rate(study, per, a, repeated, corpus_size, doubts)
        rows = study.blind
    else:
        rows = {"visible_agreement": study.visible, "acceptance_rate": study.accepted, "verify_acceptance": study.verify}[metric]
        found = rate(study, rows, per, a, repeated, doubts)
        if unequal:
            doubts.append("a rate of visible labels under unequal probabilities")
    if metric not in ("anchoring_gap", *BY_ITEM_ONLY):
        found.left_out += study.left_out[metric]
    # Nothing recorded, floors, what is left out, then what is broken: the order of the verdicts.
    if found.recorded == 0:
        found.undecided.append("nothing recorded")
    recorded = sum(c.value is not None for c in study.blind)
    if metric in ON_BLIND and recorded < int(study.policy.get("minimum_blind_sample", 20)):
        found.undecided.append("fewer blind comparisons than the minimum")
    without = found.left_out[NO_SUGGESTION]
    totals = [len(rows), sum(c.annotator is not None for c in rows), sum(c.annotator is not None and not c.extra for c in rows)]
    too_many = {without > share_allowed(study) * (total + without + more) for total in totals for more in (0, found.left_out[REPEATED])}
    if len(too_many) > 1:
        doubts.append("max_left_out hangs on which rows are counted")
    if True in too_many:
        found.undecided.append("too many rows without a suggestion")
    if metric in ON_BLIND and departures and departs(study):
        found.review.append("departures from the draw")
    return found


def compare(threshold, found):
    kind, bound = threshold
    lower, upper = found.ends
    if kind == "minimum":
        return PASS if lower >= bound else FAIL if upper < bound else INSUFFICIENT
    return PASS if upper <= bound else FAIL if lower > bound else INSUFFICIENT


def described(metric, per, found):
    result = {"metric": metric, "labels": {"per": per}, "estimate": found.estimate}
    result["interval"] = None
    if found.ends is not None:
        result["interval"] = {"lower": found.ends[0], "upper": found.ends[1], "method": found.method}
    if found.beside is not None:
        result["corpus"] = {"lower": found.beside[0], "upper": found.beside[1]}
    if found.denominator is not None:
        result["numerator"], result["denominator"], result["missing"] = found.numerator, found.denominator, found.missing
    if found.sides is not None:
        result["sides"] = {name: dict(zip(("numerator", "missing", "denominator"), side)) for name, side in found.sides.items()}
    result["units"] = found.units
    result["left_out"] = [{"reason": reason, "count": n} for reason, n in sorted(found.left_out.items()) if n]
    if found.completions and found.completions[0] != found.completions[1]:
        result["completions"] = dict(zip(("low", "high"), found.completions))
    return result


def error_of(confidence):
    return (1 - Fraction(confidence)) / 2


def decide(study, rule, doubts):
    metric = rule["metric"]
    per = rule.get("per", default_per(study, metric))
    confidence = rule.get("confidence", study.policy.get("confidence", Decimal("0.95")))
    repeated = rule.get("looks", study.policy.get("looks", "")) == "repeated"
    size = rule.get("corpus_size", study.policy.get("corpus_size"))
    if size is not None and (metric != "blind_agreement" or per != "item" or repeated):
        doubts.append("corpus_size where it cannot be")
    kind = "minimum" if "minimum" in rule else "maximum"
    threshold = kind, rule[kind]

    def judge(one, **how):
        found = find(one, metric, per, error_of(confidence), repeated, "interval" in rule, None if size is None else int(size), doubts, **how)
        if found.undecided:
            return found, INSUFFICIENT
        if found.review:
            return found, REVIEW
        if not found.exact and min(abs(end - rule[kind]) for end in found.ends) < MARGIN:
            doubts.append("a threshold at an end that is only near")
        return found, compare(threshold, found)

    found, verdict = judge(study)
    if verdict in (PASS, FAIL):
        # Departures are told of the rows as they are.
        turned = [what for what, other in other_readings(study) if judge(other, departures=False)[1] != verdict]
        if turned:
            found.review, verdict = turned[:1], REVIEW
    result = {"id": rule["id"], "threshold": {kind: rule[kind]}, "verdict": verdict, **described(metric, per, found)}
    if found.undecided or found.review:
        result["because"] = found.undecided or found.review
    return result


def measures(study):
    """Every metric in every form, as a rule would find it, but for those that hang on a reading."""
    result = []
    a = error_of(study.policy.get("confidence", Decimal("0.95")))
    repeated = study.policy.get("looks", "") == "repeated"
    for metric in METRICS:
        for per in ("item",) if metric in BY_ITEM_ONLY else ("person", "item", "label"):
            doubts = []
            size = study.policy.get("corpus_size") if per == "item" else None
            found = find(study, metric, per, a, repeated, False, None if size is None else int(size), doubts)
            if not doubts and (found.denominator or found.units):
                result.append(described(metric, per, found))
    return result


# Agreement beyond chance


def kappa(pairs):
    """Cohen's kappa of (label, label), or None where it is not defined."""
    n = len(pairs)
    if n == 0:
        return None
    observed = Fraction(sum(x == y for x, y in pairs), n)
    left, right = Counter(x for x, _ in pairs), Counter(y for _, y in pairs)
    chance = sum(Fraction(left[label] * right[label], n * n) for label in left)
    return (observed - chance) / (1 - chance) if chance != 1 else None


def alpha(items):
    """Krippendorff's alpha for nominal labels; items are lists of labels, those with fewer than two do not count."""
    items = [labels for labels in items if len(labels) > 1]
    n = sum(map(len, items))
    if n == 0:
        return None
    # Ordered pairs within items that disagree, each weighted by 1/(number of labels of the item - 1).
    within = sum(Fraction(sum(x != y for x, y in combinations(labels, 2)) * 2, len(labels) - 1) for labels in items) / n
    all_labels = Counter(label for labels in items for label in labels)
    between = Fraction(n * n - sum(c * c for c in all_labels.values()), n * (n - 1))
    return 1 - within / between if between else None


def beyond_chance(study):
    result = {}
    if len(study.annotators) == 1:
        for name, classes in (("kappa_blind", (BLIND,)), ("kappa_visible", (VISIBLE, SEEN, RELABELLED))):
            rows = [row for row in study.rows if row.cls in classes and row.label and row.suggestion]
            result[name] = kappa([(row.suggestion, row.label) for row in rows]), len(rows)
    labels = {item: {p: row.label for p, row in rows.items() if row is not None and row.label} for item, rows in study.people.items()}
    if len(study.annotators) == 2:
        one, two = study.annotators
        pairs = [(by_person[one], by_person[two]) for by_person in labels.values() if len(by_person) == 2]
        result["kappa_people"] = kappa(pairs), len(pairs)
    if len(study.annotators) > 1:
        shared = [list(by_person.values()) for by_person in labels.values() if len(by_person) > 1]
        result["alpha"] = alpha(shared), len(shared)
    return {
        name: {"exact": None if value is None else f"{value.numerator}/{value.denominator}", "estimate": value, "units": units}
        for name, (value, units) in result.items()
    }


# Writing


def expected(study):
    """(result, doubts): what the gate must find, and what hangs on a reading or on the last digit."""
    doubts = list(study.doubts)
    rules = [decide(study, rule, doubts) for rule in study.policy["rules"]]
    verdict = next(v for v in (FAIL, REVIEW, INSUFFICIENT, PASS) if any(rule["verdict"] == v for rule in rules))
    kinds = Counter(row.kind for row in study.rows)
    reasons = Counter(row.cls for row in study.rows if row.cls in (SEEN, RELABELLED, UNCLEAR, REPEATED))
    reasons[NO_SUGGESTION] = sum(reasons_of[NO_SUGGESTION] for reasons_of in study.left_out.values())
    reasons["blind label missing"] = sum(c.value is None and c.annotator is not None for c in study.blind) - reasons[SEEN] - reasons[RELABELLED] - reasons[UNCLEAR]
    reasons["drawn blind, no blind row"] = len(study.absent)
    result = {
        "verdict": verdict,
        "exit_status": EXIT[verdict],
        "data": {
            "rows": len(study.rows),
            "items": len({row.item for row in study.rows}),
            "annotators": len(study.annotators),
            "kinds": dict(sorted(kinds.items())),
            "pairs_ordered_by": dict(sorted(study.order.items())),
            **({"ordered_by_place_alone": study.placed} if study.placed else {}),
            "classes": dict(sorted(Counter(row.cls for row in study.rows).items())),
            "reasons": {reason: n for reason, n in sorted(reasons.items()) if n},
            "departures": {kind: n for kind, n in sorted(study.departures.items()) if n},
        },
        "classes": [row.cls for row in study.rows],
        "rules": rules,
        "measures": measures(study),
        "beyond_chance": beyond_chance(study),
    }
    return result, sorted(set(doubts))


def plain(value):
    """Fractions and decimals as the nearest float64, which JSON prints in its shortest form."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, Fraction):
        return value.numerator / value.denominator  # whole numbers: correctly rounded
    if isinstance(value, Decimal):
        return float(value) + 0.0  # no negative zero
    return value


def holds_dicts(value):
    """Is there a list of objects in it?"""
    if isinstance(value, dict):
        return any(map(holds_dicts, value.values()))
    return isinstance(value, list) and any(isinstance(one, dict) for one in value)


def text_of(value, indent="", depth=0):
    """JSON with an object a line below the first level, so that a difference is a difference of few lines."""
    if depth > 1 or not (holds_dicts(value) or depth == 0):
        return json.dumps(value, ensure_ascii=False)
    inner = indent + " "
    if isinstance(value, dict):
        parts = [f"{inner}{json.dumps(key)}: {text_of(one, inner, depth + 1)}" for key, one in value.items()]
        return "{\n" + ",\n".join(parts) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + text_of(one, inner, depth + 1) for one in value) + f"\n{indent}]"


def main(arguments):
    check = arguments[:1] == ["--check"]
    folders = arguments[1:] if check else arguments
    if not folders:
        raise SystemExit("usage: oracle.py [--check] FOLDER...")
    wrong = 0
    for folder in folders:
        result, doubts = expected(read_study(folder))
        for doubt in doubts:
            print(f"{folder}: {doubt}")
        text = text_of(plain(result)) + "\n"
        path = Path(folder) / "expected.json"
        if not check:
            path.write_text(text, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != text or doubts:
            print(f"{path}: differs from what the oracle computes")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
