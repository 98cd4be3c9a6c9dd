package recording

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"snag/internal/private"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// A packed recording is a tar file, compressed with zstd: manifest.json, the
// tables as they are, and samples.jsonl in place of the blocks. tar --zstd -xf
// makes a folder of it that Open reads too.
const (
	packedSamples = "samples.jsonl"
	packedDamage  = "damage.txt"
	packWindow    = 8 << 20 // how far back a repetition is found: rows of all seconds
)

var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// Pack writes the recording in dir as one small file. The same recording always
// gives the same bytes; what could not be read of it is said in the file, so
// that it is judged as the folder is.
func Pack(dir string, w io.Writer) error {
	r, err := Open(dir)
	if err != nil {
		return err
	}
	return r.Pack(w)
}

// Pack writes r as one small file; times of samples are cut to milliseconds, as
// in a folder.
func (r *Recording) Pack(w io.Writer) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(packWindow))
	if err != nil {
		return fmt.Errorf("pack the recording: %w", err)
	}
	t := tar.NewWriter(z)
	if err := errors.Join(r.packFiles(t), t.Close(), z.Close()); err != nil {
		return fmt.Errorf("pack the recording: %w", err)
	}
	return nil
}

// withoutSamples: a live recording in which nobody took any, as one of snag's own requests alone. Its samples are
// empty and not missing.
func (r *Recording) withoutSamples() bool {
	return len(r.Series) == 0 && len(r.Manifest.Files) == 0 && !slices.Contains(r.Damage, samplesMissing)
}

func (r *Recording) packFiles(t *tar.Writer) error {
	put := func(name string, b []byte) error {
		if len(b) == 0 && (name != packedSamples || !r.withoutSamples()) {
			return nil
		}
		h := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(b)), ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		_, err := t.Write(b)
		return err
	}
	m := r.Manifest
	m.Version = Version
	// The counts of what is here: rows that were lost before are in damage.txt.
	m.Written = &Written{Series: len(r.Series), Rows: map[string]int{}}
	samples, err := encodeAllSeries(r.markedSeries(), m.Written)
	if err != nil {
		return err
	}
	type file struct {
		name string
		b    []byte
	}
	var rest []file
	for _, tb := range tables {
		var buf bytes.Buffer
		for _, part := range r.keyed() {
			err := encodeRows(&buf, tb, part)
			if err != nil {
				return fmt.Errorf("table %s: %w", tb.name, err)
			}
		}
		if n := bytes.Count(buf.Bytes(), []byte{'\n'}); n > 0 {
			m.Written.Rows[tb.name] = n
		}
		rest = append(rest, file{path.Join(tablesDir, tb.name+".jsonl"), buf.Bytes()})
	}
	head, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	var damage strings.Builder
	for _, d := range r.Damage {
		damage.WriteString(strings.ReplaceAll(d, "\n", " ") + "\n")
	}
	rest = append(rest, file{packedSamples, samples}, file{packedDamage, []byte(damage.String())})
	for _, f := range append([]file{{manifestFile, append(head, '\n')}}, rest...) {
		if err := put(f.name, f.b); err != nil {
			return err
		}
	}
	return nil
}

// PackFile packs the recording in dir into a file, at once or not at all.
func PackFile(dir, file string) error {
	r, err := Open(dir)
	if err != nil {
		return err
	}
	return r.PackTo(file)
}

// PackTo packs r into a file, at once or not at all.
func (r *Recording) PackTo(file string) error {
	var b bytes.Buffer
	if err := r.Pack(&b); err != nil {
		return err
	}
	if err := private.Write(file, b.Bytes()); err != nil {
		return fmt.Errorf("pack %s: %w", r.Dir, err)
	}
	return nil
}

// OpenPacked reads a packed recording; name stands for it in errors.
func OpenPacked(in io.Reader, name string) (*Recording, error) {
	return openPacked(in, name, current, newMeter())
}

func openPacked(in io.Reader, name string, to schema, m *meter) (*Recording, error) {
	magic := make([]byte, len(zstdMagic))
	if _, err := io.ReadFull(in, magic); err != nil || !bytes.Equal(magic, zstdMagic) {
		return nil, &NotRecordingError{name, "neither a folder nor a packed recording"}
	}
	z, err := zstd.NewReader(io.MultiReader(bytes.NewReader(magic), in),
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	defer z.Close()
	got, torn := unpack(z, m)
	if m.over != nil {
		m.over.Path = name
		return nil, m.over
	}
	if _, ok := got[manifestFile]; !ok && torn != nil {
		return nil, &NotRecordingError{name, fmt.Sprintf("no %s in it (%v)", manifestFile, torn)}
	}
	r, err := readWithin(got, name, "", to, m)
	if err != nil {
		return nil, err
	}
	if torn != nil {
		r.Damage = append(r.Damage, fmt.Sprintf("the packed file is damaged or cut off: %v: what follows is lost", torn))
	}
	return r, nil
}

// unpack takes the files out into memory, up to the first that is cut off; of
// that one, what is there.
func unpack(in io.Reader, m *meter) (files, error) {
	got := files{}
	t := tar.NewReader(io.LimitReader(in, m.room()+1<<20)) // heads too
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		if h.Typeflag != tar.TypeReg || len(got) >= 256 {
			continue
		}
		b, err := readAtMost(t, h.Size, m.room()+1) // a file with holes is longer than what is there of it
		got[path.Clean(h.Name)] = b
		if err := errors.Join(m.unpack(int64(len(b))), err); err != nil {
			return got, err
		}
	}
}

// readAtMost reads what is said to be of that size, and no more than most.
func readAtMost(r io.Reader, size, most int64) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(min(max(size, 0), most)) + bytes.MinRead)
	_, err := b.ReadFrom(io.LimitReader(r, most))
	return b.Bytes(), err
}

// PackLines packs the recording that a writer with Options.Lines left in dir into a file, at once or
// not at all, without looking at its rows: a ring packs one a minute, where that must cost little.
func PackLines(dir, file string) error {
	err := private.Put(file, func(w io.Writer) error {
		z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(linesWindow), zstd.WithLowerEncoderMem(true))
		if err != nil {
			return err
		}
		t := tar.NewWriter(z)
		return errors.Join(packLines(t, dir), t.Close(), z.Close())
	})
	if err != nil {
		return fmt.Errorf("pack %s: %w", dir, err)
	}
	return nil
}

// linesWindow is how far back PackLines looks for what repeats: the encoder takes some times as much.
const linesWindow = 2 << 20

func packLines(t *tar.Writer, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	from := folder{root}
	names := []string{manifestFile}
	for _, name := range from.list(tablesDir) {
		names = append(names, path.Join(tablesDir, name))
	}
	for _, name := range append(names, packedSamples) {
		f, err := from.open(name)
		if errors.Is(err, fs.ErrNotExist) && name == packedSamples {
			continue // it was cut off before its first second was over
		}
		if err != nil {
			return err
		}
		if err := packOne(t, name, f); err != nil {
			return err
		}
	}
	return nil
}

func packOne(t *tar.Writer, name string, f io.ReadCloser) error {
	defer f.Close()
	in, ok := f.(*os.File)
	if !ok {
		return fmt.Errorf("%s is not a file", name)
	}
	st, err := in.Stat()
	if err != nil {
		return err
	}
	if err := t.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: st.Size(), ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}); err != nil {
		return err
	}
	_, err = io.Copy(t, io.LimitReader(in, st.Size()))
	return err
}
