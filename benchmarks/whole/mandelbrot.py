"""The Mandelbrot set in complex numbers, a line of text at a time."""

import sys


def escape(c, limit):
    z = 0j
    for k in range(limit):
        z = z * z + c
        if abs(z) > 2.0:
            return k
    return limit


def line(y, width, limit):
    shades = " .:-=+*#%@"
    text = []
    for x in range(width):
        c = complex(3.0 * x / width - 2.0, 2.0 * y - 1.0)
        text.append(shades[escape(c, limit) * 9 // limit])
    return "".join(text)


def main(height):
    picture = []
    for row in range(height):
        picture.append(line(row / height, 160, 150))
    print(picture[height // 2][:60], sum(row.count("@") for row in picture))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4500)
