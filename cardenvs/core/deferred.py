"""Compile a loop quickly: its kernels are optimized as parts of the loop alone, not each by itself before.

Numba finishes every function as if Python called it: it links the functions that it calls, optimizes the whole, makes
machine code and wraps it, once for each level of the call chain. Of a loop's kernels none of this is used but the outermost
result. Within `compiling` kernels are lowered and linked only, and their integer arguments become int64, so that one
specialization serves all widths. This cuts the time to compile to about a third, and small kernels are inlined before they
are unrolled, which makes Ringer's loops more than twice as fast.

It replaces five private methods of Numba while Numba's own lock is held, so that no other thread compiles meanwhile.
Where Numba does not have them (`AVAILABLE` is False), loops are compiled in its usual way.
"""

import contextlib
import gc
from collections.abc import Iterator
from typing import Any

import numba
from numba import types

try:
    from numba.core import compiler_lock
    from numba.core.codegen import CPUCodeLibrary
    from numba.core.cpu import CPUContext
    from numba.core.dispatcher import _DispatcherBase, _FunctionCompiler  # type: ignore[attr-defined]

    _METHODS = {
        (CPUCodeLibrary, "finalize"): ("self",),
        (CPUContext, "get_executable"): ("self", "library", "fndesc", "env"),
        (_DispatcherBase, "add_overload"): ("self", "cres"),
        (_FunctionCompiler, "_customize_flags"): ("self", "flags"),
        (_DispatcherBase, "get_call_template"): ("self", "args", "kws"),
    }
    _ATTRIBUTES = ("_raise_if_finalized", "_get_module_for_linking", "_finalize_dynamic_globals")
    AVAILABLE = all(
        (code := getattr(vars(owner).get(name), "__code__", None)) and code.co_varnames[: code.co_argcount] == arguments
        for (owner, name), arguments in _METHODS.items()
    ) and all(hasattr(CPUCodeLibrary, name) for name in _ATTRIBUTES)
except ImportError:
    AVAILABLE = False

_overloads: list[tuple[Any, tuple, Any]] = []
"""Kernels compiled so far: dispatcher, argument types, result. They are in their dispatchers only while a loop is compiled."""

_environments: dict[str, tuple[Any, Any]] = {}
"""By the name of a kernel's environment: its code generator and the environment."""


@contextlib.contextmanager
def compiling(loop: str, is_kernel: str) -> Iterator[None]:
    """Compile the function whose qualified name is `loop` in this way; kernels are functions with the attribute `is_kernel`."""
    if not AVAILABLE:
        yield
        return
    with compiler_lock.global_compiler_lock:
        original = {method: vars(method[0])[method[1]] for method in _METHODS}
        collecting = gc.isenabled()
        gc.disable()
        for dispatcher, arguments, result in _overloads:
            dispatcher.overloads.setdefault(arguments, result)
        try:
            for (owner, name), method in _replacements(loop, is_kernel, original).items():
                setattr(owner, name, method)
            yield
        finally:
            for (owner, name), method in original.items():
                setattr(owner, name, method)
            for dispatcher, arguments, result in _overloads:
                if dispatcher.overloads.get(arguments) is result:
                    del dispatcher.overloads[arguments]
            if collecting:
                gc.enable()


def _replacements(loop: str, is_kernel: str, original: dict) -> dict:
    """What stands in place of Numba's methods while `loop` is compiled."""

    def finalize(self: Any) -> None:
        """Link what a kernel calls; leave optimization and machine code to the loop."""
        if self.name == loop:
            original[CPUCodeLibrary, "finalize"](self)
            return
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_executable(self: Any, library: Any, fndesc: Any, env: Any) -> Any:
        """The loop's entry point; of a kernel an object that is its key, and nothing that can be called."""
        if library.name != loop:
            _environments[self.get_env_name(fndesc)] = library.codegen, env
            return _NotCallable(fndesc.qualname)
        function = original[CPUContext, "get_executable"](self, library, fndesc, env)
        for name, (codegen, environment) in _environments.items():
            if codegen._engine.is_symbol_defined(name):
                codegen.set_env(name, environment)
        return function

    def add_overload(self: Any, cres: Any) -> None:
        """Keep a kernel out of the table that calls from Python use: such a call compiles it as usual."""
        if isinstance(cres.entry_point, _NotCallable):
            arguments = tuple(cres.signature.args)
            self.overloads[arguments] = cres
            _overloads.append((self, arguments, cres))
        else:
            original[_DispatcherBase, "add_overload"](self, cres)

    def customize_flags(self: Any, flags: Any) -> Any:
        """No wrappers for C; none for Python but the loop's."""
        flags.no_cfunc_wrapper = True
        if self.py_func.__qualname__ != loop:
            flags.no_cpython_wrapper = True
        return original[_FunctionCompiler, "_customize_flags"](self, flags)

    def get_call_template(self: Any, args: tuple, kws: dict) -> Any:
        """Widen the integers that a kernel is called with."""
        if hasattr(self.py_func, is_kernel):
            args = tuple(_wide(argument) for argument in args)
        return original[_DispatcherBase, "get_call_template"](self, args, kws)

    return dict(zip(_METHODS, (finalize, get_executable, add_overload, customize_flags, get_call_template), strict=True))


class _NotCallable:
    """Stands for the entry point of a kernel that exists as a part of loops alone."""

    def __init__(self, name: str):
        self.name = name

    def __call__(self, *arguments: Any) -> Any:
        raise RuntimeError(f"{self.name} exists as a part of compiled loops alone")


def _wide(argument: Any) -> Any:
    plain = types.unliteral(argument)
    return numba.int64 if isinstance(plain, types.Integer | types.Boolean) and plain != types.uint64 else argument
