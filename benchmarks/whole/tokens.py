"""Words of a text by hand: a tokeniser over characters, counts, the longest words, pairs of neighbours."""

WORDS = "the cat sat on a mat while seven Dogs ran; 42 birds (and 3.5 bees) flew: over old hills-and-far away".split()


def make_text(lines):
    state, out = 17, []
    for _ in range(lines):
        line = []
        for _ in range(14):
            state = (state * 1103515245 + 12345) & 0x7FFFFFFF
            line.append(WORDS[(state >> 8) % len(WORDS)])
        out.append(" ".join(line) + ".")
    return "\n".join(out)


def tokens(text):
    found = []
    i, n = 0, len(text)
    while i < n:
        c = text[i]
        if c.isspace():
            i += 1
        elif c.isalpha():
            start = i
            while i < n and (text[i].isalnum() or text[i] == "-"):
                i += 1
            found.append(("word", text[start:i].lower()))
        elif c.isdigit():
            start = i
            while i < n and (text[i].isdigit() or text[i] == "."):
                i += 1
            found.append(("number", text[start:i]))
        else:
            found.append(("mark", c))
            i += 1
    return found


def main():
    text = make_text(150000)
    counts, pairs, kinds = {}, {}, {}
    previous = ""
    for kind, word in tokens(text):
        kinds[kind] = kinds.get(kind, 0) + 1
        if kind != "word":
            previous = ""
            continue
        counts[word] = counts.get(word, 0) + 1
        if previous:
            pairs[previous, word] = pairs.get((previous, word), 0) + 1
        previous = word
    print(sorted(kinds.items()))
    for word, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:10]:
        print(f"{word:16}{n:8d}")
    best = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))[:5]
    print(best)


main()
