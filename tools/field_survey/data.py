"""Data made up for programs whose own is not there: told by a missing file's name what it should
hold."""

import gzip
import os
import random
import re
import struct

PICTURES = (".jpg", ".jpeg", ".png", ".bmp", ".ppm", ".pgm", ".tif", ".tiff")
DIGITS = re.compile(r"(train|t10k|test)-((?:images|labels))[-.](idx[13])[-.]ubyte$")
COLOURS = re.compile(r"(data_batch_\d|test_batch|train|test)\.bin$")
DARK, BRIGHT = bytes(i & 127 for i in range(256)), bytes(i | 128 for i in range(256))
WORDS = (
    "the sea was calm and a small boat went out to look for fish near an old wall of stone while "
    "people on land said that rain would come before night but no one knew when"
).split()


def has_digits(source):
    """Does the folder hold MNIST's test digits?"""
    plain = os.path.join(source, "t10k-images-idx3-ubyte")
    return os.path.exists(plain) or os.path.exists(plain + ".gz")


def digits(source, kind):
    """The bytes of MNIST's test digits; kind: images-idx3 or labels-idx1."""
    plain = os.path.join(source, f"t10k-{kind}-ubyte")
    if os.path.exists(plain):
        with open(plain, "rb") as stream:
            return stream.read()
    with gzip.open(plain + ".gz") as stream:
        return stream.read()


def write_digit_file(source, part, kind, path):
    """MNIST's test digits, which, six times over, are the training digits too (LibTorch reads no
    other number)."""
    data = digits(source, kind)
    header = 16 if kind.startswith("images") else 8
    times = 6 if part == "train" else 1
    count = struct.unpack(">i", data[4:8])[0]
    with open(path, "wb") as stream:
        stream.write(data[:4] + struct.pack(">i", times * count) + data[8:header])
        stream.write(times * data[header:])


def write_digits(source, folder):
    os.makedirs(folder, exist_ok=True)
    for kind in ("images-idx3", "labels-idx1"):
        for part in ("t10k", "train"):
            write_digit_file(source, part, kind, os.path.join(folder, f"{part}-{kind}-ubyte"))


def write_picture(path, kind, draw, size=64):
    """A picture bright above or below, its size even. It is a PPM file whatever its name: who reads pictures
    goes by what a file holds."""
    half = 3 * size * (size // 2)
    dark, bright = draw.randbytes(half).translate(DARK), draw.randbytes(half).translate(BRIGHT)
    pixels = bright + dark if kind else dark + bright
    with open(path, "wb") as stream:
        stream.write(b"P6\n%d %d\n255\n" % (size, size) + pixels)


def write_pictures(folder, count=40, size=64):
    """Pictures of two kinds, and info.txt that lists them as PyTorch's example custom-dataset
    wants it."""
    draw = random.Random(1)
    rows = []
    os.makedirs(os.path.join(folder, "dataset"), exist_ok=True)
    for number in range(count):
        kind = number % 2
        name = f"image_{number:04}.jpg"
        write_picture(os.path.join(folder, "dataset", name), kind, draw, size)
        rows.append(f"{name} {kind} {'test' if number % 5 == 4 else 'train'}")
    with open(os.path.join(folder, "info.txt"), "w") as stream:
        stream.write("\n".join(rows))  # no last line break: the example would read a line behind it


def write_colours(path, count=10000):
    """CIFAR-10's binary form: a label and 32x32 pixels in three planes, drawn at random."""
    draw = random.Random(path)
    with open(path, "wb") as stream:
        for number in range(count):
            stream.write(bytes([number % 10]) + draw.randbytes(3072))


def write_text(path, lines=400):
    draw = random.Random(1)
    with open(path, "w") as stream:
        for _ in range(lines):
            stream.write(" ".join(draw.choice(WORDS) for _ in range(10)) + "\n")


def write_numbers(path, rows=300, columns=8):
    draw = random.Random(1)
    with open(path, "w") as stream:
        stream.write(",".join(f"x{c}" for c in range(columns)) + "\n")
        for _ in range(rows):
            stream.write(",".join(f"{draw.random():.4f}" for _ in range(columns)) + "\n")


def kind_of(path, demand):
    """What can be made up for a path that a program asked for: digits, colours, picture, text,
    numbers, folder, or None. demand: file, stat or folder, as world.c wrote it."""
    name = os.path.basename(path.rstrip("/"))
    ending = os.path.splitext(name)[1].lower()
    if DIGITS.match(name):
        return "digits"
    if COLOURS.match(name):
        return "colours"
    if demand == "folder":
        return "folder"
    if ending in PICTURES:
        return "picture"
    if ending == ".txt":
        return "text"
    if ending == ".csv":
        return "numbers"
    return "folder" if demand == "stat" and not ending else None


def make(kind, path, mnist):
    """Makes up a file or folder; returns whether that could be done."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if kind == "digits":
        if not mnist:
            return False
        part, what, form = DIGITS.match(os.path.basename(path)).groups()
        write_digit_file(mnist, "train" if part == "train" else "t10k", f"{what}-{form}", path)
    elif kind == "colours":
        write_colours(path)
    elif kind == "picture":
        write_picture(path, 0, random.Random(path))
    elif kind == "text":
        write_text(path)
    elif kind == "numbers":
        write_numbers(path)
    elif kind == "folder":
        write_folder(path)
    return True


def write_folder(path, count=72):
    os.makedirs(path, exist_ok=True)
    for number in range(count):
        name = os.path.join(path, f"image_{number:04}.jpg")
        write_picture(name, number % 2, random.Random(number), size=32)


def sort_into_classes(path):
    """Makes of a folder with pictures one with a folder for each of two classes."""
    names = sorted(n for n in os.listdir(path) if os.path.isfile(os.path.join(path, n)))
    for number, name in enumerate(names):
        folder = os.path.join(path, "ab"[number % 2])
        os.makedirs(folder, exist_ok=True)
        os.rename(os.path.join(path, name), os.path.join(folder, name))
