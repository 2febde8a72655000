"""Backtracking with sets: a puzzle solved again and again by recursion."""

PUZZLES = [
    "530070000600195000098000060800060003400803001700020006060000280000419005000080079",
    "000000907000420180000705026100904000050000040000507009920108000034059000507000000",
    "100007090030020008009600500005300900010080002600004000300000010040000007007000300",
]


class Board:
    def __init__(self, text):
        self.cells = [int(c) for c in text]
        self.rows = [set() for _ in range(9)]
        self.columns = [set() for _ in range(9)]
        self.boxes = [set() for _ in range(9)]
        self.tries = 0
        for place, digit in enumerate(self.cells):
            if digit:
                self.put(place, digit)

    def put(self, place, digit):
        row, column = divmod(place, 9)
        self.cells[place] = digit
        self.rows[row].add(digit)
        self.columns[column].add(digit)
        self.boxes[row // 3 * 3 + column // 3].add(digit)

    def drop(self, place):
        row, column = divmod(place, 9)
        digit = self.cells[place]
        self.cells[place] = 0
        self.rows[row].remove(digit)
        self.columns[column].remove(digit)
        self.boxes[row // 3 * 3 + column // 3].remove(digit)

    def choices(self, place):
        row, column = divmod(place, 9)
        used = self.rows[row] | self.columns[column] | self.boxes[row // 3 * 3 + column // 3]
        return [d for d in range(1, 10) if d not in used]

    def solve(self):
        best, options = None, None
        for place in range(81):
            if self.cells[place] == 0:
                found = self.choices(place)
                if best is None or len(found) < len(options):
                    best, options = place, found
        if best is None:
            return True
        for digit in options:
            self.tries += 1
            self.put(best, digit)
            if self.solve():
                return True
            self.drop(best)
        return False


def main():
    tries = 0
    for k in range(250):
        for text in PUZZLES:
            board = Board(text)
            board.solve()
            tries += board.tries
    print(tries, "".join(map(str, board.cells)))


main()
