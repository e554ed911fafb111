#!/usr/bin/env python3
"""Reference values for the fairness gate, by a route of its own.

Reads study folders (cases.csv, fairness.yaml) and writes expected.json beside
them. Cases are counted one by one from the definitions; interval ends are found
by bisection on binomial sums of 60 digits; estimates are exact fractions. Nothing
here is shared with the Go code: where the two agree, both have read the
definitions the same way. The shape of expected.json, and the choices made where
the definitions leave room, are in README.md.

    python3 oracle.py FOLDER...           write expected.json
    python3 oracle.py --check FOLDER...   compare with the expected.json there
"""

import csv
import json
import math
import sys
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from math import comb
from pathlib import Path

PASS, FAIL, INSUFFICIENT = "PASS", "FAIL", "INSUFFICIENT_EVIDENCE"
EXIT = {PASS: 0, FAIL: 1, INSUFFICIENT: 3}

EVENT, NON_EVENT, OUT = "event", "non-event", "out"

NO_WHERE = "a column of where is empty"
STRANGE_WHERE = "a column of where is not a declared value"
NO_LABEL = "the label is empty"

# rate: (which cases are in its denominator, which of them are events), of label l and prediction p.
RATES = {
    "error": (lambda l, p: True, lambda l, p: l != p),
    "accuracy": (lambda l, p: True, lambda l, p: l == p),
    "selection": (lambda l, p: True, lambda l, p: p == 1),
    "false_positive": (lambda l, p: l == 0, lambda l, p: p == 1),
    "true_negative": (lambda l, p: l == 0, lambda l, p: p == 0),
    "false_negative": (lambda l, p: l == 1, lambda l, p: p == 0),
    "true_positive": (lambda l, p: l == 1, lambda l, p: p == 1),
    "precision": (lambda l, p: p == 1, lambda l, p: l == 1),
    "false_discovery": (lambda l, p: p == 1, lambda l, p: l == 0),
    "false_omission": (lambda l, p: p == 0, lambda l, p: l == 1),
    "negative_predictive_value": (lambda l, p: p == 0, lambda l, p: l == 0),
}
ALIASES = {
    "recall": "true_positive",
    "sensitivity": "true_positive",
    "specificity": "true_negative",
    "positive_predictive_value": "precision",
}
# Rates whose denominator a missing prediction may or may not be in.
MOVING = ("precision", "false_discovery", "false_omission", "negative_predictive_value")

# A study with more rows, or more groups over its attributes and intersections, has no rates under `measures`.
MOST_MEASURED_ROWS = 100
MOST_MEASURED_GROUPS = 5

DIGITS = Context(prec=60)


# Interval ends: 10 significant digits, rounded outward after a guard of 2e-12 (relative).

GUARD = Decimal("2e-12")
# An end so near a step that an error of this size would round it otherwise is a doubt.
CLOSE = Decimal("2e-13")


def tail_at_least(k, n, p):
    """P(Bin(n, p) >= k) to about 55 digits, 0 < p < 1."""
    if 2 * k > n:
        return sum_of_terms(range(k, n + 1), n, p)
    return 1 - sum_of_terms(range(0, k), n, p)


def sum_of_terms(outcomes, n, p):
    q = 1 - p
    total = Decimal(0)
    term = None
    for i in outcomes:
        if term is None:
            term = comb(n, i) * p**i * q ** (n - i)
        else:
            term = term * (n - i + 1) * p / (i * q)
        total += term
    return total


def largest_step(fits):
    """The largest decimal of 10 significant digits in (0, 1) that fits, where all smaller ones do too."""
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
    """The rounded lower end, where under(p) says whether p is at or under the exact one."""
    step, following = largest_step(lambda d: under(d / (1 - GUARD)))
    if not under(step / (1 - GUARD - CLOSE)) or under(following / (1 - GUARD + CLOSE)):
        doubts.append(f"a lower end at a step: {step}")
    return step


