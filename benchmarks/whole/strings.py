"""Dynamic programming over strings: edit distance, longest common subsequence, palindromes, a knapsack."""


def edit(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def common(a, b):
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i] == b[j]:
                table[i + 1][j + 1] = table[i][j] + 1
            else:
                table[i + 1][j + 1] = max(table[i][j + 1], table[i + 1][j])
    i, j, out = len(a), len(b), []
    while i and j:
        if a[i - 1] == b[j - 1]:
            out.append(a[i - 1])
            i, j = i - 1, j - 1
        elif table[i - 1][j] >= table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return "".join(reversed(out))


def palindrome(text):
    best = ""
    for centre in range(len(text)):
        for low, high in ((centre, centre), (centre, centre + 1)):
            while low >= 0 and high < len(text) and text[low] == text[high]:
                low, high = low - 1, high + 1
            if high - low - 1 > len(best):
                best = text[low + 1 : high]
    return best


def knapsack(items, room):
    best = {0: 0}
    for weight, value in items:
        for used, worth in list(best.items()):
            new = used + weight
            if new <= room and best.get(new, -1) < worth + value:
                best[new] = worth + value
    return max(best.values())


def dna(n, seed):
    out = []
    for _ in range(n):
        seed = (seed * 1664525 + 1013904223) % 4294967296
        out.append("ACGT"[seed >> 30])
    return "".join(out)


def main():
    texts = [dna(760, seed) for seed in range(8)]
    for i in range(len(texts)):
        for j in range(i):
            if (i + j) % 2:
                print(i, j, edit(texts[i], texts[j]), len(common(texts[i], texts[j])))
    long = dna(30000, 99)
    print(palindrome(long))
    items = [(3 + (k * 37) % 41, 10 + (k * 53) % 97) for k in range(120)]
    print(knapsack(items, 4000))


main()
