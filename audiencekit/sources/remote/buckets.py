"""Buckets, by obstore: the cloud's own rules for addresses, credentials and answers.

obstore follows redirects, and cannot be told not to. So every host but those of the cloud, or of the endpoint that the
environment names, is sent to a proxy that is not there.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import urlsplit

from audiencekit.errors import AudiencekitError, InputOutputFailed, SourceRefused, UsageError
from audiencekit.limits import CONNECT_TIMEOUT_SECONDS, REMOTE_PIECE_SECONDS, REMOTE_SILENCE_SECONDS
from audiencekit.settings import load_settings
from audiencekit.sources.remote.addresses import SourceAddress, is_loopback
from audiencekit.sources.remote.remote_file import Lost, Version, changed, missing
from audiencekit.text import install_extra

if TYPE_CHECKING:
    from obstore.store import ObjectStore


_NOWHERE: Final = "http://127.0.0.1:1"  # a port below 1024, on which only root could listen
_METADATA: Final = ("169.254.169.254", "169.254.170.2", "169.254.170.23")  # where a machine of a cloud asks who it is
_EMULATED: Final = "http://127.0.0.1"
_TRUE: Final = ("1", "true", "on", "yes", "y")  # as obstore reads it
_LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
_REGION: Final = re.compile(r"redirect without LOCATION|PermanentRedirect|AuthorizationHeaderMalformed")


@dataclass(frozen=True, slots=True)
class Cloud:
    """A cloud: its hosts, the variables that name another endpoint, and those that ask for its emulator and name it."""

    hosts: tuple[str, ...]
    endpoints: tuple[str, ...]
    emulator: str = ""
    emulator_endpoint: str = ""

    def endpoint(self, environment: Mapping[str, str]) -> tuple[str, str]:
        """The endpoint that the environment names, and by which variable; two empty texts for the cloud's own."""
        if environment.get(self.emulator, "").lower() in _TRUE:  # obstore then heeds no other
            return environment.get(self.emulator_endpoint, "").strip() or _EMULATED, self.emulator_endpoint
        named = ((environment.get(name, "").strip(), name) for name in self.endpoints)
        return next((pair for pair in named if pair[0]), ("", ""))


CLOUDS: Final = {
    "s3": Cloud(
        ("amazonaws.com", "amazonaws.com.cn", "api.aws"),
        ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"),
    ),
    "gs": Cloud(("googleapis.com", "metadata.google.internal"), ("GOOGLE_BASE_URL",)),
    "az": Cloud(
        ("core.windows.net", "login.microsoftonline.com"),
        ("AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT"),
        "AZURE_STORAGE_USE_EMULATOR",
        "AZURITE_BLOB_STORAGE_URL",
    ),
}


