"""Plain lists of lists, no NumPy at all: the elements are written back into the caller's lists."""

import weft


@weft.jit
def multiply(a, b, c):
    for i in range(len(a)):
        for j in range(len(b[0])):
            s = 0.0
            for k in range(len(b)):
                s += a[i][k] * b[k][j]
            c[i][j] = s


def main():
    n = 60
    a = [[float((i * j) % 7) for j in range(n)] for i in range(n)]
    b = [[float((i + j) % 5) for j in range(n)] for i in range(n)]
    c = [[0.0] * n for _ in range(n)]
    multiply(a, b, c)
    expected = [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]
    print("same answer:", c == expected)


if __name__ == "__main__":
    main()
