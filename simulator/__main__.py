"""`python -m simulator` is `cdcsim`."""

from simulator.cli import main

if __name__ == "__main__":
    main()
