"""A printed score card filled in by hand: nothing is known of the model but the words of its page."""

import math
import re
from xml.etree import ElementTree

NUMBER = r"(-?[\d.e+]+)"
RANGES = [
    (rf"up to {NUMBER}", lambda x, a: x <= a),
    (rf"below {NUMBER}", lambda x, a: x < a),
    (rf"above {NUMBER}", lambda x, a: x > a),
    (rf"{NUMBER} or more", lambda x, a: x >= a),
    (rf"above {NUMBER} up to {NUMBER}", lambda x, a, b: a < x <= b),
    (rf"above {NUMBER} below {NUMBER}", lambda x, a, b: a < x < b),
    (rf"from {NUMBER} up to {NUMBER}", lambda x, a, b: a <= x <= b),
    (rf"from {NUMBER} below {NUMBER}", lambda x, a, b: a <= x < b),
    (rf"{NUMBER} to below {NUMBER}", lambda x, a, b: a <= x < b),
    (rf"{NUMBER} to {NUMBER}", lambda x, a, b: a <= x <= b),
    (NUMBER, lambda x, a: x == a),
    (r"any number", lambda x: True),
]


class PrintedCard:
    """What stands on a page."""

    def __init__(self, page):
        text = page[page.index('<section id="rules"') : page.index("</section>") + len("</section>")]
        root = ElementTree.fromstring(text.replace("&nbsp;", " ").replace("&ndash;", "-"))
        self.sheets = [_Sheet(div) for div in root.iter("div") if "sheet" in div.get("class", "").split()]
        self.risks, self.heads = [], []
        for div in root.iter("div"):
            if "risks" in div.get("class", "").split():
                (table,) = div.iter("table")
                self.heads = [said(cell) for cell in table.find("thead/tr")]
                for row in table.find("tbody"):
                    patterns = [said(cell) for cell in row]
                    self.risks.append((patterns[0], [float(c.rstrip(" %")) for c in patterns[1:-2]], patterns[-1]))

    def totals(self, record, columns):
        """By the first card that is for the record; one total, or one for each class."""
        (sheet,) = [sheet for sheet in self.sheets if sheet.is_for(record)][:1]
        totals = list(sheet.start)
        for called, note, lines in sheet.tables:
            points = points_of(record[columns.get(called, called)], note, lines)
            totals = [a + b for a, b in zip(totals, points, strict=True)]
        return totals

    def answer(self, record, columns):
        """The percentages and the label of the line that a record's total is in."""
        (total,) = self.totals(record, columns)
        found = [(percents, label) for words, percents, label in self.risks if fits(total, words)]
        assert len(found) == 1, "a total is in one range"
        return found[0]


class _Sheet:
    def __init__(self, div):
        head = div.find("h3")
        self.condition = None
        if head is not None and " if " in said(head):
            self.condition = said(head).split(" if ")[1]
        tables = list(div.iter("table"))
        (start,) = [t for t in tables if t.get("class") == "start"]
        assert sum(t.get("class") == "total" for t in tables) == 1
        self.start = [number(td) for td in start.iter("td") if td.get("class") == "n"]
        self.tables = [self._table(t) for t in tables if t.get("class") == "points"]

    @staticmethod
    def _table(table):
        caption = table.find("caption")
        note = "".join(said(small) for small in caption.iter("small"))
        assert any(td.get("class") == "box" for td in table.find("tfoot/tr")), "there is a place to write"
        lines = []
        for row in table.find("tbody"):
            head = row.find("th")
            members = [word for small in head.iter("small") for word in said(small).split(", ")]
            lines.append((said(head.find("bdi")), members, [number(td) for td in row.iter("td")]))
        return said(caption.find("bdi")), note, lines

    def is_for(self, record):
        if self.condition is None:
            return True
        for part in self.condition.split(" and "):
            column, words, value = re.fullmatch(r"(\S+) (is at most|is above|is not|is) (.*)", part).groups()
            x = record[column]
            if words in ("is at most", "is above"):
                true = not is_missing(x) and (float(x) <= float(value)) is (words == "is at most")
            else:
                true = not is_missing(x) and (str(x) == value) is (words == "is")
            if not true:
                return False
        return True


def said(element):
    return re.sub(r"\s+", " ", "".join(element.itertext())).strip().replace("\N{MINUS SIGN}", "-")


def number(cell):
    return float(said(cell))


def is_missing(value):
    return value is None or (isinstance(value, float) and math.isnan(value))


def fits(x, words):
    """Whether a number is what the words of a line say."""
    for pattern, holds in RANGES:
        if found := re.fullmatch(pattern, words):
            return holds(x, *map(float, found.groups()))
    return False


def points_of(value, note, lines):
    """Of the first line that fits a value, or else of the last one."""
    missing = is_missing(value)
    if note and not missing and note != "anything else counts as missing":
        beyond = note.removesuffix(" counts as missing").split(" or ")
        missing = any(fits(float(value), words) for words in beyond)
    for words, members, points in lines:
        for part in re.split(" or (?!more$)", words):
            text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
            named = not missing and (text == part or text in members or text.lower() == part)
            is_in_range = not missing and not isinstance(value, str | bool) and fits(float(value), part)
            if named or is_in_range or (missing and part == "missing"):
                return points
    others = [points for words, _, points in lines if not missing and "any other" in words.split(" or ")]
    if others and isinstance(value, str):
        return others[0]
    if "anything else" in note:
        return next((p for words, _, p in lines if "missing" in words.split(" or ")), lines[-1][2])
    return lines[-1][2]
