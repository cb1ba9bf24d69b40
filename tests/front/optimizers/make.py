#!/usr/bin/env python3
"""Writes known_trajectories.txt and known_rates.txt with Python's torch: what optimizers and schedulers
make of the loops that the tests beside them write out.

    python3 tests/front/optimizers/make.py   # in an environment that has torch"""

import pathlib

import torch
from torch.optim import lr_scheduler as lr
from torch.optim.swa_utils import SWALR, AveragedModel, get_ema_avg_fn

HERE = pathlib.Path(__file__).parent
torch.set_default_dtype(torch.float64)  # that of numbers in the state, too
STEPS, EPOCHS = 20, 30
START = [[0.4, -1.2, 0.7], [1.1, -0.3, 0.05]]


class Lion(torch.optim.Optimizer):
    """Algorithm 2 of Chen et al. 2023; torch has none."""

    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0, maximize=False):
        super().__init__(params, dict(lr=lr, betas=betas, decay=weight_decay, maximize=maximize))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                m = self.state[p].setdefault("exp_avg", torch.zeros_like(p))
                g = -p.grad if group["maximize"] else p.grad
                beta1, beta2 = group["betas"]
                p.mul_(1 - group["lr"] * group["decay"])
                p.sub_(group["lr"] * (beta1 * m + (1 - beta1) * g).sign())
                m.copy_(beta2 * m + (1 - beta2) * g)


class InDouble:
    """Muon's iterations in the dtype of the gradient instead of bfloat16."""

    def __enter__(self):
        self.to = torch.Tensor.to
        torch.Tensor.to = lambda t, *a, dtype=None, copy=False, **k: (
            t.clone() if dtype == torch.bfloat16 else self.to(t, *a, dtype=dtype, copy=copy, **k)
            if dtype is not None else self.to(t, *a, **k))

    def __exit__(self, *_):
        torch.Tensor.to = self.to


def loss_of(p):
    weights = torch.tensor([[1.0, 2.0, -0.5], [0.25, -1.0, 3.0]], dtype=torch.float64)
    return (torch.sin(3 * p) * weights).sum()


def trajectory(make):
    p = torch.tensor(START, dtype=torch.float64, requires_grad=True)
    optimizer = make([p])
    values = []
    with InDouble():
        for _ in range(STEPS):
            optimizer.zero_grad()
            loss_of(p).backward()
            optimizer.step()
            values += p.detach().flatten().tolist()
    return values


O = torch.optim
TRAJECTORIES = {
    "NAdam": lambda p: O.NAdam(p, lr=0.05),
    "NAdamDecay": lambda p: O.NAdam(p, lr=0.05, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.1,
                                    momentum_decay=0.02, maximize=True),
    "NAdamDecoupled": lambda p: O.NAdam(p, lr=0.05, weight_decay=0.1, decoupled_weight_decay=True),
    "RAdam": lambda p: O.RAdam(p, lr=0.05),
    "RAdamDecay": lambda p: O.RAdam(p, lr=0.05, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.1,
                                    maximize=True),
    "RAdamDecoupled": lambda p: O.RAdam(p, lr=0.05, weight_decay=0.1, decoupled_weight_decay=True),
    "Adamax": lambda p: O.Adamax(p, lr=0.05),
    "AdamaxDecay": lambda p: O.Adamax(p, lr=0.05, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.1,
                                      maximize=True),
    "Adadelta": lambda p: O.Adadelta(p),
    "AdadeltaDecay": lambda p: O.Adadelta(p, lr=0.5, rho=0.8, eps=1e-3, weight_decay=0.1,
                                          maximize=True),
    "ASGD": lambda p: O.ASGD(p, lr=0.05),
    "ASGDDecay": lambda p: O.ASGD(p, lr=0.05, lambd=0.02, alpha=0.6, t0=6, weight_decay=0.1,
                                  maximize=True),
    "Rprop": lambda p: O.Rprop(p, lr=0.01),
    "RpropRange": lambda p: O.Rprop(p, lr=0.02, etas=(0.4, 1.5), step_sizes=(1e-3, 0.05),
                                    maximize=True),
    "Lion": lambda p: Lion(p, lr=0.01),
    "LionDecay": lambda p: Lion(p, lr=0.02, betas=(0.8, 0.95), weight_decay=0.1, maximize=True),
    "Muon": lambda p: O.Muon(p, lr=0.02),
    "MuonPlain": lambda p: O.Muon(p, lr=0.02, weight_decay=0, momentum=0.8, nesterov=False,
                                  ns_steps=3, adjust_lr_fn="match_rms_adamw"),
    "MuonUnclamped": lambda p: O.Muon(p, lr=0.02, ns_coefficients=(3, -3.2, 1.2), eps=1e-3,
                                      adjust_lr_fn="spectral_unclamped"),
}