def upper_end(over, doubts):
    """The rounded upper end, where over(p) says whether p is at or over the exact one."""
    def below(d):
        x = d / (1 + GUARD)
        return not (x >= 1 or over(x))

    step, following = largest_step(below)
    if over(step / (1 + GUARD - CLOSE)) or following < 1 and not over(following / (1 + GUARD + CLOSE)):
        doubts.append(f"an upper end at a step: {following}")
    return min(following, Decimal(1))


@lru_cache(maxsize=None)
def exact_lower(k, n, a):
    """(end, doubts): the p at which P(Bin(n, p) >= k) is a."""
    doubts = []
    with localcontext(DIGITS):
        if k == 0:
            return Decimal(0), ()
        end = lower_end(lambda p: tail_at_least(k, n, p) <= a, doubts)
    return end, tuple(doubts)


@lru_cache(maxsize=None)
def exact_upper(k, n, a):
    """(end, doubts): the p at which P(Bin(n, p) <= k) is a."""
    doubts = []
    with localcontext(DIGITS):
        if k == n:
            return Decimal(1), ()
        end = upper_end(lambda p: 1 - tail_at_least(k + 1, n, p) <= a, doubts)
    return end, tuple(doubts)


def evidence(s, n, m):
    """Integral over q in [m, 1] of q^s (1-q)^(n-s), over (1-m) m^s (1-m)^(n-s) (audit 4)."""
    # The incomplete beta integral of whole s and n is a binomial tail: P(Bin(n+1, m) <= s) / ((n+1) C(n, s)).
    integral = (1 - tail_at_least(s + 1, n + 1, m)) / ((n + 1) * comb(n, s))
    return integral / ((1 - m) * m**s * (1 - m) ** (n - s))


@lru_cache(maxsize=None)
def sequence_lower(k, n, a):
    doubts = []
    with localcontext(DIGITS):
        if k == 0:
            return Decimal(0), ()
        end = lower_end(lambda m: m * n < k and evidence(k, n, m) >= 1 / a, doubts)
    return end, tuple(doubts)


@lru_cache(maxsize=None)
def sequence_upper(k, n, a):
    doubts = []
    with localcontext(DIGITS):
        if k == n:
            return Decimal(1), ()
        end = upper_end(lambda m: (1 - m) * n < n - k and evidence(n - k, n, 1 - m) >= 1 / a, doubts)
    return end, tuple(doubts)


def ratio_end(numerator, denominator, up):
    """The exact quotient to 10 significant digits, outward; None stands for infinity."""
    if denominator == 0:
        return None
    if numerator == 0:
        return Decimal(0)
    with localcontext(DIGITS):
        exact = Fraction(numerator) / Fraction(denominator)
        exponent = -10
        while exact < Fraction(10) ** (exponent + 9):
            exponent -= 1
        while exact >= Fraction(10) ** (exponent + 10):
            exponent += 1
        scaled = exact / Fraction(10) ** exponent
        whole = scaled.numerator // scaled.denominator
        if up and whole != scaled:
            whole += 1
        return Decimal(whole).scaleb(exponent)


def on_grid(x, rounding):
    return x.quantize(Decimal("1e-10"), rounding=rounding)


# The pairwise gap: Fisher's product, in ordinary floating point. Good to about 1e-10; README says how it is compared.

# A threshold nearer to an end than this would hang on that.
FISHER_MARGIN = Decimal("1e-7")


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
    """P(Bin(n, p) <= k), from the largest of its terms down."""
    odds = (1.0 - p) / p
    term = float(comb(n, k)) * p**k * (1.0 - p) ** (n - k)
    terms = [term]
    for i in range(k, 0, -1):
        term *= i / (n - i + 1) * odds
        terms.append(term)
        if term < 1e-20 * terms[0]:
            break
    return math.fsum(terms)


def at_least(k, n, p):
    return at_most(n - k, n, 1.0 - p) if k > 0 else 1.0


