"""A loss of a simulation as a function that JAX differentiates through."""

import jax
import numpy as np

import poinsot as ps


def simulated(model, of, names, how):
    """Return the loss of a run as a function of its parameters, an array in their order."""

    def found(parameters):
        values = dict(zip(names, np.asarray(parameters).tolist(), strict=True))
        gradient = ps.gradient(model, of, values, **how)
        return np.float64(gradient.value), gradient.flat

    def called(parameters):
        number = jax.ShapeDtypeStruct((), np.float64)
        slopes = jax.ShapeDtypeStruct((len(names),), np.float64)
        return jax.pure_callback(found, (number, slopes), parameters)

    @jax.custom_vjp
    def loss(parameters):
        return called(parameters)[0]

    loss.defvjp(called, lambda slopes, upstream: (upstream * slopes,))
    return loss


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    from poinsot.gallery.identify import model

    names = ["bodies.lower.mass", "forces.bearing.viscous"]
    how = {"h": 0.01, "t_end": 0.3}
    loss = simulated(model(), ps.analysis.Final("elbow"), names, how)
    print(jax.grad(lambda p: loss(p) ** 2)(jax.numpy.array([0.7, 0.05])))
