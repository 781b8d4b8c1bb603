"""How kernels are declared, and how the shared loops are compiled and cached for a game.

A *kernel* is a small function of the rules; it is compiled as part of the loops that call it. A *loop* is a template:
`bind` copies it with the kernels of one game as its globals, so that every call in it is a direct, inlinable one, and
compiles it for the signature that its annotations give. Numba keeps the machine code in a folder named by a digest of
all sources it may depend on: an edit or an upgrade never runs old code.
"""

import contextlib
import functools
import hashlib
import os
import pickle
import shutil
import sys
import tempfile
import time
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numba
import numba.extending
import numpy as np
from numba import float64, int8, int64, uint64
from numba.core.compiler import CompileResult
from numba.core.registry import cpu_target
from numba.core.serialize import dumps

from cardenvs.core import deferred

config: Any = numba.config
DISABLED = bool(config.DISABLE_JIT)

IS_KERNEL = "is_kernel"
"""The attribute of the functions that `kernel` and `inline` decorate."""


def kernel(function: Callable) -> Any:
    """Decorator of a rule, encoding or heuristic function; under `NUMBA_DISABLE_JIT=1` it stays plain Python."""
    setattr(function, IS_KERNEL, True)
    return numba.njit(nogil=True, error_model="numpy")(function)


def inline(function: Callable) -> Any:
    """The same for a few lines that are called many times: without counting references to arrays (some 7 ns at every branch).

    Such a function neither allocates an array nor returns one, but fields of records.
    """
    setattr(function, IS_KERNEL, True)
    return numba.njit(nogil=True, error_model="numpy", forceinline=True, _nrt=False)(function)  # type: ignore[call-overload]


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


@inline
def copy_row(out, row):
    """Copy the numbers of `row` to the beginning of `out`; in kernels, `out[:] = row` takes a second to compile at each place."""
    for i in range(len(row)):
        out[i] = row[i]


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


def bind(template: Callable, dtype: np.dtype, name: str, namespace: dict[str, Any], folder: Path | None) -> Callable:
    """`template` with `namespace` as its globals, compiled for records of `dtype`.

    `name` is that of the game, or of its loops. The machine code is kept in `folder` (see `cache_folder`; None: nowhere).
    Returns the bare entry point: calls take half a microsecond less, and the types of arguments are not checked.
    """
    function = rebind(template, namespace)
    function.__qualname__ = f"{name}.{template.__name__}"
    if DISABLED:
        return function
    record = numba.types.Array(numba.from_dtype(dtype), 1, "C")
    kinds = [kind for key, kind in template.__annotations__.items() if key != "return"]
    arguments = tuple(record if kind is States else _NUMBA_TYPES[kind] for kind in kinds)
    try:
        with deferred.compiling(function.__qualname__, IS_KERNEL):
            return _compile(function, arguments, name, folder)
    except Exception:  # in Numba's own way it works, or the error is told as Numba tells it
        return _compile(function, arguments, name, folder)


def _compile(function: Callable, arguments: tuple, name: str, folder: Path | None) -> Callable:
    """The function, compiled for these types of arguments or read from its file."""
    loop: Any = numba.njit(nogil=True, error_model="numpy")(function)
    if folder:
        loop._cache = LoopCache(function.__qualname__, folder)
    if not (folder and loop._cache.path(arguments, cpu_target.target_context.codegen()).exists()):
        _announce(name, cached=folder is not None)
    loop.compile(arguments)
    (compiled,) = loop.overloads.values()
    return compiled.entry_point


@functools.cache
def _announce(name: str, cached: bool) -> None:
    """Say on standard error, once a process, that the loops of a game are compiled."""
    often = "once" if cached else "as in every process"
    print(f"compiling {name} for this machine, {often}: about ten seconds", file=sys.stderr, flush=True)


def is_loop(function: Callable) -> bool:
    """Whether a function is a template of a loop: one whose arguments are of the types that a loop takes."""
    kinds = [kind for key, kind in function.__annotations__.items() if key != "return"]
    return bool(kinds) and all(kind is States or kind in _NUMBA_TYPES for kind in kinds)


