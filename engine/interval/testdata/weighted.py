"""Writes weighted.csv: unrounded lower ends of the weighted mixture on [0, 1] to 25 digits, in 60-digit arithmetic.

Run as: python3 weighted.py > weighted.csv   (mpmath 1.3.0; about a minute)

With b = 1 - v + v*z/m an item's factor is (1 - t) + t*b, so that
    E(m) = 1/(n+1) * sum over k of the mean, over all k of the items, of the product of their b:
all terms positive and nothing to integrate, which is another route than the program's. Each decimal below stands for the
float64 nearest to it, as in the program.
"""

import random

from mpmath import mp, mpf, exp, log

mp.dps = 60

# weight:value*count
SAMPLES = [
    "1:1*1", "0.5:1*1", "0.001:1*1", "0.3:0.4*1", "1:1*7", "0.5:1*7", "0.25:1*30", "1:1*3;0.5:0*2", "1:0*3;0.5:1*2",
    "1:1*10;0.2:1*20", "1:0.5*4;0.7:0.25*3;0.3:1*5;0.3:0*1", "0.01:1*50", "0.01:1*40;1:0*3", "1:1*40;0.01:0*3",
    "0.2:1*12;0.4:1*25;0.8:1*20;1:1*30;0.2:0*2;0.4:0*5;0.8:0*14;1:0*19", "0.0001:1*200", "1:0.001*60;0.1:0.9*40",
    "1:0*150;0.05:1*5", "1:1*150;0.05:0*5", "0.125:1*90;0.0625:0*10",
]
CONFIDENCES = [0.5, 0.95, 0.9995]


def drawn_list(seed, n):
    """A list whose weights all differ, agreement falling in the chance to be drawn."""
    r = random.Random(seed)
    parts = []
    for _ in range(n):
        v = round(r.uniform(0.05, 1), 6)
        parts.append(f"{v}:{int(r.random() > 0.5 * v)}*1")
    return ";".join(parts)


def items(text):
    out = []
    for part in text.split(";"):
        pair, count = part.split("*")
        v, z = pair.split(":")
        out += [(mpf(float(v)), mpf(float(z)))] * int(count)
    return out


def ln_e(sample, m):
    A = [mpf(1)] + [mpf(0)] * len(sample)
    for j, (v, z) in enumerate(sample, 1):
        b = 1 - v + v * z / m
        for k in range(j, 0, -1):
            A[k] += (b * A[k - 1] - A[k]) * k / j
    return log(sum(A) / (len(sample) + 1))


def lower(sample, a):
    """The root of ln E(m) = ln(1/a), which falls in m, in t = ln m."""
    mean = sum(v * z for v, z in sample) / sum(v for v, _ in sample)
    f = lambda t: ln_e(sample, exp(t)) + log(a)
    high = log(mean)
    step = mpf(1) / 64
    low = high - step
    while f(low) < 0:
        high, step = low, 2 * step
        low -= step
    for _ in range(12):
        mid = (low + high) / 2
        if f(mid) > 0:
            low = mid
        else:
            high = mid
    return exp(mp.findroot(f, (low, high), solver="anderson", tol=mpf(10) ** -80))


print("# Unrounded lower ends on [0, 1], computed by weighted.py with mpmath 1.3.0 at 60 digits.")
print("sample,confidence,lower")
for text in SAMPLES + [drawn_list(1, 25), drawn_list(2, 120)]:
    for confidence in CONFIDENCES:
        a = mpf((1 - confidence) / 2)  # the float64 that the program uses
        print(f"{text},{confidence},{mp.nstr(lower(items(text), a), 25)}", flush=True)
