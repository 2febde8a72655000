"""A tokeniser learns pairs of symbols from a text, and splits words with them."""

import sys

TEXT = "the lower newer wider lowest newest widest slow slower slowest following window shadow yellow borrow narrow"
WORDS = TEXT.split()


def text_of(count):
    state = 12345
    found = []
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2147483648
        found.append(WORDS[state // 65536 % len(WORDS)] + WORDS[state // 256 % 7])
    return found


def counted(words):
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


def pair_counts(splits, counts):
    pairs = {}
    for word, count in counts.items():
        parts = splits[word]
        for k in range(len(parts) - 1):
            pair = (parts[k], parts[k + 1])
            pairs[pair] = pairs.get(pair, 0) + count
    return pairs


def merged(parts, pair):
    found = []
    k = 0
    while k < len(parts):
        if k + 1 < len(parts) and parts[k] == pair[0] and parts[k + 1] == pair[1]:
            found.append(parts[k] + parts[k + 1])
            k += 2
        else:
            found.append(parts[k])
            k += 1
    return found


def learned(counts, rounds):
    splits = {word: list(word) for word in counts}
    merges = []
    for _ in range(rounds):
        pairs = pair_counts(splits, counts)
        if not pairs:
            break
        best = max(pairs.items(), key=lambda item: (item[1], item[0]))[0]
        merges.append(best)
        for word in splits:
            splits[word] = merged(splits[word], best)
    return merges


def encoded(word, merges):
    parts = list(word)
    for pair in merges:
        parts = merged(parts, pair)
    return parts


def main(rounds):
    words = text_of(4000)
    total = 0
    for k in range(rounds):
        merges = learned(counted(words[: 2000 + 50 * (k % 9)]), 40)
        total += sum(len(encoded(word, merges)) for word in words[:150])
    print(total, merges[:3])


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 420)
