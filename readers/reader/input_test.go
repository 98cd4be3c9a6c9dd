package reader

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// text is n bytes of lines that pack about as well as a log does.
func text(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for b.Len() < n {
		b.WriteString(strings.Repeat("sendto(12, ", 1+r.IntN(9)))
		for range r.IntN(40) {
			b.WriteByte(byte('a' + r.IntN(26)))
		}
		b.WriteByte('\n')
	}
	return b.Bytes()[:n]
}

func gzipped(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(b)
	_ = z.Close()
	return out.Bytes()
}

func zstded(b []byte) []byte {
	z, _ := zstd.NewWriter(nil)
	return z.EncodeAll(b, nil)
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// file writes b to a file and opens it.
func file(t testing.TB, b []byte) *Input {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	return in
}

func TestPackedFilesAreUnpackedByContent(t *testing.T) {
	want := text(3 << 20)
	a, b := want[:1<<20+7], want[1<<20+7:]
	skippable := []byte{0x53, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4} // as pzstd writes them
	for name, c := range map[string]struct {
		data   []byte
		packed string
	}{
		"plain":                    {want, ""},
		"gzip":                     {gzipped(want), "gzip"},
		"gzip of two members":      {join(gzipped(a), gzipped(b)), "gzip"},
		"gzip with an empty one":   {join(gzipped(a), gzipped(nil), gzipped(b)), "gzip"},
		"zstd":                     {zstded(want), "zstd"},
		"zstd of two frames":       {join(zstded(a), zstded(b)), "zstd"},
		"zstd, a skippable before": {join(skippable, zstded(want)), "zstd"},
	} {
		t.Run(name, func(t *testing.T) {
			in := file(t, c.data)
			if in.Packed != c.packed || in.Size != int64(len(c.data)) {
				t.Errorf("packed by %q, %d bytes; want %q and %d", in.Packed, in.Size, c.packed, len(c.data))
			}
			if head := in.Head(); !bytes.Equal(head, want[:HeadSize]) {
				t.Errorf("its head are %d other bytes", len(head))
			}
			got, err := io.ReadAll(in)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, %v; want %d", len(got), err, len(want))
			}
			if in.Done() != int64(len(c.data)) || in.Unpacked() != int64(len(want)) {
				t.Errorf("%d bytes of the file, %d unpacked; want %d and %d", in.Done(), in.Unpacked(), len(c.data), len(want))
			}
		})
	}
}

func TestTornFilesGiveWhatCameBefore(t *testing.T) {
	want := text(1 << 20)
	packed := gzipped(want)
	flipped := bytes.Clone(packed)
	flipped[len(flipped)-6] ^= 0xff // of the checksum
	for name, c := range map[string]struct {
		data []byte
		least,
		most int // bytes that must be given
		says string
	}{
		"gzip cut in the middle":             {packed[:len(packed)/2], len(want) / 4, len(want) * 3 / 4, "cut off after"},
		"gzip cut in its first 64 KiB":       {packed[:2000], 1000, HeadSize, "cut off after"},
		"gzip whose last byte is missing":    {packed[:len(packed)-1], len(want), len(want), "cut off after"},
		"gzip whose checksum is wrong":       {flipped, len(want), len(want), "damaged after"},
		"gzip with something else behind it": {join(packed, []byte("this is not a gzip member")), len(want), len(want), "damaged after"},
		"zstd cut in the middle":             {zstded(want)[:len(packed)/2], 0, len(want), "cut off after"},
	} {
		t.Run(name, func(t *testing.T) {
			in := file(t, c.data)
			var got int64
			err := EachChunk(context.Background(), in, func(c Chunk) Chunk { return c }, func(c Chunk) error {
				if !bytes.Equal(c.Data, want[c.Offset:c.Offset+int64(len(c.Data))]) {
					t.Errorf("other bytes at %d", c.Offset)
				}
				got = c.Offset + int64(len(c.Data))
				return nil
			})
			var torn *Torn
			if !errors.As(err, &torn) || torn.Offset != got {
				t.Fatalf("%v after %d bytes, want it torn there", err, got)
			}
			if got < int64(c.least) || got > int64(c.most) {
				t.Errorf("%d bytes of %d", got, len(want))
			}
			if !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), in.Path) {
				t.Errorf("%v; want %q", err, c.says)
			}
		})
	}
}

