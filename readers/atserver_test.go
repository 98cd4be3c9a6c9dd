package readers

import (
	"math"
	"testing"
	"time"

	"snag/recording"
)

func request(atServer float64) recording.Request {
	out := 0.010
	return recording.Request{T: at("10:00:00"), Client: "192.0.2.7:40000", ClientAt: "10.0.0.7:40000", Server: "10.0.0.9:80", Name: "GET /a", N: 1, Parts: 1,
		Wait: atServer + 0.02, AtServer: atServer, Network: 0.02, Out: &out, Download: 0.1}
}

func turnAt(when string, n uint64, sum, longest, wait float64) recording.Turns {
	return recording.Turns{T: at(when), Role: "serve", Local: "0.0.0.0:80", Remote: "10.0.0.7", PID: 812, Comm: "app", N: n, Sum: sum, Max: longest, Wait: wait}
}

func measuredBy(probes ...string) (out []recording.Coverage) {
	for _, p := range probes {
		out = append(out, recording.Coverage{Probe: p, State: recording.CoverageOK})
	}
	return out
}

// What the turns of the server's sockets tell of one request, and when they can't.
func TestInsideByTurns(t *testing.T) {
	cov := measuredBy("sockets.turns", "sockets.holds")
	for _, x := range []struct {
		what         string
		turns        []recording.Turns
		holds        []recording.Hold
		coverage     []recording.Coverage
		by           string
		unread, held float64
	}{
		{"one turn", []recording.Turns{turnAt("10:00:05", 1, 4.1, 4.1, 3.9)}, nil, cov, byTurns, 3.9, 0},
		{"its answer was held", []recording.Turns{turnAt("10:00:05", 1, 4.1, 4.1, 3.5)}, []recording.Hold{{T: at("10:00:05"), Local: "10.0.0.9:80", Remote: "10.0.0.7:40000", HoldMax: 0.04}}, cov, byTurns, 3.5, 0.04},
		{"among quick ones", []recording.Turns{turnAt("10:00:05", 11, 4.2, 4.1, 3.9)}, nil, cov, byTurns, 3.8, 0},
		{"among slow ones", []recording.Turns{turnAt("10:00:05", 3, 9, 4.1, 3.9)}, nil, cov, "", 0, 0},
		{"another client's", []recording.Turns{{T: at("10:00:05"), Role: "serve", Local: "0.0.0.0:80", Remote: "10.0.0.8", N: 1, Sum: 4.1, Max: 4.1, Wait: 3.9}}, nil, cov, "", 0, 0},
		{"another port", []recording.Turns{{T: at("10:00:05"), Role: "serve", Local: "0.0.0.0:81", Remote: "10.0.0.7", N: 1, Sum: 4.1, Max: 4.1, Wait: 3.9}}, nil, cov, "", 0, 0},
		{"a minute later", []recording.Turns{turnAt("10:01:05", 1, 4.1, 4.1, 3.9)}, nil, cov, "", 0, 0},
		{"much shorter", []recording.Turns{turnAt("10:00:05", 1, 1.1, 1.1, 0.9)}, nil, cov, "", 0, 0},
		{"two alike", []recording.Turns{turnAt("10:00:05", 1, 4.1, 4.1, 3.9), turnAt("10:00:06", 1, 4.1, 4.1, 0.1)}, nil, cov, "", 0, 0},
		{"not measured", []recording.Turns{turnAt("10:00:05", 1, 4.1, 4.1, 3.9)}, nil, nil, "", 0, 0},
		{"in slices", []recording.Turns{turnAt("10:00:05", 1, 4.1, 4.1, 3.9)}, nil, []recording.Coverage{{Probe: "sockets.turns", State: recording.CoveragePartial, Share: 0.2}}, "", 0, 0},
	} {
		for _, behind := range []time.Duration{0, -time.Hour} { // and of a host whose clock is an hour behind
			r := &recording.Recording{Turns: x.turns, Holds: x.holds, Coverage: x.coverage}
			q := request(4)
			q.T = q.T.Add(-behind)
			inside(&q, []serverLook{{r, -behind}})
			if q.InsideBy != x.by {
				t.Errorf("%s: told by %q, want %q", x.what, q.InsideBy, x.by)
				continue
			}
			if x.by == "" {
				continue
			}
			if math.Abs(*q.Unread-x.unread) > 1e-9 || math.Abs(*q.Unsent-x.held) > 1e-9 || math.Abs(*q.Unread+*q.Inside+*q.Unsent-q.AtServer) > 1e-9 || q.PID != 812 {
				t.Errorf("%s: unread %v, inside %v, unsent %v, by %d", x.what, *q.Unread, *q.Inside, *q.Unsent, q.PID)
			}
		}
	}
}

// Without turns looks at the queue tell of a request of some seconds.
func TestInsideByQueues(t *testing.T) {
	look := func(when string, queued int) recording.Socket {
		return recording.Socket{T: at(when), Proto: "tcp", State: "ESTABLISHED", Local: "[::ffff:10.0.0.9]:80", Remote: "[::ffff:10.0.0.7]:40000", RecvQ: queued, Owners: []recording.FDRef{{PID: 812, Comm: "app"}}}
	}
	rows := []recording.Socket{look("09:59:59", 0), look("10:00:01", 70), look("10:00:02", 70), look("10:00:03", 70), look("10:00:04", 0), look("10:00:09", 70)}
	q := request(4.5)
	inside(&q, []serverLook{{&recording.Recording{Sockets: rows}, 0}})
	if q.InsideBy != bySockets || math.Abs(*q.Unread-0.75*4.5) > 1e-9 || q.PID != 812 {
		t.Errorf("%+v", q)
	}
	q = request(1.5)
	inside(&q, []serverLook{{&recording.Recording{Sockets: rows}, 0}})
	if q.InsideBy != "" {
		t.Errorf("looks a second apart tell of a request of 1.5 s: %+v", q)
	}
}