def solve(value, target):
    """Where the decreasing function value(p) on [0, 1] crosses target, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(48):
        middle = (low + high) / 2
        if value(middle) >= target:
            low = middle
        else:
            high = middle
    return (low + high) / 2


@lru_cache(maxsize=None)
def fisher_upper(i_high, j_low, b):
    """max p_i - p_j over P(Bin(n_i,p_i) <= k_i) P(Bin(n_j,p_j) >= k_j) >= c, where c(1 - ln c) = b (audit 5f ii)."""
    c_low, c_high = 0.0, 1.0
    for _ in range(200):
        c = (c_low + c_high) / 2
        if c > 0 and c * (1 - math.log(c)) > float(b):
            c_high = c
        else:
            c_low = c
    (k_i, n_i), (k_j, n_j) = i_high, j_low

    def least(p):
        """The least p_j that goes with p_i = p."""
        share = min(1.0, c / max(at_most(k_i, n_i, p), c))
        if k_j == 0:
            return 0.0
        return 1.0 - solve(lambda q: at_least(k_j, n_j, 1.0 - q), share)

    if k_i == n_i:
        return 1.0 - least(1.0)
    first, last, points = 0.0, solve(lambda p: at_most(k_i, n_i, p), c), 200
    best = -1.0
    for _ in range(9):  # a dense grid over p_i, then denser about its best point
        width = (last - first) / points
        grid = [first + width * s for s in range(points)] + [last]
        gains = [p - least(p) for p in grid]
        where = max(range(len(grid)), key=lambda s: gains[s])
        best = max(best, gains[where])
        first, last, points = grid[max(0, where - 1)], grid[min(len(grid) - 1, where + 1)], 12
    return best


def fisher_end(x):
    return Decimal(round(x * 10**10)).scaleb(-10)


# Reading


def read_declaration(path):
    """The declaration: `fairness:`, then keys with JSON or one plain word after the colon, and JSON rules in a list."""
    declaration = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line == "fairness:":
            continue
        text = line.strip()
        if text.startswith("- "):
            declaration["rules"].append(json.loads(text[2:], parse_float=Decimal, parse_int=Decimal))
            continue
        key, value = text.split(":", 1)
        value = value.strip()
        if key == "rules":
            declaration[key] = []
        else:
            try:
                declaration[key] = json.loads(value, parse_float=Decimal, parse_int=Decimal)
            except json.JSONDecodeError:
                declaration[key] = value
    return declaration


@dataclass
class Attribute:
    name: str
    groups: list
    bins: list  # Fractions; empty where the groups are texts

    def group(self, text):
        """The group of a recorded value, or None."""
        if not self.bins:
            return text if text in self.groups else None
        x = Fraction(Decimal(text))
        return self.groups[sum(bound <= x for bound in self.bins)]


@dataclass
class Case:
    label: int | None
    prediction: int | None
    probability: Fraction | None
    values: dict  # by the declaration's names, "" where not recorded


@dataclass
class Study:
    confidence: Decimal
    min_cell: int
    bins: int
    looks: str
    max_left_out: Decimal
    attributes: dict
    intersections: list
    rules: list
    has_probability: bool
    cases: list


def read_attribute(name, declared):
    if isinstance(declared, list):
        return Attribute(name, declared, [])
    bounds = [str(bound) for bound in declared["bins"]]
    groups = [f"under_{bounds[0]}"]
    groups += [f"{low}_to_{high}" for low, high in zip(bounds, bounds[1:])]
    groups.append(f"over_{bounds[-1]}")
    return Attribute(name, groups, [Fraction(bound) for bound in bounds])


def words_of(declaration, key):
    """(column, negative word, positive word); the words are None for 0 and 1."""
    given = declaration.get(key, key)
    if isinstance(given, str):
        given = {"column": given}
    column = given.get("column", key)
    if "positive" in given:
        return column, given["negative"], given["positive"]
    return column, declaration.get("negative"), declaration.get("positive")


def binary(text, negative, positive):
    if text == "":
        return None
    if negative is not None:
        return {negative: 0, positive: 1}[text]
    return {"0": 0, "0.0": 0, "false": 0, "1": 1, "1.0": 1, "true": 1}[text.lower()]


def read_study(folder):
    folder = Path(folder)
    d = read_declaration(folder / "fairness.yaml")
    renamed = d.get("columns", {})
    missing = ["", *d.get("missing_values", [])]
    with open(folder / d["cases"], encoding="utf-8", newline="") as file:
        delimiter = next(mark for mark in ",;\t" if mark in file.readline())
        file.seek(0)
        lines = [{name.strip(): value.strip() for name, value in line.items()} for line in csv.DictReader(file, delimiter=delimiter)]
    label, label_no, label_yes = words_of(d, "label")
    prediction, prediction_no, prediction_yes = words_of(d, "prediction")
    cases, ids, units = [], [], []
    for line in lines:
        def cell(name):
            text = line[renamed.get(name, name)]
            return "" if text in missing else text

        ids.append(cell(d.get("id", "id")))
        if "unit" in d:
            units.append(cell(d["unit"]))
        probability = cell(d["probability"]) if "probability" in d else ""
        names = list(d["attributes"]) + [column for rule in d["rules"] for column in rule.get("where", {})]
        cases.append(
            Case(
                binary(cell(label), label_no, label_yes),
                binary(cell(prediction), prediction_no, prediction_yes),
                Fraction(Decimal(probability)) if probability != "" else None,
                {name: cell(name) for name in names},
            )
        )
    if "" in ids or len(set(ids)) < len(ids) or "" in units or len(set(units)) < len(units):
        raise SystemExit(f"{folder}: an empty or repeated id or unit")
    return Study(
        Decimal(d.get("confidence", "0.95")),
        int(d.get("min_cell", 30)),
        int(d.get("calibration_bins", 10)),
        d.get("looks", ""),
        Decimal(d.get("max_left_out", "0.10")),
        {name: read_attribute(name, declared) for name, declared in d["attributes"].items()},
        d.get("intersections", []),
        d["rules"],
        "probability" in d,
        cases,
    )


# Counting


def possible(rate, case):
    """What a case may turn out to be, over all completions of its missing label and prediction."""
    inside, event = RATES[rate]
    results = set()
    for l in (0, 1) if case.label is None else (case.label,):
        for p in (0, 1) if case.prediction is None else (case.prediction,):
            results.add((EVENT if event(l, p) else NON_EVENT) if inside(l, p) else OUT)
    return results


def first_of(results, order):
    return next(result for result in order if result in results)


@dataclass
class Cell:
    """One group of a rule, or of a measure."""

    group: tuple  # the group's name in each attribute; () for the whole file
    numerator: int = 0
    recorded: int = 0  # cases with a prediction, in the denominator
    denominator: int = 0
    missing: int = 0
    low: list = field(default_factory=lambda: [0, 0])  # events and denominator under the two completions
    high: list = field(default_factory=lambda: [0, 0])
    lower: Decimal | None = None
    upper: Decimal | None = None
    small: bool = False

    def add(self, rate, case):
        results = possible(rate, case)
        if case.prediction is not None:
            result = next(iter(results))  # the one there is, as the label is recorded or not needed
            assert len(results) == 1
            self.numerator += result == EVENT
            self.recorded += result != OUT
            self.denominator += result != OUT
        elif results != {OUT}:
            self.missing += 1
            self.denominator += rate not in MOVING
        count(self.low, first_of(results, (NON_EVENT, OUT, EVENT)))
        count(self.high, first_of(results, (EVENT, OUT, NON_EVENT)))

    def add_at_worst(self, rate, case):
        """A left-out case that may belong here (audit 5e)."""
        results = possible(rate, case)
        if NON_EVENT in results:
            count(self.low, NON_EVENT)
        if EVENT in results:
            count(self.high, EVENT)

    @property
    def estimate(self):
        return Fraction(self.numerator, self.recorded) if self.recorded else None

    @property
    def completions(self):
        if self.missing and self.low[1] and self.high[1]:
            return {"low": ratio_of(*self.low), "high": ratio_of(*self.high)}
        return None


def count(tally, result):
    tally[0] += result == EVENT
    tally[1] += result != OUT


def ratio_of(k, n):
    return k / n  # whole numbers: correctly rounded


def crossing_of(study, attribute):
    """The attributes of a rule, in the order of the crossing's declaration."""
    names = [attribute] if isinstance(attribute, str) else list(attribute)
    if len(names) > 1:
        names = next(entry for entry in study.intersections if set(entry) == set(names))
    return names