func TestWhatCannotBeOpenedSaysWhy(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		dir:                  "it is a folder: give the files in it",
		dir + "/nowhere":     "no such file or directory",
		"badgzip":            "it begins as a gzip file and is none",
		"badgzipdata":        "its gzip data are damaged from the beginning",
		"/proc/self/mem":     "input/output error",
		"/proc/1/root/a\x00": "invalid argument",
	} {
		switch path {
		case "badgzip":
			path = filepath.Join(dir, path)
			_ = os.WriteFile(path, []byte{0x1f, 0x8b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0}, 0o600)
		case "badgzipdata":
			path = filepath.Join(dir, path)
			_ = os.WriteFile(path, append(gzipped(nil)[:10], 0xff, 0xff, 0xff, 0xff, 0xff), 0o600)
		}
		in, err := Open(path)
		if err == nil {
			_ = in.Close()
			t.Errorf("%q is opened", path)
			continue
		}
		if !strings.HasPrefix(err.Error(), "read "+path+": ") || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), path) > 1 {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// A file that grows while it is read is read as far as it went, and says so; one
// that is cut short says that.
func TestFilesThatChangeWhileTheyAreRead(t *testing.T) {
	all := text(2 << 20)
	in := file(t, all)
	grow, err := os.OpenFile(in.Path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer grow.Close()
	if _, err := grow.Write([]byte("more\n")); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(in)
	if err != nil || !bytes.Equal(got, all) {
		t.Errorf("%d bytes, %v; want %d", len(got), err, len(all))
	}
	if said := in.Changed(); !strings.Contains(said, "grew by 5 B") || !strings.Contains(said, "byte 2097152") {
		t.Errorf("%q", said)
	}

	in = file(t, all)
	if err := os.Truncate(in.Path, 1<<20); err != nil {
		t.Fatal(err)
	}
	got, err = io.ReadAll(in)
	if err != nil || len(got) != 1<<20 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if said := in.Changed(); !strings.Contains(said, "from 2097152 to 1048576 bytes") {
		t.Errorf("%q", said)
	}

	in = file(t, all)
	_ = os.Remove(in.Path)
	if got, err := io.ReadAll(in); err != nil || len(got) != len(all) || in.Changed() != "" {
		t.Errorf("removed: %d bytes, %v, %q", len(got), err, in.Changed())
	}
}

// Nothing else ends a read of a pipe whose writer says nothing.
func TestInterruptEndsTheWaitForAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		w, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return
		}
		_, _ = w.Write(text(HeadSize + 100))
		time.Sleep(20 * time.Second)
		_ = w.Close()
	}()
	in, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	time.AfterFunc(200*time.Millisecond, in.Interrupt)
	began := time.Now()
	if got, err := io.ReadAll(in); !errors.Is(err, context.Canceled) || len(got) != HeadSize+100 || time.Since(began) > 10*time.Second {
		t.Errorf("%d bytes, %v after %v", len(got), err, time.Since(began))
	}
	if in.Size != 0 {
		t.Errorf("a pipe of %d bytes", in.Size)
	}
}

// A file of /proc says that it holds nothing.
func TestProcIsRead(t *testing.T) {
	in, err := Open("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if got, err := io.ReadAll(in); err != nil || !bytes.Contains(got, []byte("VmHWM:")) || in.Changed() != "" {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// All gives a file whole, or its beginning.
func TestAll(t *testing.T) {
	want := text(5 << 20)
	for name, data := range map[string][]byte{"plain": want, "gzip": gzipped(want), "empty": nil} {
		for _, most := range []int64{1000, 64 << 10, 1 << 20, 5 << 20, 6 << 20} {
			whole := want
			if data == nil {
				whole = nil
			}
			got, err := file(t, data).All(most)
			if err != nil || !bytes.Equal(got, whole[:min(int(most), len(whole))]) || cap(got) > int(most) {
				t.Errorf("%s, %d: %d bytes in %d, %v", name, most, len(got), cap(got), err)
			}
		}
	}
	packed := gzipped(want)
	got, err := file(t, packed[:len(packed)/2]).All(6 << 20)
	if torn := (*Torn)(nil); !errors.As(err, &torn) || len(got) == 0 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
