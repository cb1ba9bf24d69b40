"""The anchors in JAX: each step (forward, backward, optimizer) is one jitted function, whose
parameters and optimizer state are donated; batches stream in. Models, sizes and scales of
initialisation are those of bench/anchors; images are NHWC, which XLA prefers on a CPU.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

BATCHES = 4  # so that nothing can be taken for a constant
random = np.random.default_rng(1)


def name():
    return f"JAX {jax.__version__}"


def normal(*sizes):
    return jnp.asarray(random.standard_normal(sizes, dtype=np.float32))


def uniform(bound, *sizes):
    return jnp.asarray(random.uniform(-bound, bound, sizes).astype(np.float32))


def classes(count, *sizes):
    return [jnp.asarray(random.integers(count, size=sizes, dtype=np.int32)) for _ in range(BATCHES)]


# ---- layers ----


def linear(inputs, outputs, has_bias=True):
    bound = 1 / math.sqrt(inputs)
    layer = {"weight": uniform(bound, inputs, outputs)}
    return layer | {"bias": uniform(bound, outputs)} if has_bias else layer


def apply_linear(layer, x):
    y = x @ layer["weight"]
    return y + layer["bias"] if "bias" in layer else y


def conv(inputs, outputs, kernel, has_bias=False):
    bound = 1 / math.sqrt(inputs * kernel * kernel)
    layer = {"weight": uniform(bound, kernel, kernel, inputs, outputs)}
    return layer | {"bias": uniform(bound, outputs)} if has_bias else layer


def apply_conv(layer, x, stride=1, padding=0):
    y = lax.conv_general_dilated(
        x,
        layer["weight"],
        (stride, stride),
        [(padding, padding)] * 2,
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    )
    return y + layer["bias"] if "bias" in layer else y


def max_pool(x):
    """By halves: the reshaped form is faster on a CPU than reduce_window, above all backward."""
    n, h, w, c = x.shape
    return x.reshape(n, h // 2, 2, w // 2, 2, c).max((2, 4))


def batch_norm(channels):
    return {"weight": jnp.ones(channels), "bias": jnp.zeros(channels)}


def running(channels):
    return {"mean": jnp.zeros(channels), "var": jnp.ones(channels)}


def apply_batch_norm(layer, statistics, x):
    """In training: the normalised batch, and the running statistics after it."""
    mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
    count = x.size // x.shape[-1]
    updated = {
        "mean": 0.9 * statistics["mean"] + 0.1 * mean,
        "var": 0.9 * statistics["var"] + 0.1 * var * (count / (count - 1)),
    }
    y = (x - mean) * (lax.rsqrt(var + 1e-5) * layer["weight"]) + layer["bias"]
    return y, lax.stop_gradient(updated)


def layer_norm(x, weight, bias):
    mean = x.mean(-1, keepdims=True)
    var = x.var(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(var + 1e-5) * weight + bias


def norm(channels):
    return {"weight": jnp.ones(channels), "bias": jnp.zeros(channels)}


def cross_entropy(logits, target):
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), target[:, None], 1)
    return -chosen.mean()


# ---- models: initial parameters and running statistics, and (loss, statistics) ----


def perceptron(inputs, hidden, outputs):
    sizes = (inputs, hidden), (hidden, hidden), (hidden, outputs)
    parameters = [linear(*size) for size in sizes]

    def loss(layers, statistics, x, y):
        x = jax.nn.relu(apply_linear(layers[0], x))
        x = jax.nn.relu(apply_linear(layers[1], x))
        return cross_entropy(apply_linear(layers[2], x), y), statistics

    return parameters, {}, loss


def lenet():
    parameters = [conv(1, 6, 5, True), conv(6, 16, 5, True)]
    parameters += [linear(256, 120), linear(120, 84), linear(84, 10)]

    def loss(layers, statistics, x, y):
        x = max_pool(jax.nn.relu(apply_conv(layers[0], x)))
        x = max_pool(jax.nn.relu(apply_conv(layers[1], x)))
        x = jax.nn.relu(apply_linear(layers[2], x.reshape(x.shape[0], -1)))
        x = jax.nn.relu(apply_linear(layers[3], x))
        return cross_entropy(apply_linear(layers[4], x), y), statistics

    return parameters, {}, loss


def resnet():
    parameters = {"stem": conv(3, 64, 3), "bn": batch_norm(64), "head": linear(512, 10)}
    statistics = {"bn": running(64)}
    strides, inputs = [], 64
    for outputs in (64, 128, 256, 512):
        for i in range(2):
            stride = 2 if i == 0 and outputs != 64 else 1
            block = {"conv1": conv(inputs, outputs, 3), "bn1": batch_norm(outputs)}
            block |= {"conv2": conv(outputs, outputs, 3), "bn2": batch_norm(outputs)}
            kept = {"bn1": running(outputs), "bn2": running(outputs)}
            if stride != 1 or inputs != outputs:
                block |= {"conv": conv(inputs, outputs, 1), "bn": batch_norm(outputs)}
                kept["bn"] = running(outputs)
            key = f"block{len(strides)}"
            parameters[key], statistics[key] = block, kept
            strides.append(stride)
            inputs = outputs

    def apply_block(block, kept, x, stride):
        new = {}
        y, new["bn1"] = apply_batch_norm(
            block["bn1"], kept["bn1"], apply_conv(block["conv1"], x, stride, 1)
        )
        y = apply_conv(block["conv2"], jax.nn.relu(y), 1, 1)
        y, new["bn2"] = apply_batch_norm(block["bn2"], kept["bn2"], y)
        if "conv" in block:
            x, new["bn"] = apply_batch_norm(
                block["bn"], kept["bn"], apply_conv(block["conv"], x, stride)
            )
        return jax.nn.relu(y + x), new

    def loss(parameters, statistics, x, y):
        new = {}
        x = apply_conv(parameters["stem"], x, 1, 1)
        x, new["bn"] = apply_batch_norm(parameters["bn"], statistics["bn"], x)
        x = jax.nn.relu(x)
        for i, stride in enumerate(strides):
            key = f"block{i}"
            x, new[key] = apply_block(parameters[key], statistics[key], x, stride)
        return cross_entropy(apply_linear(parameters["head"], x.mean((1, 2))), y), new

    return parameters, statistics, loss


LAYERS, HEADS, CHANNELS, CONTEXT, CHARACTERS = 4, 4, 128, 64, 65


def gpt(is_fused):
    def block():
        return {
            "norm1": norm(CHANNELS),
            "qkv": linear(CHANNELS, 3 * CHANNELS),
            "out": linear(CHANNELS, CHANNELS),
            "norm2": norm(CHANNELS),
            "up": linear(CHANNELS, 4 * CHANNELS),
            "down": linear(4 * CHANNELS, CHANNELS),
        }

    parameters = {
        "tokens": normal(CHARACTERS, CHANNELS),
        "places": normal(CONTEXT, CHANNELS),
        "blocks": [block() for _ in range(LAYERS)],
        "norm": norm(CHANNELS),
        "head": linear(CHANNELS, CHARACTERS, has_bias=False),
    }
    hidden = jnp.triu(jnp.ones((CONTEXT, CONTEXT), bool), 1)

    def attention(layer, x):
        batch, length, _ = x.shape
        q, k, v = (
            part.reshape(batch, length, HEADS, CHANNELS // HEADS)
            for part in jnp.split(apply_linear(layer["qkv"], x), 3, 2)
        )
        if is_fused:
            y = jax.nn.dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = jnp.einsum("bqhc,bkhc->bhqk", q, k) / math.sqrt(CHANNELS // HEADS)
            weights = jax.nn.softmax(jnp.where(hidden, -jnp.inf, scores))
            y = jnp.einsum("bhqk,bkhc->bqhc", weights, v)
        return apply_linear(layer["out"], y.reshape(batch, length, CHANNELS))

    def loss(parameters, statistics, x, y):
        x = parameters["tokens"][x] + parameters["places"]
        for layer in parameters["blocks"]:
            x = x + attention(layer, layer_norm(x, **layer["norm1"]))
            wide = apply_linear(layer["up"], layer_norm(x, **layer["norm2"]))
            x = x + apply_linear(layer["down"], jax.nn.gelu(wide, approximate=False))
        logits = apply_linear(parameters["head"], layer_norm(x, **parameters["norm"]))
        return cross_entropy(logits.reshape(-1, CHARACTERS), y), statistics

    return parameters, {}, loss


# ---- optimizers: initial state, and (parameters, state) after a step ----


def zeros(parameters):
    return jax.tree.map(jnp.zeros_like, parameters)


def adam(rate, decay=0.0):
    def start(parameters):
        return {"step": jnp.zeros(()), "mean": zeros(parameters), "square": zeros(parameters)}

    def update(parameters, grads, state):
        step = state["step"] + 1
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["mean"], grads)
        square = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, state["square"], grads)
        mean_correction, square_correction = 1 - 0.9**step, 1 - 0.999**step

        def move(p, m, v):
            root = jnp.sqrt(v) / jnp.sqrt(square_correction) + 1e-8
            return p * (1 - rate * decay) - rate / mean_correction * m / root

        moved = jax.tree.map(move, parameters, mean, square)
        return moved, {"step": step, "mean": mean, "square": square}

    return start, update


def momentum(rate, factor, decay):
    def update(parameters, grads, state):
        state = jax.tree.map(lambda b, g, p: factor * b + g + decay * p, state, grads, parameters)
        return jax.tree.map(lambda p, b: p - rate * b, parameters, state), state

    return zeros, update


# ---- loops ----


class Training:
    def __init__(self, model, optimizer, inputs, targets):
        self.parameters, self.statistics, loss = model
        start, update = optimizer
        self.state, self.inputs, self.targets = start(self.parameters), inputs, targets

        def step(parameters, state, statistics, x, y):
            gradient = jax.value_and_grad(loss, has_aux=True)
            (value, statistics), grads = gradient(parameters, statistics, x, y)
            parameters, state = update(parameters, grads, state)
            return parameters, state, statistics, value

        self.step = jax.jit(step, donate_argnums=(0, 1, 2))

    def run(self, steps):
        for i in range(steps):
            self.parameters, self.state, self.statistics, loss = self.step(
                self.parameters,
                self.state,
                self.statistics,
                self.inputs[i % BATCHES],
                self.targets[i % BATCHES],
            )
        jax.block_until_ready((self.parameters, self.state, self.statistics))
        return float(loss)


class Recurrent:
    """An LSTM over 64 steps, forward and backward of the sum: as a scan, or written out."""

    def __init__(self, is_written_out):
        bound = 1 / 8
        self.parameters = {
            "input": uniform(bound, 64, 256),
            "hidden": uniform(bound, 64, 256),
            "bias_input": uniform(bound, 256),
            "bias_hidden": uniform(bound, 256),
        }
        self.sequences = [normal(64, 8, 64) for _ in range(BATCHES)]

        def cell(parameters, h, c, x):
            gates = x @ parameters["input"] + parameters["bias_input"]
            gates = gates + h @ parameters["hidden"] + parameters["bias_hidden"]
            i, f, g, o = jnp.split(gates, 4, 1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            return jax.nn.sigmoid(o) * jnp.tanh(c), c

        def total(parameters, sequence):
            h, c = jnp.zeros((8, 64)), jnp.zeros((8, 64))
            if is_written_out:
                result = 0.0
                for t in range(64):
                    h, c = cell(parameters, h, c, sequence[t])
                    result = result + h.sum()
                return result

            def advance(carry, x):
                h, c = cell(parameters, *carry, x)
                return (h, c), h

            return lax.scan(advance, (h, c), sequence)[1].sum()

        self.step = jax.jit(jax.value_and_grad(total))

    def run(self, steps):
        for i in range(steps):
            total, grads = self.step(self.parameters, self.sequences[i % BATCHES])
            jax.block_until_ready(grads)
        return float(total)


class Repeated:
    """A jitted step whose result is waited for."""

    def __init__(self, step, operands, a_wait=1):
        self.step, self.operands, self.a_wait = jax.jit(step), operands, a_wait

    def run(self, steps):
        for i in range(steps):
            result = self.step(*self.operands)
            if i % self.a_wait == 0:
                jax.block_until_ready(result)
        return float(jax.tree.leaves(result)[0].reshape(-1)[0])


class AdamAlone:
    def __init__(self):
        self.parameters = [normal(100000) for _ in range(100)]
        self.grads = [normal(100000) for _ in range(100)]
        start, update = adam(1e-3)
        self.state = start(self.parameters)
        self.step = jax.jit(update, donate_argnums=(0, 2))

    def run(self, steps):
        for _ in range(steps):
            self.parameters, self.state = self.step(self.parameters, self.grads, self.state)
        jax.block_until_ready((self.parameters, self.state))
        return float(self.parameters[-1][0])


def training(anchor):
    images = [(64, 28, 28, 1), (32, 32, 32, 3)]
    if anchor in ("A1", "A2", "A3"):
        shapes = {"A1": (4, 32, 4, 32), "A2": (784, 128, 10, 64), "A3": (784, 512, 10, 128)}
        inputs, hidden, outputs, batch = shapes[anchor]
        x = [normal(batch, inputs) for _ in range(BATCHES)]
        return Training(
            perceptron(inputs, hidden, outputs), adam(1e-3), x, classes(outputs, batch)
        )
    if anchor in ("A4", "A5"):
        is_lenet = anchor == "A4"
        sizes = images[0] if is_lenet else images[1]
        model = lenet() if is_lenet else resnet()
        optimizer = adam(1e-3) if is_lenet else momentum(0.1, 0.9, 5e-4)
        x = [normal(*sizes) for _ in range(BATCHES)]
        return Training(model, optimizer, x, classes(10, sizes[0]))
    x = classes(CHARACTERS, 12, CONTEXT)
    y = classes(CHARACTERS, 12 * CONTEXT)
    return Training(gpt(is_fused=anchor == "A7s"), adam(3e-4, decay=0.01), x, y)


def rows(anchor):
    x, cotangent = normal(4096, 1024), normal(4096, 1024)
    weight, bias = jnp.ones(1024), jnp.zeros(1024)
    if anchor.startswith("A13s"):
        function, operands = jax.nn.softmax, (x,)
    else:
        function, operands = layer_norm, (x, weight, bias)
    if not anchor.endswith("b"):
        return Repeated(function, operands)

    def backward(cotangent, *operands):
        return jax.vjp(function, *operands)[1](cotangent)

    return Repeated(backward, (cotangent, *operands))


def make(anchor):
    if anchor in ("A1", "A2", "A3", "A4", "A5", "A7", "A7s"):
        return training(anchor)
    if anchor in ("A6", "A6b"):
        return Recurrent(is_written_out=anchor == "A6b")
    if anchor == "A9":
        return Repeated(
            lambda a, b: jax.nn.gelu(a * 2 + b, approximate=False) * b,
            (normal(4194304), normal(4194304)),
        )
    if anchor == "A11":
        return Repeated(lambda x, y: x + y, (normal(8, 8), normal(8, 8)), 1000)
    if anchor == "A11g":
        raise NotImplementedError("JAX records no gradients beside the call")
    if anchor == "A12":
        return AdamAlone()
    if anchor in ("A13s", "A13sb", "A13l", "A13lb"):
        return rows(anchor)
    raise NotImplementedError("it is not written for JAX")
