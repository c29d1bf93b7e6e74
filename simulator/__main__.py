"""`python -m simulator` is `cdcsim`."""

from simulator.cli.commands import main

if __name__ == "__main__":
    main()
