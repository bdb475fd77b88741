"""``python -m vecdist doctor``: what is installed, what it runs on, what is wrong and how to mend it."""

from __future__ import annotations

import ctypes
import importlib
import os
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from typing import final

PACKAGES = ("numpy", "numba", "llvmlite", "scipy")
CUDA_PACKAGES = ("numba-cuda", "cupy", "cupy-cuda12x", "cupy-cuda13x", "cuda-core", "cuda-toolkit")
NAME_LENGTH = 128
MULTIPROCESSORS, MAJOR, MINOR = 16, 75, 76  # attributes of a device in cuda.h
LEAST_CAPABILITY = (7, 5)  # what CUDA 13 still compiles for


@final
@dataclass(frozen=True)
class Problem:
    """Something that is wrong, and how to mend it."""

    what: str
    mend: str

    def __str__(self) -> str:
        return f"{self.what}\n      {self.mend}"


@final
@dataclass(frozen=True)
class Device:
    """A GPU, as its driver describes it."""

    name: str
    memory: int
    capability: tuple[int, int]
    multiprocessors: int

    def __str__(self) -> str:
        major, minor = self.capability
        size = f"{self.memory / 2**30:.0f} GiB"
        return f"{self.name}, {size}, compute capability {major}.{minor}, {self.multiprocessors} multiprocessors"


def report() -> int:
    """Print what ``python -m vecdist doctor`` prints; the number of problems found."""
    problems: list[Problem] = []
    for title, section in SECTIONS.items():
        print(title)
        try:
            rows, found = section()
        except Exception as error:  # a doctor says what it could not examine, and goes on
            rows, found = [], [Problem(f"{title} could not be examined: {_one_line(error)}", "see the message")]
        for name, value in rows:
            print(f"  {name:<22}{value}")
        problems += found
    print("wrong" if problems else "nothing is wrong")
    for number, problem in enumerate(problems, 1):
        print(f"  {number}.  {problem}")
    return len(problems)


def version(package: str) -> str | None:
    """The installed version of a package, found without importing it.

    >>> version("numpy") is not None, version("no-such-package")
    (True, None)
    """
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


Section = tuple[list[tuple[str, str]], list[Problem]]


def _packages() -> Section:
    from vecdist import __version__

    rows = [("python", f"{platform.python_version()} ({sys.executable})"), ("system", platform.platform())]
    rows.append(("vecdist", f"{__version__} ({os.path.dirname(__file__)})"))
    rows += [(name, version(name) or "not installed") for name in PACKAGES]
    return rows, []


def _cpu() -> Section:
    import llvmlite.binding as llvm

    from vecdist.runtime.cpu.processors import thread_count

    features = llvm.get_host_cpu_features()
    known = {"avx512f": "AVX-512, 512 bit", "avx2": "AVX2, 256 bit", "neon": "NEON, 128 bit", "sse2": "SSE2, 128 bit"}
    vectors = next((text for name, text in known.items() if features.get(name)), "none found")
    rows = [
        ("processor", llvm.get_host_cpu_name()),
        ("vector instructions", vectors),
        ("threads", f"{thread_count()} of {os.cpu_count()} processors"),
        ("threading layer", "a pool of vecdist's own, over kernels that release the GIL"),
    ]
    problems = []
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        problems.append(Problem("NUMBA_DISABLE_JIT is set: nothing is compiled", "unset NUMBA_DISABLE_JIT"))
    else:
        rows.append(_trial("numpy"))
    return rows, problems


def _trial(library: str) -> tuple[str, str]:
    """Compile and run a small density over arrays of ``library``; what it raises is found wrong with the section."""
    from vecdist import logpdf
    from vecdist.distributions import Normal

    start = time.perf_counter()
    value = float(logpdf(Normal(0.0, 1.0), importlib.import_module(library).zeros(3)).sum())
    if abs(value + 2.756815599614018) > 1e-14:
        raise ArithmeticError(f"a kernel gave {value} for three standard normal densities at 0")
    return "trial kernel", f"right, after {time.perf_counter() - start:.2f} s"


def _cache() -> Section:
    from vecdist.runtime import folder

    wanted = folder.wanted()
    sizes = [found.st_size for _, found in folder.files(wanted)]
    problem = folder.problem(wanted)
    rows = [
        ("folder", str(wanted)),
        ("size", f"{sum(sizes) / 2**20:.1f} MiB in {len(sizes)} files, of {folder.megabytes()} MiB"),
        ("used", f"no: {problem}" if problem else "yes"),
    ]
    mend = f"mend that, or set {folder.VARIABLE} to a folder of your own"
    told = f"the cache folder {wanted} is not used ({problem}): every process compiles again"
    return rows, [Problem(told, mend)] if problem else []


def _cuda() -> Section:
    driver, problems = driver_version(), cuda_problems()
    rows = [(name, found) for name in CUDA_PACKAGES if (found := version(name))]
    rows.append(("driver", f"for CUDA {driver[0]}.{driver[1]}" if driver else "none"))
    rows += [(f"device {number}", str(device)) for number, device in enumerate(devices())]
    if not problems:
        rows.append(_trial("cupy"))
    wanted = driver is not None or _cupy() is not None
    if problems and not wanted:
        rows.append(("use", f"not set up: {problems[0].what}"))
    return rows, problems if wanted else []


SECTIONS: dict[str, Callable[[], Section]] = {
    "packages": _packages, "CPU": _cpu, "cache of kernels": _cache, "CUDA": _cuda,
}


def cuda_problems() -> list[Problem]:
    """What keeps kernels from running on a GPU here, the first thing to mend first; empty where nothing does.

    >>> all(problem.mend for problem in cuda_problems())
    True
    """
    driver = driver_version()
    return [found for check in _CUDA_CHECKS if (found := check(driver))]


