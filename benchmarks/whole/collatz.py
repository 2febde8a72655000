"""One long loop in `main`, which is called once: chains of Collatz with a memory."""


def main():
    known = {1: 1}
    best, longest = 1, 1
    start = 1
    while start < 3000000:
        n, path = start, []
        while n not in known:
            path.append(n)
            n = n // 2 if n % 2 == 0 else 3 * n + 1
        length = known[n]
        for m in reversed(path):
            length += 1
            known[m] = length
        if known[start] > longest:
            best, longest = start, known[start]
        start += 1
    print(best, longest, len(known))


main()
