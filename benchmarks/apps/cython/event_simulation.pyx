# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
import heapq
from collections import deque


def event_simulation(list arrivals, list services, long tills):
    cdef list events = [(arrival, 0, customer) for customer, arrival in enumerate(arrivals)]
    cdef long free = tills, kind, customer, following
    cdef double total = 0.0, longest = 0.0, last = 0.0, time, waited
    heapq.heapify(events)
    waiting = deque()
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
            waited = time - <double>arrivals[following]
            total += waited
            longest = max(longest, waited)
            heapq.heappush(events, (time + <double>services[following], 1, following))
    return total / len(arrivals), longest, last
