"""The blind draw of package study, written a second time from its package comment alone.

It is where the CSV files beside it come from:
    python3 draw.py first    > drawn.csv      (12 items, rate 0.3, floor 6)
    python3 draw.py extended > extended.csv   (the same and 8 more, at rate 0.5)
    python3 draw.py even     > even.csv       (all 20, rate 0.3, no floor)
"""
import hashlib
import hmac
import sys
from decimal import Context, Decimal
from fractions import Fraction
from math import comb

SEED = "autumn 2026 é"
FIRST = ["i1", "i2", "i3", "5, six", 'the "seventh"', "Zoë", "-17", "@name", "東京", "a|b", "i11", "i12"]
LATER = [f"n{i}" for i in range(8)]


def mark(item):
    texts = ["oloproof-blind/1", item]
    data = b"".join(b"%d:%s," % (len(t.encode()), t.encode()) for t in texts)
    return int.from_bytes(hmac.new(SEED.encode(), data, hashlib.sha256).digest(), "big")


def draw(items, rate, floor):
    by_rate = {i for i in items if Fraction(mark(i), 2**256) < rate}
    least = set(sorted(items, key=mark)[:floor])
    return by_rate | least if len(by_rate) < floor else by_rate


def chance(n, rate, floor):
    """E[max(Bin(n, rate), floor)]/n, exactly, then to 10 significant digits."""
    e = sum(comb(n, k) * rate**k * (1 - rate) ** (n - k) * max(k, floor) for k in range(n + 1)) / n
    return str(Context(prec=10).divide(Decimal(e.numerator), Decimal(e.denominator)).normalize())


def quote(text):
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',;|"') or text[0] == ":" else text


def show(items, blind, probability):
    for i in items:
        print(f"{quote(i)},{'blind' if i in blind else 'visible'},{probability}")


what = sys.argv[1]
print("item,visibility,inclusion_probability")
if what == "even":
    show(FIRST + LATER, draw(FIRST + LATER, Fraction(3, 10), 0), "0.3")
else:
    show(FIRST, draw(FIRST, Fraction(3, 10), 6), chance(12, Fraction(3, 10), 6))
if what == "extended":
    show(LATER, draw(LATER, Fraction(1, 2), 0), "0.5")
