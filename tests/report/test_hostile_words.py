"""Whatever a schema, a class or a holder says comes out as words, wherever it is shown: nothing of it is obeyed.

The measure is a model of harmless words: with hostile ones in their place, every paper has the same structure.
"""

import ast
import io
import json
import re
import tokenize
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from importlib.util import find_spec

import pytest
from click.testing import CliRunner

from discreet import Boolean, Categorical, Ledger, Numeric, RuleList, SavedModel, Schema, Tree, noisy_evaluation
from discreet._utils.errors import SchemaError
from discreet._utils.escaping import on_a_line
from discreet.cli import main
from discreet.evaluation.evaluation_file import SavedEvaluation
from discreet.models.display.notebook import short_html
from discreet.report.bundle.folder import release_files
from discreet.report.bundle.record import Attached
from discreet.report.html import Particulars

from ..support.slices import slow_but
from .test_release import STATEMENT, file_of

yaml = pytest.importorskip("yaml")
markdown_it = pytest.importorskip("markdown_it")
markdown = pytest.importorskip("markdown")

# On one line: what a label may be
LINES = {
    "HTML": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "attribute": '" onmouseover="alert(1)" x=\'',
    "end of a comment": "--> </style></title></textarea> ]]> ",
    "entity": "&lt;b&gt; &#60;script&#62;",
    "SQL": "'; DROP TABLE patients; -- /* */ \\' ${spark.home} {{ env_var('X') }} :bound %s ?",
    "Python": '""" + __import__("os").system("true") #',
    "encoding": "coding: utf-7 -*- coding: latin-1 -*-",
    "Markdown": "[click](javascript:alert(1)) ![x](https://example.org/x.png) **b** `code` ``` ~~~ # h",
    "address": "https://example.org www.example.org someone@example.org @someone",
    "cell": "a | b \\| c `|` \\",
    "list": "1. - [ ] > # ---",
    "YAML": "\": {a: b}, [*x, &y] !!python/object:os.system # - ' | > % @",
    "mention": "@someone someone/discreet#12 #12 GH-12",
    "turned": "abc \u202egnp.exe\u202c \u2066x\u2069 \u200f\u200e \u061c",
    "invisible": "a\u200bb\ufeffc\u00add",
    "long": "long " * 39,
    "formula": "$$\\text{x}$$ $`y`$ \\(z\\)",
    "rich": "[bold red]x[/] [link=https://example.org]y[/link] :smile:",
}
# What only a name may be, which nobody can refuse: it is what the table has
NAMES = {
    "lines": "a\nb\r\n---\n# heading\n```\n- [x] done\u2028c\u0085d",
    "escapes": "\x1b[2J\x1b]0;title\x07\x9b31m\x00\x7f\x08",
    "very long": "x" * 5_000,
    "half": "a\ud800b",
}
HARMLESS = "plain words"


def labelled(word):
    """A word, and others that begin with it, as every kind of label."""
    columns = [
        Numeric("age", cuts=[25], label=word),
        Categorical("ward", categories=["A", "B"], label=f"{word}2", labels={"A": word, "B": f"{word}b"}),
        Boolean("sex", label=f"{word}3", labels={"true": word, "false": f"{word}f"}),
    ]
    labels = {"0": word, "1": f"{word}1"}
    return Schema(columns, "ill", [0, 1], source=word, target_label=word, class_labels=labels)


def named(word):
    """A word as every kind of name."""
    columns = [Numeric(word, cuts=[25]), Categorical(f"{word}2", categories=[word, "B"]), Boolean(f"{word}3")]
    return Schema(columns, f"{word}4", [word, f"{word}5"])


def models_of(schema, counts=(40.0, 60.0)):
    """A list and a tree that use everything."""
    age, ward, sex = schema.columns
    no, yes = schema.classes
    first = json.dumps(ward.categories[0])
    texts = [json.dumps(x) if isinstance(x, str) else str(x) for x in (no, yes)]
    name = [json.dumps(c.name) for c in (age, ward, sex)]
    rules = f"if {name[0]} <= 25 and {name[1]} = {first} then {texts[1]} else if not {name[2]} then {texts[0]} else {texts[1]}"
    below = f"if {name[1]} = {first} then {texts[1]} else {texts[0]}"
    tree = f"if {name[0]} <= 25 then {below} else if {name[2]} then {texts[1]} else {texts[0]}"
    for model in (RuleList.parse(rules, (no, yes), schema), Tree.parse(tree, (no, yes), schema)):
        yield SavedModel(model, STATEMENT, "DPGreedyRuleListClassifier", {"epsilon": 0.5}, schema.target)


