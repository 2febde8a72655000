"""Bytearrays: sieves, tapes, checksums."""


def sieve(n):
    flags = bytearray([1]) * (n + 1)
    flags[0] = flags[1] = 0
    for i in range(2, int(n**0.5) + 1):
        if flags[i]:
            flags[i * i :: i] = bytes(len(range(i * i, n + 1, i)))
    return [i for i, flag in enumerate(flags) if flag], sum(flags), len(flags)


def machine(program):
    tape = bytearray(30)
    out = bytearray()
    at = place = 0
    jumps, stack = {}, []
    for i, c in enumerate(program):
        if c == "[":
            stack.append(i)
        elif c == "]":
            j = stack.pop()
            jumps[i], jumps[j] = j, i
    while place < len(program):
        c = program[place]
        if c == ">":
            at += 1
        elif c == "<":
            at -= 1
        elif c == "+":
            tape[at] = (tape[at] + 1) % 256
        elif c == "-":
            tape[at] = (tape[at] - 1) % 256
        elif c == ".":
            out.append(tape[at])
        elif (c == "[" and not tape[at]) or (c == "]" and tape[at]):
            place = jumps[place]
        place += 1
    return out.decode(), bytes(out), out


def changed(data, more):
    data[0] ^= 255
    data.extend(more)
    data += b"xy"
    data[1:2] = b"long"
    last = data.pop()
    copy = data[:]
    copy.append(7)
    tests = (
        copy == data,
        data == bytes(data),
        bool(bytearray()),
        255 in data,
        data.find(b"xy"),
        data.startswith(b"\x00"),
    )
    return last, copy, data + b"!", b"?" + data, tests, data.hex(), list(data)[-3:], bytearray(b"ab") * 2, repr(data)


def wrong(values):
    found = []
    data = bytearray(2)
    for value in values:
        try:
            data[value % 4] = value
            data.append(value)
            found.append(data[-1])
        except ValueError as problem:
            found.append(str(problem))
        except IndexError as problem:
            found.append(str(problem))
    return found, data


def words(data):
    return [int.from_bytes(data[at : at + 4], "big") & 255 for at in range(0, len(data), 4)]


def mixed_words(n):
    found = 0
    for k in range(n):
        found ^= int.from_bytes(bytes([k % 256] * (k % 12)), "big")
    return found


CASES = [
    (words, (b"abcdefghijkl",)),
    (mixed_words, (30,)),  # some are beyond 64 bits
    (sieve, (60,)),
    (machine, ("++++++++[>++++++++<-]>+.+.",)),
    (changed, (bytearray(b"hello"), b"\x00\xff")),
    (wrong, ([5, 300, 3, 0],)),
]
