"""The address of a database."""

import re

from promptc.diag.findings import PromptcError, Span, fail, join_names
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Literal

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_SERVERS = ("postgresql", "postgres", "postgresql+psycopg")
_USED = (
    "host", "port", "user", "password", "dbname", "sslmode", "sslrootcert", "sslcert", "sslkey", "channel_binding", "connect_timeout",
    "application_name",
)  # fmt: skip
"""The URL options that are passed to a server. Others would open files, read services or set what a transaction may do."""

_FORMS = "write `sqlite:segments.db`, or, outside a manifest, `postgresql://user@host/database`"


Kind = Literal["sqlite", "postgresql"]


@frozen
class Address:
    """A database: `target` is the path of a SQLite file or the URL of a PostgreSQL server.

    `shown` is its name in diagnostics, always without a password and without the options of the URL.
    """

    kind: Kind
    target: str = field(repr=False)
    shown: str


def names_server(url: str) -> bool:
    """Return whether a URL is that of a server, judging by its scheme."""
    scheme = _SCHEME.match(url)
    return scheme is not None and scheme[1].lower() in _SERVERS


def read_address(url: str, span: Span | None = None) -> Address:
    """Parse the URL of a database.

    `sqlite:PATH` and `sqlite:///PATH` are files; `postgresql://…` (or `postgres://…`) is a server, in the notation of PostgreSQL's own
    tools. Raises PC0167 for any other URL; its message shows nothing of the URL but its scheme. Raises PC0949 for a server option that is
    not used.
    """
    scheme = _SCHEME.match(url)
    if scheme is None:
        raise fail("PC0167", "the URL of a store must begin with `sqlite:` or `postgresql:`", span, help=_FORMS)
    name = scheme[1].lower()
    if name == "sqlite":
        return _read_file(url[scheme.end() :], span)
    if name in _SERVERS:
        return _read_server(f"postgresql+psycopg:{url[scheme.end() :]}", span)
    raise fail("PC0167", f"promptc cannot read a store of the kind `{name[:40]}:`", span, help=_FORMS)


def _read_file(rest: str, span: Span | None) -> Address:
    path = rest.removeprefix("//").removeprefix("/") if rest.startswith("///") else rest
    if not path or path.startswith("//") or "\0" in path or path == ":memory:":
        raise fail("PC0167", "`sqlite:` names no file", span, help="write `sqlite:segments.db`, or an absolute path: `sqlite:/…`")
    try:
        path.encode()
    except UnicodeEncodeError:
        raise fail("PC0167", "the path of the store is not UTF-8", span) from None
    return Address("sqlite", path, f"sqlite:{path}")


def _read_server(url: str, span: Span | None) -> Address:
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise _refuse(span) from None
    if not url.startswith("postgresql+psycopg://"):
        raise _refuse(span)
    strange = sorted(set(parsed.query) - set(_USED))
    if strange:
        message = f"the URL after `postgresql:` has the option `{strange[0][:40]}`, which promptc does not use"
        raise fail("PC0949", message, span, help=f"remove it; promptc uses only {join_names(_USED)}")
    user = f"{parsed.username}@" if parsed.username else ""
    port = f":{parsed.port}" if parsed.port else ""
    return Address("postgresql", url, f"postgresql://{user}{parsed.host or ''}{port}/{parsed.database or ''}")


def _refuse(span: Span | None) -> PromptcError:
    return fail("PC0167", "the URL after `postgresql:` cannot be read", span, help="write `postgresql://user:password@host:5432/database`")
