"""A small matrix class with operators: powers, products and determinants."""


class Matrix:
    def __init__(self, rows):
        self.rows = rows

    @classmethod
    def identity(cls, n):
        return cls([[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)])

    def __getitem__(self, place):
        i, j = place
        return self.rows[i][j]

    def __len__(self):
        return len(self.rows)

    def __add__(self, other):
        n = len(self)
        return Matrix([[self[i, j] + other[i, j] for j in range(n)] for i in range(n)])

    def __mul__(self, other):
        if isinstance(other, Matrix):
            n = len(self)
            return Matrix([[sum(self[i, k] * other[k, j] for k in range(n)) for j in range(n)] for i in range(n)])
        return Matrix([[x * other for x in row] for row in self.rows])

    def __pow__(self, n):
        result, base = Matrix.identity(len(self)), self
        while n:
            if n & 1:
                result = result * base
            base = base * base
            n >>= 1
        return result

    def trace(self):
        return sum(self[i, i] for i in range(len(self)))

    def determinant(self):
        a = [list(row) for row in self.rows]
        n, sign = len(a), 1.0
        for k in range(n):
            pivot = max(range(k, n), key=lambda i: abs(a[i][k]))
            if a[pivot][k] == 0.0:
                return 0.0
            if pivot != k:
                a[pivot], a[k] = a[k], a[pivot]
                sign = -sign
            for i in range(k + 1, n):
                f = a[i][k] / a[k][k]
                for j in range(k, n):
                    a[i][j] -= f * a[k][j]
        product = sign
        for k in range(n):
            product *= a[k][k]
        return product


def main(rounds=60):
    total = 0.0
    for r in range(rounds):
        n = 12
        m = Matrix([[((i * 7 + j * 3 + r) % 11) / 40.0 for j in range(n)] for i in range(n)])
        power = m**9
        shifted = power + Matrix.identity(n) * 0.5
        total += shifted.trace() + shifted.determinant()
    print(f"{total:.9e}")


if __name__ == "__main__":
    main(1700)
