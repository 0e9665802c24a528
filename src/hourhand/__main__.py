"""Let `python -m hourhand` be the command `hourhand`."""

from hourhand.cli.main import main

if __name__ == "__main__":
    main()
