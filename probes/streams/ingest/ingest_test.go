package ingest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"snag/recording"
)

func TestCoverage(t *testing.T) {
	for _, c := range []struct {
		what  string
		f     *Finder
		state string
		why   string
	}{
		{"no RTMP", &Finder{}, recording.CoverageOff, "no stream came by RTMP"},
		{"the server is elsewhere", &Finder{asked: true}, recording.CoverageOff, "its server is not on this host"},
		{"it was seen", &Finder{asked: true, places: 1}, recording.CoverageOK, ""},
		{"not permitted", &Finder{asked: true, failed: errors.New("not permitted")}, recording.CoverageUnavailable, "not permitted"},
		{"other users' namespaces", &Finder{asked: true, hidden: 7}, recording.CoverageUnavailable, "namespaces of 7 processes"},
		{"packets were missed", &Finder{asked: true, places: 1, packets: 100, dropped: 3}, recording.CoveragePartial, "3 packets of 100"},
		{"too many", &Finder{asked: true, places: 1, senders: mostSenders}, recording.CoveragePartial, "first 512 connections"},
		{"one of two failed", &Finder{asked: true, places: 1, failed: errors.New("no ring")}, recording.CoveragePartial, "no ring"},
	} {
		if got := c.f.coverage(); got.State != c.state || !strings.Contains(got.Why, c.why) || got.Probe != measure {
			t.Errorf("%s: %+v", c.what, got)
		}
	}
}

// Only the ports of servers with an address of this namespace are captured.
func TestPortsHere(t *testing.T) {
	ports, err := portsHere([]string{"127.0.0.1:1935", "[::ffff:127.0.0.1]:1936", "192.0.2.9:1937", "127.0.0.1:1935", "rubbish", ""})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(ports, []uint16{1935, 1936}) {
		t.Errorf("%v", ports)
	}
}
