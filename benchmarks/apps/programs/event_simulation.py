"""A shop with several tills as a simulation of events: customers arrive, wait in a queue, are served and leave; the
next event is the least of a heap.
"""

from __future__ import annotations

import heapq
import random
from collections import deque

SIZES = {"S": (60, 2), "M": (20000, 4), "L": (400000, 4)}


def event_simulation(arrivals, services, tills):
    events = [(arrival, 0, customer) for customer, arrival in enumerate(arrivals)]
    heapq.heapify(events)
    waiting = deque()
    free = tills
    total = longest = last = 0.0
    while events:
        time, kind, customer = heapq.heappop(events)
        last = time
        if kind == 0:
            waiting.append(customer)
        else:
            free += 1
        if free > 0 and waiting:
            following = waiting.popleft()
            free -= 1
            waited = time - arrivals[following]
            total += waited
            longest = max(longest, waited)
            heapq.heappush(events, (time + services[following], 1, following))
    return total / len(arrivals), longest, last


def numba_form(arrivals, services, tills):
    """Numba has no `deque`: a list from which the next one is never removed."""
    events = [(arrival, 0, customer) for customer, arrival in enumerate(arrivals)]
    heapq.heapify(events)
    waiting = [0 for _ in range(0)]
    served = 0
    free = tills
    total = longest = last = 0.0
    while events:
        time, kind, customer = heapq.heappop(events)
        last = time
        if kind == 0:
            waiting.append(customer)
        else:
            free += 1
        if free > 0 and served < len(waiting):
            following = waiting[served]
            served += 1
            free -= 1
            waited = time - arrivals[following]
            total += waited
            longest = max(longest, waited)
            heapq.heappush(events, (time + services[following], 1, following))
    return total / len(arrivals), longest, last


def initialise(size):
    customers, tills = size
    generator = random.Random(25)
    arrivals, time = [], 0.0
    for _ in range(customers):
        time += generator.expovariate(1.0)
        arrivals.append(time)
    return arrivals, [generator.expovariate(1.1 / tills) for _ in range(customers)], tills
