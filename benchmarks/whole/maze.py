"""Search in mazes: dicts and sets of tuples, breadth first, depth first, A*, and connected components."""

import heapq
from collections import deque


def make(width, height, seed):
    walls = set()
    for y in range(height):
        for x in range(width):
            seed = (seed * 69069 + 1) & 0xFFFFFFFF
            if (seed >> 16) % 100 < 28 and (x, y) not in ((0, 0), (width - 1, height - 1)):
                walls.add((x, y))
    return walls


def around(cell, walls, width, height):
    x, y = cell
    for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        there = (x + dx, y + dy)
        if 0 <= there[0] < width and 0 <= there[1] < height and there not in walls:
            yield there


def breadth(start, goal, walls, width, height):
    before = {start: None}
    queue = deque([start])
    while queue:
        cell = queue.popleft()
        if cell == goal:
            break
        for there in around(cell, walls, width, height):
            if there not in before:
                before[there] = cell
                queue.append(there)
    if goal not in before:
        return []
    path = [goal]
    while before[path[-1]] is not None:
        path.append(before[path[-1]])
    return path[::-1]


def a_star(start, goal, walls, width, height):
    def left(cell):
        return abs(cell[0] - goal[0]) + abs(cell[1] - goal[1])

    cost = {start: 0}
    heap = [(left(start), start)]
    seen = 0
    while heap:
        _, cell = heapq.heappop(heap)
        seen += 1
        if cell == goal:
            return cost[cell], seen
        for there in around(cell, walls, width, height):
            new = cost[cell] + 1
            if there not in cost or new < cost[there]:
                cost[there] = new
                heapq.heappush(heap, (new + left(there), there))
    return -1, seen


def components(walls, width, height):
    left = {(x, y) for x in range(width) for y in range(height)} - walls
    sizes = []
    while left:
        stack = [min(left)]
        left.discard(stack[0])
        size = 0
        while stack:
            cell = stack.pop()
            size += 1
            for there in around(cell, walls, width, height):
                if there in left:
                    left.remove(there)
                    stack.append(there)
        sizes.append(size)
    return sorted(sizes, reverse=True)[:5]


def main():
    width, height = 130, 90
    for seed in range(110):
        walls = make(width, height, seed * 77 + 5)
        path = breadth((0, 0), (width - 1, height - 1), walls, width, height)
        found = a_star((0, 0), (width - 1, height - 1), walls, width, height)
        print(seed, len(walls), len(path), found, components(walls, width, height))


main()
