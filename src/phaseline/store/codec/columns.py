"""Conversion of integer columns to compact bytes.

Columns made by planning are regular: subjects count up, policies repeat, edges lead from one step to the next. Such a
column is a few runs, each of which adds the same step repeatedly: an arithmetic progression is one run, a constant is
one run with step 0. If entries have several edges, neighbouring values count up independently. Then the column is
stored as twelve lanes: lane k holds every twelfth value from position k on. Twelve is a multiple of most numbers of
edges. Irregular columns are stored unchanged, compressed by zlib if a sample of them shrinks well.

Differences are computed and summed in the column's own type, so an overflow is reversed when the column is read.

Statuses and states change all the time. They are plain bytes in pages, and only changed pages are written.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from phaseline.lang.arrays import in_pieces
from phaseline.model.graph.status import PAGE_ENTRIES

Fill = Callable[[np.ndarray], None]

MOST_EXACT = 2**31
"""Largest absolute value up to which numpy computes progressions exactly in every type; runs beyond it are summed."""
_HEADER = struct.Struct("<B2sI")
_RAW, _RUNS, _SQUEEZED, _LANES = 0, 1, 2, 3
_TYPES: dict[bytes, np.dtype[np.generic]] = {
    name.encode(): np.dtype(f"<{name}") for name in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")
}
_BOUNDS = {  # as of np.iinfo, but sixteen calls of it cost as much as loading this module
    dtype: (
        0 if dtype.kind == "u" else -min(1 << 8 * dtype.itemsize - 1, MOST_EXACT),
        min((1 << 8 * dtype.itemsize - (dtype.kind == "i")) - 1, MOST_EXACT),
    )
    for dtype in _TYPES.values()
}
"""{column type: (least, greatest value)}: a run within these bounds is filled at once, without adding its steps up."""
_HEADS = {dtype: name for name, dtype in _TYPES.items()}

SMALL = 16
"""Length of the longest column that is stored without encoding, because encoding would not shorten it."""
LANES = 12
"""Number of lanes: value n belongs to lane n % 12, and each lane is encoded with steps of its own."""
WELL = 64
"""Factor by which encoding as runs must shorten a column; otherwise encoding in lanes (``LANES``) is tried, too."""
PIECE = 65_536
"""Number of values processed at a time: processing a whole column at once would need its memory twice."""
SAMPLE_BYTES = 16_384
"""Number of bytes of an irregular column that are compressed to see whether compression pays."""
SQUEEZE_LEVEL = 1
"""Level of the zlib compression; a higher one takes longer than writing the bytes that it saves."""
LONG_RUNS = 1_024
"""Average length of a column's runs from which on each run is filled by itself; shorter runs are added up in one pass."""
MAX_LENGTH = 2**31 - 1
"""Largest length of a column, because positions are int32."""


