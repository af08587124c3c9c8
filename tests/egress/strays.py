"""A namespace of networks with nothing but loopback: the kernel counts the packets that have no way in it."""

from __future__ import annotations

import fcntl
import socket
import struct
from pathlib import Path

SET_FLAGS, UP_AND_RUNNING = 0x8914, 0x41  # netdevice(7)
# Packets without a route, and every datagram: the service is asked over TCP, and names are asked for by UDP.
COUNTS = {"Ip:": ["OutNoRoutes"], "Udp:": ["OutDatagrams", "NoPorts", "InErrors"]}
COUNTS_OF_6 = ["Ip6OutNoRoutes", "Udp6OutDatagrams"]


def raise_loopback() -> None:
    """As `ip link set lo up`, on machines without `ip`."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        fcntl.ioctl(door, SET_FLAGS, struct.pack("16sh14x", b"lo", UP_AND_RUNNING))


def count_strays() -> int:
    """Packets of this namespace so far that had no way, and all datagrams; of Python and of anything else."""
    net = Path("/proc/self/net")
    rows = [line.split() for line in (net / "snmp").read_text().splitlines()]
    four = [
        int(values[names.index(name)])
        for names, values in zip(rows[::2], rows[1::2], strict=True)
        for name in COUNTS.get(names[0], ())
    ]
    rows = [line.split() for line in (net / "snmp6").read_text().splitlines()] if (net / "snmp6").exists() else []
    return sum(four) + sum(int(value) for name, value in rows if name in COUNTS_OF_6)
