package mp4

import (
	"bytes"
	"encoding/binary"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"snag/probes/streams/codec"
)

// wanting is a stream.Keys that wants pictures until it has as many as it says.
type wanting struct {
	n   int
	got [][]byte
}

func (w *wanting) Wanted() bool                    { return len(w.got) < w.n }
func (w *wanting) Key(_ string, b []byte, _ int64) { w.got = append(w.got, b) }

// keyPictures are those of a file as ffmpeg cuts it: of each its parameter sets and slices.
func keyPictures(t *testing.T, path, name string) (out [][]byte) {
	t.Helper()
	b, err := exec.Command("ffmpeg", "-nostdin", "-v", "error", "-i", path, "-map", "0:v", "-c", "copy", "-f", name, "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	var w codec.AnnexB
	from, coded, key := 0, false, false
	cut := func(to int) {
		if key {
			out = append(out, units(name, b[from:to]))
		}
		from, coded, key = to, false, false
	}
	each := func(head []byte, _ int) {
		i := codec.NAL(name, head)
		if i.Begins && coded {
			cut(w.Begin())
		}
		coded, key = coded || i.Slice, key || i.Key || i.Recovery
	}
	w.Feed(b, each)
	w.End(each)
	cut(len(b))
	return out
}

// units are a byte stream's parameter sets, each once, and then its slices.
func units(name string, b []byte) []byte {
	var sets, slices []byte
	for _, u := range bytes.Split(b, []byte{0, 0, 1})[1:] {
		u = bytes.TrimRight(u, "\x00")
		switch i := codec.NAL(name, u); {
		case i.Parameter && !bytes.Contains(sets, u):
			sets = append(append(sets, 0, 0, 1), u...)
		case i.Slice:
			slices = append(append(slices, 0, 0, 1), u...)
		}
	}
	return append(sets, slices...)
}

// Key pictures are handed on as ffmpeg sees them, in whatever pieces the file comes.
func TestKeyPicturesAreKeptWhole(t *testing.T) {
	for name, path := range map[string]string{codec.H264: "h264-aac.mp4", codec.HEVC: "hevc-opus.mp4"} {
		want := keyPictures(t, filepath.Join("testdata", path), name)
		all := file(t, path)
		record := all[bytes.Index(all, []byte(map[string]string{codec.H264: "avcC", codec.HEVC: "hvcC"}[name])):]
		sets, _, err := codec.Sets(name, record[4:])
		if err != nil || len(sets) == 0 {
			t.Fatal(err)
		}
		for _, piece := range []int{1, 7, 1000, len(all)} {
			keys := &wanting{n: 99}
			r := New(&kept{})
			r.Keys = keys
			for b := all; len(b) > 0; b = b[min(piece, len(b)):] {
				if err := r.Feed(bytes.Clone(b[:min(piece, len(b))]), 1); err != nil {
					t.Fatal(err)
				}
			}
			got := keys.got
			for i := range got {
				if !bytes.HasPrefix(got[i], sets) {
					t.Errorf("%s in pieces of %d: picture %d is not behind the movie's parameter sets", name, piece, i)
				}
				got[i] = units(name, got[i])
			}
			if len(want) == 0 || !slices.EqualFunc(got, want, bytes.Equal) {
				t.Errorf("%s in pieces of %d: %d key pictures, ffmpeg sees %d", name, piece, len(got), len(want))
			}
		}
	}
}

// encrypt makes the first sample entry one of an encrypted track (ISO/IEC 14496-12 8.12): with a sinf
// box in place of its pasp box, which is four bytes shorter.
func encrypt(b []byte) []byte {
	b = slices.Clone(b)
	for _, parent := range []string{"moov", "trak", "mdia", "minf", "stbl", "stsd", "avc1"} {
		at := b[bytes.Index(b, []byte(parent))-4:]
		binary.BigEndian.PutUint32(at, binary.BigEndian.Uint32(at)+4)
	}
	pasp := bytes.Index(b, []byte("pasp")) - 4
	b = slices.Replace(b, pasp, pasp+16, box("sinf", box("frma", []byte("avc1")...)...)...)
	copy(b[bytes.Index(b, []byte("avc1")):], "encv")
	return b
}

// What is not wanted, encrypted or without its configuration is not handed on.
func TestKeyPicturesThatAreNot(t *testing.T) {
	good := file(t, "h264-aac.mp4")
	broken := slices.Clone(good)
	binary.BigEndian.PutUint32(broken[bytes.Index(broken, []byte("avcC"))-4:], 9)
	encrypted := encrypt(good)
	for name, c := range map[string]struct {
		file        []byte
		wants, told int
	}{
		"wanted once":     {good, 1, 1},
		"not wanted":      {good, 0, 0},
		"encrypted":       {encrypted, 9, 0},
		"a broken record": {broken, 9, 0},
	} {
		keys := &wanting{n: c.wants}
		r := New(&kept{})
		r.Keys = keys
		_ = r.Feed(c.file, 1)
		if len(keys.got) != c.told {
			t.Errorf("%s: %d pictures, want %d", name, len(keys.got), c.told)
		}
	}
}

// A picture that is cut off with its segment does not go on in the next.
func TestKeyPictureOfASegmentThatIsCutOff(t *testing.T) {
	good := file(t, "h264-aac.mp4")
	keys := &wanting{n: 1}
	r := New(&kept{})
	r.Keys = keys
	mdat := bytes.Index(good, []byte("mdat"))
	if err := r.Feed(good[:mdat+104], 1); err != nil || !r.picture.On() {
		t.Fatalf("no picture is kept: %v", err)
	}
	r.Segment()
	if r.picture.On() {
		t.Error("it is kept")
	}
	if err := r.Feed(good, 1); err != nil || len(keys.got) != 1 {
		t.Errorf("%d pictures, %v", len(keys.got), err)
	}
}
