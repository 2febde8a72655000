"""The cyclic redundancy check CRC-16/CCITT of a message, bit by bit, least significant bit first."""

import numpy as np

SIZES = {"tiny": (11,), "S": (8_000,), "M": (70_000,), "L": (700_000,)}
LISTS = True


def initialise(size):
    return (np.random.default_rng(15).integers(0, 256, size[0], dtype=np.uint8), 0x8408)


def numpy_form(data, polynomial):
    crc = 0xFFFF
    for byte in data:
        current = int(byte)
        for _ in range(8):
            if (crc & 1) ^ (current & 1):
                crc = (crc >> 1) ^ polynomial
            else:
                crc >>= 1
            current >>= 1
    crc = ~crc & 0xFFFF
    return ((crc << 8) | ((crc >> 8) & 0xFF)) & 0xFFFF


def loop_form(data, polynomial):
    crc = 0xFFFF
    for k in range(len(data)):
        crc ^= int(data[k])
        for _ in range(8):
            odd = crc & 1
            crc >>= 1
            if odd:
                crc ^= polynomial
    crc ^= 0xFFFF
    return (crc << 8 & 0xFF00) | (crc >> 8)
