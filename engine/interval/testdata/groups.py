"""Writes groups.csv: unrounded ends of the intervals of groups to 20 digits, from the definitions in 40-digit arithmetic.

Tails are sums of exact binomial coefficients up to n = 400, and beyond sums of ratios from a first term by the logarithm of the
gamma function; where mpmath's incomplete beta function is cheap they are compared with it. The Fisher product is maximised over the rate p itself by a golden section, not over the
shares of the two tails.

Run as: python3 groups.py > groups.csv   (mpmath 1.3.0; some minutes)
"""

from math import comb

from mpmath import mp, mpf, betainc, exp, findroot, log, loggamma, sqrt

mp.dps = 40


def at_least(k, n, p):
    """P(Bin(n, p) >= k)."""
    if k <= 0:
        return mpf(1)
    if k > n:
        return mpf(0)
    q = 1 - p
    if n > 400:
        if p * n > k:
            return 1 - at_least(n - k + 1, n, q)
        if p == 0:
            return mpf(0)
        term = exp(loggamma(n + 1) - loggamma(k + 1) - loggamma(n - k + 1) + k * log(p) + (n - k) * log(q))
        total, odds = term, p / q
        for j in range(k, n):
            term *= odds * (n - j) / (j + 1)
            total += term
            if term < total * mpf(10) ** -42:
                break
        return total
    if 2 * k > n:
        return sum(comb(n, j) * p**j * q ** (n - j) for j in range(k, n + 1))
    return 1 - sum(comb(n, j) * p**j * q ** (n - j) for j in range(k))


def at_most(k, n, p):
    """P(Bin(n, p) <= k)."""
    return at_least(n - k, n, 1 - p)


def rate_with(k, n, a):
    """The p with P(Bin(n, p) >= k) = a: a bisection, then the Illinois method on the tail itself."""
    if k <= 0:
        return mpf(0)
    if a >= 1:
        return mpf(1)
    lo, hi = mpf(0), mpf(1)
    for _ in range(12 if n < 1000 else 30):
        mid = (lo + hi) / 2
        if at_least(k, n, mid) < a:
            lo = mid
        else:
            hi = mid
    f = lambda p: at_least(k, n, p) - a
    flo, fhi = f(lo), f(hi)
    side = 0
    for _ in range(400):
        p = (lo * fhi - hi * flo) / (fhi - flo)
        fp = f(p)
        if fp == 0 or hi - lo < mpf(10) ** -34:
            break
        if fp < 0:
            if abs(p - lo) < mpf(10) ** -32:
                break
            lo, flo = p, fp
            if side < 0:
                fhi /= 2
            side = -1
        else:
            if abs(p - hi) < mpf(10) ** -32:
                break
            hi, fhi = p, fp
            if side > 0:
                flo /= 2
            side = 1
    return p


def product_limit(b):
    """The c with c(1 - ln c) = b."""
    b = mpf(b)
    return findroot(lambda c: c * (1 - log(c)) - b, (b / (4 - 2 * log(b)), b / 2), solver="anderson", tol=mpf(10) ** -70)


def fisher(ki, ni, kj, nj, b):
    """max p - q with P(Bin(ni, p) <= ki) P(Bin(nj, q) >= kj) >= c. The set is convex, so the best q for a p is concave in p."""
    c = product_limit(b)

    def q_for(p):
        return rate_with(kj, nj, c / at_most(ki, ni, p))

    if ki == ni:
        return 1 - q_for(mpf(1))
    top = 1 - rate_with(ni - ki, ni, c)  # beyond it the first tail alone is below c
    if kj == 0:
        return top
    ratio = (sqrt(mpf(5)) - 1) / 2
    lo, hi = mpf(0), top
    x1, x2 = hi - ratio * (hi - lo), lo + ratio * (hi - lo)
    f1, f2 = x1 - q_for(x1), x2 - q_for(x2)
    best = -q_for(mpf(0))  # p = 0
    best = max(best, top - 1, f1, f2)  # p = top leaves q = 1
    for _ in range(52):  # the value is flat at its maximum: 2e-11 in p is far below 1e-18 in it
        if f1 > f2:
            hi, x2, f2 = x2, x1, f1
            x1 = hi - ratio * (hi - lo)
            f1 = x1 - q_for(x1)
        else:
            lo, x1, f1 = x1, x2, f2
            x2 = lo + ratio * (hi - lo)
            f2 = x2 - q_for(x2)
        best = max(best, f1, f2)
    return best


for k, n, p in (7, 400, "0.03"), (300, 400, "0.7"), (30, 1000, "0.04"), (30, 1000, "0.02"), (970, 1000, "0.96"):
    assert abs(betainc(k, n - k + 1, 0, mpf(p), regularized=True) - at_least(k, n, mpf(p))) < mpf(10) ** -35

print("# Unrounded ends, computed by groups.py with mpmath 1.3.0 at 40 digits. rate: k, n, groups and the two ends at confidence")
print("# .95 over all groups; fisher: k and n of either group, the error b, and the upper end of the difference of the rates.")
print("kind,k,n,k2,n2,groups or error,lower,upper")
for n in 1, 2, 3, 7, 20, 50, 137, 400, 1000, 12345, 1000000:
    for k in sorted({0, 1, 2, n // 3, n // 2, n - 1, n}):
        if k > n or n == 1000000 and k in (n // 3, n // 2):  # minutes each; exact.csv has such
            continue
        for groups in 1, 2, 3, 6, 12, 100, 10000:
            a = mpf((1 - 0.95) / 2 / groups)  # in float64, as the program does
            lower, upper = rate_with(k, n, a), 1 - rate_with(n - k, n, a)
            print(f"rate,{k},{n},,,{groups},{mp.nstr(lower, 20)},{mp.nstr(upper, 20)}", flush=True)

mp.dps = 30
pairs = []
for ni, nj in (1, 1), (1, 5), (6, 1), (5, 5), (30, 10), (10, 30), (60, 60), (200, 40):
    for ki in sorted({0, 1, ni // 3, ni - 1, ni}):
        for kj in sorted({0, 1, nj // 2, nj - 1, nj}):
            pairs.append((ki, ni, kj, nj))
pairs += [(10, 100, 10, 100), (0, 100, 0, 100), (90, 100, 10, 100), (10, 100, 90, 100), (150, 300, 20, 100)]
for number, (ki, ni, kj, nj) in enumerate(pairs):
    b = [0.025, 0.25, 0.05 / 132, 1e-6][number % 4]
    print(f"fisher,{ki},{ni},{kj},{nj},{b!r},,{mp.nstr(fisher(ki, ni, kj, nj, b), 18)}", flush=True)
for ki, ni, kj, nj in (100, 1000, 100, 1000), (400, 4000, 400, 4000), (3, 20000, 1, 7), (10000, 100000, 11000, 100000), (3000, 10000, 7, 50):
    print(f"fisher,{ki},{ni},{kj},{nj},0.025,,{mp.nstr(fisher(ki, ni, kj, nj, 0.025), 18)}", flush=True)
