"""A loss of a simulation as a function that PyTorch differentiates through."""

import torch

import poinsot as ps


class Simulated(torch.autograd.Function):
    """The loss of a run by its parameters, a tensor in the order of their names."""

    @staticmethod
    def forward(ctx, parameters, model, of, names, how):
        values = dict(zip(names, parameters.detach().double().tolist(), strict=True))
        found = ps.gradient(model, of, values, **how)
        ctx.save_for_backward(torch.tensor(found.flat, dtype=parameters.dtype))
        return torch.tensor(found.value, dtype=parameters.dtype)

    @staticmethod
    def backward(ctx, upstream):
        (slopes,) = ctx.saved_tensors
        return upstream * slopes, None, None, None, None


if __name__ == "__main__":
    from poinsot.gallery.identify import model

    names = ["bodies.lower.mass", "forces.bearing.viscous"]
    parameters = torch.tensor([0.7, 0.05], dtype=torch.float64, requires_grad=True)
    loss = Simulated.apply(
        parameters, model(), ps.analysis.Final("elbow"), names, {"h": 0.01, "t_end": 0.3}
    )
    (loss**2).backward()
    print(loss.item(), parameters.grad)
