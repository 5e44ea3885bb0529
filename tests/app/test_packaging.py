"""What is published: the wheel, and the files of the repository."""

from email.parser import Parser
from pathlib import Path
import re
import shutil
import subprocess
import sys
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]

# Neither pattern is found in this file itself.
_FOLDERS = ("home/[a-z]", "root", "Users/[A-Za-z]", "work", "tmp/[a-z]", "opt/[a-z]", "mnt", "private/var", "farm")
#: Folders of somebody's machine.
_MACHINE = re.compile(rf"(?<![\w.:/~-])/(?:{'|'.join(_FOLDERS)})[/\w]|\b[A-Z]:\\Users|file:/{{2}}")
_HOSTS = ("pyp[i]", "pythonhoste[d]", "np[m]js", "anacond[a]", "artifactor[y]", "index-ur[l]")
#: Hosts that packages are fetched from.
_REGISTRY = re.compile(rf"{'|'.join(_HOSTS)}|https?:/{{2}}(?:nexus|pip|mirror|proxy|artifacts)\.", re.IGNORECASE)


@pytest.fixture(scope="module")
def tracked():
    """The tracked files, as they are now."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this is no git checkout, so that there is no telling which files are published")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    return [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]


@pytest.fixture(scope="module")
def texts(tracked):
    """The text of those that are text."""
    contents = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in tracked}
    return {name: content.decode("utf-8") for name, content in contents.items() if b"\0" not in content}


def found(pattern, texts):
    return {(name, match[0]) for name, text in texts.items() for match in pattern.finditer(text)}


def test_no_tracked_file_names_a_folder_of_a_machine(texts):
    assert found(_MACHINE, texts) == set()


def test_no_tracked_file_names_a_package_registry(texts):
    assert found(_REGISTRY, texts) == set()


def test_no_tracked_file_is_made_by_a_tool(tracked):
    made = re.compile(r"__pycache__|\.py[co]$|\.egg-info|^(build|dist|\.venv|node_modules)/|\.(whl|orig|rej|swp)$")
    names = [path.relative_to(ROOT).as_posix() for path in tracked]
    assert [name for name in names if made.search(name)] == []


def test_every_python_file_of_the_folders_is_in_a_package(tracked):
    """The packages are listed by hand: a folder of modules inside them would be left out of the wheel."""
    deep = [
        path for path in tracked if path.suffix == ".py" and path.parents[1] in (ROOT / "app", ROOT / "lossscale_core")
    ]
    assert deep == []


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A copy of what the wheel is built from, so that the checkout keeps no traces of that."""
    copy = tmp_path_factory.mktemp("source")
    for folder in ("app", "lossscale_core"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    return copy


@pytest.fixture(scope="module")
def wheel(tmp_path_factory, source):
    """The wheel, built as an installer builds it."""
    target = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", str(source), "--no-deps", "--wheel-dir", str(target)]
    ran = subprocess.run(build, capture_output=True, text=True)
    if ran.returncode and re.search(r"No matching distribution|Connection|No module named pip\b", ran.stderr):
        pytest.skip(f"there is no way here to get what builds a wheel: {ran.stderr.strip().splitlines()[-1]}")
    assert ran.returncode == 0, ran.stderr
    (built,) = target.glob("*.whl")
    with ZipFile(built) as archive:
        yield archive


@pytest.mark.slow
def test_the_wheel_holds_two_packages_and_no_other_name(wheel):
    tops = {name.split("/")[0] for name in wheel.namelist()}
    (info,) = {top for top in tops if top.endswith(".dist-info")}
    assert tops == {"lossscale_app", "lossscale_core", info}


@pytest.mark.slow
@pytest.mark.parametrize(("folder", "package"), [("app", "lossscale_app"), ("lossscale_core", "lossscale_core")])
def test_the_wheel_holds_every_file_unchanged(wheel, source, folder, package):
    files = [path for path in (source / folder).rglob("*") if path.is_file()]
    expected = {f"{package}/{path.relative_to(source / folder).as_posix()}": path for path in files}
    held = {name for name in wheel.namelist() if name.startswith(f"{package}/")}
    assert held == set(expected)
    assert [name for name, path in expected.items() if wheel.read(name) != path.read_bytes()] == []
    if package == "lossscale_app":
        assert {f"{package}/browser/{name}" for name in ("page.html", "explorer.css", "explorer.js")} <= held


@pytest.mark.slow
def test_the_wheel_installs_the_command(wheel):
    (entry,) = [name for name in wheel.namelist() if name.endswith("/entry_points.txt")]
    assert "lossscale = lossscale_app.command_line:main" in wheel.read(entry).decode()


@pytest.mark.slow
def test_the_metadata_names_no_machine_and_no_registry(wheel):
    names = [name for name in wheel.namelist() if ".dist-info/" in name]
    texts = {name: wheel.read(name).decode() for name in names}
    assert found(_MACHINE, texts) == found(_REGISTRY, texts) == set()
    assert not [name for name in names if name.endswith("/direct_url.json")]
    (metadata,) = [text for name, text in texts.items() if name.endswith("/METADATA")]
    said = Parser().parsestr(metadata)
    assert (said["Name"], said["License-Expression"]) == ("loss-scaling-explorer", "MIT")
    required = {
        re.match(r"[\w-]+", line)[0].lower() for line in said.get_all("Requires-Dist") if "extra ==" not in line
    }
    assert {"numpy", "panel", "bokeh", "param"} <= required
