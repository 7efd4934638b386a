"""The way out of a browser under test: names are resolved and judged here, then dialled."""

from __future__ import annotations

import socket
import threading
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Protocol

from poor_bench.evaluation.browser.safety.addresses import Address, refusal
from poor_bench.evaluation.browser.safety.byte_budget import ByteBudget

CONNECT_TIMEOUT_S = 20.0


class Network(Protocol):
    """Network functions of the filter."""

    def resolve(self, host: str) -> list[Address]:
        """All addresses of a host, which may be an address in any spelling.

        Raises:
            OSError: If there are none.
        """

    def dial(self, address: Address, port: int) -> socket.socket:
        """Connect to exactly this address.

        Raises:
            OSError: If there is none to be had.
        """


class SystemNetwork:
    """The machine's own resolver and sockets."""

    def resolve(self, host: str) -> list[Address]:
        """Ask the machine's resolver."""
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        return [ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]

    def dial(self, address: Address, port: int) -> socket.socket:
        """Open a TCP connection."""
        return socket.create_connection((str(address), port), timeout=CONNECT_TIMEOUT_S)


class RefusedAddressError(Exception):
    """A host must not be reached; the message says why."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """One attempt to reach what must not be reached."""

    host: str
    reason: str


class Gatekeeper:
    """Connects to hosts that may be reached, and remembers whom it refused."""

    def __init__(self, network: Network, *, allow_private: bool) -> None:
        self.budget = ByteBudget()
        self._network = network
        self._allow_private = allow_private
        self._refusals: list[Refusal] = []
        self._complaints: dict[str, str] = {}
        self._lock = threading.Lock()

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """Everything that was refused so far, in order."""
        with self._lock:
            return tuple(self._refusals)

    def complaint(self, host: str) -> str | None:
        """Why the last connection to a host failed; None if it succeeded."""
        with self._lock:
            return self._complaints.get(host)

    def connect(self, host: str, port: int) -> socket.socket:
        """Connect to one of the addresses of `host`, after all of them were checked.

        Raises:
            RefusedAddressError: If one of its addresses must not be reached.
            OSError: If there is no such host, or it does not answer.
        """
        try:
            addresses = self._network.resolve(host)
            for address in addresses:
                self._judge(host, address)
            connection = self._dial_first(addresses, port)
        except (RefusedAddressError, OSError, UnicodeError) as error:
            with self._lock:
                self._complaints[host] = f"{host}: {error}"
            raise
        with self._lock:
            self._complaints.pop(host, None)
        return connection

    def _judge(self, host: str, address: Address) -> None:
        reason = None if self._allow_private else refusal(address)
        if reason is None:
            return
        with self._lock:
            self._refusals.append(Refusal(host, reason))
        hint = "see allow_private_networks"
        raise RefusedAddressError(f"refused, since {address} is {reason}; {hint}")

    def _dial_first(self, addresses: list[Address], port: int) -> socket.socket:
        failure = OSError("the name does not resolve to an address")
        for address in addresses:
            try:
                return self._network.dial(address, port)
            except OSError as error:
                failure = error
        raise failure
