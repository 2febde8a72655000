"""Elevators, floors and passengers: many small classes that call each other, step by step."""

import random


class Passenger:
    def __init__(self, number, origin, goal, born):
        self.number = number
        self.origin = origin
        self.goal = goal
        self.born = born

    def wants_up(self):
        return self.goal > self.origin


class Floor:
    def __init__(self, level):
        self.level = level
        self.waiting = []

    def add(self, passenger):
        self.waiting.append(passenger)

    def is_calling(self):
        return len(self.waiting) > 0


class Elevator:
    CAPACITY = 8

    def __init__(self, name, level):
        self.name = name
        self.level = level
        self.direction = 1
        self.riders = []
        self.moved = 0

    def leave_here(self, time):
        out = [p for p in self.riders if p.goal == self.level]
        self.riders = [p for p in self.riders if p.goal != self.level]
        return out

    def board(self, floor):
        while floor.waiting and len(self.riders) < self.CAPACITY:
            self.riders.append(floor.waiting.pop(0))

    def move(self, top):
        self.level += self.direction
        self.moved += 1
        if self.level == top - 1:
            self.direction = -1
        elif self.level == 0:
            self.direction = 1


class Building:
    def __init__(self, floors, elevators, seed):
        self.floors = [Floor(level) for level in range(floors)]
        self.elevators = [Elevator(f"e{k}", k * floors // elevators) for k in range(elevators)]
        self.chance = random.Random(seed)
        self.time = 0
        self.count = 0
        self.waits = []

    def arrivals(self):
        for floor in self.floors:
            if self.chance.random() < 0.08:
                goal = self.chance.randrange(len(self.floors))
                if goal != floor.level:
                    floor.add(Passenger(self.count, floor.level, goal, self.time))
                    self.count += 1

    def step(self):
        self.arrivals()
        for elevator in self.elevators:
            for passenger in elevator.leave_here(self.time):
                self.waits.append(self.time - passenger.born)
            floor = self.floors[elevator.level]
            if floor.is_calling():
                elevator.board(floor)
            elevator.move(len(self.floors))
        self.time += 1


def main():
    building = Building(20, 4, 7)
    for _ in range(700000):
        building.step()
    waits = building.waits
    print(building.count, len(waits), max(waits), sum(waits) / len(waits))
    for elevator in building.elevators:
        print(elevator.name, elevator.level, elevator.moved, len(elevator.riders))
    print(sum(len(floor.waiting) for floor in building.floors))


if __name__ == "__main__":
    main()
