"""Work that libraries do when they are loaded, and that we have no use for."""

from __future__ import annotations

import builtins
import ctypes.util
import mmap
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import LazyLoader
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:  # most commands load little of the library
    from importlib.abc import Loader

_PANDAS: Final = "pandas"
_LARGE: Final = ("numpy", "pyarrow")
_BLAS_THREADS: Final = "OPENBLAS_NUM_THREADS"
# Modules that write documentation onto functions in C, and do nothing else; numpy 1.26 calls them by the other names.
_NEWDOCS: Final = ("numpy._core._add_newdocs", "numpy.core._add_newdocs")
_COMPUTE: Final = "pyarrow.compute"
_SCRAPER: Final = "pyarrow.vendored.docscrape"  # of the texts of `_COMPUTE`, and nothing else asks for it
# Modules of large patterns, of which most lists need none. All are asked by their methods, as `re.sub` could not ask.
_WITH_PATTERNS: Final = (
    "audiencekit.identifiers.partner_user_id",
    "email_validator.rfc_constants",
    "phonenumbers.phonenumbermatcher",
)
# Addresses that numpy, Arrow and what they start take before they have read anything.
STARTUP_BYTES: Final = 200_000_000
# Nothing else can be had on Windows.
_NEVER_WRITTEN: Final = {"flags": mmap.MAP_PRIVATE, "prot": mmap.PROT_READ} if hasattr(mmap, "MAP_PRIVATE") else {}


def leave_out_pandas() -> None:
    """Arrow finds no pandas. At its first array it asks for it: half a second, and forty megabytes, where it is there.

    For a process of our own, before it imports Arrow. A pandas that was imported before stays.
    """
    sys.meta_path.insert(0, _WithoutPandas())


def leave_out_blas_threads() -> None:
    """The threads that numpy starts for linear algebra, which wait by turning round: a tenth of a second each.

    For a process of our own, before it imports numpy. What its environment says of them holds.
    """
    os.environ.setdefault(_BLAS_THREADS, "1")


def ask_for_memory() -> None:
    """Have imports of numpy and Arrow raise MemoryError where the process may not have the memory that they begin with.

    Their libraries end the process by themselves then, with codes of their own, or wait for ever. For a process of our
    own, before it imports them.
    """
    sys.meta_path.insert(0, _WithMemory())


def leave_out_documentation() -> None:
    """Texts and signatures that numpy and Arrow put together for their functions: a tenth of the start of `check`.

    For a process of our own, before it imports them.
    """
    sys.meta_path.insert(0, _LoadedBy(_LeftEmpty, *_NEWDOCS))
    sys.meta_path.insert(0, _LoadedBy(_Undocumented, _COMPUTE))
    sys.meta_path.insert(0, _LoadedBy(_loaded_when_asked, _SCRAPER))


def compile_patterns_late() -> None:
    """Have large patterns compiled when they are first used, which most never are.

    For a process of our own, before it imports their modules.
    """
    sys.meta_path.insert(0, _LoadedBy(_LateCompiling, *_WITH_PATTERNS))


@contextmanager
def search_no_libraries() -> Iterator[None]:
    """Python finds no library by its name in this context, as imports of asyncssh try to.

    It would start compilers and linkers for that, which PATH may name in the working directory.
    """
    before = ctypes.util.find_library
    ctypes.util.find_library = lambda name: None
    try:
        yield
    finally:
        ctypes.util.find_library = before


class _WithMemory:
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """None, so that others look for it. Raises MemoryError."""
        if fullname in _LARGE and not any(name in sys.modules for name in _LARGE):
            try:
                mmap.mmap(-1, STARTUP_BYTES, **_NEVER_WRITTEN).close()
            except OSError:
                raise MemoryError from None
        return None


class _WithoutPandas:
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """None for anything else, so that others look for it. Raises ModuleNotFoundError."""
        if fullname == _PANDAS:
            raise ModuleNotFoundError("pandas is left out", name=fullname)
        return None


class _LoadedBy:
    """Has modules whose names begin so loaded by a loader of ours, where they are files of Python."""

    def __init__(self, loader: Callable[[str, str], Loader], *names: str) -> None:
        self._loader, self._names = loader, names

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """None for anything else, so that others look for it."""
        if not fullname.startswith(self._names):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader:
            return None
        spec.loader = self._loader(spec.loader.name, spec.loader.path)
        return spec


def _loaded_when_asked(name: str, path: str) -> Loader:
    """A loader that loads the module when something is first asked of it."""
    return LazyLoader(SourceFileLoader(name, path))


class _LeftEmpty(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        """Load nothing."""


class _Undocumented(SourceFileLoader):
    """Loads Arrow's functions without the texts and signatures that some 300 of them are given one by one."""

    def get_code(self, fullname: str) -> CodeType | None:
        """The code of the module; functions that it has not, as of another release, are not missed."""
        code = super().get_code(fullname)
        if code is None:
            return None
        return code.replace(co_consts=tuple(_BARE.get(_name_of(each), each) for each in code.co_consts))


def _name_of(constant: object) -> str:
    return constant.co_name if isinstance(constant, CodeType) else ""


def _decorate_compute_function(wrapper: Any, *_: object) -> Any:
    """The same function."""
    return wrapper


def _make_signature(*_: object) -> None:
    """None, which says that the function has none of its own."""


_BARE: Final = {each.__name__: each.__code__ for each in (_decorate_compute_function, _make_signature)}


class _LateCompiling(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        """Load it with a `re` of its own; what other modules compile stays as it is."""
        late = ModuleType(re.__name__)
        vars(late).update(vars(re), compile=_LatePattern)

        def find(name: str, *given: Any) -> ModuleType:
            return late if name == re.__name__ else __import__(name, *given)

        vars(module)["__builtins__"] = {**vars(builtins), "__import__": find}
        super().exec_module(module)


class _LatePattern:
    """A pattern that is compiled when something is first asked of it, such as a match."""

    def __init__(self, *given: Any, **named: Any) -> None:
        self._given, self._named = given, named

    def __getattr__(self, name: str) -> Any:
        asked = getattr(re.compile(*self._given, **self._named), name)
        setattr(self, name, asked)  # the next time it is no detour
        return asked
