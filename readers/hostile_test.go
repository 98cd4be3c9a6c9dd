package readers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"snag/readers/reader"
	"snag/recording"
)

// sink counts what readers hand over, and takes it as a recording does.
type sink struct {
	mu            sync.Mutex
	rows, samples int
	strange       []string
}

func (s *sink) Sample(recording.Time, string, recording.Labels, float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples++
}

func (s *sink) Append(row recording.Row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows++; row.Table() == "" {
		s.strange = append(s.strange, fmt.Sprintf("%T", row))
	}
}

const mostSample = 2 << 20

// samples are the files under testdata of all readers, by the format that takes
// them: at least one of each, so that a new format is tested here without a line.
func samples(t testing.TB) map[string][][]byte {
	t.Helper()
	all := map[string][][]byte{}
	walk := func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains("/"+path, "/testdata/") || strings.Contains(path, "/fuzz/") {
			return err
		}
		in, err := reader.Open(path)
		if err != nil {
			return nil // of a reader's own hostile files
		}
		defer in.Close()
		f, why := formatOf(in.Head())
		if why != "" || len(all[f.Name]) >= 3 {
			return nil
		}
		b := make([]byte, mostSample)
		n := 0
		for n < len(b) && err == nil {
			var m int
			m, err = in.Read(b[n:])
			n += m
		}
		all[f.Name] = append(all[f.Name], b[:n])
		return nil
	}
	for _, root := range []string{".", "../internal/gclog/testdata", "../report/profile/testdata", "../probes/streams/passive/testdata"} {
		if err := filepath.WalkDir(root, walk); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range Formats {
		if len(all[f.Name]) == 0 {
			t.Errorf("no file under testdata is taken by the format %s: put a small one into readers/testdata", f.Name)
		}
	}
	return all
}

// feed has a format read bytes, whatever its Sniff says of them. It must come to an
// end, and what it says must be a sentence that names the file.
func feed(t testing.TB, f reader.Format, name string, b []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.1")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := reader.Open(path)
	if err != nil {
		return // told by its own tests
	}
	defer in.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	out := &sink{}
	o := reader.Options{Zone: time.UTC, Modified: time.Unix(1.7e9, 0), PID: 1}
	told, err := f.Read(ctx, in, o, out)
	check(t, f, name, path, told, err, out, ctx)
	if f.ReadSet == nil {
		return
	}
	a, err := reader.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b2, err := reader.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer b2.Close()
	out = &sink{}
	told, err = f.ReadSet(ctx, []*reader.Input{a, b2}, []reader.Options{o, o}, out)
	check(t, f, name+" as a set", path, told, err, out, ctx)
}

func check(t testing.TB, f reader.Format, name, path string, told reader.Told, err error, out *sink, ctx context.Context) {
	t.Helper()
	if ctx.Err() != nil {
		t.Errorf("%s, %s: it had no end within 30 s", f.Name, name)
	}
	for _, err := range single(err) {
		if text := named(path, err).Error(); !strings.Contains(text, path) || strings.Contains(text, "\n") {
			t.Errorf("%s, %s: %q: it does not name the file, in one line", f.Name, name, text)
		}
	}
	if told.Last != 0 && told.Last < told.First {
		t.Errorf("%s, %s: it ends (%d) before it begins (%d)", f.Name, name, told.Last, told.First)
	}
	if len(out.strange) > 0 {
		t.Errorf("%s, %s: rows of no table: %v", f.Name, name, out.strange)
	}
	if len(told.Coverage) > 200 || out.rows > 2_000_000 {
		t.Errorf("%s, %s: %d coverage rows, %d rows", f.Name, name, len(told.Coverage), out.rows)
	}
	for _, c := range told.Coverage {
		if c.State != recording.CoverageOK && c.Why == "" {
			t.Errorf("%s, %s: %s is %s and does not say why", f.Name, name, c.Probe, c.State)
		}
	}
}

// Every format is given what is not its own, and what is damaged.
func TestHostileFiles(t *testing.T) {
	all := samples(t)
	r := rand.New(rand.NewPCG(3, 4))
	noise := make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	for _, f := range Formats {
		t.Run(f.Name, func(t *testing.T) {
			feed(t, f, "an empty file", nil)
			feed(t, f, "random bytes", noise)
			feed(t, f, "zeros", make([]byte, 3<<20))
			feed(t, f, "newlines", bytes.Repeat([]byte("\n"), 3<<20))
			feed(t, f, "one line", bytes.Repeat([]byte("x"), 3<<20))
			for other, files := range all {
				if other != f.Name {
					feed(t, f, "a file of "+other, files[0])
				}
			}
			for i, b := range all[f.Name] {
				what := fmt.Sprintf("sample %d", i)
				feed(t, f, what, b)
				for _, part := range []int{1, 3, 10, 31, 50, 77, 99} {
					feed(t, f, fmt.Sprintf("%s cut at %d %%", what, part), b[:len(b)*part/100])
				}
				for _, rate := range []int{100, 1000, 100_000} { // one byte in so many is another
					bad := bytes.Clone(b)
					for range max(1, len(bad)/rate) {
						if len(bad) > 0 {
							bad[r.IntN(len(bad))] = byte(r.Uint32())
						}
					}
					feed(t, f, fmt.Sprintf("%s with one byte in %d wrong", what, rate), bad)
				}
				half := min(len(b)/2, 500_000)
				feed(t, f, what+", its beginning and then noise", append(bytes.Clone(b[:half]), noise...))
				feed(t, f, what+", its beginning, a line of 3 MiB, and its end", append(append(bytes.Clone(b[:half]), bytes.Repeat([]byte("y"), 3<<20)...), b[half:min(len(b), half+500_000)]...))
				feed(t, f, what+" twice", append(bytes.Clone(b), b...))
				packed := pack(b)
				feed(t, f, what+" packed and cut", packed[:len(packed)*2/3])
			}
		})
	}
}

