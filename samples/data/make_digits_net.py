#!/usr/bin/env python3
"""Trains a small network on the samples' digits with Python's torch and writes what the sample
load_pretrained reads, and what torch answers to the first test digits:

    python3 samples/data/make_digits_net.py   # in an environment that has torch

digits_net.pt is torch.save of a state_dict, digits_net.safetensors has the same tensors as Hugging
Face's safetensors.torch.save_file writes them, digits_net.txt the answers."""

import gzip
import json
import pathlib
import struct

import torch
from torch import nn

HERE = pathlib.Path(__file__).parent
TRAINING, SHOWN = 8000, 10


class DigitsNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, stride=2, padding=1)
        self.bn1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.bn2 = nn.BatchNorm2d(16)
        self.conv3 = nn.Conv2d(16, 16, 3, stride=2, padding=1)
        self.bn3 = nn.BatchNorm2d(16)
        self.fc = nn.Linear(256, 10)

    def forward(self, x):
        x = torch.relu(self.bn1(self.conv1(x)))
        x = torch.relu(self.bn2(self.conv2(x)))
        x = torch.relu(self.bn3(self.conv3(x)))
        return self.fc(x.flatten(1))


def idx(name, header):
    data = gzip.decompress((HERE / name).read_bytes())[header:]
    return torch.frombuffer(bytearray(data), dtype=torch.uint8)


def write_safetensors(state, path):
    names = {torch.float32: "F32", torch.int64: "I64"}
    header, content = {"__metadata__": {"format": "pt"}}, b""
    # The widest types first, so that all are aligned.
    for name, tensor in sorted(state.items(), key=lambda item: (-item[1].element_size(), item[0])):
        data = tensor.contiguous().numpy().tobytes()
        header[name] = {
            "dtype": names[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [len(content), len(content) + len(data)],
        }
        content += data
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + content)


torch.manual_seed(1)
images = idx("t10k-images-idx3-ubyte.gz", 16).view(-1, 1, 28, 28).float() / 255
images = (images - 0.1307) / 0.3081
labels = idx("t10k-labels-idx1-ubyte.gz", 8).long()
net = DigitsNet()
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
for _ in range(4):
    for pick in torch.randperm(TRAINING).split(64):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(images[pick]), labels[pick]).backward()
        optimizer.step()

net.eval()
torch.save(net.state_dict(), HERE / "digits_net.pt")
write_safetensors(net.state_dict(), HERE / "digits_net.safetensors")
with torch.no_grad(), open(HERE / "digits_net.txt", "w") as file:
    test, targets = images[TRAINING:], labels[TRAINING:]
    chances = net.double()(test.double()).softmax(1)
    for chance, target in zip(chances[:SHOWN], targets[:SHOWN]):
        print(f"a {target}: {chance.argmax()}, {100 * chance.max():.2f} %", file=file)
    right = (chances.argmax(1) == targets).double().mean()
    print(f"upright digits: {100 * right:.2f} % right", file=file)
