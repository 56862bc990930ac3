"""What fits are charged while they learn."""

from discreet.accounting.reservation import Reservation


def watch_charges(monkeypatch):
    """What the reservation of each later fit is charged, one after the other: what for, epsilon, delta."""
    charged = []
    draw = Reservation.draw

    def watched(self, epsilon, delta, what):
        draw(self, epsilon, delta, what)
        charged.append((what, epsilon, delta))

    monkeypatch.setattr(Reservation, "draw", watched)
    return charged
