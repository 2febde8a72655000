"""A spreadsheet: cells with formulas that refer to others, a topological order, and many recalculations."""


class Cell:
    def __init__(self, name, kind, inputs, number):
        self.name = name
        self.kind = kind
        self.inputs = inputs
        self.number = number
        self.value = 0.0
        self.readers = []


class Sheet:
    def __init__(self):
        self.cells = {}
        self.order = []

    def put(self, name, kind, inputs=(), number=0.0):
        cell = Cell(name, kind, [self.cells[i] for i in inputs], number)
        for other in cell.inputs:
            other.readers.append(cell)
        self.cells[name] = cell

    def sort(self):
        missing = {name: len(cell.inputs) for name, cell in self.cells.items()}
        ready = [cell for cell in self.cells.values() if not cell.inputs]
        self.order = []
        while ready:
            cell = ready.pop()
            self.order.append(cell)
            for reader in cell.readers:
                missing[reader.name] -= 1
                if missing[reader.name] == 0:
                    ready.append(reader)

    def evaluate(self, cell):
        if cell.kind == "number":
            return cell.number
        if cell.kind == "sum":
            total = 0.0
            for other in cell.inputs:
                total += other.value
            return total
        if cell.kind == "mean":
            return sum(other.value for other in cell.inputs) / len(cell.inputs)
        if cell.kind == "max":
            return max(other.value for other in cell.inputs)
        a, b = cell.inputs[0].value, cell.inputs[1].value
        return a * b if cell.kind == "product" else a - b

    def recalculate(self):
        changed = 0
        for cell in self.order:
            new = self.evaluate(cell)
            if new != cell.value:
                cell.value = new
                changed += 1
        return changed


def row_name(row):
    return chr(65 + row % 26) + ("" if row < 26 else str(row // 26))


def main():
    sheet = Sheet()
    rows, columns = 60, 10
    kinds = ("sum", "mean", "max", "product", "difference")
    for c in range(columns):
        sheet.put(f"A{c}", "number", (), 0.5 + c * 0.01)
    for r in range(1, rows):
        for c in range(columns):
            above = [f"{row_name(r - 1)}{(c + k) % columns}" for k in (0, 1, 3)]
            inputs = [name for name in above if name in sheet.cells]
            sheet.put(f"{row_name(r)}{c}", kinds[(r * 3 + c) % 5] if len(inputs) > 1 else "number", inputs, 0.25)
    sheet.sort()
    total = 0
    for k in range(22000):
        sheet.cells[f"A{k % columns}"].number = 0.5 + (k % 17) * 0.001
        total += sheet.recalculate()
    print(len(sheet.cells), total)
    print(" ".join(f"{cell.value:.6g}" for cell in sheet.order[-6:]))


main()
