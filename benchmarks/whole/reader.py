"""Nested data as text, written and read again: recursion over dicts, lists, text, numbers, truth values and None."""


class Reader:
    def __init__(self, text):
        self.text = text
        self.at = 0

    def blanks(self):
        while self.at < len(self.text) and self.text[self.at] in " \n\t":
            self.at += 1

    def value(self):
        self.blanks()
        c = self.text[self.at]
        if c == "{":
            return self.entries()
        if c == "[":
            return self.items()
        if c == '"':
            return self.string()
        if c in "-0123456789":
            return self.number()
        for word, value in (("true", True), ("false", False), ("null", None)):
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return value
        raise ValueError(f"{c!r} at {self.at}")

    def entries(self):
        found = {}
        self.at += 1
        self.blanks()
        if self.text[self.at] == "}":
            self.at += 1
            return found
        while True:
            self.blanks()
            key = self.string()
            self.blanks()
            self.at += 1
            found[key] = self.value()
            self.blanks()
            self.at += 1
            if self.text[self.at - 1] == "}":
                return found

    def items(self):
        found = []
        self.at += 1
        self.blanks()
        if self.text[self.at] == "]":
            self.at += 1
            return found
        while True:
            found.append(self.value())
            self.blanks()
            self.at += 1
            if self.text[self.at - 1] == "]":
                return found

    def string(self):
        self.at += 1
        found = []
        while True:
            c = self.text[self.at]
            self.at += 1
            if c == '"':
                return "".join(found)
            if c == "\\":
                c = self.text[self.at]
                self.at += 1
                c = {"n": "\n", "t": "\t"}.get(c, c)
            found.append(c)

    def number(self):
        begin = self.at
        while self.at < len(self.text) and self.text[self.at] in "+-.0123456789eE":
            self.at += 1
        text = self.text[begin : self.at]
        return float(text) if "." in text or "e" in text else int(text)


def written(value):
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    if isinstance(value, list):
        return "[" + ", ".join(written(item) for item in value) + "]"
    return "{" + ", ".join(written(key) + ": " + written(item) for key, item in value.items()) + "}"


def people(count):
    found = []
    for i in range(count):
        tags = ["a", "b\n", 'q"'][: i % 4]
        found.append({"id": i, "name": f"name {i}", "tags": tags, "score": i * 0.5, "ok": i % 3 == 0, "no": None})
    return {"people": found, "total": count}


text = written(people(1500))
for round_trip in range(150):
    data = Reader(text).value()
    again = written(data)
    if round_trip % 30 == 0:
        print(len(again), again == text, data["people"][7]["score"])
