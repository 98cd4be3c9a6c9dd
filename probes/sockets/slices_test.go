package sockets

import (
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"snag/recording"
)

// serve answers each byte after a while.
func serve(l net.Listener, after time.Duration) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			b := make([]byte, 1)
			for {
				if _, err := io.ReadFull(c, b); err != nil {
					return
				}
				if after > 0 {
					time.Sleep(after)
				}
				if _, err := c.Write(b); err != nil {
					return
				}
			}
		}()
	}
}

// ask asks again and again until stop.
func ask(c net.Conn, stop *atomic.Bool, asked *sync.WaitGroup) {
	asked.Go(func() {
		b := make([]byte, 1)
		for !stop.Load() {
			if _, err := c.Write(b); err != nil {
				return
			}
			if _, err := io.ReadFull(c, b); err != nil {
				return
			}
		}
	})
}

// Requests of 60 ms are under way whenever a slice of the time begins and ends, while
// others come so often that they are measured in slices. None may be told as shorter, nor
// as longer than a slice: what was asked before a rest and answered in it is not known.
func TestTurnsInSlicesAreWholeOnes(t *testing.T) {
	t.Parallel()
	const takes = 60 * time.Millisecond
	b := newBench(t)
	quick, slow := b.listen("127.0.0.1:7301"), b.listen("127.0.0.1:7302")
	go serve(quick, 0)
	go serve(slow, takes)
	var stop atomic.Bool
	var asked sync.WaitGroup
	for range 4 {
		ask(b.dial("127.0.0.1:7301"), &stop, &asked)
	}
	for range 12 {
		ask(b.dial("127.0.0.1:7302"), &stop, &asked)
	}
	r := b.startWith(oftenShare)
	time.Sleep(9 * time.Second)
	r.Stop()
	stop.Store(true)
	asked.Wait()

	seen := b.sink.Recording()
	c, _ := seen.Measured("sockets.turns")
	if c.State != recording.CoveragePartial || !c.InSlices() || !strings.Contains(c.Why, "slices") {
		t.Fatalf("coverage of turns: %+v (is this machine too slow to ask 5,000 times per second?)", c)
	}
	var n, parts uint64
	for _, row := range seen.Turns {
		if row.Netns != b.id || !strings.HasSuffix(row.Local, ":7302") && !strings.HasSuffix(row.Remote, ":7302") {
			continue // that of a test beside this one has the same port in a namespace of its own
		}
		n += row.N
		if row.Measured > 0 {
			parts++
		}
		if row.Max > 1.3 || row.Oldest > 1.3 {
			t.Errorf("%s: a turn of %.2f s, one open for %.2f s: longer than any slice", row.Role, row.Max, row.Oldest)
		}
		for i, k := range row.Hist {
			if k > 0 && recording.TurnBound(i+1) < takes.Seconds() {
				t.Errorf("%s: %d turns of %.1f to %.1f ms, want none under %v", row.Role, k, 1000*recording.TurnBound(i), 1000*recording.TurnBound(i+1), takes)
			}
		}
	}
	// 12 connections make 200 per second.
	if whole := uint64(2 * 9 * 12 / takes.Seconds()); n < 50 || n > whole/2 {
		t.Errorf("%d turns were counted, of %d of both ends", n, whole)
	}
	if parts == 0 {
		t.Error("no row says that its second was measured in part")
	}
	for _, m := range []string{"sockets.holds", "sockets.queries", "sockets.errors"} {
		if c, _ := seen.Measured(m); !c.InSlices() {
			t.Errorf("%s: %+v", m, c)
		}
	}
	if c, _ := seen.Measured("sockets.connections"); c.InSlices() {
		t.Errorf("connections are counted all of the time: %+v", c)
	}
}
