"""The main job: what it prints, that it notices what is wrong, and what it says where there is no GPU."""

import io
import os
import subprocess
import sys

import numpy as np
import pytest

import vecdist.__main__ as job
from vecdist import doctor


@pytest.fixture(scope="module")
def parameters():
    return {name: np.asarray(start, np.float64) for name, start in job.START.items()}


@pytest.fixture(scope="module")
def constants():
    data = job.data()
    return data | {"log_factorials": job.log_factorials(data["counts"])}


@pytest.fixture
def quick(monkeypatch):
    """Timings of one call each, over few copies: the figures do not matter here."""
    monkeypatch.setattr(job, "COPIES", 3)
    monkeypatch.setattr(job, "seconds", lambda function, wait: function() is None or 1e-6)


def test_the_peers_agree_without_vecdist(parameters, constants):
    """The gradient by hand is that of the value by hand, and the value is SciPy's."""
    value, gradient = job.by_hand(np, parameters, constants)
    slopes = job.differences(lambda p: job.by_hand(np, p, constants)[0], parameters)
    assert job.relative_error(gradient(), slopes) < job.TOLERANCE
    assert value == pytest.approx(job.by_scipy(parameters, constants), rel=1e-13)


@pytest.mark.usefixtures("uncompiled")
def test_the_main_job(quick, capsys):
    assert job.main([]) == 0
    printed = capsys.readouterr().out
    assert "its value and 8 gradients: 1 kernel\n" in printed
    assert "1 launch on cpu" in printed
    assert "logpdf StudentT(df=4, loc=speed, scale=spread, x=times)" in printed
    assert all(f"  {name}" in printed for name in job.START)
    assert "compiled anew for the longer data: 0 kernels" in printed
    assert printed.endswith("\nright\n")


@pytest.mark.usefixtures("uncompiled")
def test_the_main_job_says_when_something_is_wrong(quick, capsys, monkeypatch):
    differences = job.differences
    monkeypatch.setattr(job, "differences", lambda *given: [1.001 * slope for slope in differences(*given)])
    assert job.main([]) == 1
    printed = capsys.readouterr().out
    assert printed.count("WRONG") == 2 and "gradients against finite differences" in printed


def test_a_relative_error_of_nan_is_wrong():
    assert not job.relative_error([np.nan], [1.0]) < job.TOLERANCE


def test_without_a_gpu_it_says_what_is_missing(capsys, monkeypatch):
    monkeypatch.setattr(doctor, "driver_version", lambda: None)
    monkeypatch.setattr(doctor, "devices", list)
    monkeypatch.setattr(doctor, "version", lambda package: None)
    assert job.main(["--device", "cuda"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "no NVIDIA driver was found" in printed.err
    assert "CuPy and numba-cuda and cuda-core are not installed" in printed.err
    assert 'python -m pip install -e ".[cuda13]"' in printed.err


@pytest.mark.cuda
def test_the_main_job_on_a_gpu(quick, capsys):
    assert job.main(["--device", "cuda"]) == 0
    assert "1 launch on cuda:0" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["--device", "tpu"], ["--nonsense"], ["cure"]])
def test_wrong_arguments(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        job.main(arguments)
    assert stopped.value.code == 2
    assert "usage: python -m vecdist" in capsys.readouterr().err


def test_help_in_a_terminal_that_knows_only_ascii():
    run = subprocess.run(
        [sys.executable, "-m", "vecdist", "--help"], capture_output=True, text=True, timeout=120, check=True,
        env=os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert "--device" in run.stdout and "doctor" in run.stdout


def test_a_terminal_that_cannot_print_a_cross_shows_something_else():
    stream = io.TextIOWrapper(io.BytesIO(), "ascii")
    job.replace_unprintable(stream)
    print("a × b", file=stream, flush=True)
    assert stream.buffer.getvalue() == b"a ? b\n"