def groups_of(study, names):
    return list(product(*(study.attributes[name].groups for name in names)))


def group_of(study, names, case):
    return tuple(study.attributes[name].group(case.values[name]) if case.values[name] else None for name in names)


def holds(study, where, case):
    """True, False, or why a case that may be in the slice cannot be told: a column is not recorded, or undeclared."""
    reasons = set()
    for column, value in where.items():
        recorded = case.values[column]
        if recorded == "":
            reasons.add(NO_WHERE)
        elif column in study.attributes:
            group = study.attributes[column].group(recorded)
            if group is None:
                reasons.add(STRANGE_WHERE)
            elif group != value:
                return False
        elif recorded != value:
            return False
    return min(reasons, key=[NO_WHERE, STRANGE_WHERE].index) if reasons else True


def reason_left_out(study, rate, names, where, case):
    if (held := holds(study, where, case)) is not True:
        return held
    for name in names:
        if case.values[name] == "":
            return f"{name} is empty"
        if study.attributes[name].group(case.values[name]) is None:
            return f"{name} is not a declared value"
    if rate != "selection" and case.label is None:
        return NO_LABEL
    return None


# Deciding


@dataclass
class Method:
    """How the ends of a rule's groups are found."""

    lower_error: Decimal
    upper_error: Decimal
    repeated: bool

    def find(self, cell, doubts):
        find_lower, find_upper = (sequence_lower, sequence_upper) if self.repeated else (exact_lower, exact_upper)
        cell.lower, one = find_lower(*cell.low, self.lower_error)
        cell.upper, two = find_upper(*cell.high, self.upper_error)
        doubts += one + two