def average_of_asgd():
    p = torch.tensor(START, dtype=torch.float64, requires_grad=True)
    optimizer = TRAJECTORIES["ASGDDecay"]([p])
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss_of(p).backward()
        optimizer.step()
    return optimizer.state[p]["ax"].flatten().tolist()


def rates(make, adam=False, metrics=None):
    """Of two groups, from epoch 0 on; the momentum after each two where it is cycled."""
    a, b = (torch.zeros(1, requires_grad=True) for _ in range(2))
    groups = [{"params": [a], "lr": 0.5}, {"params": [b], "lr": 0.02}]
    optimizer = O.AdamW(groups) if adam else O.SGD(groups, lr=0.1, momentum=0.9)
    scheduler = make(optimizer)
    values = []

    def note():
        for group in optimizer.param_groups:
            values.append(group["lr"])
        if isinstance(scheduler, (lr.CyclicLR, lr.OneCycleLR)):
            first = optimizer.param_groups[0]
            values.append(first["betas"][0] if adam else first["momentum"])

    note()
    for epoch in range(EPOCHS):
        optimizer.step()
        scheduler.step(metrics[epoch]) if metrics else scheduler.step()
        note()
    return values


METRICS = [10, 9, 9, 9, 9, 8.9995, 9, 9, 7, 7, 7, 7, 7, 6, 6, 6, 6, 6, 6, 6,
           6, 6, 6, 6, 5, 5, 5, 5, 5, 5]
RATES = {
    "LambdaLR": (lambda o: lr.LambdaLR(o, [lambda e: 0.95**e, lambda e: 1 / (1 + e)]),),
    "MultiplicativeLR": (lambda o: lr.MultiplicativeLR(o, lambda e: 1 - 0.5 / (1 + e)),),
    "MultiStepLR": (lambda o: lr.MultiStepLR(o, [0, 7, 12, 12, 20], 0.3),),
    "ConstantLR": (lambda o: lr.ConstantLR(o),),
    "ConstantLRLong": (lambda o: lr.ConstantLR(o, 0.7, 11),),
    "LinearLR": (lambda o: lr.LinearLR(o),),
    "LinearLRFalling": (lambda o: lr.LinearLR(o, 0.9, 0.1, 13),),
    "ExponentialLR": (lambda o: lr.ExponentialLR(o, 0.9),),
    "PolynomialLR": (lambda o: lr.PolynomialLR(o),),
    "PolynomialLRLong": (lambda o: lr.PolynomialLR(o, 23, 1.7),),
    "CosineAnnealingLR": (lambda o: lr.CosineAnnealingLR(o, 8, 0.01),),
    "CosineAnnealingWarmRestarts": (lambda o: lr.CosineAnnealingWarmRestarts(o, 4, 2, 0.001),),
    "CosineAnnealingSameRestarts": (lambda o: lr.CosineAnnealingWarmRestarts(o, 7),),
    "SWALR": (lambda o: SWALR(o, 0.05),),
    "SWALRLinear": (lambda o: SWALR(o, [0.05, 0.06], 4, "linear"),),
    "SWALRAtOnce": (lambda o: SWALR(o, 0.05, 0),),
    "CyclicLR": (lambda o: lr.CyclicLR(o, 0.01, 0.1, 4),),
    "CyclicLRTriangular2": (lambda o: lr.CyclicLR(o, [0.01, 0.02], [0.1, 0.3], 3, 5, "triangular2",
                                                  base_momentum=0.7, max_momentum=0.95), True),
    "CyclicLRRange": (lambda o: lr.CyclicLR(o, 0.01, 0.1, 4, mode="exp_range", gamma=0.95),),
    "CyclicLROwn": (lambda o: lr.CyclicLR(o, 0.01, 0.1, 4, scale_fn=lambda x: 1 / (1 + x),
                                          cycle_momentum=False),),
    "OneCycleLR": (lambda o: lr.OneCycleLR(o, 0.3, 30),),
    "OneCycleLRThreePhase": (lambda o: lr.OneCycleLR(o, [0.3, 0.2], epochs=5, steps_per_epoch=7,
                                                     pct_start=0.4, anneal_strategy="linear",
                                                     three_phase=True, div_factor=10), True),
    "SequentialLR": (lambda o: lr.SequentialLR(
        o, [lr.ConstantLR(o, 0.1, 20), lr.ExponentialLR(o, 0.9)], [10]),),
    "SequentialLRMany": (lambda o: lr.SequentialLR(
        o, [lr.LinearLR(o, 0.2, 1, 5), lr.CosineAnnealingLR(o, 8),
            lr.CosineAnnealingWarmRestarts(o, 3), lr.PolynomialLR(o, 6, 2)], [5, 13, 22]),),
    "SequentialLRSteps": (lambda o: lr.SequentialLR(
        o, [lr.StepLR(o, 3, 0.5), lr.MultiStepLR(o, [0, 2, 5], 0.5),
            lr.LambdaLR(o, lambda e: 1 / (1 + e))], [10, 20]),),
    "ChainedScheduler": (lambda o: lr.ChainedScheduler(
        [lr.ConstantLR(o, 0.1, 4), lr.ExponentialLR(o, 0.9)]),),
    "ReduceLROnPlateau": (lambda o: lr.ReduceLROnPlateau(o, patience=2), False, METRICS),
    "ReduceLROnPlateauFull": (lambda o: lr.ReduceLROnPlateau(
        o, "max", 0.5, 1, 0.01, "abs", 2, [0.1, 0.001]), False, [-m for m in METRICS]),
}


