"""Writes pairing.csv: unrounded ends of the pairing average on [-1, 1], in 40-digit arithmetic.

Run as: python3 pairing.py > pairing.csv   (mpmath 1.3.0; a few minutes)

Another route than the program's: the e-value of a pairing is integrated as it is defined,
    E(m) = integral over t of the product of (1 - t + t*y/m),
by a Gauss rule that is exact for a polynomial of its degree, pairing by pairing, instead of by the means A_k of the products of
k values. The pairings are drawn here again, from the published definition of the generator (PCG-DXSM, 128 bits).
"""

import random
from collections import Counter

from mpmath import mp, mpf, exp, legendre, log

mp.dps = 40

SEED = 0x6F6C6F70726F6F66
PAIRINGS = 1000
MASK64, MASK128 = (1 << 64) - 1, (1 << 128) - 1


class Generator:
    """PCG-DXSM as in O'Neill's PCG library, with the 128-bit multiplier."""

    def __init__(self, high, low):
        self.state = high << 64 | low

    def next(self):
        self.state = (self.state * (2549297995355413924 << 64 | 4865540595714422341) + (6364136223846793005 << 64 | 1442695040888963407)) & MASK128
        high, low = self.state >> 64, self.state & MASK64
        high ^= high >> 32
        high = high * 0xDA942042E4DD58B5 & MASK64
        high ^= high >> 48
        return high * (low | 1) & MASK64

    def below(self, n):
        while True:
            x = self.next()
            if x < MASK64 - MASK64 % n:
                return x % n


def pairings(people, cases):
    """PAIRINGS lists of cells (person, case), each the first n of a shuffle of the larger side."""
    n, most = min(people, cases), max(people, cases)
    g, order = Generator(SEED, n), list(range(most))
    for _ in range(PAIRINGS):
        for i in range(n):
            j = i + g.below(most - i)
            order[i], order[j] = order[j], order[i]
        yield [(i, order[i]) if people <= cases else (order[i], i) for i in range(n)]


def gauss(count):
    """Nodes and weights on [0, 1]."""
    out = []
    for i in range(1, count + 1):
        x = mp.cos(mp.pi * (i - mpf(1) / 4) / (count + mpf(1) / 2))
        for _ in range(60):
            p, q = legendre(count, x), legendre(count - 1, x)
            slope = count * (x * p - q) / (x * x - 1)
            step = p / slope
            x -= step
            if abs(step) < mpf(10) ** -38:
                break
        p, q = legendre(count, x), legendre(count - 1, x)
        slope = count * (x * p - q) / (x * x - 1)
        out.append(((x + 1) / 2, 1 / ((1 - x * x) * slope * slope)))
    return out


def lower(lists, n, mean, a):
    """sup{m : the average of E(m) >= 1/a} on [0, 1], and never above the mean of all cells."""
    counted = Counter(tuple(sorted(l)) for l in lists)  # the e-value does not depend on the order of a pairing's cells
    if not any(any(l) for l in counted):
        return mpf(0)
    rule = gauss(n // 2 + 1)  # exact up to degree 2*(n//2) + 1 >= n

    def f(t):
        m = exp(t)
        total = mpf(0)
        for node, weight in rule:
            factor = {}
            sum_at = mpf(0)
            for l, times in counted.items():
                product = mpf(times)
                for y in l:
                    if y not in factor:
                        factor[y] = 1 - node + node * y / m
                    product *= factor[y]
                sum_at += product
            total += weight * sum_at
        return log(total / PAIRINGS) + log(a)

    high = log(max(mpf(sum(l)) / n for l in counted))  # no E(m) reaches 1 above the mean of its own cells
    low = high - 1
    while f(low) < 0:
        high, low = low, low - 1
    t = mp.findroot(f, (low, high), solver="illinois", tol=mpf(10) ** -30)
    return min(exp(t), mean)


def row(text, confidence):
    cells = [[(-1, 1) if v == "?" else (mpf(float(v)),) * 2 for v in r.split()] for r in text.split("/")]
    people, cases = len(cells), len(cells[0])
    n, a, count = min(people, cases), (1 - mpf(confidence)) / 2, people * cases
    worst = [[(c[0] + mpf(1)) / 2 for c in r] for r in cells]
    best = [[(1 - c[1]) / mpf(2) for c in r] for r in cells]
    ends = []
    for y in (worst, best):
        mean = sum(sum(r) for r in y) / count
        ends.append(lower([[y[p][c] for p, c in pairing] for pairing in pairings(people, cases)], n, mean, a))
    return 2 * ends[0] - 1, 1 - 2 * ends[1]


def drawn(seed, people, cases, values, missing=0.0):
    """Cells with effects of the person and of the case; values are the possible ones in order."""
    r = random.Random(seed)
    person, case = [r.gauss(0, 1) for _ in range(people)], [r.gauss(0, 1) for _ in range(cases)]
    rows = []
    for p in person:
        row = []
        for c in case:
            x = min(1, max(0, 0.55 + 0.15 * p + 0.15 * c + 0.2 * r.gauss(0, 1)))
            row.append("?" if r.random() < missing else values[min(len(values) - 1, int(x * len(values)))])
        rows.append(" ".join(row))
    return "/".join(rows)


def permutation(n):
    return "/".join(" ".join("1" if i == j else "-1" for j in range(n)) for i in range(n))


SAMPLES = [
    ("0.5", "0.95"), ("?", "0.95"), ("1 -1/-1 1", "0.9"), ("1 0 -1 1 1/0 0 1 -1 ?", "0.95"), ("1 0/0 1/1 1/-1 0/1 0.25", "0.99"),
    ("-1 -1 -1/-1 -1 -1", "0.95"), ("1 1/1 1/1 1", "0.95"), ("0.125 -0.75 0.3/0.1 0.2 1", "0.5"),
    (permutation(5), "0.5"), (permutation(7), "0.9"),
    (drawn(1, 8, 30, ["-1", "0", "1"]), "0.95"), (drawn(2, 30, 8, ["-1", "0", "1"], 0.1), "0.95"), (drawn(3, 20, 30, ["-1", "1"]), "0.95"),
    (drawn(4, 12, 12, ["-0.6", "-0.1", "0.35", "0.8"]), "0.99"), (drawn(5, 25, 24, ["0", "1"], 0.05), "0.9"),
]

print("# Unrounded ends on [-1, 1], computed by pairing.py with mpmath 1.3.0 at 40 digits. Rows of cells end with /, ? is missing.")
print("cells,confidence,lower,upper")
for text, confidence in SAMPLES:
    lo, hi = row(text, confidence)
    print(f"{text},{confidence},{mp.nstr(lo, 20)},{mp.nstr(hi, 20)}", flush=True)