@dataclass
class Pair:
    groups: tuple
    estimate: Fraction | None
    lower: Decimal
    upper: Decimal
    small: bool
    comparison: str = ""


def compare(kind, bound, lower, upper):
    if kind == "minimum":
        return PASS if lower >= bound else FAIL if upper < bound else INSUFFICIENT
    return PASS if upper <= bound else FAIL if lower > bound else INSUFFICIENT


def decide_pairs(rule, cells, pairwise, alpha, bound, doubts):
    pairs = []
    ratio = "min_group_ratio" in rule
    for one, two in combinations(cells, 2):
        p, q = one.estimate, two.estimate
        estimate = None
        if p is not None and q is not None:
            if not ratio:
                estimate = abs(p - q)
            elif p or q:
                estimate = min(p, q) / max(p, q)
        if ratio:
            lower = min(ratio_end(one.lower, two.upper, False), ratio_end(two.lower, one.upper, False))
            uppers = [ratio_end(one.upper, two.lower, True), ratio_end(two.upper, one.lower, True)]
            upper = min([Decimal(1)] + [u for u in uppers if u is not None])
            # Exact products of the rates' own ends, not the rounded quotients.
            passes = all(Fraction(a.lower) >= Fraction(bound) * Fraction(b.upper) for a, b in ((one, two), (two, one)))
            fails = any(Fraction(a.upper) < Fraction(bound) * Fraction(b.lower) for a, b in ((one, two), (two, one)))
            comparison = PASS if passes else FAIL if fails else INSUFFICIENT
        else:
            if pairwise:
                lower, upper = fisher_pair(one, two, alpha, len(cells))
                if min(abs(lower - bound), abs(upper - bound)) < FISHER_MARGIN:
                    doubts.append("a threshold at an end of Fisher's product")
            else:
                p_low, p_high = on_grid(one.lower, ROUND_FLOOR), on_grid(one.upper, ROUND_CEILING)
                q_low, q_high = on_grid(two.lower, ROUND_FLOOR), on_grid(two.upper, ROUND_CEILING)
                lower = max(Decimal(0), p_low - q_high, q_low - p_high)
                upper = max(p_high - q_low, q_high - p_low)
            comparison = compare("maximum", bound, lower, upper)
        pairs.append(Pair((one.group, two.group), estimate, lower, upper, one.small or two.small, comparison))
    return pairs


