"""A separate network for a test, from which no address outside loopback can be reached.

Tests of forbidden addresses must not send a byte to them, even if the program under test is wrong.
"""
import ctypes
import fcntl
import os
import socket
import struct

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1


def unshare(flags):
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.unshare(flags) == 0


def become_same_user(uid, gid):
    """Maps this process's user and group to the same numbers in the new user namespace."""
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"),
                       ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


def loopback_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        request = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(probe, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(probe, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))


def enter():
    """Moves this process and its future children to a network with only loopback. Returns False
    if that is not possible; the network is then unchanged. Call it before any thread is started."""
    uid, gid = os.getuid(), os.getgid()
    if unshare(CLONE_NEWNET):
        loopback_up()
        return True
    if uid == 0 or not unshare(CLONE_NEWUSER | CLONE_NEWNET):
        return False
    become_same_user(uid, gid)
    loopback_up()
    return True
