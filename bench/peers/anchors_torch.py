"""The anchors in PyTorch, eager and with torch.compile: the models of bench/anchors, line by line.

Peers get their best configuration: the fused optimizers, which the C++ library does not have. With
torch.compile forward, loss and backward are compiled; the fused optimizer is faster uncompiled.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

BATCHES = 4  # so that nothing can be taken for a constant


def name(library):
    version = torch.__version__.split("+")[0]
    return f"torch.compile {version}" if library == "torch.compile" else f"PyTorch {version}"


def use_threads(threads):
    if threads:
        torch.set_num_threads(threads)


class Perceptron(nn.Module):
    def __init__(self, inputs, hidden, outputs):
        super().__init__()
        self.fc1 = nn.Linear(inputs, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden, outputs)

    def forward(self, x):
        return self.fc3(torch.relu(self.fc2(torch.relu(self.fc1(x)))))


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(256, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(torch.relu(self.conv1(x)), 2)
        x = F.max_pool2d(torch.relu(self.conv2(x)), 2)
        x = torch.relu(self.fc1(x.view(x.size(0), -1)))
        return self.fc3(torch.relu(self.fc2(x)))


def conv(inputs, outputs, kernel, stride):
    return nn.Conv2d(inputs, outputs, kernel, stride=stride, padding=kernel // 2, bias=False)


class ResidualBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1, self.bn1 = conv(inputs, outputs, 3, stride), nn.BatchNorm2d(outputs)
        self.conv2, self.bn2 = conv(outputs, outputs, 3, 1), nn.BatchNorm2d(outputs)
        self.shortcut = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(conv(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(y)) + self.shortcut(x))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.bn = conv(3, 64, 3, 1), nn.BatchNorm2d(64)
        blocks, inputs = [], 64
        for outputs in (64, 128, 256, 512):
            for i in range(2):
                stride = 2 if i == 0 and outputs != 64 else 1
                blocks.append(ResidualBlock(inputs, outputs, stride))
                inputs = outputs
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(512, 10)

    def forward(self, x):
        x = self.blocks(torch.relu(self.bn(self.stem(x))))
        return self.head(F.adaptive_avg_pool2d(x, (1, 1)).flatten(1))


class Attention(nn.Module):
    def __init__(self, channels, heads, context, is_fused):
        super().__init__()
        self.heads, self.is_fused = heads, is_fused
        self.qkv, self.out = nn.Linear(channels, 3 * channels), nn.Linear(channels, channels)
        hidden = torch.triu(torch.ones(context, context), 1).to(torch.bool)
        self.register_buffer("hidden", hidden)

    def forward(self, x):
        batch, length, channels = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, channels // self.heads).transpose(1, 2)
            for part in self.qkv(x).split(channels, 2)
        )
        if self.is_fused:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = q.matmul(k.transpose(-2, -1)) * (1.0 / math.sqrt(channels // self.heads))
            y = torch.softmax(scores.masked_fill(self.hidden, -math.inf), -1).matmul(v)
        return self.out(y.transpose(1, 2).contiguous().view(batch, length, channels))


class TransformerBlock(nn.Module):
    def __init__(self, channels, heads, context, is_fused):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(channels), nn.LayerNorm(channels)
        self.attention = Attention(channels, heads, context, is_fused)
        self.up, self.down = nn.Linear(channels, 4 * channels), nn.Linear(4 * channels, channels)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    layers, heads, channels, context, characters = 4, 4, 128, 64, 65

    def __init__(self, is_fused):
        super().__init__()
        self.tokens = nn.Embedding(self.characters, self.channels)
        self.places = nn.Embedding(self.context, self.channels)
        self.blocks = nn.Sequential(
            *(
                TransformerBlock(self.channels, self.heads, self.context, is_fused)
                for _ in range(self.layers)
            )
        )
        self.norm = nn.LayerNorm(self.channels)
        self.head = nn.Linear(self.channels, self.characters, bias=False)
        self.register_buffer("place", torch.arange(self.context))

    def forward(self, index):
        x = self.blocks(self.tokens(index) + self.places(self.place))
        return self.head(self.norm(x)).view(-1, self.characters)


class Training:
    """zero_grad, forward, loss, backward, optimizer step; every parameter is read at the end."""

    def __init__(self, net, optimizer, inputs, targets, is_compiled):
        self.net, self.optimizer, self.inputs, self.targets = net, optimizer, inputs, targets

        def loss(x, y):
            return F.cross_entropy(net(x), y)

        self.loss = torch.compile(loss, dynamic=False) if is_compiled else loss

    def run(self, steps):
        for step in range(steps):
            self.optimizer.zero_grad()
            loss = self.loss(self.inputs[step % BATCHES], self.targets[step % BATCHES])
            loss.backward()
            self.optimizer.step()
        for parameter in self.net.parameters():
            parameter.detach().view(-1)[0].item()
        return loss.item()


class Recurrent:
    def __init__(self, is_cell, is_compiled):
        self.net = nn.LSTMCell(64, 64) if is_cell else nn.LSTM(64, 64)
        self.sequences = [torch.randn(64, 8, 64) for _ in range(BATCHES)]

        def by_cell(sequence):
            h, c, total = torch.zeros(8, 64), torch.zeros(8, 64), 0.0
            for t in range(64):
                h, c = self.net(sequence[t], (h, c))
                total = total + h.sum()
            return total

        self.sum = by_cell if is_cell else lambda sequence: self.net(sequence)[0].sum()
        if is_compiled:
            self.sum = torch.compile(self.sum, dynamic=False)

    def run(self, steps):
        for step in range(steps):
            self.net.zero_grad()
            total = self.sum(self.sequences[step % BATCHES])
            total.backward()
        for parameter in self.net.parameters():
            parameter.grad.view(-1)[0].item()
        return total.item()


class Repeated:
    """A step, and the tensor it leaves, which is read."""

    def __init__(self, step, is_compiled, a_read=1):
        self.step = torch.compile(step, dynamic=False) if is_compiled else step
        self.a_read = a_read

    def run(self, steps):
        last = 0.0
        for step in range(steps):
            result = self.step()
            if step % self.a_read == 0:
                last = result.detach().view(-1)[0].item()
        return last


class Rows:
    """softmax or layer norm with backward; compiled, the backward is too."""

    def __init__(self, function, leaves, cotangent, is_compiled):
        self.function = torch.compile(function, dynamic=False) if is_compiled else function
        self.leaves, self.cotangent = leaves, cotangent

    def run(self, steps):
        for _ in range(steps):
            for leaf in self.leaves:
                leaf.grad = None
            self.function().backward(self.cotangent)
            last = self.leaves[0].grad.view(-1)[0].item()
        return last


class AdamAlone:
    def __init__(self, is_compiled):
        self.parameters = [torch.randn(100000, requires_grad=True) for _ in range(100)]
        for parameter in self.parameters:
            parameter.grad = torch.randn(100000)
        kind = {"foreach": True} if is_compiled else {"fused": True}
        optimizer = torch.optim.Adam(self.parameters, lr=1e-3, **kind)
        self.step = torch.compile(optimizer.step) if is_compiled else optimizer.step

    def run(self, steps):
        for _ in range(steps):
            self.step()
        for parameter in self.parameters:
            last = parameter[0].item()
        return last


def classes(count, sizes):
    return [torch.randint(count, sizes) for _ in range(BATCHES)]


def training(anchor, is_compiled):
    optim = torch.optim
    if anchor in ("A1", "A2", "A3"):
        shapes = {"A1": (4, 32, 4, 32), "A2": (784, 128, 10, 64), "A3": (784, 512, 10, 128)}
        inputs, hidden, outputs, batch = shapes[anchor]
        net = Perceptron(inputs, hidden, outputs)
        optimizer = optim.Adam(net.parameters(), lr=1e-3, fused=True)
        x, y = [torch.randn(batch, inputs) for _ in range(BATCHES)], classes(outputs, (batch,))
    elif anchor == "A4":
        net = LeNet()
        optimizer = optim.Adam(net.parameters(), lr=1e-3, fused=True)
        x, y = [torch.randn(64, 1, 28, 28) for _ in range(BATCHES)], classes(10, (64,))
    elif anchor == "A5":
        net = ResNet()
        optimizer = optim.SGD(
            net.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4, fused=True
        )
        x, y = [torch.randn(32, 3, 32, 32) for _ in range(BATCHES)], classes(10, (32,))
    else:
        net = Gpt(is_fused=anchor == "A7s")
        optimizer = optim.AdamW(net.parameters(), lr=3e-4, fused=True)
        x = classes(Gpt.characters, (12, Gpt.context))
        y = classes(Gpt.characters, (12 * Gpt.context,))
    return Training(net, optimizer, x, y, is_compiled)


def operators(anchor, is_compiled):
    if anchor == "A9":
        a, b = torch.randn(4194304), torch.randn(4194304)
        return Repeated(lambda: F.gelu(a * 2 + b) * b, is_compiled)
    if anchor in ("A11", "A11g"):
        x, y = torch.randn(8, 8, requires_grad=anchor == "A11g"), torch.randn(8, 8)
        return Repeated(lambda: x + y, is_compiled, 1000)
    has_backward = anchor.endswith("b")
    x = torch.randn(4096, 1024, requires_grad=has_backward)
    weight = torch.ones(1024, requires_grad=has_backward)
    bias = torch.zeros(1024, requires_grad=has_backward)
    if anchor.startswith("A13s"):
        function, leaves = lambda: torch.softmax(x, 1), [x]
    else:
        function, leaves = lambda: F.layer_norm(x, (1024,), weight, bias), [x, weight, bias]
    if not has_backward:
        return Repeated(function, is_compiled)
    return Rows(function, leaves, torch.randn(4096, 1024), is_compiled)


def make(anchor, is_compiled):
    torch.manual_seed(1)
    if anchor in ("A1", "A2", "A3", "A4", "A5", "A7", "A7s"):
        return training(anchor, is_compiled)
    if anchor in ("A6", "A6b"):
        if is_compiled and anchor == "A6":
            raise NotImplementedError("torch.compile leaves nn.LSTM uncompiled")
        return Recurrent(anchor == "A6b", is_compiled)
    if anchor in ("A9", "A11", "A11g", "A13s", "A13sb", "A13l", "A13lb"):
        return operators(anchor, is_compiled)
    if anchor == "A12":
        return AdamAlone(is_compiled)
    raise NotImplementedError("it is not written for PyTorch")
