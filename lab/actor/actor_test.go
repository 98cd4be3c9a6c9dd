package actor

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

func TestRunRefuses(t *testing.T) {
	for _, args := range [][]string{nil, {"nobody"}, {"udp-source", "--rate", "0"}, {"stopper"}, {"limited"}, {"udp-sink", "--listen", "no address"}} {
		if err := Run(args); err == nil || !strings.HasPrefix(err.Error(), "lab actor") {
			t.Errorf("Run(%q): %v", args, err)
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	var seen []string
	for _, a := range All {
		if slices.Contains(seen, a.Name) || a.About == "" || a.Main == nil {
			t.Errorf("actor %q: its name is taken, or it says or does nothing", a.Name)
		}
		seen = append(seen, a.Name)
	}
}

func TestSinkCountsGaps(t *testing.T) {
	var s sink
	for _, seq := range []uint64{100, 101, 105, 104, 106} {
		s.took(binary.BigEndian.AppendUint64(nil, seq))
	}
	s.took([]byte("short"))
	if s.received != 6 || s.lost != 3 {
		t.Errorf("received %d lost %d, want 6 and 3 (102 to 104; a late one stays counted)", s.received, s.lost)
	}
}

func TestSourceNumbersAndCounts(t *testing.T) {
	var sent [][]byte
	src := source{payload: make([]byte, 16), send: func(b []byte) (int, error) {
		sent = append(sent, bytes.Clone(b))
		return len(b), nil
	}}
	if err := src.burst(3); err != nil {
		t.Fatal(err)
	}
	for i, b := range sent {
		if binary.BigEndian.Uint64(b) != uint64(i) || len(b) != 16 {
			t.Errorf("datagram %d: %x", i, b)
		}
	}
}

func TestLatencies(t *testing.T) {
	var l latencies
	for i := 1; i <= 100; i++ {
		l.v = append(l.v, float64(i)/1000)
	}
	p50, p99, n := l.take()
	if p50 != 0.051 || p99 != 0.1 || n != 100 {
		t.Errorf("got %v %v %d", p50, p99, n)
	}
	if _, _, n := l.take(); n != 0 {
		t.Errorf("taken twice: %d", n)
	}
}
