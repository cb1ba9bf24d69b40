#!/usr/bin/env python3
"""Writes the files of this folder with NumPy: the same arrays stored and deflated."""

import pathlib

import numpy

FOLDER = pathlib.Path(__file__).resolve().parent
ARRAYS = {
    "weight": numpy.arange(2048, dtype=numpy.float32).reshape(32, 64) / 8,
    "columns": numpy.asfortranarray(numpy.arange(24, dtype=">i4").reshape(2, 3, 4)),
    "mask": numpy.array([True, False, True]),
    "step": numpy.int64(7),
}
numpy.savez(FOLDER / "stored.npz", **ARRAYS)
numpy.savez_compressed(FOLDER / "deflated.npz", **ARRAYS)
