"""Readable oracles for theta sketches: plain Python sets and loops."""

from __future__ import annotations

import struct

MASK = (1 << 64) - 1
MAX_THETA = (1 << 63) - 1


def _rotl(x, r):
    return ((x << r) | (x >> (64 - r))) & MASK


def _fmix(k):
    k = ((k ^ (k >> 33)) * 0xFF51AFD7ED558CCD) & MASK
    k = ((k ^ (k >> 33)) * 0xC4CEB9FE1A85EC53) & MASK
    return k ^ (k >> 33)


def murmur(data: bytes, seed: int) -> int:
    """MurmurHash3_x64_128, first half."""
    c1, c2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
    h1 = h2 = seed
    whole = len(data) // 16 * 16
    for at in range(0, whole, 16):
        k1, k2 = struct.unpack_from("<QQ", data, at)
        h1 ^= _rotl(k1 * c1 & MASK, 31) * c2 & MASK
        h1 = ((_rotl(h1, 27) + h2) * 5 + 0x52DCE729) & MASK
        h2 ^= _rotl(k2 * c2 & MASK, 33) * c1 & MASK
        h2 = ((_rotl(h2, 31) + h1) * 5 + 0x38495AB5) & MASK
    k1, k2 = struct.unpack("<QQ", data[whole:].ljust(16, b"\0"))
    h2 ^= _rotl(k2 * c2 & MASK, 33) * c1 & MASK
    h1 ^= _rotl(k1 * c1 & MASK, 31) * c2 & MASK
    h1, h2 = h1 ^ len(data), h2 ^ len(data)
    h1 = (h1 + h2) & MASK
    h2 = (h2 + h1) & MASK
    return (_fmix(h1) + _fmix(h2)) & MASK


def hash_key(key, seed: int = 9001) -> int:
    """The hash that a key is known by; 0 for no key."""
    if isinstance(key, int):
        data = struct.pack("<q", key)
    elif isinstance(key, float):
        data = struct.pack("<Q", 0x7FF8 << 48) if key != key else struct.pack("<d", key + 0.0)
    else:
        data = key.encode()
    return murmur(data, seed) >> 1 if data else 0


class Sketch:
    """θ and a set of hashes below it."""

    def __init__(self, hashes, theta=MAX_THETA):
        self.theta = theta
        self.hashes = {h for h in hashes if h < theta}

    @classmethod
    def of(cls, hashes, k):
        """The sketch of a whole set: its k smallest hashes, θ the next one."""
        distinct = sorted(set(hashes) - {0})
        return cls(distinct, distinct[k]) if len(distinct) > k else cls(distinct)

    def union(self, other, k=None):
        theta = min(self.theta, other.theta)
        merged = sorted(h for h in self.hashes | other.hashes if h < theta)
        return Sketch(merged, merged[k]) if k is not None and len(merged) > k else Sketch(merged, theta)

    def intersection(self, other):
        return Sketch(self.hashes & other.hashes, min(self.theta, other.theta))

    def difference(self, other):
        return Sketch(self.hashes - other.hashes, min(self.theta, other.theta))

    __hash__ = None

    def __eq__(self, other):
        return self.theta == other.theta and self.hashes == other.hashes


def image(sketch: Sketch, seed_hash: int = 0x93CC) -> bytes:
    """Serial version 3, written out by hand."""
    hashes = sorted(sketch.hashes)
    exact = sketch.theta == MAX_THETA
    longs = 3 if not exact else 1 if len(hashes) < 2 else 2
    flags = 0x1E if exact and not hashes else 0x1A
    head = struct.pack("<BBBBBBH", longs, 3, 3, 0, 0, flags, seed_hash)
    head += struct.pack("<Q", len(hashes)) if longs > 1 else b""
    head += struct.pack("<Q", sketch.theta) if longs > 2 else b""
    return head + b"".join(struct.pack("<Q", h) for h in hashes)


def image_v4(sketch: Sketch, width: int | None = None, seed_hash: int = 0x93CC) -> bytes:
    """Serial version 4 with entries of any sufficient width, bit by bit."""
    hashes = sorted(sketch.hashes)
    steps = [b - a for a, b in zip([0, *hashes], hashes, strict=False)]
    width = width or max(step.bit_length() for step in steps)
    bits = "".join(format(step, f"0{width}b") for step in steps)
    bits += "0" * (-len(bits) % 8)
    exact = sketch.theta == MAX_THETA
    count = len(hashes).to_bytes((len(hashes).bit_length() + 7) // 8, "little")
    head = struct.pack("<BBBBBBH", 1 if exact else 2, 4, 3, width, len(count), 0x1A, seed_hash)
    head += b"" if exact else struct.pack("<Q", sketch.theta)
    return head + count + int(bits, 2).to_bytes(len(bits) // 8, "big")