def rebind(template: Callable, namespace: dict[str, Any]) -> Callable:
    """A copy of the function `template` that looks names up in `namespace`."""
    function = types.FunctionType(template.__code__, namespace, template.__name__)
    function.__module__ = template.__module__
    return function


class LoopCache:
    """Keeps the machine code of one loop, as a dispatcher of Numba asks for it.

    A file holds a digest of its content first. What cannot be read is compiled anew, what cannot be written is not kept.
    """

    def __init__(self, name: str, folder: Path):
        self._name, self._folder = name, folder

    @property
    def cache_path(self) -> str:
        """The folder."""
        return str(self._folder)

    def path(self, signature: Any, codegen: Any) -> Path:
        """The file of this loop for a signature and a processor."""
        key = hashlib.sha256(repr((signature, codegen.magic_tuple())).encode()).hexdigest()
        return self._folder / f"{self._name.replace('/', '-')}-{key[:16]}.bin"

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The compiled loop; None if it is not there, or damaged."""
        target_context.refresh()
        path = self.path(signature, target_context.codegen())
        try:
            data = path.read_bytes()
        except OSError:
            return None
        if data[:32] != hashlib.sha256(data[32:]).digest():
            return None
        return CompileResult._rebuild(target_context, *pickle.loads(data[32:]))

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep a compiled loop; a process that reads meanwhile finds all of it or nothing."""
        data = dumps(result._reduce())
        path = self.path(signature, result.library.codegen)
        part = path.with_suffix(f".{os.getpid()}.part")
        try:
            part.write_bytes(hashlib.sha256(data).digest() + data)
            part.replace(path)
        except OSError as error:
            _warn_uncached(error.strerror or str(error))
            with contextlib.suppress(OSError):
                part.unlink()


def cache_folder(name: str, kernels: Iterable[Callable], sources: Iterable[Path]) -> Path | None:
    """The writable folder for the machine code of loops that are bound to `kernels`, or None where there is none.

    It is named by a digest of the kernels, of all that they use, and of the files in `sources` and beside the kernels. A
    kernel that cannot be found again by its name (a closure, or one of `__main__`) is not kept either.
    """
    if DISABLED:
        return None
    functions: list[Any] = [getattr(kernel, "py_func", kernel) for kernel in kernels]
    if not all(_has_a_name(function) for function in functions):
        return None
    folders = {Path(function.__code__.co_filename).parent for function in functions}
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {config.BOUNDSCHECK} {deferred.AVAILABLE}".encode())
    for path in sorted({path for source in {*folders, *sources} for path in (source.rglob("*.py") if source.is_dir() else [source])}):
        digest.update(path.read_bytes())
    for part in _parts(functions):
        digest.update(part)
    return _writable(name, digest.hexdigest()[:16])


def _has_a_name(function: Any) -> bool:
    named = function.__module__ != "__main__" and "<" not in function.__qualname__ and not function.__closure__
    return named and Path(function.__code__.co_filename).is_file()


def _parts(functions: list[Any]) -> Iterator[bytes]:
    """What makes the machine code of functions: their code, the names that it uses, and what these stand for."""
    seen: set[int] = set()
    left = functions[::-1]
    while left:
        function = left.pop()
        code = function.__code__
        yield repr((function.__module__, function.__qualname__, id(code) in seen)).encode()
        if id(code) in seen:
            continue
        seen.add(id(code))
        yield code.co_code + repr([const for const in code.co_consts if not hasattr(const, "co_code")]).encode()
        for name in code.co_names:
            value: Any = function.__globals__.get(name)
            if hasattr(value, "py_func"):
                left.append(value.py_func)
            elif isinstance(value, types.FunctionType):
                left.append(value)
            elif isinstance(value, np.ndarray):
                yield repr((name, value.dtype, value.shape)).encode() + value.tobytes()
            elif isinstance(value, int | float | str | tuple):
                yield repr((name, value)).encode()


@functools.cache
def _writable(name: str, digest: str) -> Path | None:
    """This game's folder for a digest, or None after one warning if it cannot be written."""
    try:
        base = Path(os.environ.get("NUMBA_CACHE_DIR") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cardenvs")
        folder = base / f"{name}-{digest}"
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
