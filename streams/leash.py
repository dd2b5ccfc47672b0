"""Parent's process id and a command → the command, which ends when its parent does, kill -9 included.

Run as `python -S leash.py PARENT COMMAND…`. On Linux the kernel delivers the end: the process asks for SIGKILL at its
parent's death and becomes the command. Elsewhere it stays, watches the parent and kills the command.
"""

import os
import signal
import subprocess
import sys
import time

PR_SET_PDEATHSIG = 1
"""Linux, prctl(2)."""
WATCH_S = 0.5


def run(parent: int, command: list[str]) -> int:
    """Become or watch the command; gives its exit code where it is watched."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - only here, and costly to import

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before the line above
            return 1
        os.execv(command[0], command)  # noqa: S606 - no shell is wanted
    child = subprocess.Popen(command)  # noqa: S603 - the command is the caller's own
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    while child.poll() is None:
        if os.getppid() != parent:
            child.kill()
        time.sleep(WATCH_S)
    return child.returncode


if __name__ == "__main__":
    sys.exit(run(int(sys.argv[1]), sys.argv[2:]))
