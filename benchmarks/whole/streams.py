"""Generators that feed generators: numbers, windows, groups; consumed by one call of main."""


def numbers(seed, count):
    state = seed
    for _ in range(count):
        state = (state * 16807) % 2147483647
        yield state % 1000


def windows(stream, size):
    held = []
    for item in stream:
        held.append(item)
        if len(held) > size:
            held.pop(0)
        if len(held) == size:
            yield sum(held) / size


def peaks(stream):
    before, middle = None, None
    for value in stream:
        if before is not None and before < middle > value:
            yield middle
        before, middle = middle, value


def runs(stream):
    length, last = 0, None
    for value in stream:
        if last is not None and value < last:
            yield length
            length = 0
        length += 1
        last = value
    yield length


def main():
    total, count = 0.0, 0
    for peak in peaks(windows(numbers(42, 7000000), 5)):
        total += peak
        count += 1
    lengths = {}
    for length in runs(numbers(43, 7000000)):
        lengths[length] = lengths.get(length, 0) + 1
    print(count, f"{total:.4f}", sorted(lengths.items()))


if __name__ == "__main__":
    main()
