"""Python imports this at its start, before anything else: every address that a process asks for is written down.

It needs nothing of the project, whose own processes are what is looked at.
"""

import json
import os
import sys

_EVENTS = {"socket.connect": 1, "socket.sendto": 1, "socket.sendmsg": 1}  # which argument is the address
_NAMES = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo")
_FILE = os.open(os.environ["EGRESS_FILE"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)


def _note(event: str, given: tuple[object, ...]) -> None:
    if event in _EVENTS:
        address = given[_EVENTS[event]]
        # A socket of the file system is no network, and one that is connected has been told of before.
        if not isinstance(address, tuple):
            return
        place: list[object] = list(address[:2])
    elif event in _NAMES:
        place = [str(given[0]), None]
    else:
        return
    os.write(_FILE, json.dumps([os.environ.get("EGRESS_JOB"), event, *place]).encode() + b"\n")


sys.addaudithook(_note)
