"""The only import of numba: how kernels are declared, and how the shared loops are compiled and cached for a game.

A *kernel* is a small function of the rules; it is compiled as part of the loops that call it. A *loop* is a template:
`bind` copies it with the kernels of one game as its globals, so that every call in it is a direct, inlinable one, and
compiles it for the signature that its annotations give. Numba keeps the machine code in a folder named by a digest of
all sources it may depend on: an edit or an upgrade never runs old code.
"""

import functools
import hashlib
import os
import shutil
import tempfile
import time
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numba.extending
import numpy as np
from numba import float64, int8, int64, uint64

config: Any = numba.config
DISABLED = bool(config.DISABLE_JIT)

kernel = numba.njit(nogil=True, error_model="numpy")
"""Decorator of a rule, encoding or heuristic function; under `NUMBA_DISABLE_JIT=1` it stays plain Python."""

inline = numba.njit(nogil=True, error_model="numpy", forceinline=True, _nrt=False)  # type: ignore[call-overload]
"""The same for a few lines that are called many times: without counting references to arrays (some 7 ns at every branch).

Such a function neither allocates an array nor returns one, but fields of records.
"""


_ONES = np.array([int("01" * ones or "0", 16) for ones in range(9)], np.uint64)


@numba.extending.intrinsic
def _store_word(typing_context, out, at, word):
    """Write the eight bytes of `word`, lowest first, to the int8 array `out` from place `at` on; unchecked."""

    def generate(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.bitcast(builder.gep(array.data, [arguments[1]]), arguments[2].type.as_pointer())
        builder.store(arguments[2], place, align=1)
        return context.get_dummy_value()

    return numba.types.void(out, int64, uint64), generate


if DISABLED or config.BOUNDSCHECK:

    @inline
    def put_ones(out, at, ones):
        """Set `ones` of the eight features of the int8 array `out` from place `at` on, and clear the rest of them."""
        for i in range(8):
            out[at + i] = 1 if i < ones else 0

else:

    @inline
    def put_ones(out, at, ones):
        """Set `ones` of the eight features of the int8 array `out` from place `at` on, and clear the rest of them."""
        _store_word(out, at, _ONES[ones])  # type: ignore[call-arg]


class States(np.ndarray):
    """Annotation: game records of shape (k,), of the bound game's dtype."""


class Grid8(np.ndarray):
    """Annotation: int8 of shape (rows, n)."""


class Vector8(np.ndarray):
    """Annotation: int8 of shape (k,)."""


class Vector64(np.ndarray):
    """Annotation: int64 of shape (k,)."""


class Grid64(np.ndarray):
    """Annotation: int64 of shape (rows, k)."""


class Words(np.ndarray):
    """Annotation: uint64 of shape (k,), generator words."""


class Floats(np.ndarray):
    """Annotation: float64 of shape (rows, k)."""


_NUMBA_TYPES = {
    Grid8: int8[:, ::1],
    Vector8: int8[::1],
    Vector64: int64[::1],
    Grid64: int64[:, ::1],
    Words: uint64[::1],
    Floats: float64[:, ::1],
    int: int64,
}


def bind(template: Callable, dtype: np.dtype, name: str, namespace: dict[str, Any], sources: tuple[Path, ...]) -> Callable:
    """`template` with `namespace` as its globals, compiled for records of `dtype`.

    `name` makes its cache file its own; `sources` are the files and folders whose edits must recompile it.
    """
    function = rebind(template, namespace)
    function.__qualname__ = f"{name}.{template.__name__}"
    if DISABLED:
        return function
    record = numba.types.Array(numba.from_dtype(dtype), 1, "C")
    kinds = [kind for key, kind in template.__annotations__.items() if key != "return"]
    arguments = tuple(record if kind is States else _NUMBA_TYPES[kind] for kind in kinds)
    folder = _cache_folder(name, sources)
    kept, config.CACHE_DIR = config.CACHE_DIR, str(folder or "")
    try:
        return numba.njit(arguments, nogil=True, error_model="numpy", cache=folder is not None)(function)
    finally:
        config.CACHE_DIR = kept


def rebind(template: Callable, namespace: dict[str, Any]) -> Callable:
    """A copy of the function `template` that looks names up in `namespace`."""
    function = types.FunctionType(template.__code__, namespace, template.__name__)
    function.__module__ = template.__module__
    return function


@functools.cache
def _cache_folder(name: str, sources: tuple[Path, ...]) -> Path | None:
    """The writable folder of this game's machine code, or None (after one warning) where there is none."""
    digest = hashlib.sha256(f"{numba.__version__} {config.BOUNDSCHECK}".encode())
    for path in sorted({path for source in sources for path in (source.rglob("*.py") if source.is_dir() else [source])}):
        digest.update(path.read_bytes())
    try:
        base = Path(os.environ.get("NUMBA_CACHE_DIR") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cardenvs")
        folder = base / f"{name}-{digest.hexdigest()[:16]}"
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        os.utime(folder)
    except (OSError, RuntimeError) as error:
        _warn_uncached(getattr(error, "strerror", None) or str(error))
        return None
    _forget_old(base, name)
    return folder


@functools.cache
def _warn_uncached(reason: str) -> None:
    warnings.warn(f"cardenvs compiles anew in every process: no folder for its machine code can be written ({reason})", stacklevel=2)


def _forget_old(base: Path, name: str, days: int = 30) -> None:
    """Remove this game's folders of other sources that nobody used for `days` days."""
    for old in base.glob(f"{name}-" + "[0-9a-f]" * 16):
        try:
            if time.time() - old.stat().st_mtime > days * 86400:
                shutil.rmtree(old)
        except OSError:
            pass
