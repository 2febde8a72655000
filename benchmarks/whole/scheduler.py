"""Tasks that pass packets to each other, under a scheduler with priorities and states."""

import sys

IDLE, WORK, DEVICE = 0, 1, 2


class Packet:
    def __init__(self, link, target, kind):
        self.link = link
        self.target = target
        self.kind = kind
        self.datum = 0
        self.data = [0, 0, 0, 0]


def appended(packet, queue):
    packet.link = None
    if queue is None:
        return packet
    last = queue
    while last.link is not None:
        last = last.link
    last.link = packet
    return queue


class Task:
    def __init__(self, number, priority, queue, kernel):
        self.number, self.priority, self.queue = number, priority, queue
        self.waiting = queue is None
        self.held = False
        self.kernel = kernel
        kernel.tasks.append(self)

    def put(self, packet):
        self.queue = appended(packet, self.queue)
        self.waiting = False

    def take(self):
        packet = self.queue
        if packet is not None:
            self.queue = packet.link
            packet.link = None
        return packet

    def run(self):
        raise NotImplementedError


class Idle(Task):
    def __init__(self, number, priority, kernel, count):
        Task.__init__(self, number, priority, None, kernel)
        self.control, self.count = 1, count
        self.waiting = False

    def run(self):
        self.count -= 1
        if self.count == 0:
            self.held = True
        elif self.control & 1 == 0:
            self.control //= 2
            self.kernel.tasks[2].held = False
        else:
            self.control = self.control // 2 ^ 0xD008
            self.kernel.tasks[3].held = False


class Worker(Task):
    def __init__(self, number, priority, queue, kernel):
        Task.__init__(self, number, priority, queue, kernel)
        self.target, self.letter = 2, 0

    def run(self):
        packet = self.take()
        if packet is None:
            self.waiting = True
            return
        self.target = 5 - self.target
        packet.target = self.target
        packet.datum = 0
        for k in range(len(packet.data)):
            self.letter = self.letter % 26 + 1
            packet.data[k] = 64 + self.letter
        self.kernel.send(packet, self.number)


class Handler(Task):
    def __init__(self, number, priority, queue, kernel):
        Task.__init__(self, number, priority, queue, kernel)
        self.total = 0

    def run(self):
        packet = self.take()
        if packet is None:
            self.waiting = True
            return
        self.total = (self.total + packet.data[packet.datum]) % 1000003
        packet.datum += 1
        if packet.datum < len(packet.data):
            self.put(packet)
            self.held = self.total % 3 == 0
        else:
            packet.target = 1
            self.kernel.send(packet, self.number)


class Kernel:
    def __init__(self):
        self.tasks = []
        self.sent = 0
        self.held = 0

    def send(self, packet, sender):
        self.sent += 1
        packet.kind = sender
        self.tasks[packet.target].put(packet)

    def schedule(self):
        steps = 0
        while True:
            best = None
            for task in self.tasks:
                if task.held:
                    self.held += 1
                elif not task.waiting and (best is None or task.priority > best.priority):
                    best = task
            if best is None:
                return steps
            best.run()
            steps += 1


def simulate(count):
    kernel = Kernel()
    Idle(0, 0, kernel, count)
    Worker(1, 1000, Packet(Packet(None, 1, WORK), 1, WORK), kernel)
    Handler(2, 2000, Packet(Packet(None, 2, DEVICE), 2, DEVICE), kernel)
    Handler(3, 3000, Packet(None, 3, DEVICE), kernel)
    steps = kernel.schedule()
    return kernel.sent, kernel.held, steps


def main(rounds):
    for _ in range(rounds):
        found = simulate(5000)
    print(found)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