def encode(column: np.ndarray) -> bytes:
    """Encode a column of integers as bytes.

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
    """Decode the bytes of a column into a new writable array.

    Raises: ValueError if the bytes are not a column.
    """
    dtype, length, fill = _read(data)
    column = np.empty(length, dtype)
    fill(column)
    return column


def decode_together(parts: Sequence[bytes]) -> list[np.ndarray]:
    """Decode several columns. They may share a block of memory, which is freed when none of them is in use."""
    read = [_read(part) for part in parts]
    columns = list(in_pieces([(dtype, length) for dtype, length, _ in read]))
    for column, (_, _, fill) in zip(columns, read, strict=True):
        fill(column)
    return columns


def _read(data: bytes) -> tuple[np.dtype[np.generic], int, Fill]:
    """Check the bytes of a column; return (type, length, function that fills an array with the values)."""
    if len(data) < _HEADER.size:
        raise ValueError("a column without a head")
    form, head, length = _HEADER.unpack_from(data)
    dtype = _TYPES.get(head)
    if dtype is None or length > MAX_LENGTH:
        raise ValueError("a column of unknown type")
    body = memoryview(data)[_HEADER.size :]
    if form == _RUNS:
        return dtype, length, _from_runs(body, dtype, length)
    if form == _LANES:
        lanes = _from_lanes(body, dtype, length)
        return dtype, length, lambda column: np.copyto(column, lanes)
    if form == _SQUEEZED:
        body = memoryview(_unsqueezed(body, dtype.itemsize * length))
    elif form != _RAW:
        raise ValueError("a column of unknown form")
    if len(body) != dtype.itemsize * length:
        raise ValueError("a column of the wrong length")
    return dtype, length, lambda column: np.copyto(column, np.frombuffer(body, dtype))


def _as_runs(flat: np.ndarray) -> bytes | None:
    """Encode as runs: first value, step of each run, length of each run. Return None if this is hardly shorter."""
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


def _from_runs(body: memoryview, dtype: np.dtype[np.generic], length: int) -> Fill:
    size = dtype.itemsize
    count, rest = divmod(len(body) - size, size + 4)
    if rest or count < 1:
        raise ValueError("a column with a broken run")
    first = np.frombuffer(body[:size], dtype)
    steps = np.frombuffer(body[size : size * (count + 1)], dtype)
    lengths = np.frombuffer(body[size * (count + 1) :], "<i4")
    if lengths.min() < 0 or int(lengths.sum(dtype=np.int64)) != length - 1:
        raise ValueError("a column whose runs do not fill it")

    def fill(column: np.ndarray) -> None:
        if length >= LONG_RUNS * count and _run_by_run(column, int(first[0]), steps.tolist(), lengths.tolist()):
            return
        column[0] = first[0]
        column[1:] = np.repeat(steps, lengths)
        np.cumsum(column, dtype=dtype, out=column)

    return fill


def _run_by_run(column: np.ndarray, first: int, steps: list[int], lengths: list[int]) -> bool:
    """Fill the column with a few long runs. Return False if a value may overflow on the way."""
    (lowest, highest), low, value = _BOUNDS[column.dtype], 1, first
    column[0] = first
    for step, count in zip(steps, lengths, strict=True):
        end = value + step * (count + 1)
        if not step:
            column[low : low + count] = value
        elif lowest <= value <= highest and lowest <= end <= highest:
            _count_up(column[low : low + count], value + step, step)
        else:
            return False
        low, value = low + count, value + step * count
    return True


def _count_up(column: np.ndarray, first: int, step: int) -> None:
    """Fill the column with a progression, in pieces, to avoid a second array of the column's length."""
    for low in range(0, len(column), PIECE):
        count, value = min(PIECE, len(column) - low), first + step * low
        column[low : low + count] = np.arange(value, value + step * count, step, dtype=column.dtype)


def _as_lanes(flat: np.ndarray) -> bytes | None:
    """Encode as lanes: length, first two values of each lane, then (position, change) wherever a lane's step changes.

    Return None if steps change so often that this is not much shorter than the raw values.
    """
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
    """Compress the values with zlib. Return None if a sample of them does not shrink to half its size."""
    view = memoryview(flat.data).cast("B")
    middle = max(0, (len(view) - SAMPLE_BYTES) // 2)
    sample = view[middle : middle + SAMPLE_BYTES]
    if 2 * len(zlib.compress(sample, SQUEEZE_LEVEL)) > len(sample):
        return None
    return zlib.compress(view, SQUEEZE_LEVEL)


def _unsqueezed(body: memoryview, size: int) -> bytes:
    """Decompress ``size`` bytes and at most one more: the extra byte shows that data is damaged, without filling the memory."""
    try:
        return zlib.decompressobj().decompress(body, size + 1)
    except zlib.error as error:
        raise ValueError("a column that cannot be unpacked") from error


# -- pages -----------------------------------------------------------------------------------------------------


def states_from(count: int, pages: Iterable[tuple[int, bytes]]) -> np.ndarray:
    """Return the states of ``count`` instances from their stored pages."""
    return from_pages(count, ((number, _filled(held, count - number * PAGE_ENTRIES)) for number, held in pages))


def _filled(page: bytes, room: int) -> bytes:
    """Append zeros to a page of states that was written before more instances were added to it.

    ``room``: number of instances from the first one of this page to the last one of the deployment.
    """
    return page.ljust(min(PAGE_ENTRIES, room), b"\0") if room > len(page) else page


def from_pages(count: int, pages: Iterable[tuple[int, bytes]]) -> np.ndarray:
    """Return ``count`` bytes by position from their pages; 0 where no page was written.

    Raises: ValueError for a page that is not as long as the part of the result which it fills.
    """
    pages = list(pages)
    if len(pages) == 1 and pages[0][0] == 0 and len(pages[0][1]) == count:  # most graphs have a single page
        return np.frombuffer(bytearray(pages[0][1]), np.uint8)
    values = np.zeros(count, np.uint8)
    for number, held in pages:
        first = number * PAGE_ENTRIES
        values[first : first + PAGE_ENTRIES] = np.frombuffer(held, np.uint8)
    return values
