"""How many digits of the coefficients are right.

Reads lines "program problem coefficient,..." and prints a table: for each problem of the table bench_exact the
digits that each program got right of its worst coefficient, the exact answer being known by rational arithmetic.
"""

import math
import subprocess
import sys
from fractions import Fraction


def problems():
    """The rows [x..., y] of each problem, as the rational numbers that the doubles are."""
    query = "SELECT problem, array_to_string(x || y, ' ') FROM bench_exact"
    output = subprocess.run(['psql', '-X', '-q', '-A', '-t', '-F', ' ', '-c', query], check=True, capture_output=True, text=True)
    rows = {}
    for line in output.stdout.splitlines():
        problem, *numbers = line.split()
        rows.setdefault(problem, []).append([Fraction(float(number)) for number in numbers])
    return rows


def solve(rows):
    """The least-squares coefficients of rows [x..., y], by Gaussian elimination in the normal equations."""
    d = len(rows[0]) - 1
    system = [[sum(row[i] * row[j] for row in rows) for j in range(d + 1)] for i in range(d)]
    for k in range(d):
        system[k] = [value / system[k][k] for value in system[k]]
        for i in range(d):
            if i != k:
                factor = system[i][k]
                system[i] = [a - factor * b for a, b in zip(system[i], system[k])]
    return [equation[d] for equation in system]


def digits(found, exact):
    """The digits right of the worst coefficient, as text; a double has 16."""
    if 'NA' in found:
        return 'dropped'
    error = max(abs((Fraction(float(a)) - b) / b) for a, b in zip(found, exact))
    return '%.1f' % max(0, min(16, -math.log10(error) if error else 16))


found = {}
for line in sys.stdin:
    program, problem, coefficients = line.split()
    found.setdefault(program, {})[problem] = coefficients.split(',')

print('%-46s' % 'Digits right of the worst coefficient' + ''.join('%10s' % program for program in found))
for problem, rows in problems().items():
    exact = solve(rows)
    print('%-46s' % problem.replace('_', ' ') + ''.join('%10s' % digits(answers[problem], exact) for answers in found.values()))
