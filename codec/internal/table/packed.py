"""Packed writes tables that package table reads: see packed.go."""


class Packed:
    """Writes tables.bin, which table.Packed reads."""

    def __init__(self):
        self.out = bytearray()

    def uint(self, n):
        while n > 0x7F:
            self.out.append(n & 0x7F | 0x80)
            n >>= 7
        self.out.append(n)

    def spans(self, spans):
        self.uint(len(spans))
        at = 0
        for lo, hi, value in spans:
            self.uint(lo - at)
            self.uint(hi - lo)
            self.uint(value)
            at = hi

    def text_map(self, pairs):
        self.uint(len(pairs))
        at, texts = 0, [text.encode() for _, text in pairs]
        for key, _ in pairs:
            self.uint(key - at)
            at = key
        for text in texts:
            self.uint(len(text))
        joined = b"".join(texts)
        assert len(joined) < 1 << 16
        self.out += joined

    def write(self):
        with open("tables.bin", "wb") as f:
            f.write(self.out)
