"""Everyday programs over strings, as people write them: `PROGRAMS` has each with the arguments of its calls."""

from __future__ import annotations

from collections import Counter, defaultdict, deque

PROGRAMS = []


def calls(*arguments):
    """Notes a program; what is not a tuple is the only argument of a call."""

    def note(function):
        PROGRAMS.append((function, [a if isinstance(a, tuple) else (a,) for a in arguments]))
        return function

    return note


TEXTS = ("the quick brown fox", "", "a", "Żółw ąż", "\U0001f600 x \U0001f601", "a\0b a", "x  y\tz\n")


@calls(*TEXTS)
def reverse_words(s):
    return " ".join(reversed(s.split()))


@calls(*TEXTS, "racecar", "żóż")
def palindrome(s):
    i, j = 0, len(s) - 1
    while i < j:
        if s[i] != s[j]:
            return False
        i, j = i + 1, j - 1
    return True


@calls(*TEXTS, "racecar", "abcba")
def palindrome_recursive(s):
    return len(s) < 2 or (s[0] == s[-1] and palindrome_recursive(s[1:-1]))


@calls("babad", "cbbd", "", "a", "żżó")
def longest_palindrome(s):
    best = ""
    for i in range(len(s)):
        for a, b in ((i, i), (i, i + 1)):
            while a >= 0 and b < len(s) and s[a] == s[b]:
                a, b = a - 1, b + 1
            if b - a - 1 > len(best):
                best = s[a + 1 : b]
    return best


