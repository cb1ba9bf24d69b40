"""Trains in the extension, on the main thread and on another; prints every loss exactly."""
import ctypes
import sys
import threading

import extension

libc = ctypes.CDLL(None)
losses = extension.train(200)
others = []
thread = threading.Thread(target=lambda: others.extend(extension.train(200)))
thread.start()
thread.join()
assert losses == others
try:
    extension.fail()
except RuntimeError as error:
    assert "[2, 3]" in str(error), error
else:
    raise AssertionError("no error")
for loss in losses:
    libc.printf(b"%a\n", ctypes.c_double(loss))
libc.fflush(None)
assert any("libgroove.so" in line for line in open("/proc/self/maps"))
