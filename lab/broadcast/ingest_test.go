package broadcast

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"snag/internal/built"
	"snag/lab"
	"snag/lab/labtest"
	"snag/lab/origin"
	"snag/recording"
)

// Of two streams that a server receives the one that is watched is known by its frames, whatever
// its sender is called and wherever it is.
func TestWhichConnectionBringsTheStream(t *testing.T) {
	if err := origin.Check(); err != nil {
		t.Fatal(err)
	}
	snag := filepath.Join(t.TempDir(), "snag")
	built.Program(t, "snag", snag)
	s := labtest.Stage(t)
	b := New(s)
	b.Film("noise=alls=6:allf=t")
	b.Encode(FileClock, "studio")
	port := b.PortOf(s.ProcessOf("encoder-film"))
	dir := filepath.Join(s.Dir(), "rec")
	p := s.Run(b.Viewer, "find", []string{"sh", "-c", snag + " find --for 7s --quiet --out " + dir + " --stream " + origin.URL(Deliver, origin.Stream) + "; echo ended with $?"}, lab.MayEnd())
	s.AwaitPrinted(p, "ended with")
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	r, err := recording.Open(dir)
	if err != nil {
		t.Fatalf("%v: %s", err, p.Printed())
	}
	rows, _ := json.Marshal(r.Streams)
	last := r.Streams[len(r.Streams)-1]
	if last.Publisher != "10.88.1.2:"+port {
		t.Errorf("the publisher is %q, want port %s: %s", last.Publisher, port, rows)
	}
	if c, ok := r.Measured("streams.ingest"); !ok || c.State != recording.CoverageOK || c.Lost != 0 {
		t.Errorf("coverage %+v", c)
	}
	// Nothing of what was captured is kept.
	if err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		if raw, err := os.ReadFile(path); err == nil && regexp.MustCompile(`live/studio`).Match(raw) && !strings.Contains(path, "processes") {
			t.Errorf("%s has the other stream's name", path)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}