@calls(1994, 3999, 1, 0, 44)
def to_roman(n):
    out = ""
    for value, sign in ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"),
                        (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")):
        while n >= value:
            out += sign
            n -= value
    return out


@calls("MCMXCIV", "III", "", "IX")
def from_roman(s):
    values = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
    total = 0
    for i, c in enumerate(s):
        if i + 1 < len(s) and values[c] < values[s[i + 1]]:
            total -= values[c]
        else:
            total += values[c]
    return total


@calls(("Hello, World", 3), ("", 1), ("xyz", 29), ("Żx", 1), ("abc", -1))
def caesar(s, k):
    out = ""
    for c in s:
        if "a" <= c <= "z":
            out += chr((ord(c) - 97 + k) % 26 + 97)
        elif "A" <= c <= "Z":
            out += chr((ord(c) - 65 + k) % 26 + 65)
        else:
            out += c
    return out


@calls(("attack", "key"), ("", "k"), ("zzz", "b"))
def vigenere(text, key):
    return "".join(chr((ord(c) + ord(key[i % len(key)]) - 2 * 97) % 26 + 97) for i, c in enumerate(text))


@calls("aaabbc", "", "a", "abab", "żżó\U0001f600\U0001f600")
def run_lengths(s):
    out, i = [], 0
    while i < len(s):
        j = i
        while j < len(s) and s[j] == s[i]:
            j += 1
        out.append((s[i], j - i))
        i = j
    return out


@calls("aaabbc", "", "a", "żżó")
def run_length_text(s):
    if not s:
        return ""
    out, count = "", 1
    for a, b in zip(s, s[1:]):
        if a == b:
            count += 1
        else:
            out += a + str(count)
            count = 1
    return out + s[-1] + str(count)


@calls("3a2bc", "", "12x", "a")
def expand_runs(s):
    out, number = [], 0
    for c in s:
        if c.isdigit():
            number = number * 10 + int(c)
        else:
            out.append(c * max(number, 1))
            number = 0
    return "".join(out)


@calls(*TEXTS, "a b a b c")
def word_counts(s):
    counts = {}
    for word in s.split():
        counts[word] = counts.get(word, 0) + 1
    return counts


@calls(*TEXTS, "a b a b c")
def word_counter(s):
    return Counter(s.split())


@calls(*TEXTS)
def letters_by_word(s):
    found = defaultdict(list)
    for word in s.split():
        found[word[0]].append(word)
    return dict(found)


@calls(["eat", "tea", "tan", "ate", "nat", "bat"], [], [""], ["żó", "óż"])
def anagrams(words):
    groups = {}
    for word in words:
        key = "".join(sorted(word))
        if key not in groups:
            groups[key] = []
        groups[key].append(word)
    return list(groups.values())


@calls(("listen", "silent"), ("a", "b"), ("", ""), ("aab", "abb"))
def is_anagram(s, t):
    if len(s) != len(t):
        return False
    counts = {}
    for c in s:
        counts[c] = counts.get(c, 0) + 1
    for c in t:
        if counts.get(c, 0) == 0:
            return False
        counts[c] -= 1
    return True


@calls("([{}])", "(]", "", "((", "a(b)c")
def balanced(s):
    pairs = {")": "(", "]": "[", "}": "{"}
    stack = []
    for c in s:
        if c in "([{":
            stack.append(c)
        elif c in pairs:
            if not stack or stack.pop() != pairs[c]:
                return False
    return not stack


@calls(3, 0, 1, 4)
def parentheses(n):
    found = []

    def place(s, opened, closed):
        if len(s) == 2 * n:
            found.append(s)
            return
        if opened < n:
            place(s + "(", opened + 1, closed)
        if closed < opened:
            place(s + ")", opened, closed + 1)

    place("", 0, 0)
    return found


@calls(4, 1, 2, 5)
def queens(n):
    boards = []
    columns = [0] * n

    def place(row):
        if row == n:
            boards.append("/".join("." * c + "Q" + "." * (n - c - 1) for c in columns))
            return
        for c in range(n):
            if all(columns[r] != c and abs(columns[r] - c) != row - r for r in range(row)):
                columns[row] = c
                place(row + 1)

    place(0)
    return boards


@calls(("kitten", "sitting"), ("", "abc"), ("żó", "ó"), ("same", "same"))
def edit_distance(s, t):
    row = list(range(len(t) + 1))
    for i in range(1, len(s) + 1):
        before, row[0] = row[0], i
        for j in range(1, len(t) + 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (s[i - 1] != t[j - 1]))
    return row[-1]


@calls(("kitten", "sitting"), ("", "abc"), ("ab", "ba"))
def edit_distance_recursive(s, t):
    known = {}

    def between(i, j):
        if i == 0 or j == 0:
            return i + j
        if (i, j) not in known:
            same = between(i - 1, j - 1) + (0 if s[i - 1] == t[j - 1] else 1)
            known[i, j] = min(same, between(i - 1, j) + 1, between(i, j - 1) + 1)
        return known[i, j]

    return between(len(s), len(t))


@calls(("abcde", "ace"), ("", "x"), ("abc", "abc"), ("żóx", "óx"))
def common_subsequence(s, t):
    table = [[""] * (len(t) + 1) for _ in range(len(s) + 1)]
    for i in range(len(s)):
        for j in range(len(t)):
            if s[i] == t[j]:
                table[i + 1][j + 1] = table[i][j] + s[i]
            else:
                a, b = table[i][j + 1], table[i + 1][j]
                table[i + 1][j + 1] = a if len(a) >= len(b) else b
    return table[-1][-1]


@calls(["flower", "flow", "flight"], ["a"], ["", "b"], [], ["żół", "żóx"])
def common_prefix(words):
    if not words:
        return ""
    prefix = words[0]
    for word in words[1:]:
        while not word.startswith(prefix):
            prefix = prefix[:-1]
    return prefix


@calls("abcabcbb", "", "aaaa", "żóżx")
def longest_distinct(s):
    last, start, best = {}, 0, 0
    for i, c in enumerate(s):
        if c in last and last[c] >= start:
            start = last[c] + 1
        last[c] = i
        best = max(best, i - start + 1)
    return best


@calls("leetcode", "aabb", "", "żóż")
def first_unique(s):
    counts = {}
    for c in s:
        counts[c] = counts.get(c, 0) + 1
    for i, c in enumerate(s):
        if counts[c] == 1:
            return i
    return -1


@calls("abc", "", "a", "aab", "żó")
def permutations(s):
    if len(s) <= 1:
        return [s]
    found = []
    for i, c in enumerate(s):
        for rest in permutations(s[:i] + s[i + 1 :]):
            found.append(c + rest)
    return found


@calls("aab", "", "żó")
def distinct_permutations(s):
    found = set()

    def place(prefix, rest):
        if not rest:
            found.add(prefix)
            return
        for i in range(len(rest)):
            place(prefix + rest[i], rest[:i] + rest[i + 1 :])

    place("", s)
    return sorted(found)


@calls("23", "", "9")
def phone_words(digits):
    keys = {"2": "abc", "3": "def", "9": "wxyz"}
    if not digits:
        return []
    words = [""]
    for d in digits:
        words = [word + c for word in words for c in keys[d]]
    return words


@calls((10, 2), (255, 16), (0, 2), (7, 3))
def in_base(n, base):
    digits = "0123456789abcdef"
    if n < base:
        return digits[n]
    return in_base(n // base, base) + digits[n % base]


@calls(("ff", 16), ("", 2), ("101", 2))
def from_base(s, base):
    value = 0
    for c in s:
        value = value * base + "0123456789abcdef".index(c)
    return value


@calls("1+2*3-4", "7", "10*10", "2*3*4+1")
def calculator(s):
    tokens, number = [], ""
    for c in s:
        if c.isdigit():
            number += c
        else:
            tokens.append(number)
            tokens.append(c)
            number = ""
    tokens.append(number)
    total, sign, product = 0, 1, int(tokens[0])
    for i in range(1, len(tokens), 2):
        operator, value = tokens[i], int(tokens[i + 1])
        if operator == "*":
            product *= value
        else:
            total += sign * product
            sign, product = (1 if operator == "+" else -1), value
    return total + sign * product


@calls("(1+2)*(3+4)", "2*(3+(4-1))", "5", "((7))")
def expression(s):
    place = [0]

    def atom():
        if s[place[0]] == "(":
            place[0] += 1
            value = total()
            place[0] += 1
            return value
        start = place[0]
        while place[0] < len(s) and s[place[0]].isdigit():
            place[0] += 1
        return int(s[start : place[0]])

    def product():
        value = atom()
        while place[0] < len(s) and s[place[0]] == "*":
            place[0] += 1
            value *= atom()
        return value

    def total():
        value = product()
        while place[0] < len(s) and s[place[0]] in "+-":
            sign = s[place[0]]
            place[0] += 1
            value = value + product() if sign == "+" else value - product()
        return value

    return total()


@calls("3 4 + 2 *", "5 1 2 + 4 * + 3 -", "7")
def postfix(s):
    stack = []
    for token in s.split():
        if token in ("+", "-", "*"):
            b, a = stack.pop(), stack.pop()
            stack.append(a + b if token == "+" else a - b if token == "-" else a * b)
        else:
            stack.append(int(token))
    return stack[0]


@calls("a=1;b=22;c=", "", "x=ż", "novalue")
def settings(s):
    found = {}
    for part in s.split(";"):
        if "=" in part:
            key, value = part.split("=", 1)
            found[key.strip()] = value
    return found


@calls("a,b\n1,2\n3,4", "a", "", "x,y\n,")
def table(s):
    lines = s.split("\n")
    header = lines[0].split(",")
    return [dict(zip(header, line.split(","))) for line in lines[1:]]


@calls(["apple", "app", "bat"], [], [""], ["żół", "żó"])
def trie_prefixes(words):
    children = [{}]
    ends = [False]
    for word in words:
        at = 0
        for c in word:
            if c not in children[at]:
                children[at][c] = len(children)
                children.append({})
                ends.append(False)
            at = children[at][c]
        ends[at] = True
    return len(children), sum(ends), sorted(children[0])


@calls(["apple", "app", "bat"], [])
def trie_nested(words):
    root = {}
    for word in words:
        at = root
        for c in word:
            at = at.setdefault(c, {})
        at["$"] = {}
    return root


@calls((["abc", "abd"], "ab"), ([], "x"), (["żó"], "ż"))
def starts_with(words, prefix):
    return [word for word in words if word.startswith(prefix)], any(word.endswith(prefix) for word in words)


@calls(("..#\n#..\n###", 0, 0), (".", 0, 0), ("#", 0, 0))
def flood_fill(text, row, column):
    grid = [list(line) for line in text.split("\n")]
    waiting = [(row, column)]
    while waiting:
        r, c = waiting.pop()
        if 0 <= r < len(grid) and 0 <= c < len(grid[0]) and grid[r][c] == ".":
            grid[r][c] = "~"
            waiting += [(r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)]
    return "\n".join("".join(line) for line in grid)


@calls((["S.#", "..#", "#.E"],), (["SE"],), (["S#E"],))
def shortest_path(maze):
    start = (0, 0)
    for r in range(len(maze)):
        for c in range(len(maze[0])):
            if maze[r][c] == "S":
                start = (r, c)
    seen, waiting = {start}, deque([(start, 0)])
    while waiting:
        (r, c), steps = waiting.popleft()
        if maze[r][c] == "E":
            return steps
        for a, b in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
            if 0 <= a < len(maze) and 0 <= b < len(maze[0]) and maze[a][b] != "#" and (a, b) not in seen:
                seen.add((a, b))
                waiting.append(((a, b), steps + 1))
    return -1


@calls((5, "A", "B", "C"), (0, "A", "B", "C"), (2, "ż", "", "long"))
def hanoi(n, a, b, c):
    if n == 0:
        return []
    return hanoi(n - 1, a, c, b) + [a + c] + hanoi(n - 1, b, a, c)


@calls(3, 0, 1)
def gray_code(n):
    if n == 0:
        return [""]
    before = gray_code(n - 1)
    return ["0" + code for code in before] + ["1" + code for code in reversed(before)]


@calls("abc", "", "żó")
def subsets(s):
    if not s:
        return [""]
    rest = subsets(s[1:])
    return rest + [s[0] + part for part in rest]


@calls(4, 0, 1)
def binary_strings(n):
    found = []

    def go(s):
        if len(s) == n:
            found.append(s)
            return
        go(s + "0")
        go(s + "1")

    go("")
    return found


@calls(5, 1, 0)
def look_and_say(n):
    s = "1"
    for _ in range(n):
        out, i = "", 0
        while i < len(s):
            j = i
            while j < len(s) and s[j] == s[i]:
                j += 1
            out += str(j - i) + s[i]
            i = j
        s = out
    return s


@calls(15, 0, 3)
def fizzbuzz(n):
    return ["FizzBuzz" if i % 15 == 0 else "Fizz" if i % 3 == 0 else "Buzz" if i % 5 == 0 else str(i)
            for i in range(1, n + 1)]


@calls((3, "*"), (0, "x"), (2, "ż"))
def pyramid(n, c):
    lines = []
    for i in range(n):
        lines.append(" " * (n - i - 1) + c * (2 * i + 1))
    return "\n".join(lines)


@calls(*TEXTS)
def title(s):
    return " ".join(word[:1].upper() + word[1:].lower() for word in s.split(" "))


@calls("helloWorldAgain", "", "A", "already_snake")
def snake_case(s):
    out = ""
    for c in s:
        if c.isupper():
            out += ("_" if out else "") + c.lower()
        else:
            out += c
    return out


@calls("hello_world_again", "", "a", "_x")
def camel_case(s):
    first, *others = s.split("_")
    return first + "".join(part.capitalize() for part in others)


@calls(("the cat sat on the mat", 10), ("", 5), ("a", 1))
def wrapped(s, width):
    lines, line = [], ""
    for word in s.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = line + " " + word if line else word
    if line:
        lines.append(line)
    return lines


@calls("192.168.1.1", "256.1.1.1", "1.2.3", "a.b.c.d", "")
def is_address(s):
    parts = s.split(".")
    return len(parts) == 4 and all(part.isdigit() and int(part) <= 255 for part in parts)


@calls("4539578763621486", "1234", "0", "")
def luhn(s):
    total = 0
    for i, c in enumerate(reversed(s)):
        d = int(c)
        if i % 2:
            d = d * 2 - 9 if d > 4 else d * 2
        total += d
    return total % 10 == 0


@calls("hello", "", "aeiou", "żółw")
def vowels(s):
    return sum(c in "aeiou" for c in s), {c: s.count(c) for c in sorted(set(s))}


@calls(("abcd", 1), ("abcd", 6), ("", 3), ("żóx", -1))
def rotated(s, k):
    if not s:
        return s
    k %= len(s)
    return s[k:] + s[:k]


@calls(("aXbXc", "X", "--"), ("", "a", "b"), ("aaa", "aa", "b"))
def replaced(s, a, b):
    return s.replace(a, b), s.find(a), s.rfind(a), s.count(a)


@calls(("abxabcabcaby", "abcaby"), ("aaa", "b"), ("", ""), ("żóżó", "żó"))
def search(text, pattern):
    found = []
    for i in range(len(text) - len(pattern) + 1):
        if text[i : i + len(pattern)] == pattern:
            found.append(i)
    return found
