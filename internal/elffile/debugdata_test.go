package elffile

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func packed(tb testing.TB, raw []byte, flags ...string) []byte {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "raw")
	if err := os.WriteFile(path, raw, 0o644); err != nil {
		tb.Fatal(err)
	}
	b, err := exec.Command("xz", append(flags, "--stdout", path)...).Output()
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func TestUnpack(t *testing.T) {
	raw := bytes.Repeat([]byte("relay::Lock::spin "), 5000)
	for _, flags := range [][]string{nil, {"-9"}, {"-0"}, {"-T2"}, {"--check=crc64"}} {
		b := packed(t, raw, flags...)
		if got, err := unpack(b, len(raw)); err != nil || !bytes.Equal(got, raw) {
			t.Errorf("%v: %d bytes, %v", flags, len(got), err)
		}
		if _, err := unpack(b, len(raw)-1); err == nil {
			t.Errorf("%v: more than is wanted", flags)
		}
		for _, n := range []int{0, 5, 13, len(b) / 2} {
			if got, err := unpack(b[:n], len(raw)); err == nil && len(got) == len(raw) {
				t.Errorf("%v: whole, of the first %d bytes", flags, n)
			}
		}
	}
	if _, err := unpack(packed(t, raw, "--x86", "--lzma2"), len(raw)); err == nil {
		t.Error("a filter that is not read")
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(packed(f, []byte("spin spin spin")))
	f.Add(packed(f, bytes.Repeat([]byte{1, 2, 3}, 100), "-9"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if raw, err := unpack(b, 1<<16); err == nil && len(raw) > 1<<16 {
			t.Errorf("%d bytes", len(raw))
		}
	})
}
