"""What `make demo` runs: an example, its balances and check, a plot and a page that plays it."""

import sys
from pathlib import Path

from poinsot.gallery import find_example
from poinsot.viz import write_page


def main(folder: Path = Path("demo"), name: str = "spatial-slider-crank") -> int:
    """Run an example and leave its pictures in a folder; returns the exit status."""
    example = find_example(name)
    folder.mkdir(parents=True, exist_ok=True)
    file, picture, page = (folder / f"{name}.{kind}" for kind in ("nc", "png", "html"))
    result = example.run(output=file)
    print(f"{example.title}\n\n{result.summary()}\n")
    checks = example.check(result)
    print(*checks, sep="\n")
    example.plot(result).savefig(picture)
    write_page(result, page)
    print(f"\nresult     {file}\nplot       {picture}\nanimation  {page} (open it in a browser)")
    return 0 if all(check.passed for check in checks) else 1


if __name__ == "__main__":
    sys.exit(main())
