def f(rows):
    total = 0.0
    for i in range(len(rows)):
        for j in range(len(rows[0])):
            total += rows[i][j]
    return total


ARGUMENTS = ([[1.0, 2.0], [3.0, 4.0]],)
