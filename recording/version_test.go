package recording

import (
	"flag"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write testdata/v1.snag anew (only while version 1 is the present one)")

// A recording of each version stays readable: what was recorded in an incident
// must be judged by later snags too.
func TestOldVersionsStayReadable(t *testing.T) {
	if *update {
		if err := PackFile(written(t, 3, Options{}), "testdata/v1.snag"); err != nil {
			t.Fatal(err)
		}
	}
	r := mustOpen(t, "testdata/v1.snag")
	wantDamage(t, r)
	for _, tb := range tables {
		n := 0
		tb.each(r, func(Row) bool { n++; return true })
		if want := r.Manifest.Written.Rows[tb.name]; n != want {
			t.Errorf("table %s: %d rows, want %d", tb.name, n, want)
		}
	}
	if n := len(r.Manifest.Written.Rows); n != 16 { // the tables of version 1
		t.Errorf("the file has %d tables, want 16", n)
	}
	if len(r.Series) != 4 || r.Manifest.Host != "web1" || r.Length() != 2*time.Second+2*time.Millisecond {
		t.Errorf("%d series, host %q, %s long", len(r.Series), r.Manifest.Host, r.Length())
	}
	if s := r.Sockets[2]; s.TCP == nil || s.TCP.Cwnd != 12 || s.Owners[0].PID != 812 {
		t.Errorf("the last socket is %+v", s)
	}
}