Driver = tuple[int, int] | None


def _no_driver(driver: Driver) -> Problem | None:
    if driver is None:
        return Problem(
            "no NVIDIA driver was found",
            "a machine with an NVIDIA GPU is needed, with its driver installed (`nvidia-smi` then works); in a "
            "container, start it with the GPU passed through",
        )
    if not devices():
        hidden = os.environ.get("CUDA_VISIBLE_DEVICES")
        mend = f"CUDA_VISIBLE_DEVICES is {hidden!r}: unset it" if hidden is not None else "see what `nvidia-smi` says"
        return Problem("the NVIDIA driver sees no GPU", mend)
    return None


def _missing_package(driver: Driver) -> Problem | None:
    missing = [name for name in ("numba-cuda", "cuda-core") if version(name) is None]
    if _cupy() is None:
        missing.insert(0, "CuPy")
    if not missing:
        return None
    text = f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed"
    return Problem(text, install(driver))


def _wrong_major(driver: Driver) -> Problem | None:
    cupy, toolkit = _cupy(), version("cuda-toolkit")
    majors = {"CuPy": _wheel_major(cupy), "the CUDA toolkit": int(toolkit.partition(".")[0]) if toolkit else None}
    known = {name: major for name, major in majors.items() if major}
    if len(set(known.values())) > 1:
        text = " and ".join(f"{name} is for CUDA {major}" for name, major in known.items())
        return Problem(f"{text}: they do not go together", f"python -m pip uninstall {cupy}; then, {install(driver)}")
    newer = [name for name, major in known.items() if driver and major > driver[0]]
    if driver and newer:
        text = f"{newer[0]} is for CUDA {known[newer[0]]}, the driver only for CUDA {driver[0]}.{driver[1]}"
        return Problem(text, f"update the driver, or: python -m pip uninstall {cupy}; then, {install(driver)}")
    return None


def _simulated(driver: Driver) -> Problem | None:
    if os.environ.get("NUMBA_ENABLE_CUDASIM", "0") in ("", "0"):
        return None
    return Problem("NUMBA_ENABLE_CUDASIM is set: CUDA is only simulated", "unset NUMBA_ENABLE_CUDASIM")


def _old_device(driver: Driver) -> Problem | None:
    old = [device for device in devices() if device.capability < LEAST_CAPABILITY] if driver else []
    if not old or driver is None or driver[0] < 13:
        return None
    return Problem(f"{old[0].name} is older than CUDA 13 compiles for", f"use CUDA 12 instead; {install((12, 0))}")


def _unimportable(driver: Driver) -> Problem | None:
    if _cupy() is None:
        return None
    try:
        importlib.import_module("cupy")
    except Exception as error:  # CuPy raises what its libraries make of a CUDA that is not theirs
        mend = f"python -m pip uninstall {_cupy()}; then, {install(driver)}"
        return Problem(f"CuPy cannot be imported ({_one_line(error)})", mend)
    return None


_CUDA_CHECKS = (_no_driver, _missing_package, _wrong_major, _simulated, _old_device, _unimportable)


def install(driver: Driver) -> str:
    """The command that installs the extra for a driver.

    >>> install((12, 4))
    'in the folder of vecdist: python -m pip install -e ".[cuda12]"'
    """
    extra = "cuda12" if driver and driver[0] < 13 else "cuda13"
    return f'in the folder of vecdist: python -m pip install -e ".[{extra}]"'


def _cupy() -> str | None:
    """The name of the installed CuPy, which says its CUDA version."""
    return next((name for name in CUDA_PACKAGES if name.startswith("cupy") and version(name)), None)


def _wheel_major(name: str | None) -> int | None:
    digits = "".join(filter(str.isdigit, name or ""))
    return int(digits) if digits else None


def _library() -> ctypes.CDLL | None:
    """The driver's library, where there is one."""
    for name in ("libcuda.so.1", "libcuda.so", "nvcuda.dll"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def driver_version() -> Driver:
    """The CUDA version that the NVIDIA driver supports, ``None`` where there is no driver.

    >>> driver_version() is None or driver_version() > (11, 0)
    True
    """
    library, number = _library(), ctypes.c_int()
    if library is None or library.cuDriverGetVersion(ctypes.byref(number)) or not number.value:
        return None
    return number.value // 1000, number.value % 1000 // 10


def devices() -> list[Device]:
    """The GPUs that the driver sees; none where there is no driver.

    >>> all(device.memory > 0 for device in devices())
    True
    """
    library, count = _library(), ctypes.c_int()
    if library is None or library.cuInit(0) or library.cuDeviceGetCount(ctypes.byref(count)):
        return []
    return [_device(library, number) for number in range(count.value)]


def _device(library: ctypes.CDLL, number: int) -> Device:
    name, memory = ctypes.create_string_buffer(NAME_LENGTH), ctypes.c_size_t()
    library.cuDeviceGetName(name, NAME_LENGTH, number)
    library.cuDeviceTotalMem_v2(ctypes.byref(memory), number)

    def attribute(code: int) -> int:
        value = ctypes.c_int()
        library.cuDeviceGetAttribute(ctypes.byref(value), code, number)
        return value.value

    capability = (attribute(MAJOR), attribute(MINOR))
    return Device(name.value.decode(), memory.value, capability, attribute(MULTIPROCESSORS))


def _one_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).strip().partition(os.linesep)[0]}"


__all__ = [
    "Device", "Problem", "cuda_problems", "devices", "driver_version", "install", "report", "version",
]