class BucketConnection:
    """The object `key` of a bucket. obstore keeps the connections."""

    def __init__(self, bucket: ObjectStore, key: str) -> None:
        self._store, self._key = bucket, key

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is to be given up."""

    async def look(self) -> Version:
        """Return the present version. Raises SourceRefused if a change could not be noticed."""
        import obstore

        failure: Exception
        try:
            return _version_of(await obstore.head_async(self._store, self._key))
        except AudiencekitError:
            raise
        except Exception as error:
            failure = _in_our_words(error)
        raise failure

    async def read(self, offset: int, length: int, version: Version, into: bytearray) -> None:
        """Add `length` bytes of `version` from `offset` on. Raises Lost, and SourceRefused for another version."""
        import obstore

        wanted: Any = {"range": (offset, offset + length), "if_match": version.mark}
        failure: Exception
        try:
            answer = await obstore.get_async(self._store, self._key, options=wanted)
            if _version_of(answer.meta) != version or answer.range != (offset, offset + length):
                raise changed()
            async for part in answer.stream(min_chunk_size=length):
                into += memoryview(part)
                if (length := length - len(part)) < 0:
                    return
            return
        except AudiencekitError:
            raise
        except Exception as error:
            failure = _in_our_words(error)
        raise failure


def names_in_bucket(directory: SourceAddress) -> list[str]:
    """Return the names of the entries of `directory`. Raises SourceRefused and InputOutputFailed."""
    import obstore

    failure: Exception
    try:
        prefix = directory.path.rstrip("/")
        found = obstore.list_with_delimiter(open_bucket(directory), prefix or None)
        paths = [*found["common_prefixes"], *(entry["path"] for entry in found["objects"])]
        # The empty object that some programs write for the directory itself is no entry of it.
        return [path.rstrip("/").rpartition("/")[2] for path in paths if path.rstrip("/") != prefix]
    except AudiencekitError:
        raise
    except Exception as error:
        failure = _in_our_words(error)
    raise InputOutputFailed(f"cannot be read: {failure}") if isinstance(failure, Lost) else failure


def open_bucket(address: SourceAddress) -> ObjectStore:
    """The bucket of `address`, with the credentials of the environment or of the cloud's own chain.

    Raises UsageError where obstore is missing, or an endpoint that is no https is named, InputOutputFailed where there
    are no credentials.
    """
    if importlib.util.find_spec("obstore") is None:
        raise UsageError("a list in a bucket needs the package obstore", hint=install_extra("cloud"))
    from obstore import store as stores

    cloud = CLOUDS[address.scheme]
    endpoint, variable = cloud.endpoint(os.environ)
    host = urlsplit(endpoint).hostname or ""
    in_plain = endpoint.lower().startswith("http://")
    if in_plain and not is_loopback(host):
        raise UsageError(f"{variable} names http://: others on the way could read the list", hint="give it as https://")
    given: dict[str, Any] = {
        "client_options": _client_options((*cloud.hosts, *_METADATA, *filter(None, [host])), in_plain=in_plain),
        "retry_config": {"max_retries": 0},  # attempts are ours
    }
    makers: dict[str, Callable[..., ObjectStore]]
    makers = {"s3": stores.S3Store, "gs": stores.GCSStore, "az": stores.AzureStore}
    if address.scheme == "s3":
        given |= _s3_credentials()
    failure: Exception
    try:
        return makers[address.scheme](address.host, **given)
    except Exception as error:  # of a configuration that says too little, which it quotes
        failure = error
    raise InputOutputFailed(
        f"{address.scheme}:// cannot be read: {type(failure).__name__}",
        hint="the environment must name the account and its credentials, as for the cloud's own command line",
    )


def _client_options(hosts: tuple[str, ...], *, in_plain: bool) -> dict[str, Any]:
    settings = load_settings(directory=None, state_dir=Path(os.sep))  # no state: it may be in this bucket
    options: dict[str, Any] = {
        "allow_http": in_plain,
        "connect_timeout": f"{CONNECT_TIMEOUT_SECONDS:.0f}s",
        "read_timeout": f"{REMOTE_SILENCE_SECONDS:.0f}s",
        "timeout": f"{REMOTE_PIECE_SECONDS:.0f}s",
        "proxy_url": settings.proxy.unwrap() if settings.proxy else _NOWHERE,
        "proxy_excludes": ",".join(_LOOPBACK if settings.proxy else hosts),
    }
    if settings.ca_bundle is not None:
        options["root_certificate"] = settings.ca_bundle.read_bytes()
    return options


def _s3_credentials() -> dict[str, Any]:
    """The credentials that boto3 finds: it knows profiles and single sign-on. Without boto3, obstore looks itself."""
    if importlib.util.find_spec("boto3") is None or os.environ.get("AWS_SKIP_SIGNATURE"):
        return {}
    from obstore.auth.boto3 import Boto3CredentialProvider

    # Errors of botocore, by a profile that is not there or is damaged, quote it.
    with suppress(Exception):
        return {"credential_provider": Boto3CredentialProvider()}
    raise InputOutputFailed(
        "s3:// cannot be read: no credentials were found",
        hint="give them as the command line of AWS takes them; AWS_SKIP_SIGNATURE=true reads a public bucket",
    )


def _version_of(meta: Any) -> Version:
    if not meta["e_tag"]:
        raise SourceRefused("its bucket gives no ETag: a change while it is read could not be seen")
    return Version(meta["size"], meta["e_tag"])


def _in_our_words(error: Exception) -> Exception:
    """Replace errors of obstore, which quote addresses, answers and keys. Only their type is passed on."""
    from obstore import exceptions

    match error:
        case exceptions.NotFoundError() | FileNotFoundError():
            return missing(hint="the address of a directory ends with /")
        case exceptions.PreconditionError() | exceptions.NotModifiedError():
            return changed()
        case exceptions.PermissionDeniedError() | exceptions.UnauthenticatedError() | PermissionError():
            hint = "check whose credentials the environment gives, and what they may read"
            return InputOutputFailed("cannot be read: the bucket does not allow it", hint=hint)
        case exceptions.NotSupportedError() | exceptions.InvalidPathError():
            return SourceRefused(
                "it cannot be read from its bucket: the name, or reading in pieces, is not taken there"
            )
        case exceptions.BaseError() if _REGION.search(str(error)):
            return InputOutputFailed("cannot be read: the bucket lies in another region", hint="set AWS_REGION")
        case exceptions.BaseError() | OSError() | TimeoutError():
            return Lost("the bucket was not reached, did not answer, or sent to another host")
    return InputOutputFailed(f"cannot be read: {type(error).__name__}")
