"""Writes exact.csv: unrounded lower ends on [0, 1] to 25 digits, by the textbook formulas in 50-digit arithmetic.

Run as: python3 exact.py > exact.csv   (mpmath 1.3.0; about two minutes)
"""

from mpmath import mp, mpf, log, exp, loggamma

mp.dps = 50

RATES = [(1, 10), (3, 5), (7, 15), (99, 100), (137, 1000), (9999, 10000), (5, 100000), (1, 10**7), (5 * 10**6, 10**7),
         (9999990, 10**7), (1234567, 10**7), (999999, 10**6), (30, 10**9)]

# Values on [0, 1] with their counts; each decimal stands for the float64 nearest to it.
SAMPLES = [
    "0.3*1", "1*7", "0.55*2", "0*1;1*1", "0.4*1;0.5*1;0.6666666666666666*1", "0.525*4;0*1", "0.5*3;0.6*2;0.1*1",
    "0*3;1*3", "0*2;1*18", "0.55*8;0.3*2", "0.525*39;0*1", "0.995*55;0.95*5", "0.001*5;0.9*1",
    "0.45*12;0.5*20;0.55*30;0.6*20;0.75*10;0.35*8", "0*12;0.5*70;1*18", "0.475*195;1*5", "0.5*390;1*10",
    "0*1;0.2*50;0.4*150;0.6*150;0.9*49", "0*80;0.5*720;1*200", "0.0001*700;0.3*300",
]
CONFIDENCES = [0.5, 0.95, 0.9995]


def root(f, lo, hi):
    """The zero of a falling or rising f between lo and hi, by bisection and then the secant method."""
    flo = f(lo)
    for _ in range(30):
        mid = (lo + hi) / 2
        fmid = f(mid)
        if (fmid > 0) == (flo > 0):
            lo, flo = mid, fmid
        else:
            hi = mid
    return mp.findroot(f, (lo, hi), solver="anderson", tol=mpf(10) ** -80)


def clopper_pearson(k, n, a):
    if k == n:
        return exp(log(a) / n)

    def excess(t):
        p = exp(t)
        q = 1 - p
        ln_pmf = loggamma(n + 1) - loggamma(k + 1) - loggamma(n - k + 1) + k * t + (n - k) * log(q)
        total, term, j = mpf(1), mpf(1), 1
        while term > total * mpf(10) ** -40 and j <= n - k:
            term *= mpf(n - k - j + 1) / (k + j) * p / q
            total += term
            j += 1
        return ln_pmf + log(total) - log(a)

    top = log(mpf(k) / n)
    # The root lies between the mean k/n and the bound of a single event, or ten standard deviations.
    bottom = top + log(a) - 3 if k < 20 else top - 10 / mp.sqrt(k)
    return exp(root(excess, bottom, top))


def elementary(y):
    A = [mpf(1)] + [mpf(0)] * len(y)
    for j, x in enumerate(y, 1):
        for k in range(j, 0, -1):
            A[k] += (x * A[k - 1] - A[k]) * k / j
    return A


def mixture(y, a):
    A = elementary(y)
    mean = sum(y) / len(y)

    def excess(t):
        total, m = mpf(0), exp(t)
        for x in reversed(A):
            total = total / m + x
        return log(total / (len(y) + 1)) + log(a)

    return exp(root(excess, log(mean) + log(a) - log(len(y) + 1), log(mean)))


def sympol(y, a):
    return max(exp(log(a * x) / k) for k, x in enumerate(elementary(y)) if k and x)


def dirichlet(y, a):
    mean = sum(y) / len(y)

    def excess(t):
        m = exp(t)
        up = [x - m for x in y if x > m]
        down = [m] + [m - x for x in y if x < m]
        share = [mpf(0)] + [mpf(1)] * len(down)
        for u in up:
            for k, v in enumerate(down, 1):
                share[k] = (u * share[k - 1] + v * share[k]) / (u + v)
        return log(share[-1]) - log(a)

    if min(y) == max(y):
        return mean * exp(log(a) / len(y))
    return exp(root(excess, log(mean) + log(a), log(mean)))


print("# Unrounded lower ends on [0, 1], computed by exact.py with mpmath 1.3.0 at 50 digits.")
print("method,sample,confidence,lower")
for confidence in CONFIDENCES:
    a = mpf((1 - confidence) / 2)
    for k, n in RATES:
        print(f"clopper-pearson,{k}/{n},{confidence},{mp.nstr(clopper_pearson(k, n, a), 25)}")
    for text in SAMPLES:
        y = []
        for part in text.split(";"):
            value, count = part.split("*")
            y += [mpf(float(value))] * int(count)
        for name, method in ("uniform-mixture", mixture), ("sympol", sympol), ("dirichlet", dirichlet):
            if name == "dirichlet" and len(y) > 500:
                continue  # two hundred thousand steps at each of a hundred points
            print(f"{name},{text},{confidence},{mp.nstr(method(y, a), 25)}")