class Structure(HTMLParser):
    """The tags of a page, and its attributes' names; not what they say, nor where code begins or a long word may be broken."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        if tag not in ("code", "wbr"):
            self.found.append((tag, tuple(name for name, _ in attributes)))

    def handle_comment(self, data):
        self.found.append(("comment",))


def rendered(text):
    """Markdown as two readers show it; one makes links of whatever looks like an address, if its extension is there."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    reader = markdown_it.MarkdownIt("commonmark").enable("table")
    extensions = ["tables", "fenced_code", *(["pymdownx.magiclink"] if find_spec("pymdownx") else [])]
    options = {"pymdownx.magiclink": {"social_url_shorthand": True, "user": "someone", "repo": "discreet"}}
    return reader.render(text), markdown.markdown(text, extensions=extensions, extension_configs=options)


def check(files, plain):
    """The papers of a model against those of one with harmless words."""
    assert files.keys() == plain.keys()
    assert Structure(files["report.html"].decode()).found == Structure(plain["report.html"].decode()).found
    for name in ("README.md", "checklist.md"):
        text = files[name].decode()
        assert all(c.isprintable() or c in "\n" for c in text), name
        for page, other in zip(rendered(text), rendered(plain[name].decode()), strict=True):
            assert Structure(page).found == Structure(other).found, name
            assert not {"a", "img", "script"} & {tag for tag, *_ in Structure(page).found}
    front = [yaml.safe_load(f["README.md"].decode().split("\n---\n")[0]) for f in (files, plain)]
    assert front[0].keys() == front[1].keys()
    assert front[0]["tags"] == front[1]["tags"]
    assert files["disclosure.json"].isascii()
    assert json.loads(files["disclosure.json"]).keys() == json.loads(plain["disclosure.json"]).keys()


SAYS = [field for field in Particulars.__dataclass_fields__ if field not in ("learned", "date")]


@pytest.mark.parametrize("word", LINES)
def test_hostile_labels_are_words_in_every_paper(word):
    hostile = LINES[word].strip()
    said = Particulars(**dict.fromkeys(SAYS, hostile))
    harmless = Particulars(**dict.fromkeys(SAYS, HARMLESS))
    for model, plain in zip(models_of(labelled(hostile)), models_of(labelled(HARMLESS)), strict=True):
        files, others = release_files(file_of(model), said), release_files(file_of(plain), harmless)
        check(files, others)
        assert yaml.safe_load(files["README.md"].decode().split("\n---\n")[0])["license"] == on_a_line(hostile)
        for name, data in files.items():
            if name.endswith((".sql", ".py")):
                check_code(name, data.decode(), others[name].decode())
        assert Structure(short_html(model.model)).found == Structure(short_html(plain.model)).found


def check_code(name, code, plain):
    """Comments end where their line does, and what is no comment is the same: code has no labels."""
    mark = "-- " if name.endswith("sql") else "# "
    head, body = (
        [line for line in text.split("\n") if line.startswith(mark) == is_head]
        for text, is_head in ((code, True), (code, False))
    )
    assert body == [line for line in plain.split("\n") if not line.startswith(mark)]
    assert len(code.splitlines()) == len(plain.splitlines())
    for line in head:
        assert not set(line) & set("{}$:%?`\\;@[]'\"*/"), line
    if name.endswith(".py"):
        assert tokenize.detect_encoding(io.BytesIO(code.encode()).readline)[0] == "utf-8"
        assert ast.dump(ast.parse(code)) == ast.dump(ast.parse(plain))


