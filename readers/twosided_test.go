package readers

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"snag/recording"
)

// Two captures and a trace of the server's calls: where the slow request waited, and
// that the server's process had not read it. The server's clock is an hour ahead.
func TestBothEnds(t *testing.T) {
	var files []string
	for _, name := range []string{"server.strace", "client.pcap", "server.pcap"} {
		files = append(files, filepath.Join("testdata", "both-ends", name))
	}
	dir := filepath.Join(t.TempDir(), "r")
	if err := Read(context.Background(), Plan{Files: files, Dir: dir, Snag: "test"}); err != nil {
		t.Fatal(err)
	}
	r, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := r.Measured("sides.requests"); !ok {
		t.Fatalf("%+v", c)
	}
	slow := 0
	for _, q := range r.Requests {
		if q.Name == "connect" {
			continue
		}
		if q.Unread == nil || q.Inside == nil || q.Unsent == nil || q.PID != 812 {
			t.Errorf("its calls are not found: %+v", q)
			continue
		}
		if sum := *q.Unread + *q.Inside + *q.Unsent; math.Abs(sum-q.AtServer) > 1e-6 {
			t.Errorf("%v + %v + %v s are not the %v that it was at the server", *q.Unread, *q.Inside, *q.Unsent, q.AtServer)
		}
		if q.Name == "GET /a" {
			slow++
			if q.Wait < 4.02 || q.AtServer < 3.99 || *q.Unread < 3.89 || *q.Inside > 0.11 || *q.Out < 0 || q.Bound > 0.02 {
				t.Errorf("%+v", q)
			}
		}
	}
	if slow != 1 || len(r.Requests) != 11 {
		t.Errorf("%d slow ones of %d", slow, len(r.Requests))
	}
}