def fisher_pair(one, two, alpha, groups):
    a, divided = alpha / 2, alpha / (groups * (groups - 1))
    i_low, i_high, j_low, j_high = (tuple(t) for t in (one.low, one.high, two.low, two.high))
    upper = max(fisher_upper(i_high, j_low, a), fisher_upper(j_high, i_low, a))
    lower = max(0.0, -fisher_upper(i_high, j_low, divided), -fisher_upper(j_high, i_low, divided))
    return fisher_end(lower), fisher_end(upper)


def conclude(comparisons, small):
    """A verdict of (comparison, small) of a rule's pairs or groups: FAIL by full-size ones, small cells, PASS."""
    if any(c == FAIL and not is_small for c, is_small in comparisons):
        return FAIL
    if small:
        return INSUFFICIENT
    return PASS if comparisons and all(c == PASS for c, _ in comparisons) else INSUFFICIENT


def evaluate(study, rule, cells, doubts):
    """Ends of the cells, the pairs, the rule's own estimate and interval, and the verdict but for max_left_out."""
    alpha = 1 - Decimal(rule.get("confidence", study.confidence))
    pairwise = rule.get("interval") == "pairwise"
    repeated = rule.get("looks", study.looks) == "repeated"
    a, divided = alpha / 2, alpha / 2 / len(cells)
    kind, bound = threshold_of(rule)
    method = Method(divided, divided, repeated)
    if pairwise and kind == "minimum":
        method.lower_error = a
    if pairwise and kind == "maximum":
        method.upper_error = a
    for cell in cells:
        method.find(cell, doubts)
    small = any(cell.small for cell in cells)
    if kind in ("minimum", "maximum"):
        comparisons = [(compare(kind, bound, cell.lower, cell.upper), cell.small) for cell in cells]
        estimates = [cell.estimate for cell in cells if cell.estimate is not None]
        full = [cell for cell in cells if not cell.small]
        if kind == "minimum":
            estimate = min(estimates, default=None)
            lower = min(cell.lower for cell in cells)
            upper = min((cell.upper for cell in full), default=Decimal(1))
        else:
            estimate = max(estimates, default=None)
            lower = max((cell.lower for cell in full), default=Decimal(0))
            upper = max(cell.upper for cell in cells)
        return [], estimate, lower, upper, conclude(comparisons, small)
    pairs = decide_pairs(rule, cells, pairwise, alpha, bound, doubts)
    estimates = [pair.estimate for pair in pairs if pair.estimate is not None]
    full = [pair for pair in pairs if not pair.small]
    if kind == "max_group_gap":
        estimate = max(estimates, default=None)
        lower = max((pair.lower for pair in full), default=Decimal(0))
        upper = max(pair.upper for pair in pairs)
    else:
        estimate = min(estimates, default=None)
        lower = min(pair.lower for pair in pairs)
        upper = min((pair.upper for pair in full), default=Decimal(1))
    return pairs, estimate, lower, upper, conclude([(pair.comparison, pair.small) for pair in pairs], small)


def threshold_of(rule):
    if "worst_group" in rule:
        return next(iter(rule["worst_group"].items()))
    kind = "max_group_gap" if "max_group_gap" in rule else "min_group_ratio"
    return kind, rule[kind]


def cell_verdict(rule, cell, pairs, undecided):
    if undecided or cell.small:
        return INSUFFICIENT
    kind, bound = threshold_of(rule)
    if kind in ("minimum", "maximum"):
        return compare(kind, bound, cell.lower, cell.upper)
    return conclude([(pair.comparison, False) for pair in pairs if cell.group in pair.groups and not pair.small], False)


