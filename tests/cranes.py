"""A crane whose controller reads and drives everything that a model has."""

import poinsot as ps


def coil() -> ps.ph.LinearSystem:
    """Return a coil with a resistance, between a shaft and its supply."""
    return ps.ph.linear(
        "coil",
        J=[[0.0]],
        R=[[2.0]],
        Q=[[10.0]],
        B=[[1.0, 1.0]],
        states=["flux"],
        ports=[ps.ph.Port("shaft"), ps.ph.Port("supply")],
    )


def crane(law, reads, **options) -> ps.Model:
    """Return a cart with a pendulum and a coil at its pin; supply, rail and wind are driven."""
    model = ps.Model(gravity=(0, 0, -9.81))
    cart = model.add_body("cart", ps.Box(mass=2, size=(1, 1, 1)), velocity=(1, 0, 0))
    rod = model.add_body("rod", ps.Box(mass=1, size=(0.1, 0.1, 1)), position=(0, 0, -0.5))
    model.add_joint("rail", ps.Prismatic(model.ground, cart, point=(0, 0, 0), axis=(1, 0, 0)))
    model.add_joint("pin", ps.Revolute(cart, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_marker("tip", rod, position=(0, 0, -1))
    model.add_system("motor", coil())
    model.connect(ps.ph.Gyrator("motor.shaft", "pin", C=0.5))
    model.add_port("wind", ps.ForcePort(rod))
    drives = ["motor.supply", "rail", "wind"]
    model.add_controller("boss", law, reads=reads, drives=drives, **options)
    return model
