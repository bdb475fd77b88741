"""Columns of Parquet files, read row group by row group, beside the same columns in memory."""

import builtins
import importlib

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from chunk_models import chunks_by_interpreter

import vecdist
from vecdist import LogDensity, logpdf, value_and_grad
from vecdist.distributions import Normal
from vecdist.parameters import real
from vecdist.runtime.chunks import parquet
from vecdist.samplers import sgld

ROWS = 100
RNG = np.random.default_rng(0)
TABLE = {
    "y": RNG.normal(size=ROWS), "count": RNG.integers(0, 9, ROWS).astype(np.int32), "in": RNG.random(ROWS) < 0.5,
    "single": RNG.normal(size=ROWS).astype(np.float32), "word": ["a"] * ROWS,
}  # fmt: skip


@pytest.fixture(params=["file", "directory"])
def path(request, tmp_path):
    """A file of 4 row groups, or three files of several sizes."""
    if request.param == "file":
        pq.write_table(pa.table(TABLE), tmp_path / "all.parquet", row_group_size=30)
        return tmp_path / "all.parquet"
    for number, (first, stop) in enumerate(((0, 17), (17, 80), (80, 100))):
        part = {name: values[first:stop] for name, values in TABLE.items()}
        pq.write_table(pa.table(part), tmp_path / f"{number}.parquet", row_group_size=20)
    return str(tmp_path)


def test_a_column_and_a_table_are_those_in_memory(path):
    with chunks_by_interpreter():
        for name in ("y", "count", "in", "single"):
            for rows in (None, 7, 33, 1000):
                x = vecdist.chunked(path, columns=name, rows=rows)
                assert x.shape == (ROWS,) and x.dtype == np.asarray(TABLE[name]).dtype
                np.testing.assert_array_equal(np.asarray(x * 1), TABLE[name])
        table = vecdist.chunked(pyarrow.dataset.dataset(path), columns=["count", "y", "count"], rows=11)
        wanted = np.stack([TABLE["count"], TABLE["y"], TABLE["count"]], axis=1)
        np.testing.assert_array_equal(np.asarray(table * 1.0), wanted)


def test_value_and_gradient_of_columns(path):
    b, s = np.array([0.5, -0.2]), np.array(1.2)

    def total(x, y):
        return logpdf(Normal((x * b).sum(axis=1), s), y).sum()

    x, y = np.stack([TABLE["count"], TABLE["single"]], axis=1), TABLE["y"]
    wanted = value_and_grad(total(vecdist.lazy(x), y), wrt=(b, s))
    with chunks_by_interpreter():
        columns = vecdist.chunked(path, columns=["count", "single"]), vecdist.chunked(path, columns="y", rows=13)
        found = value_and_grad(total(*columns), wrt=(b, s))
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-6)
    np.testing.assert_allclose(np.hstack(found[1]), np.hstack(wanted[1]), rtol=1e-6)


def test_groups_are_the_pieces_and_each_is_read_once(path, monkeypatch):
    read, plain = [], parquet.Columns._read
    monkeypatch.setattr(parquet.Columns, "_read", lambda self, *place: read.append(place) or plain(self, *place))
    with chunks_by_interpreter():
        for rows, size in ((None, 1), (7, 2**26), (None, 2**26)):
            monkeypatch.setattr(parquet, "PIECE", size)
            x = vecdist.chunked(path, columns="y", rows=rows)
            held = x.node.attrs[0].array
            assert rows or len(held.counts) == (len(held.source.groups) if size == 1 else 1)
            read.clear()
            np.testing.assert_allclose(float(x.sum()), TABLE["y"].sum(), rtol=1e-12)
            assert [place for place, _ in read] == list(range(len(held.source.groups)))


def test_files_of_several_dtypes_have_their_common_one(tmp_path):
    for number, kind in enumerate((pa.int32(), pa.int64())):
        pq.write_table(pa.table({"n": pa.array([1, 2], kind)}), tmp_path / f"{number}.parquet")
    x = vecdist.chunked(tmp_path, columns="n")
    assert x.dtype == np.int64 and np.asarray(x * 1).tolist() == [1, 2, 1, 2]


def test_a_row_without_a_value_is_named(tmp_path):
    pq.write_table(pa.table({"n": [1, 2, 3, 4, None, 6]}), tmp_path / "n.parquet", row_group_size=2)
    with pytest.raises(ValueError, match=r"n\[4\] has no value"):
        np.asarray(vecdist.chunked(tmp_path, columns="n") * 1)


def test_what_is_no_column_of_numbers(path, tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    for columns, error, message in (
        ("z", ValueError, r"no column 'z'; it has y, count, in, single, word"),
        ("word", TypeError, r"'word' of .* is of type string"),
        (None, ValueError, r"which columns of .*columns='y'"),
        ([], ValueError, "no columns are named"),
    ):
        with pytest.raises(error, match=message):
            vecdist.chunked(path, columns=columns)
    with pytest.raises(ValueError, match="no Parquet files"):
        vecdist.chunked(tmp_path / "empty", columns="y")
    monkeypatch.setattr(importlib, "import_module", lambda name: builtins.__import__("no_such_module"))
    with pytest.raises(ImportError, match="pip install pyarrow"):
        vecdist.chunked(path, columns="y")


def test_batches_of_row_groups_are_refused_by_name(path):
    density = LogDensity(
        lambda mu, y: {"likelihood": logpdf(Normal(mu, 1.0), y)}, rows={"y": vecdist.chunked(path, columns="y")},
        mu=real(),
    )  # fmt: skip
    assert np.isfinite(density.logdensity(np.zeros(1)))
    with pytest.raises(TypeError, match=r"y is of a Parquet file, which is read by row groups"):
        sgld(density, step_size=1e-3, batch=5, progress=False)


def test_a_file_that_is_written_anew_has_changed(tmp_path):
    path = tmp_path / "y.parquet"
    for rows, size in ((ROWS, 30), (ROWS, 25), (50, 30)):
        pq.write_table(pa.table({"y": TABLE["y"]}), path, row_group_size=30)
        x = vecdist.chunked(path, columns="y")
        pq.write_table(pa.table({"y": TABLE["y"][:rows]}), path, row_group_size=size)
        with chunks_by_interpreter():
            if size == 30 and rows == ROWS:
                assert float(x.sum()) == pytest.approx(TABLE["y"].sum())
                continue
            with pytest.raises(ValueError, match=r"y.parquet has changed: its row group \d had \d+ rows"):
                float(x.sum())
