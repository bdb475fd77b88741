"""The doctor examines everything, raises nothing, and says how to mend what it finds."""

import ctypes
import sys
from types import ModuleType

import pytest

from vecdist import doctor

V100, H200 = (7, 0), (9, 0)


class Driver:
    """The calls of libcuda that the doctor makes."""

    def __init__(self, version=13000, devices=1, capability=H200, broken=False):
        self.version, self.count, self.capability, self.broken = version, devices, capability, broken

    def cuInit(self, flags):  # noqa: N802 (the driver's names)
        return 100 if self.broken else 0

    def cuDriverGetVersion(self, number):  # noqa: N802
        number._obj.value = self.version
        return 0

    def cuDeviceGetCount(self, number):  # noqa: N802
        number._obj.value = self.count
        return 0

    def cuDeviceGetName(self, name, length, device):  # noqa: N802
        name.value = b"NVIDIA H200"
        return 0

    def cuDeviceTotalMem_v2(self, memory, device):  # noqa: N802
        memory._obj.value = 141 * 2**30
        return 0

    def cuDeviceGetAttribute(self, value, code, device):  # noqa: N802
        value._obj.value = {doctor.MAJOR: self.capability[0], doctor.MINOR: self.capability[1]}.get(code, 132)
        return 0


CUDA13 = {"numba-cuda": "0.30.4", "cuda-core": "1.2.2", "cuda-toolkit": "13.0.2", "cupy-cuda13x": "14.2.0"}
CUDA12 = {"numba-cuda": "0.30.4", "cuda-core": "1.2.2", "cuda-toolkit": "12.9.2", "cupy-cuda12x": "14.2.0"}


@pytest.fixture
def machine(monkeypatch):
    """A function that makes this process look like a machine with a driver and packages."""
    monkeypatch.delenv("NUMBA_ENABLE_CUDASIM", raising=False)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    def pretend(driver, packages):
        monkeypatch.setattr(doctor, "_library", lambda: driver)
        monkeypatch.setattr(doctor, "version", packages.get)
        monkeypatch.setitem(sys.modules, "cupy", ModuleType("cupy"))

    return pretend


def test_it_finds_nothing_wrong_here(capsys, machine):
    machine(None, {})
    assert doctor.report() == 0
    printed = capsys.readouterr().out
    for name in ("python", "numpy", "vector instructions", "threads", "trial kernel", "folder", "size", "driver"):
        assert f"\n  {name} " in printed
    assert printed.endswith("nothing is wrong\n")


def test_it_reports_a_section_that_fails_and_goes_on(capsys, machine, monkeypatch):
    def broken():
        raise ImportError("Numba needs NumPy 2.5 or less")

    machine(None, {})
    monkeypatch.setitem(doctor.SECTIONS, "CPU", broken)
    assert doctor.report() == 1
    printed = capsys.readouterr().out
    assert "CPU could not be examined: ImportError: Numba needs NumPy 2.5 or less" in printed
    assert "cache of kernels" in printed and "CUDA" in printed


def test_a_cache_folder_that_cannot_be_written(capsys, machine, monkeypatch, tmp_path):
    machine(None, {})
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("VECDIST_CACHE_DIR", str(tmp_path / "file" / "below"))
    monkeypatch.setitem(doctor.SECTIONS, "CPU", lambda: ([], []))
    assert doctor.report() == 1
    assert "every process compiles again" in capsys.readouterr().out


def test_nothing_is_compiled(machine, capsys, monkeypatch):
    machine(None, {})
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert doctor.report() == 1
    assert "unset NUMBA_DISABLE_JIT" in capsys.readouterr().out


@pytest.mark.parametrize(("driver", "packages"), [(Driver(), CUDA13), (Driver(), CUDA12), (Driver(12040), CUDA12)])
def test_a_machine_that_can_use_its_gpu(machine, driver, packages):
    machine(driver, packages)
    assert doctor.cuda_problems() == []


@pytest.mark.parametrize(
    ("driver", "packages", "what", "mend"),
    [
        (None, CUDA13, "no NVIDIA driver", "nvidia-smi"),
        (Driver(devices=0), CUDA13, "sees no GPU", "nvidia-smi"),
        (Driver(broken=True), CUDA13, "sees no GPU", "nvidia-smi"),
        (Driver(), {}, "CuPy and numba-cuda and cuda-core are not installed", ".[cuda13]"),
        (Driver(12040), {}, "are not installed", ".[cuda12]"),
        (Driver(), {k: v for k, v in CUDA13.items() if k != "cupy-cuda13x"}, "CuPy is not installed", ".[cuda13]"),
        (Driver(12040), CUDA13, "is for CUDA 13, the driver only for CUDA 12.4", ".[cuda12]"),
        (Driver(), CUDA12 | {"cuda-toolkit": "13.0.2"}, "do not go together", "pip uninstall cupy-cuda12x"),
        (Driver(capability=V100), CUDA13, "older than CUDA 13", ".[cuda12]"),
    ],
)
def test_what_keeps_a_machine_from_using_its_gpu(machine, driver, packages, what, mend):
    machine(driver, packages)
    first = doctor.cuda_problems()[0]
    assert what in first.what and mend in first.mend


def test_a_simulated_gpu_is_no_gpu(machine, monkeypatch):
    machine(Driver(), CUDA13)
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")
    assert [problem.mend for problem in doctor.cuda_problems()] == ["unset NUMBA_ENABLE_CUDASIM"]


def test_a_cupy_that_cannot_be_imported(machine, monkeypatch):
    machine(Driver(12040), CUDA12)
    monkeypatch.setitem(sys.modules, "cupy", None)
    (problem,) = doctor.cuda_problems()
    assert "CuPy cannot be imported" in problem.what
    assert "pip uninstall cupy-cuda12x" in problem.mend and ".[cuda12]" in problem.mend


def test_hidden_devices_are_named(machine, monkeypatch):
    machine(Driver(devices=0), CUDA13)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert "CUDA_VISIBLE_DEVICES is ''" in doctor.cuda_problems()[0].mend


def test_a_device_is_described(machine):
    machine(Driver(), CUDA13)
    assert [str(device) for device in doctor.devices()] == [
        "NVIDIA H200, 141 GiB, compute capability 9.0, 132 multiprocessors"
    ]


def test_it_wants_a_gpu_where_a_driver_is(machine, capsys):
    machine(Driver(), {})
    assert doctor.report() == 1
    assert "CuPy and numba-cuda and cuda-core are not installed" in capsys.readouterr().out


def test_the_driver_is_asked_through_its_library():
    assert ctypes.sizeof(ctypes.c_size_t) == 8  # cuDeviceTotalMem_v2 writes 64 bits
    assert (doctor.driver_version() is None) == (doctor.devices() == [])
