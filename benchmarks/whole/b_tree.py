"""A B-tree of numbers: insertions, searches and a walk by a generator."""

import sys

ORDER = 8
inserted = 0


class Node:
    def __init__(self, is_leaf):
        self.is_leaf = is_leaf
        self.keys = []
        self.values = []
        self.children = []

    def place(self, key):
        low, high = 0, len(self.keys)
        while low < high:
            middle = (low + high) // 2
            if self.keys[middle] < key:
                low = middle + 1
            else:
                high = middle
        return low


class Tree:
    def __init__(self):
        self.root = Node(True)

    def get(self, key, default=None):
        node = self.root
        while True:
            k = node.place(key)
            if k < len(node.keys) and node.keys[k] == key:
                return node.values[k]
            if node.is_leaf:
                return default
            node = node.children[k]

    def insert(self, key, value):
        global inserted
        inserted += 1
        if len(self.root.keys) == 2 * ORDER - 1:
            old, self.root = self.root, Node(False)
            self.root.children.append(old)
            self.split(self.root, 0)
        node = self.root
        while True:
            k = node.place(key)
            if k < len(node.keys) and node.keys[k] == key:
                node.values[k] = value
                return
            if node.is_leaf:
                node.keys.insert(k, key)
                node.values.insert(k, value)
                return
            if len(node.children[k].keys) == 2 * ORDER - 1:
                self.split(node, k)
                if key > node.keys[k]:
                    k += 1
                elif key == node.keys[k]:
                    node.values[k] = value
                    return
            node = node.children[k]

    def split(self, parent, k):
        full = parent.children[k]
        right = Node(full.is_leaf)
        parent.keys.insert(k, full.keys[ORDER - 1])
        parent.values.insert(k, full.values[ORDER - 1])
        parent.children.insert(k + 1, right)
        right.keys, right.values = full.keys[ORDER:], full.values[ORDER:]
        full.keys, full.values = full.keys[: ORDER - 1], full.values[: ORDER - 1]
        if not full.is_leaf:
            right.children = full.children[ORDER:]
            full.children = full.children[:ORDER]

    def walk(self, node):
        if node.is_leaf:
            yield from node.keys
            return
        for k in range(len(node.keys)):
            yield from self.walk(node.children[k])
            yield node.keys[k]
        yield from self.walk(node.children[-1])


def exercise(seed, count):
    tree = Tree()
    state = seed
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2147483648
        tree.insert(state % 100003, state % 97)
    hits = 0
    for key in range(0, 100003, 13):
        if tree.get(key) is not None:
            hits += 1
    last = -1
    for key in tree.walk(tree.root):
        if key <= last:
            raise ValueError("not sorted")
        last = key
    return hits + last


def main(rounds):
    total = 0
    for k in range(rounds):
        total += exercise(k + 1, 8000)
    print(total, inserted)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 150)
