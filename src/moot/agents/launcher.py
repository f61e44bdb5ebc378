"""Starts one program and outlives it, so that nothing of it stays behind. Linux only; run as a script, imports no Moot.

    python launcher.py PARENT REPORT_FD EXECUTABLE ARGV0 [ARGUMENT…]

What the program starts and leaves behind becomes a child of this process (`PR_SET_CHILD_SUBREAPER`), also if it has
left its session and dropped its environment. When the program ends, or Moot does (`PR_SET_PDEATHSIG`), everything below
this process is killed. Then it ends as the program did.

The signal of a parent's death is sent when the *thread* ends that started this process. That is the thread of Moot's
event loop, which lives as long as the turns on it.

An `errno` is written to REPORT_FD if the program cannot be started; otherwise it is closed.
"""

import contextlib
import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
PARENT_DIED = signal.SIGUSR2


def set_option(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def list_children() -> list[int]:
    """The children of this process, those that it inherited too."""
    children = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", errors="replace") as file:
                if int(file.read().rpartition(")")[2].split()[1]) == os.getpid():
                    children.append(int(name))
    return children


def kill_all() -> None:
    """Kill the children until there are none: those of a killed process become children of this one."""
    while children := list_children():
        for pid in children:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def end_with(status: int) -> None:
    """End as the program did: with its exit code, or by the same signal."""
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        os._exit(code)
    with contextlib.suppress(OSError, ValueError):  # SIGKILL has no handler
        signal.signal(-code, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {-code})
    os.kill(os.getpid(), -code)


def run_program(report: int, executable: str, argv: list[str]) -> int:
    """Fork and execute. Return the pid."""
    pid = os.fork()
    if pid:
        return pid
    try:
        set_option(PR_SET_PDEATHSIG, signal.SIGKILL)  # somebody may kill the launcher
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(PARENT_DIED, signal.SIG_DFL)
        os.set_inheritable(report, False)
        os.execv(executable, argv)  # noqa: S606 - no shell
    except OSError as error:
        os.write(report, str(error.errno).encode())
    finally:
        os._exit(127)


def main() -> None:
    parent, report, executable, argv = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:]

    def stop(*_: object) -> None:
        kill_all()
        os._exit(1)

    signal.signal(signal.SIGTERM, lambda *_: None)  # it is meant for the program, whose end is waited for
    signal.signal(PARENT_DIED, stop)
    set_option(PR_SET_CHILD_SUBREAPER, 1)
    set_option(PR_SET_PDEATHSIG, PARENT_DIED)
    if os.getppid() != parent:  # it died before this was set
        return
    pid = run_program(report, executable, argv)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)  # the pipes are the program's: they end with it
    os.close(report)
    while True:
        ended, status = os.wait()  # also those that it left behind
        if ended == pid:
            break
    kill_all()
    end_with(status)


if __name__ == "__main__":
    main()
