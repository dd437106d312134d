"""Columns of integers as compact bytes.

What planning makes is regular: subjects count up, policies repeat, edges go from one step to the next. Such a column
is a handful of runs, each of which adds the same step again and again; an arithmetic progression is one run, a
constant one run with step 0. Where an entry has several edges, what counts up are lanes: every twelfth value by a step of
its own, for twelve is a multiple of most numbers of edges. What is not regular stays as it is, squeezed by zlib where a
sample of it shrinks well.

Differences are taken and summed in the column's own type: what overflows on the way in overflows back on the way out.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np

MOST_EXACT = 2**31
"""Values up to which progressions are counted exactly, whatever numpy counts them in."""
_HEADER = struct.Struct("<B2sI")
_RAW, _RUNS, _SQUEEZED, _LANES = 0, 1, 2, 3
_TYPES: dict[bytes, np.dtype[np.generic]] = {
    name.encode(): np.dtype(f"<{name}") for name in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")
}
_BOUNDS = {  # np.iinfo says the same, but to ask it sixteen times costs as much as to load this module
    dtype: (
        0 if dtype.kind == "u" else -min(1 << 8 * dtype.itemsize - 1, MOST_EXACT),
        min((1 << 8 * dtype.itemsize - (dtype.kind == "i")) - 1, MOST_EXACT),
    )
    for dtype in _TYPES.values()
}
"""{type: the least and the greatest value that progressions are counted up to}"""
_HEADS = {dtype: name for name, dtype in _TYPES.items()}

SMALL = 16
"""Columns up to this length are stored as they are."""
LANES = 12
"""Neighbours that count up independently of one another."""
WELL = 64
"""By how much runs have to make a column shorter for lanes not to be tried."""
PIECE = 65_536
"""Values whose steps are taken at a time: those of a whole column would take its memory once more."""
SAMPLE_BYTES = 16_384
"""How much of an irregular column is squeezed on trial."""
SQUEEZE_LEVEL = 1
"""Squeezing more takes longer than writing what it saves."""
LONG_RUNS = 1_024
"""Values of a run, on average, from which on runs are filled one by one."""
MAX_LENGTH = 2**31 - 1
"""Longest column; positions are int32."""


def encode(column: np.ndarray) -> bytes:
    """The bytes of a column of integers.

    >>> len(encode(np.arange(500_000, dtype=np.int32)))
    19
    """
    head = _HEADS.get(column.dtype)
    if head is None:
        column = column.astype(column.dtype.newbyteorder("<"))
        head = f"{column.dtype.kind}{column.dtype.itemsize}".encode()
        if head not in _TYPES:
            raise TypeError(f"columns hold integers, not {column.dtype}")
    length = len(column)
    if length <= SMALL:
        return _HEADER.pack(_RAW, head, length) + column.tobytes()
    flat = np.ascontiguousarray(column)
    runs = _as_runs(flat)
    if runs is None or len(runs) * WELL > flat.nbytes:
        lanes = _as_lanes(flat)
        if lanes is not None and (runs is None or len(lanes) < len(runs)):
            return _HEADER.pack(_LANES, head, length) + lanes
    if runs is not None:
        return _HEADER.pack(_RUNS, head, length) + runs
    squeezed = _as_squeezed(flat)
    if squeezed is not None:
        return _HEADER.pack(_SQUEEZED, head, length) + squeezed
    return _HEADER.pack(_RAW, head, length) + flat.tobytes()


def decode(data: bytes) -> np.ndarray:
    """The column whose bytes these are; its own memory, writable.

    Raises: ValueError if they are not the bytes of a column.
    """
    if len(data) < _HEADER.size:
        raise ValueError("a column without a head")
    form, head, length = _HEADER.unpack_from(data)
    dtype = _TYPES.get(head)
    if dtype is None or length > MAX_LENGTH:
        raise ValueError("a column of unknown type")
    body = memoryview(data)[_HEADER.size :]
    if form == _RUNS:
        return _from_runs(body, dtype, length)
    if form == _LANES:
        return _from_lanes(body, dtype, length)
    if form == _SQUEEZED:
        body = memoryview(_unsqueezed(body, dtype.itemsize * length))
    elif form != _RAW:
        raise ValueError("a column of unknown form")
    if len(body) != dtype.itemsize * length:
        raise ValueError("a column of the wrong length")
    return np.frombuffer(body, dtype).copy()


def _as_runs(flat: np.ndarray) -> bytes | None:
    """First value, step of each run, length of each run; None where raw bytes are hardly longer."""
    most = (flat.nbytes // 4 - flat.itemsize) // (flat.itemsize + 4)
    bends: list[np.ndarray] = []
    count = 1
    for low in range(0, len(flat) - 2, PIECE):
        part = flat[low : low + PIECE + 2]
        steps = part[1:] - part[:-1]
        bends.append(np.flatnonzero(steps[1:] != steps[:-1]) + (low + 1))
        count += len(bends[-1])
        if count > most:
            return None
    bounds = np.empty(count + 1, np.int32)
    bounds[0] = 0
    np.concatenate(bends, out=bounds[1:-1], casting="same_kind")
    bounds[-1] = len(flat) - 1
    begins = bounds[:-1]
    steps = flat[begins + 1] - flat[begins]
    return b"".join((flat[:1].tobytes(), steps.tobytes(), (bounds[1:] - begins).astype("<i4").tobytes()))


def _from_runs(body: memoryview, dtype: np.dtype[np.generic], length: int) -> np.ndarray:
    size = dtype.itemsize
    count, rest = divmod(len(body) - size, size + 4)
    if rest or count < 1:
        raise ValueError("a column with a broken run")
    first = np.frombuffer(body[:size], dtype)
    steps = np.frombuffer(body[size : size * (count + 1)], dtype)
    lengths = np.frombuffer(body[size * (count + 1) :], "<i4")
    if lengths.min() < 0 or int(lengths.sum(dtype=np.int64)) != length - 1:
        raise ValueError("a column whose runs do not fill it")
    if length >= LONG_RUNS * count:
        column = _run_by_run(int(first[0]), steps.tolist(), lengths.tolist(), dtype)
        if column is not None:
            return column
    column = np.empty(length, dtype)
    column[0] = first[0]
    column[1:] = np.repeat(steps, lengths)
    np.cumsum(column, dtype=dtype, out=column)
    return column


def _run_by_run(first: int, steps: list[int], lengths: list[int], dtype: np.dtype[np.generic]) -> np.ndarray | None:
    """The column of a few long runs; None if a value overflows on the way."""
    if len(steps) == 1:
        return _progression(first, steps[0], lengths[0] + 1, dtype)
    column = np.empty(sum(lengths) + 1, dtype)
    column[0] = value = first
    low = 1
    for step, count in zip(steps, lengths, strict=True):
        run = _progression(value + step, step, count, dtype) if step else value
        if run is None:
            return None
        column[low : low + count] = run
        low, value = low + count, value + step * count
    return column


def _progression(first: int, step: int, count: int, dtype: np.dtype[np.generic]) -> np.ndarray | None:
    """So many values from the first one on; None if they, or the one behind them, overflow."""
    (lowest, highest), end = _BOUNDS[dtype], first + step * count
    if not lowest <= first <= highest or not lowest <= end <= highest:
        return None
    return np.arange(first, end, step, dtype=dtype) if step else np.full(count, first, dtype)


def _as_lanes(flat: np.ndarray) -> bytes | None:
    """The length once more, the first two values of each lane, where a step changes and by how much; None where that is often."""
    bends = flat[2 * LANES :] - 2 * flat[LANES:-LANES] + flat[: -2 * LANES]
    places = bends.nonzero()[0]
    if 2 * LANES * flat.itemsize + len(places) * (flat.itemsize + 4) > flat.nbytes // 4:
        return None
    length = struct.pack("<I", len(flat))  # damaged bytes shall not fill the memory
    return b"".join((length, flat[: 2 * LANES].tobytes(), places.astype("<i4").tobytes(), bends[places].tobytes()))


def _from_lanes(body: memoryview, dtype: np.dtype[np.generic], length: int) -> np.ndarray:
    size, begun = dtype.itemsize, 2 * LANES
    told, body = bytes(body[:4]), body[4:]
    count, rest = divmod(len(body) - begun * size, size + 4)
    if rest or count < 0 or length < begun or told != struct.pack("<I", length):
        raise ValueError("a column with a broken lane")
    places = np.frombuffer(body[begun * size : begun * size + 4 * count], "<i4")
    if count and not 0 <= places.min() <= places.max() < length - begun:
        raise ValueError("a column whose lanes do not fill it")
    column = np.zeros(-(-length // LANES) * LANES, dtype)
    column[:begun] = np.frombuffer(body[: begun * size], dtype)
    column[LANES:begun] -= column[:LANES]
    column[begun + places] = np.frombuffer(body[begun * size + 4 * count :], dtype)
    lanes = column.reshape(-1, LANES)
    np.cumsum(lanes[1:], axis=0, dtype=dtype, out=lanes[1:])
    np.cumsum(lanes, axis=0, dtype=dtype, out=lanes)
    return column[:length]


def _as_squeezed(flat: np.ndarray) -> bytes | None:
    """The raw bytes made smaller, or None where a sample of them does not shrink to half."""
    view = memoryview(flat.data).cast("B")
    middle = max(0, (len(view) - SAMPLE_BYTES) // 2)
    sample = view[middle : middle + SAMPLE_BYTES]
    if 2 * len(zlib.compress(sample, SQUEEZE_LEVEL)) > len(sample):
        return None
    return zlib.compress(view, SQUEEZE_LEVEL)


def _unsqueezed(body: memoryview, size: int) -> bytes:
    """At most one byte more than ``size``, so that damaged bytes cannot fill the memory."""
    try:
        return zlib.decompressobj().decompress(body, size + 1)
    except zlib.error as error:
        raise ValueError("a column that cannot be unpacked") from error
