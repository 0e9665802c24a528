"""What `hourhand serve --reload` starts: a server that goes when whoever looks after it is gone, however that went."""

from __future__ import annotations

import os
import signal
import sys

from hourhand.cli.main import main
from hourhand.runners.supervisor import PR_SET_PDEATHSIG, prctl


def _go_with(parent: int) -> None:
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # it was gone before anybody could be told
        sys.exit(1)


if __name__ == "__main__":
    _go_with(int(sys.argv.pop(1)))
    main()
