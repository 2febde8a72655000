"""Most flips of a permutation's front, over all permutations."""

import sys


def flips(n):
    count = list(range(1, n + 1))
    most = 0
    sign_sum = 0
    sign = 1
    perm1 = list(range(n))
    r = n
    while True:
        while r != 1:
            count[r - 1] = r
            r -= 1
        if perm1[0] != 0:
            perm = perm1[:]
            done = 0
            k = perm[0]
            while k:
                perm[: k + 1] = perm[k::-1]
                done += 1
                k = perm[0]
            most = max(most, done)
            sign_sum += sign * done
        sign = -sign
        while True:
            if r == n:
                return sign_sum, most
            perm1.insert(r, perm1.pop(0))
            count[r] -= 1
            if count[r] > 0:
                break
            r += 1


def main(n, rounds):
    for k in range(rounds):
        found = flips(n)
    print(n, found)


if __name__ == "__main__":
    main(8, int(sys.argv[1]) if len(sys.argv) > 1 else 80)
