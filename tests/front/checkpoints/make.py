#!/usr/bin/env python3
"""Writes this folder's files with Python's torch: what checkpoint_test.cpp reads.

    python3 tests/front/checkpoints/make.py   # in an environment that has torch"""

import collections
import pathlib

import torch

HERE = pathlib.Path(__file__).parent


def filled(*sizes):
    count = torch.Size(sizes).numel()
    return (torch.arange(count) % 7 - 3).float().div(8).reshape(sizes)


net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
with torch.no_grad():
    for parameter in net.parameters():
        parameter.copy_(filled(*parameter.shape))
torch.save(net.state_dict(), HERE / "module.pt")
torch.save({"model": net.state_dict(), "epoch": 3}, HERE / "training.pt")
torch.save(net, HERE / "object.pt")

whole = torch.arange(12.0).reshape(3, 4)
torch.save(
    {
        "whole": whole,
        "transposed": whole.t(),
        "part": whole[1:, ::2],
        "expanded": torch.tensor([1.0, 2.0]).unsqueeze(1).expand(2, 3),
        "empty": torch.zeros(0, 3),
        "scalar": torch.tensor(2.5, dtype=torch.float64),
        "i16": torch.tensor([1, -2], dtype=torch.int16),
        "f16": torch.tensor([0.5], dtype=torch.float16),
        "bf16": torch.tensor([1.5, -2.0], dtype=torch.bfloat16),
        "bool": torch.tensor([True, False]),
        "parameter": torch.nn.Parameter(torch.ones(2)),
        "list": [1, 2.5, "text", True, None, (3, 4)],
        "nested": collections.OrderedDict(big=2**40, negative=-5),
        "size": torch.Size([2, 3]),
        "dtype": torch.float32,
    },
    HERE / "values.pt",
)
torch.save([whole, whole + 1], HERE / "list.pt", pickle_protocol=5)
numbers = torch.tensor([1 + 2j])
torch.save([numbers, numbers.conj(), numbers.clone().conj().imag], HERE / "complex.pt")
torch.save(whole, HERE / "legacy.pt", _use_new_zipfile_serialization=False)
