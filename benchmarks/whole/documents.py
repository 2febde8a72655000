"""Trees as of JSON: nested dicts, lists, strings and numbers, made, walked, changed, searched and written as text."""


def make(depth, seed):
    seed = (seed * 48271) % 2147483647
    if depth == 0:
        kind = seed % 4
        return seed % 1000 if kind == 0 else seed / 7.0 if kind == 1 else f"text {seed % 97}" if kind == 2 else None
    if seed % 3 == 0:
        return [make(depth - 1, seed + k * 101) for k in range(4)]
    return {f"key{k}": make(depth - 1, seed + k * 31) for k in range(4)}


def count(node, counts):
    name = type(node).__name__
    counts[name] = counts.get(name, 0) + 1
    if isinstance(node, dict):
        for value in node.values():
            count(value, counts)
    elif isinstance(node, list):
        for value in node:
            count(value, counts)


def total(node):
    if isinstance(node, dict):
        return sum(total(value) for value in node.values())
    if isinstance(node, list):
        return sum(total(value) for value in node)
    if isinstance(node, (int, float)):
        return node
    return len(node) if isinstance(node, str) else 0


def doubled(node):
    if isinstance(node, dict):
        return {key: doubled(value) for key, value in node.items()}
    if isinstance(node, list):
        return [doubled(value) for value in node]
    if isinstance(node, (int, float)):
        return node * 2
    return node


def written(node):
    if isinstance(node, dict):
        return "{" + ", ".join(f'"{key}": {written(value)}' for key, value in node.items()) + "}"
    if isinstance(node, list):
        return "[" + ", ".join(written(value) for value in node) + "]"
    if node is None:
        return "null"
    return f'"{node}"' if isinstance(node, str) else repr(node)


def paths(node, wanted, path, found):
    if isinstance(node, dict):
        for key, value in node.items():
            paths(value, wanted, path + (key,), found)
    elif isinstance(node, list):
        for place, value in enumerate(node):
            paths(value, wanted, path + (str(place),), found)
    elif node == wanted:
        found.append("/".join(path))


def main():
    for round in range(70):
        tree = make(7, round + 1)
        counts = {}
        count(tree, counts)
        again = doubled(tree)
        text = written(again)
        found = []
        paths(tree, "text 7", (), found)
        print(round, sorted(counts.items()), f"{total(again):.3f}", len(text), text[:40], found[:2])


main()
