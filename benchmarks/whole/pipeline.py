"""Functions made of functions: closures that are composed, called from a loop at the top level."""


def scaled(factor):
    def apply(x):
        return x * factor

    return apply


def shifted(offset):
    return lambda x: x + offset


def clipped(low, high):
    def apply(x):
        if x < low:
            return low
        return high if x > high else x

    return apply


def composed(*steps):
    def apply(x):
        for step in steps:
            x = step(x)
        return x

    return apply


def counter():
    count = 0

    def tick():
        nonlocal count
        count += 1
        return count

    return tick


chain = composed(scaled(1.5), shifted(-3.0), clipped(-100.0, 100.0), scaled(0.25))
ticks = counter()
x, total = 1.0, 0.0
for k in range(8000000):
    x = chain(x + k % 17)
    total += x
    if k % 3 == 0:
        ticks()
print(f"{x:.6f} {total:.3f} {ticks()}")
