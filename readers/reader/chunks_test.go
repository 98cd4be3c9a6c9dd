package reader

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"
)

// collect reads a file in pieces and checks what every reader relies on: offsets
// follow each other, a piece ends at a line's end or says that it is cut, the last
// one is told.
func collect(t testing.TB, in *Input) (data []byte, cuts int) {
	t.Helper()
	var at int64
	var last bool
	err := EachChunk(context.Background(), in, func(c Chunk) Chunk {
		c.Data = bytes.Clone(c.Data)
		return c
	}, func(c Chunk) error {
		switch {
		case last:
			t.Errorf("a piece at %d behind the last", c.Offset)
		case c.Offset != at:
			t.Errorf("a piece at %d, want it at %d", c.Offset, at)
		case !c.Cut && len(c.Data) > 0 && c.Data[len(c.Data)-1] != '\n':
			t.Errorf("a piece at %d ends in a line", c.Offset)
		}
		at, last = c.Offset+int64(len(c.Data))+c.Skipped, c.Last
		if c.Cut {
			cuts++
		}
		data = append(data, c.Data...)
		return nil
	})
	if err != nil {
		t.Errorf("%v", err)
	}
	if !last {
		t.Error("no piece is the last")
	}
	if at != in.Unpacked() {
		t.Errorf("pieces to %d of %d bytes", at, in.Unpacked())
	}
	return data, cuts
}

// cutLines is what pieces must give: lines as long as a piece lose their rest.
func cutLines(b []byte) (out []byte, cuts int) {
	for len(b) > 0 {
		line := b
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			line = b[:i+1]
		}
		b = b[len(line):]
		if len(line) > lineSize {
			out, cuts = append(out, line[:lineSize]...), cuts+1
			continue
		}
		if line[len(line)-1] != '\n' {
			cuts++
		}
		out = append(out, line...)
	}
	return out, cuts
}

func TestPiecesEndAtLines(t *testing.T) {
	line := func(n int) string { return strings.Repeat("x", n-1) + "\n" }
	for name, content := range map[string]string{
		"nothing":                               "",
		"one line":                              "abc\n",
		"a line without an end":                 "abc\ndef",
		"blank lines":                           strings.Repeat("\n", 3<<20),
		"many lines":                            strings.Repeat(line(100), 40_000),
		"a line as long as a piece":             line(lineSize) + line(7),
		"a line as long as a small piece":       line(7) + line(chunkSize-8) + line(7),
		"a line longer than a small piece":      line(7) + line(chunkSize+1) + line(7) + line(3*chunkSize) + line(2*chunkSize),
		"a line shorter by one":                 line(7) + line(lineSize-1) + line(7),
		"a line longer by one":                  line(lineSize+1) + line(7),
		"a line over a border":                  line(lineSize-10) + line(20) + line(7),
		"a line of five pieces":                 line(100) + line(5*lineSize) + line(100),
		"two lines of five pieces":              line(5*lineSize) + line(5*lineSize),
		"a line of five pieces without its end": line(100) + strings.Repeat("y", 5*lineSize),
		"just a piece without an end":           strings.Repeat("y", lineSize),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, cuts := cutLines([]byte(content))
			got, n := collect(t, file(t, []byte(content)))
			// A line without its end may be cut one piece before its own length says so.
			if !bytes.Equal(got, want) || n != cuts {
				t.Errorf("%d bytes and %d cuts; want %d and %d", len(got), n, len(want), cuts)
			}
		})
	}
}

