"""What fits are charged while they learn, and what happens when that takes too long."""

from discreet.accounting.reservation import Reservation
from discreet.private.sampling import deadline


def watch_charges(monkeypatch):
    """What the reservation of each later fit is charged, one after the other: what for, epsilon, delta."""
    charged = []
    draw = Reservation.draw

    def watched(self, epsilon, delta, what):
        draw(self, epsilon, delta, what)
        charged.append((what, epsilon, delta))

    monkeypatch.setattr(Reservation, "draw", watched)
    return charged


def late_from_charge(monkeypatch, number):
    """Let each time limit be over once so many questions were charged. What was charged for, one after the other."""
    clock, charged, draw = [0.0], [], Reservation.draw

    def late(self, epsilon, delta, what):
        draw(self, epsilon, delta, what)
        charged.append(what)
        if len(charged) == number:
            clock[0] = 1e9

    monkeypatch.setattr(Reservation, "draw", late)
    monkeypatch.setattr(deadline.time, "monotonic", lambda: clock[0])
    return charged
