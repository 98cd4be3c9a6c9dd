package recording

import (
	"bytes"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestPack(t *testing.T) {
	dir := written(t, 5, Options{})
	want := mustOpen(t, dir)
	var one, two bytes.Buffer
	if err := Pack(dir, &one); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "storm.snag")
	if err := os.WriteFile(file, one.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	got := mustOpen(t, file)
	got.Dir = want.Dir
	got.Manifest.Written = want.Manifest.Written // counts of what each file holds
	if !reflect.DeepEqual(got, want) {
		t.Errorf("unpacked\n got %+v\nwant %+v", got, want)
	}
	if err := Pack(file, &two); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Error("packed twice, the bytes differ")
	}
}

func TestPackKeepsDamage(t *testing.T) {
	dir := written(t, 5, Options{})
	if err := os.Remove(filepath.Join(dir, tablesDir, "sockets.jsonl")); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Pack(dir, &b); err != nil {
		t.Fatal(err)
	}
	r, err := OpenPacked(&b, "x.snag")
	if err != nil {
		t.Fatal(err)
	}
	wantDamage(t, r, "tables/sockets.jsonl is missing: 5 rows lost")
}

// Wherever the file is cut, what comes is a recording with damage, or an error.
func TestPackedCutOff(t *testing.T) {
	dir := written(t, 5, Options{})
	var b bytes.Buffer
	if err := Pack(dir, &b); err != nil {
		t.Fatal(err)
	}
	for n := range b.Len() {
		r, err := OpenPacked(bytes.NewReader(b.Bytes()[:n]), "x.snag")
		if err == nil && len(r.Damage) == 0 {
			t.Errorf("cut at %d of %d: neither damage nor error", n, b.Len())
		}
	}
}

func TestPackedOpensWithTar(t *testing.T) {
	for _, tool := range []string{"tar", "zstd"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("%s is not installed: %v: make setup", tool, err)
		}
	}
	dir := written(t, 2, Options{})
	file := filepath.Join(t.TempDir(), "x.snag")
	if err := PackFile(dir, file); err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	if out, err := exec.Command("tar", "--zstd", "-xf", file, "-C", to).CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	got, want := mustOpen(t, to), mustOpen(t, dir)
	got.Dir = want.Dir
	got.Manifest.Written = want.Manifest.Written // counts of what each file holds
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the folder that tar made is\n%+v\nwant\n%+v", got, want)
	}
}

func TestValuesInPackedSeries(t *testing.T) {
	in := Series{Name: "x", Labels: Labels{"a": "<&\u2028\""}}
	values := []float64{0, math.Copysign(0, -1), 1, -1, 0.1, 1e-7, 1.5e300, math.MaxFloat64, math.SmallestNonzeroFloat64, 1 << 53, 1e15, 1e21, math.Inf(1), math.Inf(-1), math.NaN()}
	for i := range linePoints + len(values) { // more than one line
		in.Points = append(in.Points, Point{start + Time(i)*1e6, values[i%len(values)]})
	}
	r := &Recording{Manifest: ended(), Series: []Series{in}}
	var b bytes.Buffer
	if err := r.Pack(&b); err != nil {
		t.Fatal(err)
	}
	out, err := OpenPacked(&b, "x")
	if err != nil {
		t.Fatal(err)
	}
	wantDamage(t, out)
	if len(out.Series) != 1 || out.Series[0].Key() != in.Key() || len(out.Series[0].Points) != len(in.Points) {
		t.Fatalf("%d series, want the one", len(out.Series))
	}
	for i, p := range out.Series[0].Points {
		if p.T != in.Points[i].T || math.Float64bits(p.V) != math.Float64bits(in.Points[i].V) {
			t.Fatalf("point %d is %v, want %v", i, p, in.Points[i])
		}
	}
}

func TestPackedNames(t *testing.T) {
	if _, err := OpenPacked(strings.NewReader("PK\x03\x04 a zip"), "a.zip"); err == nil || !strings.Contains(err.Error(), "a.zip is not a snag recording") {
		t.Errorf("a zip: %v", err)
	}
}

// A recording of snag's own requests has no samples: packed, none are missing either.
func TestPackWithoutSamples(t *testing.T) {
	dir, file := t.TempDir()+"/r", t.TempDir()+"/r.snag"
	w, err := Create(dir, manifest(), Options{Lines: true})
	if err != nil {
		t.Fatal(err)
	}
	w.Append(Experiment{T: start, End: start, Target: "http://10.0.0.1/", Experiment: "own"})
	if err := errors.Join(w.Close(), PackFile(dir, file)); err != nil {
		t.Fatal(err)
	}
	r, err := Open(file)
	if err != nil || len(r.Damage) > 0 || len(r.Experiments) != 1 {
		t.Errorf("%v, damage %q, %d experiments", err, r.Damage, len(r.Experiments))
	}
}