def averages(decay, use_buffers):
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2)).double()
    with torch.no_grad():
        for i, p in enumerate(net.parameters()):
            p.copy_(torch.arange(p.numel()).reshape(p.shape) * 0.1 + i)
    average = AveragedModel(net, avg_fn=get_ema_avg_fn(decay) if decay is not None else None,
                            use_buffers=use_buffers)
    for step in range(4):
        net(torch.tensor([[1.0, -2.0], [0.5, 3.0], [step, 1.0]], dtype=torch.float64))
        with torch.no_grad():
            for p in net.parameters():
                p.mul_(0.75).add_(0.1 * step)
        average.update_parameters(net)
    return [v for t in average.state_dict().values() for v in t.double().flatten().tolist()]


def write(name, comment, arrays):
    lines = [f"# Written by make.py: {comment}"]
    for key, values in arrays.items():
        lines.append(key)
        texts = [repr(value) for value in values]
        lines += [" " + " ".join(texts[i:i + 4]) for i in range(0, len(texts), 4)]
    (HERE / name).write_text("\n".join(lines) + "\n")


# After some of the steps: each holds what went wrong in any before it.
trajectories = {}
for name, make in TRAJECTORIES.items():
    values = trajectory(make)
    trajectories[name] = [v for step in (0, 1, 4, 6, 9, 19) for v in values[6 * step:6 * step + 6]]
trajectories["ASGDAverage"] = average_of_asgd()
write("known_trajectories.txt", f"parameters after steps 1, 2, 5, 7, 10 and {STEPS} with torch "
      f"{torch.__version__.split('+')[0]}.", trajectories)
known_rates = {name: rates(*arguments) for name, arguments in RATES.items()}
known_rates["Metrics"] = [float(m) for m in METRICS]
known_rates["AverageSwa"] = averages(None, False)
known_rates["AverageEma"] = averages(0.9, False)
known_rates["AverageEmaBuffers"] = averages(0.9, True)
write("known_rates.txt", f"learning rates (and momenta) from epoch 0 to {EPOCHS}, and averages of "
      f"weights, with torch {torch.__version__.split('+')[0]}.", known_rates)
