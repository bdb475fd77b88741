"""The folder of kernels: written whole or not at all, shared by processes, mended where it is damaged."""

import os
import shutil
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest

from vecdist.backends import store

MODEL = """
import sys, numpy as np
from vecdist import value_and_grad, logpdf
from vecdist.distributions import Normal
x, mu = np.linspace(-1, 1, 50), np.array(0.5)
value, slope = value_and_grad(logpdf(Normal(mu, 2.0), x).sum(), mu)
from vecdist import pipeline
(plan,) = pipeline._plans.values()
stats = plan.program.serial.stats
print(float(value).hex(), float(slope).hex(), sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A folder that a process has filled, and what this printed."""
    folder = tmp_path_factory.mktemp("filled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(store.VARIABLE, str(folder))
        return folder, printed(run())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache folder, for this process and those that it starts."""
    monkeypatch.setenv(store.VARIABLE, str(tmp_path))
    return tmp_path


def run(code=MODEL):
    """What a fresh process prints."""
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def printed(process):
    out, err = process.communicate(timeout=180)
    assert process.returncode == 0, err
    return out.split()


def compiled_files(folder):
    return {path.relative_to(folder): path.stat().st_mtime_ns for path in folder.rglob("*.nb?")}


def test_a_second_process_compiles_nothing(folder, filled):
    there, first = filled
    shutil.copytree(there, folder, dirs_exist_ok=True)
    files = compiled_files(folder)
    second = printed(run())
    assert first[:2] == second[:2]
    assert first[2:] == ["0", "1"] and second[2:] == ["1", "0"]
    assert files and compiled_files(folder) == files


def test_processes_may_start_at_once_on_an_empty_folder(folder):
    results = [printed(process) for process in [run() for _ in range(2)]]
    assert len({tuple(result[:2]) for result in results}) == 1
    assert not list(folder.rglob(".writing-*"))
    assert printed(run())[2:] == ["1", "0"]


@pytest.mark.parametrize("suffix", [  # test_bad_input damages all three kinds every day
    "nbc", *(pytest.param(other, marks=pytest.mark.slow) for other in ("nbi", "py")),
])
def test_damaged_files_are_made_again_with_one_warning(folder, filled, suffix):
    there, (*wanted, _, _) = filled
    shutil.copytree(there, folder, dirs_exist_ok=True)
    for path in folder.rglob(f"vecdist_*.{suffix}"):
        path.write_bytes(b"damaged")
    counting = "import warnings\nseen = []\nwarnings.showwarning = lambda *given, **named: seen.append(given)\n"
    *found, warned = printed(run(f"{counting}warnings.simplefilter('always')\n{MODEL}\nprint(len(seen))"))
    assert found[:2] == wanted
    assert warned == ("0" if suffix == "py" else "1")
    assert printed(run())[:2] == wanted


def test_writes_are_atomic(folder):
    """A reader sees one of the contents, never a part of one, and nothing is left beside them."""
    contents = [bytes([number]) * 200_000 for number in range(4)]
    stop, torn = threading.Event(), []

    def write(content):
        while not stop.is_set():
            store.write("kernel", content)

    writers = [threading.Thread(target=write, args=(content,)) for content in contents]
    for writer in writers:
        writer.start()
    for _ in range(300):
        found = store.read("kernel")
        if found is not None and found not in contents:
            torn.append(found)
    stop.set()
    for writer in writers:
        writer.join()
    assert not torn and [path.name for path in folder.iterdir()] == ["kernel"]


def test_a_file_that_is_not_there_is_none(folder):
    assert store.read("nothing") is None and store.read_checked("nothing") is None


def test_checked_files(folder):
    path = store.write_checked("kernel", b"content")
    assert store.read_checked("kernel") == b"content"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.warns(UserWarning, match="is damaged") as seen:
        assert store.read_checked("kernel") is None
    assert len(seen) == 1


def test_sources_are_written_once(folder):
    module = store.import_source("vecdist_test", "value = given\n", {"given": 1})
    assert module.value == 1 and sys.modules["vecdist_test"] is module
    written = Path(module.__file__).stat().st_mtime_ns
    assert store.import_source("vecdist_test", "value = given\n", {"given": 2}).value == 2
    assert Path(module.__file__).stat().st_mtime_ns == written
    store.forget("vecdist_test")
    assert "vecdist_test" not in sys.modules and not list(folder.rglob("vecdist_test*"))


@pytest.mark.parametrize(("variables", "wanted"), [
    ({store.VARIABLE: "/somewhere"}, "/somewhere"),
    ({store.VARIABLE: "", "XDG_CACHE_HOME": "/cache"}, "/cache/vecdist"),
])
@pytest.mark.skipif(sys.platform != "linux", reason="the default folder is another one elsewhere")
def test_the_wanted_folder(variables, wanted, monkeypatch):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert store.wanted_folder() == Path(wanted)


def test_a_folder_that_cannot_be_written_is_replaced_with_one_warning(tmp_path, monkeypatch):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    monkeypatch.setenv(store.VARIABLE, str(in_the_way / "cache"))
    with pytest.warns(UserWarning, match=f"cannot write its cache folder {in_the_way}") as seen:
        used = store.folder()
    assert len(seen) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert store.folder() == used
    assert os.access(used, os.W_OK) and store.write("kernel", b"content").parent == used