// isText tells whether a file has lines that stand for themselves.
func isText(b []byte) bool { return bytes.IndexByte(b, 0) < 0 }

// toItsEnd tells whether a format is read to the file's end: perf.data says itself
// where its samples end, and that may be before the tear.
func toItsEnd(format string, b []byte) bool { return isText(b) || format == "pcap" }

func pack(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(b)
	_ = z.Close()
	return out.Bytes()
}

// What was read before a file is torn is in the recording, and how far that is.
func TestTornFilesAreJudgedAndSaid(t *testing.T) {
	for name, files := range samples(t) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			content := files[0]
			if isText(content) { // many times the same is long enough to be cut in the middle
				content = bytes.Repeat(content, 1+1_000_000/(len(content)+1))
			}
			packed := pack(content)
			path := filepath.Join(dir, "torn.gz")
			if err := os.WriteFile(path, packed[:len(packed)/2], 0o600); err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(dir, "out")
			const torn = "torn.gz: its gzip data are cut off after "
			err := Read(context.Background(), Plan{Files: []string{path}, Dir: out, Zone: time.UTC})
			if f, _ := formatOf(files[0]); f.Whole {
				if err == nil || !strings.Contains(err.Error(), torn) {
					t.Errorf("half of a file that says nothing without its end: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if toItsEnd(name, content) {
				said(t, out, torn)
			}
		})
	}
}

// said wants a sentence on what was not read in the recording.
func said(t *testing.T, dir, want string) {
	t.Helper()
	r, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Facts {
		if f.Name == recording.FactUnread && strings.Contains(f.Value, want) {
			return
		}
	}
	t.Errorf("nothing says %q: %v", want, r.Facts)
}

// An interrupted reading leaves a recording that can be judged and says so.
func TestInterruptedReadingIsARecording(t *testing.T) {
	for name, files := range samples(t) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			ctx, cancel := context.WithCancel(context.Background())
			pipe := filepath.Join(dir, "pipe")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			hold := make(chan struct{})
			defer close(hold)
			go func() { // a writer who stays silent behind the sample
				w, err := os.OpenFile(pipe, os.O_WRONLY, 0)
				if err != nil {
					return
				}
				_, _ = w.Write(files[0])
				if isText(files[0]) { // more than what is looked at to tell what it is
					_, _ = w.Write(bytes.Repeat(files[0], reader.HeadSize/len(files[0])+1))
				}
				time.AfterFunc(300*time.Millisecond, cancel)
				<-hold
				_ = w.Close()
			}()
			out := filepath.Join(dir, "out")
			ended := make(chan error, 1)
			go func() { ended <- Read(ctx, Plan{Files: []string{pipe}, Dir: out, Zone: time.UTC}) }()
			select {
			case err := <-ended:
				if err == nil {
					break
				}
				if !errors.Is(err, context.Canceled) && !strings.Contains(err.Error(), "stopped while it was opened") {
					t.Error(err)
				}
				return // of this one nothing is told before its end
			case <-time.After(20 * time.Second):
				t.Fatal("it did not end")
			}
			if isText(files[0]) { // line ends behind packets are damage, and told as such
				said(t, out, "pipe: stopped after ")
			}
		})
	}
}

// A pipe that nobody writes to is waited for, and no longer than the user does.
func TestAPipeWithoutAWriter(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	err := Read(ctx, Plan{Files: []string{pipe}, Dir: t.TempDir() + "/out"})
	if err == nil || !strings.Contains(err.Error(), pipe) || time.Since(began) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	w, err := os.OpenFile(pipe, os.O_RDWR, 0) // whoever still opens it gets on
	if err == nil {
		_ = w.Close()
	}
}

// FuzzRead opens any bytes as snag read does, and has every format read them.
func FuzzRead(f *testing.F) {
	for name, files := range samples(f) {
		for i, format := range Formats {
			if format.Name == name {
				f.Add(uint8(i), files[0][:min(len(files[0]), 4096)])
			}
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, b []byte) {
		_, _ = formatOf(b)
		feed(t, Formats[int(which)%len(Formats)], "fuzz", b)
	})
}