@pytest.mark.parametrize("word", [*LINES, *NAMES])
def test_hostile_names_are_words_in_every_paper(word):
    hostile = (LINES | NAMES)[word]
    if word == "half":
        pytest.skip("no file can hold it: JSON of a model is refused elsewhere")
    for model, plain in zip(models_of(named(hostile)), models_of(named(HARMLESS)), strict=True):
        files, others = (release_files(file_of(m), Particulars(date="2026-11-17")) for m in (model, plain))
        code = {name for name in others if name.startswith("code/")}
        shared = [{n: data for n, data in f.items() if n not in code} for f in (files, others)]
        if code <= files.keys():
            check(*shared)
        else:  # a format cannot hold such names, and the card has a line more that says so
            check(*(papers | {"README.md": others["README.md"]} for papers in shared))
            for page in rendered(files["README.md"].decode()):
                assert not {"a", "img", "script"} & {tag for tag, *_ in Structure(page).found}
        for name in code & files.keys():
            if name.endswith(".py"):
                ast.parse(files[name].decode())
            assert files[name].startswith((b"# Written by", b"-- Written by")) or not name.endswith((".py", ".sql"))


def with_evaluation(model, said):
    """The papers with an evaluation, of which only the words differ from one schema to another."""
    age, ward, sex = model.model.schema.columns
    table = {age.name: [20, 40] * 60, ward.name: [*ward.categories] * 60, sex.name: [True, False] * 60}
    by = [ward.name, sex.name]
    found = noisy_evaluation(model, table, [*model.classes] * 60, 2.0, by=by, random_state=0)
    content = file_of(model)
    written = SavedEvaluation.of(found, content).to_json()
    assert written.isascii()
    attached = Attached.of(content, written.encode())
    return release_files(content, said, allow_unproved=True, given_code=({}, {}), attached=attached)


@cache
def harmless_with_evaluation(are_labels):
    """The same papers of harmless words: those of a tree with labels, or of a list with names."""
    if are_labels:
        return with_evaluation([*models_of(labelled(HARMLESS))][1], Particulars(**dict.fromkeys(SAYS, HARMLESS)))
    return with_evaluation(next(models_of(named(HARMLESS))), Particulars())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "word",
    slow_but(
        [*LINES, *(name for name in NAMES if name != "half")],
        ["HTML", "Markdown", "YAML", "turned", "lines", "escapes"],
    ),
)
def test_hostile_words_are_words_in_an_evaluation(word):
    hostile = (LINES | NAMES)[word]
    made = [(with_evaluation(next(models_of(named(hostile))), Particulars()), harmless_with_evaluation(False))]
    if word in LINES:
        said = Particulars(**dict.fromkeys(SAYS, hostile.strip()))
        papers = with_evaluation([*models_of(labelled(hostile.strip()))][1], said)
        made.append((papers, harmless_with_evaluation(True)))
    for papers, others in made:
        check(papers, others)
        pages = [Structure(files["evaluation.html"].decode()).found for files in (papers, others)]
        assert pages[0] == pages[1]


@pytest.mark.parametrize("word", NAMES)
def test_a_label_or_a_holders_word_of_several_lines_or_with_control_characters_is_refused(word):
    with pytest.raises(SchemaError, match="must"):
        labelled(NAMES[word])
    with pytest.raises(SchemaError, match="must"):
        Particulars(purpose=NAMES[word])


@pytest.mark.parametrize("word", LINES)
def test_hostile_labels_are_words_in_a_terminal(word, tmp_path):
    hostile = LINES[word].strip()
    for kind, model in zip(("list", "tree"), models_of(labelled(hostile)), strict=True):
        model.save(tmp_path / f"{kind}.json")
        shown = [CliRunner().invoke(main, ["show", str(tmp_path / f"{kind}.json")])]
        shown.append(CliRunner().invoke(main, ["release", str(tmp_path / f"{kind}.json"), "-o", str(tmp_path / kind)]))
        shown.append(CliRunner().invoke(main, ["verify", str(tmp_path / kind)]))
        for result in shown:
            assert result.exit_code == 0, result.output
            assert all(c.isprintable() or c == "\n" for c in result.output)


def test_a_hostile_ledger_name_and_reason_are_words():
    for word, hostile in LINES.items():
        for text in (hostile, HARMLESS):
            snapshot = replace(Ledger(1.0).snapshot(), ledger=text[:200], release=text[:200])
            statement = replace(STATEMENT, proved=None, because=(text,), mechanism=text)
            model = replace(next(models_of(labelled(HARMLESS))), ledger=snapshot, privacy=statement, learner=text)
            files = release_files(file_of(model), Particulars(date="2026-11-17"), allow_unproved=True)
            if text == hostile:
                found = files
        check(found, files)
        assert word
