"""The browser's part: its files fit together, and joined they are one valid module."""

from collections import Counter
import json
import re
import shutil
import subprocess

import pytest

from lossscale_app.bundle import STYLES, browser_text, module_text

from .javascript import BROWSER, Module, modules

MODULES = modules()
#: Where a name begins that is no property of something; a spread has dots before it too.
_FREE = r"(?<![\w$])(?:(?<!\.)|(?<=\.\.\.))"
every_module = pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)


@pytest.fixture(scope="module")
def bundle():
    return Module("bundle", module_text())


@pytest.fixture(scope="module")
def order():
    """The files in the order in which the bundle holds them, told from where the first line after the imports is."""
    places = {name: module_text().find(landmark(module)) for name, module in MODULES.items()}
    return sorted((name for name, place in places.items() if place >= 0), key=places.get)


def landmark(module):
    """The first top-level declaration of a file, as the bundle spells it."""
    lines = (
        line for line in module.text.splitlines() if re.match(r"(export )?(const|let|class|function|async) ", line)
    )
    return "\n" + next(lines).removeprefix("export ")


def test_every_file_is_in_the_bundle_once(bundle, order):
    assert sorted(order) == sorted(MODULES)
    for name, module in MODULES.items():
        assert bundle.text.count(landmark(module)) == 1, name


def test_the_bundle_is_a_valid_module(tmp_path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node on this machine to check the module's syntax")
    file = tmp_path / "bundle.mjs"
    file.write_text(module_text(), "utf-8")
    checked = subprocess.run([node, "--check", str(file)], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


def test_one_export_is_left_and_no_import(bundle):
    (export,) = re.findall(r"^.*\bexport\b.*$", bundle.code, re.MULTILINE)
    assert re.fullmatch(r"export default [\w{} ]+;", export)
    assert not re.search(r"\bimport\b", bundle.code)


def test_no_top_level_name_is_declared_twice(bundle):
    twice = [name for name, times in Counter(bundle.declared()).items() if times > 1]
    assert twice == []


def test_every_file_hands_on_what_it_exports(bundle, order):
    """Each file is a scope of its own, and what it returns is all that later files can reach."""
    returned = re.findall(r"^return \{ ?([^}]*?) ?\};$", bundle.code, re.MULTILINE)
    assert len(returned) == len(order)
    for name, names in zip(order, returned, strict=True):
        assert set(names.split(", ")) - {""} == set(MODULES[name].declared(exported=True)), name


def test_the_style_sheets_come_along_unchanged():
    style = json.loads(re.match(r"const STYLE = (.*);\n", module_text())[1])
    assert sorted(STYLES) == sorted(file.name for file in BROWSER.iterdir() if file.name.endswith(".css"))
    assert style == "".join(map(browser_text, STYLES))


@every_module
def test_every_import_is_of_the_plain_kind(module):
    """Names in braces from a file beside it: what joining the files understands."""
    assert len(re.findall(r"\bimport\b", module.code)) == len(module.imports())


@every_module
def test_imports_come_from_files_earlier_in_the_bundle(module, order):
    earlier = order[: order.index(module.name)] if module.name in order else []
    assert [file for _, file in module.imports() if file not in earlier] == []


@every_module
def test_every_imported_name_is_exported_there_and_used_here(module):
    for names, file in module.imports():
        assert [name for name in names if name not in MODULES[file].declared(exported=True)] == [], file
        rest = re.sub(r"^import [^;]*;$", "", module.code, flags=re.MULTILINE)
        assert [name for name in names if not re.search(rf"{_FREE}{re.escape(name)}(?![\w$])", rest)] == [], file


@every_module
def test_every_top_level_name_is_used(module):
    words = Counter(re.findall(rf"{_FREE}[\w$]+", module.code))
    imported = {
        name for other in MODULES.values() for names, file in other.imports() if file == module.name for name in names
    }
    # `render` is what Panel calls.
    idle = [name for name in module.declared() if words[name] < 2 and name not in imported | {"render"}]
    assert idle == []


@every_module
def test_no_name_of_a_file_stands_for_two_things(module):
    names = [*(name for names, _ in module.imports() for name in names), *module.declared()]
    assert [name for name, times in Counter(names).items() if times > 1] == []


@every_module
def test_a_file_evaluates_no_text_and_names_no_host(module):
    """A strict content security policy forbids the one, a page saved to disk cannot do with the other."""
    assert not re.search(r"\b(eval|importScripts)\b|\bnew Function\b", module.code)
    hosts = {host for piece in module.pieces for host in re.findall(r"https?://([\w.-]+)", piece.text)}
    assert hosts <= {"www.w3.org"}


@pytest.mark.parametrize("name", STYLES)
def test_a_style_sheet_loads_nothing(name):
    assert not re.search(r"@import|url\(\s*['\"]?(?!#|data:)|https?://", browser_text(name))


def test_a_file_that_is_not_there_is_an_error():
    with pytest.raises(FileNotFoundError):
        browser_text("nothing.js")
