"""What Windows has in place of ``fcntl``, made of Linux' locks of open files: of a range of bytes, by whoever opened the file."""

import errno
import fcntl
import os
import struct
import sys
from fractions import Fraction
from types import SimpleNamespace

LK_UNLCK, LK_LOCK, LK_NBLCK = 0, 1, 2  # as in msvcrt


def locking(descriptor, mode, n):
    """Lock or unlock n bytes from the present position on. What is taken is a PermissionError, as there."""
    kinds = {LK_UNLCK: (fcntl.F_UNLCK,), LK_NBLCK: (fcntl.F_WRLCK, fcntl.F_RDLCK)}[mode]
    place = os.lseek(descriptor, 0, os.SEEK_CUR)
    for kind in kinds:
        try:
            fcntl.fcntl(
                descriptor, fcntl.F_OFD_SETLK, struct.pack("hhqqi0q", kind, os.SEEK_SET, place, n, 0)
            )  # fmt: skip
            return
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EACCES):
                raise PermissionError(errno.EACCES, "Permission denied") from None
            if error.errno != errno.EBADF:  # Linux wants a file that is open for writing; Windows does not
                raise


MSVCRT = SimpleNamespace(locking=locking, LK_UNLCK=LK_UNLCK, LK_LOCK=LK_LOCK, LK_NBLCK=LK_NBLCK)


def without_fcntl():
    """The locks of a system that has no ``fcntl``, chosen as at import."""
    before = {name: sys.modules.get(name) for name in ("fcntl", "msvcrt")}
    sys.modules.update(fcntl=None, msvcrt=MSVCRT)
    try:
        from discreet.common.file_locks import system_locks

        return system_locks()
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def force():
    """Lock as there, in this process."""
    from discreet.common import locking as ours

    ours.LOCKS = without_fcntl()


def spend(path, times, epsilon, pipe):
    """In a process of its own: book until there is nothing left, and say how often that went well."""
    force()
    from discreet import Ledger
    from discreet.privacy.ledger import BudgetError

    booked = 0
    for _ in range(times):
        try:
            with Ledger.open(path).reserve(Fraction(epsilon), Fraction(0), "a test"):
                booked += 1
        except BudgetError:
            break
    pipe.send(booked)


def hold(path, seconds, pipe):
    """Have a file to oneself for so long."""
    import time

    force()
    from discreet.common.locking import open_locked, unlock

    file = open_locked(path)
    pipe.send("held")
    time.sleep(seconds)
    unlock(file)
    file.close()
