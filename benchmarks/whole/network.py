"""Packets on a network of routers: an event queue with heapq, tuples of a time, a number and an object."""

import heapq
import itertools


class Packet:
    __slots__ = ("number", "source", "goal", "sent", "hops")

    def __init__(self, number, source, goal, sent):
        self.number = number
        self.source = source
        self.goal = goal
        self.sent = sent
        self.hops = 0


class Router:
    __slots__ = ("name", "links", "table", "busy_until", "handled")

    def __init__(self, name):
        self.name = name
        self.links = {}
        self.table = {}
        self.busy_until = 0.0
        self.handled = 0


class Network:
    def __init__(self, size):
        self.routers = {k: Router(f"r{k}") for k in range(size)}
        for k in range(size):
            for other, delay in (((k + 1) % size, 1.0), ((k * 3 + 1) % size, 2.5), ((k + 7) % size, 1.75)):
                if other != k:
                    self.routers[k].links[other] = delay
                    self.routers[other].links[k] = delay
        for k in self.routers:
            self.fill(k)
        self.events = []
        self.order = itertools.count()
        self.delivered = 0
        self.delay = 0.0
        self.hops = {}

    def fill(self, start):
        best = {start: (0.0, start)}
        heap = [(0.0, start, start)]
        while heap:
            cost, here, first = heapq.heappop(heap)
            if cost > best[here][0]:
                continue
            for there, delay in sorted(self.routers[here].links.items()):
                step = there if here == start else first
                if there not in best or cost + delay < best[there][0]:
                    best[there] = (cost + delay, step)
                    heapq.heappush(heap, (cost + delay, there, step))
        for goal, (_, step) in best.items():
            self.routers[start].table[goal] = step

    def send(self, time, packet, at):
        heapq.heappush(self.events, (time, next(self.order), packet, at))

    def run(self):
        while self.events:
            time, _, packet, at = heapq.heappop(self.events)
            router = self.routers[at]
            router.handled += 1
            if packet.goal == at:
                self.delivered += 1
                self.delay += time - packet.sent
                self.hops[packet.hops] = self.hops.get(packet.hops, 0) + 1
                continue
            there = router.table[packet.goal]
            start = max(time, router.busy_until)
            router.busy_until = start + 0.01
            packet.hops += 1
            self.send(start + router.links[there], packet, there)


def main():
    network = Network(60)
    seed = 12345
    for number in range(320000):
        seed = (seed * 1103515245 + 12345) % 2147483648
        source, goal = seed % 60, (seed // 64) % 60
        network.send(number * 0.02, Packet(number, source, goal, number * 0.02), source)
    network.run()
    print(network.delivered, f"{network.delay / network.delivered:.6f}")
    print(sorted(network.hops.items()))
    print(max((r.handled, r.name) for r in network.routers.values()))


main()
