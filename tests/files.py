"""Files for tests: the smallest of each type, and what is none of them."""

import base64
import hashlib

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
GIF = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00"
PDF = b"%PDF-1.4\n1 0 obj<<>>endobj\n%%EOF"
PAGE = b"<!doctype html><script>alert(1)</script>"
BYTES = b"\x7fELF\x00\x01\x02"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