// The hole of a sparse file is passed over, and what comes behind it is read.
func TestHoles(t *testing.T) {
	path := t.TempDir() + "/sparse"
	if err := os.WriteFile(path, []byte("first\nsecond"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	const behind = 200 << 30
	if _, err := f.WriteAt([]byte("of a line\nlast\n"), behind); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	for _, size := range []int64{behind + 15, 400 << 30} { // it ends in data, and in a hole
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		in, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := collect(t, in)
		if !bytes.HasPrefix(got, []byte("first\nsecond\x00")) || !bytes.Contains(got, []byte("last\n")) || len(got) > 4*lineSize {
			t.Errorf("%d bytes", len(got))
		}
		if in.Unpacked() != size || in.Done() != size {
			t.Errorf("%d of %d bytes", in.Unpacked(), size)
		}
		_ = in.Close()
	}
}

func FuzzPieces(f *testing.F) {
	f.Add([]byte("abc\ndef"), uint16(1), uint32(0))
	f.Add(gzipped([]byte("abc\ndef\n")), uint16(1), uint32(4))
	f.Add([]byte("x"), uint16(1), uint32(lineSize))
	f.Add(zstded([]byte("x")), uint16(3), uint32(1))
	f.Fuzz(func(t *testing.T, b []byte, times uint16, long uint32) {
		content := append(bytes.Repeat(b, int(times%8)), bytes.Repeat([]byte("z"), int(long%(3*lineSize)))...)
		path := t.TempDir() + "/f"
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := Open(path)
		if err != nil {
			return
		}
		defer in.Close()
		if in.Packed == "" {
			want, _ := cutLines(content)
			if got, _ := collect(t, in); !bytes.Equal(got, want) {
				t.Errorf("%d bytes, want %d", len(got), len(want))
			}
			return
		}
		err = EachChunk(context.Background(), in, func(Chunk) int { return 0 }, func(int) error { return nil })
		if torn := (*Torn)(nil); err != nil && !errors.As(err, &torn) {
			t.Errorf("%v", err)
		}
	})
}

// Pieces are parsed in any order and used in the file's.
func TestResultsComeInTheFilesOrder(t *testing.T) {
	in := file(t, text(12<<20))
	var at int64
	err := EachChunk(context.Background(), in, func(c Chunk) Chunk {
		time.Sleep(time.Duration(rand.IntN(5)) * time.Millisecond)
		return c
	}, func(c Chunk) error {
		if c.Offset != at {
			t.Errorf("the piece at %d comes where that at %d should", c.Offset, at)
		}
		at += int64(len(c.Data))
		return nil
	})
	if err != nil || at != 12<<20 {
		t.Errorf("%d bytes, %v", at, err)
	}
}

func TestAnErrorOfUseEndsTheReading(t *testing.T) {
	in := file(t, text(12<<20))
	enough := errors.New("enough")
	used := 0
	err := EachChunk(context.Background(), in, func(c Chunk) int64 { return c.Offset }, func(int64) error {
		used++
		return enough
	})
	if !errors.Is(err, enough) || used != 1 {
		t.Errorf("%v after %d pieces", err, used)
	}
}

// What was read until it is cancelled is used.
func TestCancelKeepsWhatWasRead(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	in := file(t, text(30<<20))
	var used int64
	err := EachChunk(ctx, in, func(c Chunk) int { return len(c.Data) }, func(n int) error {
		if used += int64(n); used > 5<<20 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if used < 5<<20 || used > 20<<20 {
		t.Errorf("%d bytes were used", used)
	}
}

// A pipe that says nothing does not keep it from ending.
func TestCancelWhileAPipeIsSilent(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	go func() { _, _ = w.Write(text(3 << 20)) }()
	in := &Input{Path: "pipe", raw: newRaw(r), stop: func() {}}
	in.raw.ahead()
	if err := in.unpack(HeadSize); err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	var used int
	err = EachChunk(ctx, in, func(c Chunk) int { return len(c.Data) }, func(n int) error {
		used += n
		return nil
	})
	if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if used < 1<<20 {
		t.Errorf("%d bytes of 3 MiB were used", used)
	}
}

// Lines are those of the pieces, as long as they are not longer than it keeps.
func TestLines(t *testing.T) {
	content := join(text(200_000), []byte("\n"), bytes.Repeat([]byte("l"), mostRoom-1), []byte("\n"), bytes.Repeat([]byte("m"), 10*mostRoom), []byte("\nnext\n\nlast"))
	l := NewLines(file(t, content))
	var got []byte
	var torn int
	for {
		line, whole, err := l.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(append(got, line...), '\n')
		if !whole {
			torn++
		}
	}
	want := bytes.Replace(content, bytes.Repeat([]byte("m"), 10*mostRoom), bytes.Repeat([]byte("m"), mostRoom), 1)
	want = append(want, '\n')
	if !bytes.Equal(got, want) || l.Cut != 1 || torn != 2 {
		t.Errorf("%d bytes, %d lines cut, %d not whole; want %d, 1 and 2", len(got), l.Cut, torn, len(want))
	}

	packed := gzipped(content)
	l = NewLines(file(t, packed[:len(packed)-20]))
	var err error
	for err == nil {
		_, _, err = l.Next()
	}
	if torn := (*Torn)(nil); !errors.As(err, &torn) || torn.Offset == 0 {
		t.Errorf("%v", err)
	}
}

func BenchmarkEachChunk(b *testing.B) {
	content := text(64 << 20)
	for name, data := range map[string][]byte{"plain": content, "gzip": gzipped(content), "zstd": zstded(content)} {
		b.Run(name, func(b *testing.B) {
			path := b.TempDir() + "/f"
			if err := os.WriteFile(path, data, 0o600); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(content)))
			for b.Loop() {
				in, err := Open(path)
				if err != nil {
					b.Fatal(err)
				}
				if err := EachChunk(context.Background(), in, func(Chunk) int { return 0 }, func(int) error { return nil }); err != nil {
					b.Fatal(err)
				}
				_ = in.Close()
			}
		})
	}
}
