"""The folder of kernels: written whole or not at all, shared by processes, mended where damaged, done without."""

import errno
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import vecdist
from vecdist import lazy
from vecdist.kernel.code import Function, Return
from vecdist.runtime import folder as folders
from vecdist.runtime import sources, store

MODEL = """
import collections, sys, numpy as np
from vecdist import value_and_grad, logpdf
from vecdist.runtime.compiler import CodeCache
counts, read = collections.Counter(), CodeCache.read

def counted(cache, *given):
    found = read(cache, *given)
    counts[found is not None] += 1
    return found

CodeCache.read = counted
from vecdist.distributions import Normal
x, mu = np.linspace(-1, 1, 50), np.array(0.5)
value, slope = value_and_grad(logpdf(Normal(mu, 2.0), x).sum(), mu)
print(float(value).hex(), float(slope).hex(), counts[True], counts[False])
"""
NOTHING = Function("nothing", (), (Return(),))


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A folder that two processes have filled, which started at once, and what they printed."""
    folder = tmp_path_factory.mktemp("filled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(folders.VARIABLE, str(folder))
        return folder, [printed(process) for process in [run() for _ in range(2)]]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache folder, for this process and those that it starts."""
    monkeypatch.setenv(folders.VARIABLE, str(tmp_path))
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
    return {path.relative_to(folder): path.stat().st_mtime_ns for path in folder.rglob("*.nbc")}


def test_processes_may_start_at_once_on_an_empty_folder(filled):
    there, (one, other) = filled
    assert one[:2] == other[:2] and ["0", "2"] in (one[2:], other[2:])
    assert not list(there.rglob(".writing-*"))


def test_a_process_that_comes_later_compiles_nothing(folder, filled):
    there, (first, _) = filled
    shutil.copytree(there, folder, dirs_exist_ok=True)
    files = compiled_files(folder)
    assert printed(run()) == [*first[:2], "2", "0"]
    assert files and compiled_files(folder) == files


def test_bits_that_have_flipped_are_noticed_in_every_file(folder, filled):
    """Eight of them at random places of each: machine code that has any of them wrong ends the process."""
    there, ((*wanted, _, _), _) = filled
    shutil.copytree(there, folder, dirs_exist_ok=True)
    random = np.random.default_rng(5)
    for path in folder.iterdir():
        content = np.frombuffer(path.read_bytes(), np.uint8).copy()
        content[random.integers(0, content.size, 8)] ^= 1 << random.integers(0, 8, 8, dtype=np.uint8)
        path.write_bytes(content.tobytes())
    counting = "import warnings\nseen = []\nwarnings.showwarning = lambda *given, **named: seen.append(given)\n"
    *found, warned = printed(run(f"{counting}warnings.simplefilter('always')\n{MODEL}\nprint(len(seen))"))
    assert found == [*wanted, "0", "2"] and warned == "1"
    assert printed(run()) == [*wanted, "2", "0"], "it is whole again"


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
    with pytest.warns(UserWarning, match="was damaged") as seen:
        assert store.read_checked("kernel") is None
    assert len(seen) == 1
    assert store.read_checked("kernel") is None, "it is said once"


def test_sources_are_written_once(folder):
    given = "vecdist_test", str(NOTHING), [NOTHING]
    module = sources.imported(*given, {"word": 1}, lambda function, names: (function, names["word"]))
    assert module.nothing == (NOTHING, 1) and sys.modules["vecdist_test"] is module
    assert Path(module.__file__).read_text(encoding="utf-8") == "def nothing():\n    return"
    written = Path(module.__file__).stat().st_mtime_ns
    other = sources.imported(*given, {"word": 2}, lambda function, names: names["word"])
    assert other.nothing == 2 and Path(module.__file__).stat().st_mtime_ns == written
    sources.forget(module)
    assert sys.modules["vecdist_test"] is other, "which another thread compiles"
    sources.known(module)
    sources.forget(module)
    assert "vecdist_test" not in sys.modules


