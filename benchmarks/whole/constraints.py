"""One-way constraints between variables with strengths, planned anew and executed: a simulation of objects."""

import sys


class Variable:
    def __init__(self, name, value):
        self.name = name
        self.value = value
        self.constraints = []
        self.set_by = None
        self.mark = 0


class Constraint:
    def __init__(self, strength):
        self.strength = strength

    def inputs(self):
        return []

    def output(self):
        return None

    def execute(self):
        pass

    def is_ready(self, mark):
        for variable in self.inputs():
            if variable.mark != mark and variable.set_by is not None:
                return False
        return True


class Scale(Constraint):
    def __init__(self, source, factor, offset, target, strength):
        Constraint.__init__(self, strength)
        self.source, self.factor, self.offset, self.target = source, factor, offset, target
        for variable in (source, factor, offset):
            variable.constraints.append(self)
        target.set_by = self

    def inputs(self):
        return [self.source, self.factor, self.offset]

    def output(self):
        return self.target

    def execute(self):
        self.target.value = (self.source.value * self.factor.value + self.offset.value) % 10007


class Equal(Constraint):
    def __init__(self, source, target, strength):
        Constraint.__init__(self, strength)
        self.source, self.target = source, target
        source.constraints.append(self)
        target.set_by = self

    def inputs(self):
        return [self.source]

    def output(self):
        return self.target

    def execute(self):
        self.target.value = self.source.value


class Planner:
    def __init__(self):
        self.mark = 0

    def plan(self, start):
        self.mark += 1
        start.mark = self.mark
        plan = []
        todo = [c for c in start.constraints]
        while todo:
            constraint = todo.pop()
            target = constraint.output()
            if target.mark != self.mark and constraint.is_ready(self.mark):
                plan.append(constraint)
                target.mark = self.mark
                for following in target.constraints:
                    todo.append(following)
        return plan

    def change(self, variable, value):
        variable.value = value
        for constraint in self.plan(variable):
            constraint.execute()


def chain(count):
    variables = [Variable(f"v{k}", 0) for k in range(count)]
    factor, offset = Variable("factor", 3), Variable("offset", 7)
    for k in range(count - 1):
        if k % 3 == 2:
            Scale(variables[k], factor, offset, variables[k + 1], k % 5)
        else:
            Equal(variables[k], variables[k + 1], k % 5)
    return variables


def experiment(count, changes):
    planner = Planner()
    variables = chain(count)
    total = 0
    for k in range(changes):
        planner.change(variables[0], k)
        total += variables[-1].value
    return total


def main(rounds):
    total = 0
    for k in range(rounds):
        total += experiment(100 + k % 7, 60)
    print(total)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1400)
