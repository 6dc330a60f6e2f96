"""`python -m migrator.parity` is `migrate parity`."""

from migrator.parity.command import parity

if __name__ == "__main__":
    parity()
