"""The groups of the Autobahn test suite by hand: that program needs Python 2, RFC 6455 does not.

1 framing, 2 pings and pongs, 3 reserved bits, 4 opcodes, 5 fragments, 6 UTF-8, 7 closing; 9 (limits):
test_ws_frames.py; 12 and 13 (compression) do not apply: permessage-deflate is off.
"""

import struct
from pathlib import Path

import pytest

from tests.gateway.raw_socket import CLOSE, CONTINUE, PING, TEXT, RawSocket, make_frame, make_handshake
from tests.gateway.server import TOKEN, run, serve

PONG = 10
ASK = b'{"event":"user.cancel"}'  # is answered with one frame, whatever else is going on
PART, REST = make_frame(TEXT, ASK[:5], fin=False), make_frame(CONTINUE, ASK[5:])
VALID_TEXTS = ["κόσμε", "Hello-µ@ßöäüàá-UTF-8!!", "𐍈\U0010ffff", "\ud7ff\ue000\ufffd"]
INVALID_UTF8 = [
    b"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xed\xa0\x80edited",  # a surrogate
    b"\xf4\x90\x80\x80",  # beyond U+10FFFF
    b"\xc0\xaf",  # longer than it need be
    b"\xe0\x80\xaf",
    b"\xf0\x80\x80\xaf",
    b"\xf8\x88\x80\x80\x80",
    b"\xfc\x84\x80\x80\x80\x80",
    b"\x80",
    b"\xbf\x80",
    b"\xfe",
    b"\xff",
    b"\xce",  # cut off
    b"\xf0\x9f\x98",
    b"\xed\xbf\xbf",
]
GOOD_CODES = (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999)
BAD_CODES = (0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535)


def close_frame(code: int, reason: bytes = b"") -> bytes:
    return make_frame(CLOSE, struct.pack("!H", code) + reason)


def ask(size: int) -> bytes:
    return ASK.ljust(size)


ANSWERED: dict[str, bytes] = {  # what is right is answered, whatever stands beside it
    **{f"1 a frame of {size}": make_frame(TEXT, ask(size)) for size in (len(ASK), 125, 126, 127, 128, 65_535, 65_536)},
    "2 a pong that nobody asked for": make_frame(PONG) + make_frame(PONG, b"?" * 125) + make_frame(TEXT, ASK),
    "5 two fragments": PART + REST,
    "5 a fragment a byte": b"".join(
        make_frame(TEXT if not at else CONTINUE, ASK[at : at + 1], fin=at == len(ASK) - 1) for at in range(len(ASK))
    ),
    "5 empty fragments": make_frame(TEXT, b"", fin=False)
    + make_frame(CONTINUE, b"", fin=False)
    + make_frame(CONTINUE, ASK),
    "5 a pong between fragments": PART + make_frame(PONG, b"?") + REST,
    **{
        f"6 {text!r}": make_frame(TEXT, b'{"event":"user.cancel","x":"' + text.encode() + b'"}') for text in VALID_TEXTS
    },
    "6 a character over two fragments": make_frame(TEXT, b'{"event":"user.cancel","x":"\xce', fin=False)
    + make_frame(CONTINUE, b'\xba"}'),
}
CLOSED: dict[str, tuple[bytes, int]] = {
    "2 a ping of 126 bytes": (make_frame(PING, b"?" * 126), 1002),
    **{f"3 reserved bits {rsv}": (make_frame(TEXT, ASK, rsv=rsv), 1002) for rsv in range(1, 8)},
    **{f"3 reserved bits {rsv} of a ping": (make_frame(PING, rsv=rsv), 1002) for rsv in range(1, 8)},
    **{f"4 opcode {opcode}": (make_frame(opcode, ASK), 1002) for opcode in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15)},
    "5 a ping in fragments": (make_frame(PING, b"?", fin=False), 1002),
    "5 a pong in fragments": (make_frame(PONG, b"?", fin=False), 1002),
    "5 the end of nothing": (REST, 1002),
    "5 the middle of nothing": (make_frame(CONTINUE, ASK, fin=False), 1002),
    "5 a text in the middle of another": (PART + make_frame(TEXT, ASK), 1002),
    "5 the end of what has ended": (PART + REST + REST, 1002),
    **{f"6 {data!r}": (make_frame(TEXT, data), 1007) for data in INVALID_UTF8},
    **{
        f"6 {data!r} in two fragments": (make_frame(TEXT, data[:1], fin=False) + make_frame(CONTINUE, data[1:]), 1007)
        for data in INVALID_UTF8
    },
    "7 nothing said": (make_frame(CLOSE), 0),  # and nothing is said
    "7 half a code": (make_frame(CLOSE, b"\x03"), 1002),
    "7 a long reason": (close_frame(1000, b"r" * 123), 1000),
    "7 a reason that is too long": (close_frame(1000, b"r" * 124), 1002),
    "7 a reason that is no text": (close_frame(1000, b"\xff"), 1007),
    **{f"7 code {code}": (close_frame(code), code) for code in GOOD_CODES},
    **{f"7 code {code}, which is none": (close_frame(code), 1002) for code in BAD_CODES},
    "7 a ping after the end": (close_frame(1000) + make_frame(PING), 1000),
    "7 a text after the end": (close_frame(1000) + make_frame(TEXT, ASK), 1000),
}


@run
async def test_what_is_right_is_answered(tmp_path: Path) -> None:
    """Groups 1, 2, 5 and 6: the connection hears the question and lives on."""
    async with serve(tmp_path, connections_per_user=100) as server:
        for name, data in ANSWERED.items():
            raw = await RawSocket.open(server.port, TOKEN)
            await raw.read_frame()
            await raw.write(data)
            assert (name, (await raw.read_frame())[0]) == (name, TEXT)
            raw.shut()


@pytest.mark.parametrize("payload", [b"", b"hello", b"\x00\xff\xfe", b"?" * 125])
@run
async def test_a_ping_is_answered_with_its_payload(tmp_path: Path, payload: bytes) -> None:
    """Group 2, alone, ten in a row, and between fragments."""
    async with serve(tmp_path) as server:
        raw = await RawSocket.open(server.port, TOKEN)
        await raw.read_frame()
        await raw.write(make_frame(PING, payload) * 10 + PART + make_frame(PING, payload) + REST)
        told = [await raw.read_frame() for _ in range(12)]
        assert [each for each in told if each[0] == PONG] == [(PONG, payload)] * 11
        raw.shut()


@run
async def test_what_is_wrong_ends_the_connection_with_its_code(tmp_path: Path) -> None:
    """Groups 2 to 7: 1002 for a broken protocol, 1007 for what is no text, a client's own code comes back."""
    async with serve(tmp_path, connections_per_user=100) as server:
        told = {}
        for name, (data, _) in CLOSED.items():
            raw = await RawSocket.open(server.port, TOKEN)
            await raw.write(data)
            told[name] = await raw.closed_with()
        assert told == {name: code for name, (_, code) in CLOSED.items()}


@run
async def test_compression_is_not_spoken(tmp_path: Path) -> None:
    """permessage-deflate is off, whatever a client offers."""
    async with serve(tmp_path) as server:
        raw = await RawSocket.dial(server.port)
        offer = "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"
        await raw.write(make_handshake(server.port, f"/ws?token={TOKEN}", offer))
        assert b"extensions" not in (await raw.read_head()).lower()
        raw.shut()