def decide(study, rule, doubts):
    rate = ALIASES.get(rule["rate"], rule["rate"])
    names, where = crossing_of(study, rule["attribute"]), rule.get("where", {})
    cells = {group: Cell(group) for group in groups_of(study, names)}
    left_out, reasons, total = [], {}, 0
    for case in study.cases:
        if holds(study, where, case) is False:
            continue
        total += 1
        reason = reason_left_out(study, rate, names, where, case)
        if len(names) > 1 and reason != reason_left_out(study, rate, list(rule["attribute"]), where, case):
            doubts.append("a first reason that hangs on the order of a crossing")
        if reason is None:
            cells[group_of(study, names, case)].add(rate, case)
        else:
            left_out.append((case, reason))
            reasons[reason] = reasons.get(reason, 0) + 1
    for cell in cells.values():
        cell.small = cell.recorded < study.min_cell
    cells = list(cells.values())
    pairs, estimate, lower, upper, verdict = evaluate(study, rule, cells, doubts)
    share = Decimal(rule.get("max_left_out", study.max_left_out))
    undecided = len(left_out) > Fraction(share) * total
    if undecided:
        verdict = INSUFFICIENT
    order = [NO_WHERE, STRANGE_WHERE] + [f"{name} is {what}" for name in names for what in ("empty", "not a declared value")] + [NO_LABEL]
    kind, bound = threshold_of(rule)
    threshold = {"worst_group": {kind: bound}} if kind in ("minimum", "maximum") else {kind: bound}
    result = {
        "id": rule["id"],
        "metric": rate,
        "labels": {"attribute": " × ".join(names)},
        "threshold": threshold,
        "verdict": verdict,
        "estimate": estimate,
        "interval": {"lower": lower, "upper": upper},
        "numerator": sum(cell.numerator for cell in cells),
        "denominator": sum(cell.denominator for cell in cells),
        "missing": sum(cell.missing for cell in cells),
        "left_out": [{"reason": reason, "count": reasons[reason]} for reason in order if reason in reasons],
        "left_out_of": total,
    }
    if left_out and verdict in (PASS, FAIL):
        result["with_left_out"] = with_left_out(study, rule, rate, names, cells, left_out, verdict, doubts)
    result["cells"] = [
        {**measure(names, cell), "recorded": cell.recorded, "verdict": cell_verdict(rule, cell, pairs, undecided)} for cell in cells
    ]
    if pairs:
        result["pairs"] = [
            {
                "groups": [" × ".join(group) for group in pair.groups],
                "estimate": pair.estimate,
                "interval": {"lower": pair.lower, "upper": pair.upper},
                "verdict": INSUFFICIENT if undecided or pair.small else pair.comparison,
            }
            for pair in pairs
        ]
    return result


def with_left_out(study, rule, rate, names, cells, left_out, verdict, doubts):
    """Decides again with every left-out case at its worst in every group it may belong to (audit 5e)."""

    def again(may_belong):
        worst = []
        for cell in cells:
            copy = Cell(cell.group, cell.numerator, cell.recorded, cell.denominator, cell.missing, list(cell.low), list(cell.high))
            copy.small = cell.small  # still what is recorded
            for case, reason in left_out:
                if may_belong(case, reason, cell.group):
                    copy.add_at_worst(rate, case)
            worst.append(copy)
        _, _, lower, upper, decided = evaluate(study, rule, worst, doubts)
        return {"survives": decided == verdict, "verdict": decided, "interval": {"lower": lower, "upper": upper}}

    result = again(lambda case, reason, group: reason != NO_LABEL or group_of(study, names, case) == group)

    # A narrower reading: the attributes that are recorded with a declared value hold. It must not matter.
    def compatible(case, reason, group):
        return all(known in (None, name) for known, name in zip(group_of(study, names, case), group))

    if again(compatible)["verdict"] != result["verdict"]:
        doubts.append("with_left_out hangs on what a left-out case's other attributes are taken for")
    return result


