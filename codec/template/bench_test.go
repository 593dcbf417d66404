package template

import "testing"

func BenchmarkAppend(b *testing.B) {
	path := []byte("/user/17/f81d4fae-7dec-11d0-a765-00a0c91e6bf6/urls-are-hard/2026-11-21/edit")
	dst := make([]byte, 0, 256)
	b.ReportAllocs()
	b.SetBytes(int64(len(path)))
	for b.Loop() {
		dst = Append(dst[:0], path)
	}
}