@pytest.mark.parametrize(("variables", "wanted"), [
    ({folders.VARIABLE: "/somewhere"}, "/somewhere"),
    ({folders.VARIABLE: "", "XDG_CACHE_HOME": "/cache"}, "/cache/vecdist"),
])
@pytest.mark.skipif(sys.platform != "linux", reason="the default folder is another one elsewhere")
def test_the_wanted_folder(variables, wanted, monkeypatch):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert folders.wanted() == Path(wanted)


def test_a_relative_folder_stays_where_it_was(tmp_path, monkeypatch):
    """A name of its own, for what it stands for is found once in a process."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(folders.VARIABLE, f"cache-{os.getpid()}")
    path = store.write("kernel", b"content")
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert store.read("kernel") == b"content" and store.write("other", b"").parent == path.parent
    assert path.is_absolute() and not list((tmp_path / "elsewhere").iterdir())


def test_a_folder_is_made_for_its_owner_alone(tmp_path, monkeypatch):
    monkeypatch.setenv(folders.VARIABLE, str(tmp_path / "new"))
    store.write("kernel", b"content")
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700
    shutil.rmtree(tmp_path / "new")
    assert store.write("kernel", b"content").read_bytes() == b"content", "it is made again where it was removed"
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


def writable_by_all(path, monkeypatch):
    path.chmod(0o777)


def writable_by_the_group(path, monkeypatch):
    path.chmod(0o770)


def of_somebody_else(path, monkeypatch):
    if os.geteuid() == 0:
        os.chown(path, 4321, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 4321)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners on this system")
@pytest.mark.parametrize(("make", "told"), [
    (writable_by_all, "chmod go-w"), (writable_by_the_group, "chmod go-w"), (of_somebody_else, "belongs to user"),
])
def test_code_is_loaded_from_no_folder_that_others_can_write(folder, monkeypatch, make, told):
    (folder / "kernel").write_bytes(b"content")
    make(folder, monkeypatch)
    with pytest.warns(UserWarning, match=told) as seen:
        assert store.read("kernel") is None
    assert len(seen) == 1
    assert store.write("other", b"") is None and [path.name for path in folder.iterdir()] == ["kernel"]
    assert told in folders.problem(folder)


def raising(number):
    def failing(*given, **named):
        raise OSError(number, os.strerror(number))

    return failing


@pytest.mark.parametrize(("module", "name", "number"), [
    (tempfile, "mkstemp", errno.ENOSPC), (tempfile, "mkstemp", errno.EROFS), (tempfile, "mkstemp", errno.EACCES),
    (os, "fdopen", errno.ENOSPC), (os, "replace", errno.ENOSPC), (os, "replace", errno.EISDIR),
])
def test_files_that_cannot_be_written_are_done_without(folder, monkeypatch, module, name, number):
    """From the first file on, or in the midst of one: one warning, and nothing is left."""
    monkeypatch.setattr(module, name, raising(number))
    with pytest.warns(UserWarning, match=f"cannot write its cache folder.*{os.strerror(number)}") as seen:
        assert store.write("kernel", b"content") is None
    assert store.write("other", b"content") is None
    assert len(seen) == 1 and not list(folder.iterdir())
    module = sources.imported("vecdist_unwritten", str(NOTHING), [NOTHING], {}, lambda function, names: function)
    assert module.nothing == NOTHING
    sources.forget(module)


def test_a_folder_in_the_place_of_a_file(folder):
    (folder / "kernel").mkdir()
    assert store.read("kernel") is None and store.read_checked("kernel") is None
    with pytest.warns(UserWarning, match="cannot write its cache folder"):
        assert store.write("kernel", b"content") is None
    assert [path.name for path in folder.iterdir()] == ["kernel"]


def test_a_folder_that_cannot_be_made(tmp_path, monkeypatch):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    monkeypatch.setenv(folders.VARIABLE, str(in_the_way / "cache"))
    with pytest.warns(UserWarning, match=f"cannot write its cache folder {in_the_way}") as seen:
        assert store.write("kernel", b"content") is None
    assert len(seen) == 1 and store.read("kernel") is None


def test_a_user_without_a_home(monkeypatch):
    monkeypatch.delenv(folders.VARIABLE)
    monkeypatch.setattr(folders, "wanted", lambda: Path("~nobody-of-this-name").expanduser())
    monkeypatch.setattr(folders, "_told", set())
    with pytest.warns(UserWarning, match="no folder to keep kernels in") as seen:
        assert store.read("kernel") is None and store.write("kernel", b"") is None
    assert len(seen) == 1


def test_values_are_right_on_a_full_disk(folder, monkeypatch):
    monkeypatch.setattr(tempfile, "mkstemp", raising(errno.ENOSPC))
    x = np.arange(5.0)
    with pytest.warns(UserWarning, match="cannot write its cache folder") as seen:
        assert [float((lazy(x) * 1.5 - 0.75).sum()), float((lazy(x) * 1.5).max())] == [11.25, 6.0]
    assert len(seen) == 1


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def ours(number, suffix="nbc"):
    return f"vecdist_{number:024x}_{number:012x}.kernel.{number:012x}.{suffix}"


def aged(path, days):
    os.utime(path, (time.time() - days * 86400,) * 2)


def test_what_nobody_has_used_for_long_goes_first(folder, monkeypatch):
    monkeypatch.setenv(folders.SIZE, "1")
    for days in range(5):
        aged(store.write(ours(days), bytes(300_000)), days)
    (folder / "of the user.nbc").write_bytes(bytes(300_000))
    aged(folder / "of the user.nbc", 1000)
    assert store.read(ours(4)) is not None, "which marks it as used"
    folders.trim(folder)
    assert names(folder) == ["of the user.nbc", ours(0), ours(1), ours(4)]


def test_what_is_left_behind_is_removed(folder):
    """Files of writers that were killed, and of versions that nobody uses any more."""
    for name, days in ((".writing-old", 1), (".writing-new", 0), (ours(1), 89), (ours(2), 91), (ours(3, "cubin"), 91)):
        (folder / name).write_bytes(b"")
        aged(folder / name, days)
    folders.trim(folder)
    assert names(folder) == [".writing-new", ours(1)]


def test_the_folder_is_looked_through_at_the_first_write_and_seldom_then(folder, monkeypatch):
    looked = []
    monkeypatch.setattr(folders, "trim", looked.append)
    monkeypatch.setattr(store, "_writes", iter(range(1000)))
    for number in range(2 * store.TRIMMED + 1):
        store.write(f"kernel {number}", b"")
    assert looked == [folder] * 3


def test_every_file_that_is_written_is_known_as_ours(filled):
    there, _ = filled
    assert [name for name in names(there) if not folders.OURS.fullmatch(name)] == []
    assert folders.OURS.fullmatch("vecdist_8b0e5d_0123456789ab_sm90.cubin")
    assert not folders.OURS.fullmatch("model.py") and not folders.OURS.fullmatch("vecdist_notes.py")


def test_the_folder_is_cleared_where_that_is_wanted(folder):
    (folder / "model.py").write_text("")
    store.write(ours(1), b"")
    vecdist.clear_cache()
    assert names(folder) == ["model.py", ours(1)]
    vecdist.clear_cache(disk=True)
    assert names(folder) == ["model.py"]


@pytest.mark.parametrize("given", ["-1", "1e3", "many"])
def test_a_size_that_is_no_number_is_named(folder, monkeypatch, given):
    monkeypatch.setenv(folders.SIZE, given)
    with pytest.raises(ValueError, match=folders.SIZE):
        folders.trim(folder)


def test_files_of_other_processes_vanish_while_the_folder_is_looked_through(folder, monkeypatch):
    for name in (".writing-one", ".writing-two"):
        (folder / name).touch()

    class Pattern:
        """One file is gone before its size is asked for."""

        def fullmatch(self, name):
            (folder / ".writing-one").unlink(missing_ok=True)
            return True

    monkeypatch.setattr(folders, "OURS", Pattern())
    assert [path.name for path, _ in folders.files(folder)] == [".writing-two"]
    folders.trim(folder)