# Measures


def measure(names, cell):
    labels = {"attribute": " × ".join(names), "group": " × ".join(cell.group)} if names else {}
    result = {
        "labels": labels,
        "estimate": cell.estimate,
        "interval": {"lower": cell.lower, "upper": cell.upper},
        "numerator": cell.numerator,
        "denominator": cell.denominator,
        "missing": cell.missing,
    }
    if cell.completions:
        result["completions"] = cell.completions
    return result


def measures(study, doubts):
    """Every rate of the whole file and of every group, each attribute with its own division of the error."""
    result = []
    alpha = 1 - study.confidence
    for names in [[], *([name] for name in study.attributes), *study.intersections]:
        groups = groups_of(study, names)
        for rate in RATES:
            cells = {group: Cell(group) for group in groups}
            for case in study.cases:
                if reason_left_out(study, rate, names, {}, case) is None:
                    cells[group_of(study, names, case)].add(rate, case)
            error = alpha / 2 / len(groups)
            for cell in cells.values():
                Method(error, error, study.looks == "repeated").find(cell, doubts)
                result.append({"metric": rate, **measure(names, cell)})
    return result


def calibration(study):
    """The expected calibration error of every group, and its expectation under perfect calibration (audit 5f iii)."""
    result = []
    for names in [*([name] for name in study.attributes), *study.intersections]:
        for group in groups_of(study, names):
            bins = {}
            for case in study.cases:
                if case.label is not None and case.probability is not None and group_of(study, names, case) == group:
                    at = min(math.floor(case.probability * study.bins), study.bins - 1)
                    bins.setdefault(at, []).append(case)
            n = sum(map(len, bins.values()))
            error = chance = None
            if n:
                error = sum(abs(sum(c.label - c.probability for c in held)) for held in bins.values()) / n
                chance = sum(mean_distance(len(held), sum(c.probability for c in held) / len(held)) for held in bins.values()) / n
            result.append(
                {
                    "labels": {"attribute": " × ".join(names), "group": " × ".join(group)},
                    "estimate": error,
                    "denominator": n,
                    "expected_if_calibrated": chance,
                }
            )
    return result


@lru_cache(maxsize=None)
def mean_distance(n, p):
    """E|Bin(n, p) - np|, straight from its definition."""
    return sum(comb(n, k) * p**k * (1 - p) ** (n - k) * abs(k - n * p) for k in range(n + 1))


# Writing


def expected(study):
    """(result, doubts): what the gate must find, and what hangs on a reading or on the last digit."""
    doubts = []
    rules = [decide(study, rule, doubts) for rule in study.rules]
    verdict = next(v for v in (FAIL, INSUFFICIENT, PASS) if any(rule["verdict"] == v for rule in rules))
    result = {"verdict": verdict, "exit_status": EXIT[verdict], "rows": len(study.cases), "rules": rules}
    groups = [groups_of(study, names) for names in [*([name] for name in study.attributes), *study.intersections]]
    if len(study.cases) <= MOST_MEASURED_ROWS and sum(map(len, groups)) <= MOST_MEASURED_GROUPS:
        result["measures"] = measures(study, doubts)
    if study.has_probability:
        result["expected_calibration_error"] = calibration(study)
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
        return float(value)
    return value


def holds_dicts(value):
    """Is there a list of objects in it?"""
    if isinstance(value, dict):
        return any(map(holds_dicts, value.values()))
    return isinstance(value, list) and any(isinstance(one, dict) for one in value)


def text_of(value, indent=""):
    """JSON with an object a line where it holds no list of others, so that a difference is a difference of few lines."""
    if not holds_dicts(value):
        return json.dumps(value, ensure_ascii=False)
    inner = indent + " "
    if isinstance(value, dict):
        parts = [f"{inner}{json.dumps(key)}: {text_of(one, inner)}" for key, one in value.items()]
        return "{\n" + ",\n".join(parts) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + text_of(one, inner) for one in value) + f"\n{indent}]"


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
