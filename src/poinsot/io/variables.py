"""Variables of the formulas in a model file."""

#: An input over time: t [s].
OF_TIME: tuple[str, ...] = ("t",)
#: The force or energy of a spring: its coordinate x, a length or displacement [m] or angle [rad].
OF_COORDINATE: tuple[str, ...] = ("x",)
#: The force of a damper: the rate v of its coordinate [m/s or rad/s].
OF_RATE: tuple[str, ...] = ("v",)
#: The law of a motor: time, coordinate of the joint, and its rate.
OF_MOTION: tuple[str, ...] = ("t", "x", "v")
