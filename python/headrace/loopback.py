"""Access to a server of this machine: it listens on the loopback alone, and a token begins every path."""

import hmac
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field

LOOPBACK = "127.0.0.1"
# A page loads from its own server alone; NiceGUI needs scripts and styles in the page, and compiles templates there.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
# Sent with every answer: the token stands in the address, which no other site is to learn.
HEADERS = {
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": POLICY,
}


@dataclass(frozen=True)
class Guard:
    """Says which requests are refused. A program of the same user can read the token; other users and sites cannot."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    @property
    def address(self) -> str:
        """The address to open, with the token."""
        return f"http://{LOOPBACK}:{self.port}{self.path}"

    @property
    def path(self) -> str:
        """Prefix of the path of every request."""
        return f"/{self.token}/"

    def refusal(self, path: str, headers: Mapping[str, str]) -> str | None:
        """Say why a request is refused; `headers` have lower-case names.

        A foreign `Host` is a name that someone made lead here; a foreign `Origin`, the page of another site.
        """
        hosts = [f"{name}:{self.port}" for name in (LOOPBACK, "localhost")]
        if headers.get("host") not in hosts:
            return "refused: another host; open the address that headrace printed"
        if headers.get("origin", f"http://{hosts[0]}") not in [f"http://{host}" for host in hosts]:
            return "refused: another site asks"
        if not hmac.compare_digest(path[: len(self.path)].encode(), self.path.encode()):
            return "refused: the token is missing from the address; open the address that headrace printed"
        return None


def listening(port: int = 0) -> socket.socket:
    """Return a socket that listens on the loopback; port 0 takes a free one. Raises `OSError` where it is taken."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener
