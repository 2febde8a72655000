"""Customers, counters and a clock: an event simulation with a heap, run by one call of a method."""

import heapq


class Random:
    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) & 0x7FFFFFFFFFFFFFFF
        return (self.state >> 33) % n


class Customer:
    def __init__(self, name, arrived, needs):
        self.name = name
        self.arrived = arrived
        self.needs = needs
        self.left = None


class Counter:
    def __init__(self, number):
        self.number = number
        self.serving = None
        self.served = 0

    @property
    def free(self):
        return self.serving is None


class Bank:
    def __init__(self, counters, seed):
        self.counters = [Counter(k) for k in range(counters)]
        self.queue = []
        self.events = []
        self.now = 0
        self.chance = Random(seed)
        self.waited = 0
        self.done = []

    def at(self, time, kind, number):
        heapq.heappush(self.events, (time, kind, number))

    def arrive(self, number):
        customer = Customer(f"c{number}", self.now, 5 + self.chance.below(20))
        self.queue.append(customer)
        self.at(self.now + 1 + self.chance.below(7), "arrive", number + 1)

    def finish(self, number):
        counter = self.counters[number]
        counter.serving.left = self.now
        counter.served += 1
        self.done.append(counter.serving)
        counter.serving = None

    def serve(self):
        for counter in self.counters:
            if not self.queue:
                break
            if counter.free:
                customer = self.queue.pop(0)
                self.waited += self.now - customer.arrived
                counter.serving = customer
                self.at(self.now + customer.needs, "finish", counter.number)

    def run(self, until):
        self.at(0, "arrive", 0)
        while self.events:
            self.now, kind, number = heapq.heappop(self.events)
            if self.now > until:
                break
            if kind == "arrive":
                self.arrive(number)
            else:
                self.finish(number)
            self.serve()


bank = Bank(4, 7)
bank.run(2400000)
print(len(bank.done), bank.waited, [c.served for c in bank.counters], bank.done[-1].name)
