"""A cellular automaton written at the top level of the module: no function at all."""

WIDTH, STEPS, RULE = 401, 26000, 110
table = [(RULE >> k) & 1 for k in range(8)]
cells = [0] * WIDTH
cells[WIDTH // 2] = 1
alive = 0
changes = 0
for step in range(STEPS):
    following = [0] * WIDTH
    for i in range(WIDTH):
        left, right = cells[i - 1], cells[(i + 1) % WIDTH]
        following[i] = table[4 * left + 2 * cells[i] + right]
        if following[i] != cells[i]:
            changes += 1
    cells = following
    alive += sum(cells)
print(alive, changes, "".join(".#"[c] for c in cells[:60]))
