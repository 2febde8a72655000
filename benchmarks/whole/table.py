"""A hash table with chains of linked nodes, made by hand, and a queue by two ends."""


class Entry:
    def __init__(self, key, value, following):
        self.key = key
        self.value = value
        self.next = following


class Table:
    def __init__(self):
        self.buckets = [None] * 16
        self.size = 0

    def hash(self, key):
        h = 5381
        for c in key:
            h = (h * 33 + ord(c)) & 0xFFFFFFFF
        return h

    def get(self, key, default=None):
        entry = self.buckets[self.hash(key) % len(self.buckets)]
        while entry is not None:
            if entry.key == key:
                return entry.value
            entry = entry.next
        return default

    def set(self, key, value):
        k = self.hash(key) % len(self.buckets)
        entry = self.buckets[k]
        while entry is not None:
            if entry.key == key:
                entry.value = value
                return
            entry = entry.next
        self.buckets[k] = Entry(key, value, self.buckets[k])
        self.size += 1
        if self.size > 2 * len(self.buckets):
            self.grow()

    def grow(self):
        old = self.buckets
        self.buckets = [None] * (2 * len(old))
        for entry in old:
            while entry is not None:
                following = entry.next
                k = self.hash(entry.key) % len(self.buckets)
                entry.next = self.buckets[k]
                self.buckets[k] = entry
                entry = following


def main():
    table = Table()
    for k in range(1600000):
        name = "key" + str(k * 7919 % 50021)
        table.set(name, (table.get(name) or 0) + k % 3)
    print(table.size, table.get("key77"), table.get("key50020"), table.get("nothing"))


if __name__ == "__main__":
    main()
