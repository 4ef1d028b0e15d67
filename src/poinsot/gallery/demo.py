"""What `make demo` runs: an example, its balances, its check, a plot and an animation."""

import sys
from pathlib import Path

from poinsot.gallery import find_example


def main(folder: Path = Path("demo"), name: str = "spatial-slider-crank") -> int:
    """Run an example and leave its pictures in a folder; returns the exit status."""
    example = find_example(name)
    result = example.run()
    print(f"{example.title}\n\n{result.summary()}\n")
    checks = example.check(result)
    print(*checks, sep="\n")
    folder.mkdir(parents=True, exist_ok=True)
    picture, film = folder / f"{name}.png", folder / f"{name}.gif"
    example.plot(result).savefig(picture)
    print(f"\nplot       {picture}")
    if example.animate is not None:
        example.animate(result, film)
        print(f"animation  {film}")
    return 0 if all(check.passed for check in checks) else 1


if __name__ == "__main__":
    sys.exit(main())
