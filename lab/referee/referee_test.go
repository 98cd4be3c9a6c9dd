package referee

import (
	"strings"
	"testing"
	"time"

	"snag/lab/clientlog"
)

var t0 = time.Unix(1_800_000_000, 0)

var window = Window{t0, t0.Add(10 * time.Second)}

// requests are one every interval, each as long as length says, in turns.
func requests(every time.Duration, o clientlog.Outcome, length func(n int) time.Duration) clientlog.Log {
	var l clientlog.Log
	for at, n := t0, 0; at.Before(window.To); at, n = at.Add(every), n+1 {
		l.Requests = append(l.Requests, clientlog.Request{Start: at, Length: length(n), Outcome: o})
	}
	return l
}

func always(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }

func some(one int, d, other time.Duration) func(int) time.Duration {
	return func(n int) time.Duration {
		if n%one == 0 {
			return d
		}
		return other
	}
}

func TestNoticed(t *testing.T) {
	const ms = time.Millisecond
	well := requests(10*ms, clientlog.OK, always(10*ms))
	mixed := func(one int, o clientlog.Outcome) clientlog.Log {
		l := requests(10*ms, clientlog.OK, always(10*ms))
		for i := range l.Requests {
			if i%one == 0 {
				l.Requests[i].Outcome = o
			}
		}
		return l
	}
	stopped := requests(10*ms, clientlog.OK, func(n int) time.Duration {
		if n >= 300 && n < 380 { // asked while it stood still: answered at its end
			return 800*ms + 10*ms - time.Duration(n-300)*10*ms
		}
		return 10 * ms
	})
	for _, c := range []struct {
		name            string
		healthy, faulty clientlog.Log
		want            string // "" : not noticed
	}{
		{"the same", well, well, ""},
		{"half as slow again", well, requests(10*ms, clientlog.OK, always(15*ms)), ""},
		{"twice as slow", well, requests(10*ms, clientlog.OK, always(20*ms)), "p50 20.0 ms, 10.0 ms before"},
		{"twice of very little", requests(10*ms, clientlog.OK, always(ms/4)), requests(10*ms, clientlog.OK, always(ms/2)), ""},
		{"one in fifty late", well, requests(10*ms, clientlog.OK, some(50, 90*ms, 10*ms)), "p99 90.0 ms, 10.0 ms before"},
		{"one in five hundred late", well, requests(10*ms, clientlog.OK, some(500, 90*ms, 10*ms)), ""},
		{"one in fifty failed", well, mixed(50, clientlog.Failed), "2.0 % of the requests failed"},
		{"one in five hundred failed", well, mixed(500, clientlog.Failed), ""},
		{"one in fifty lost", well, mixed(50, clientlog.Lost), "2.0 % of the requests were not answered"},
		{"a stop", well, stopped, "nothing came for 0.8 s"},
		{"a healthy run that fails", mixed(2, clientlog.Failed), well, "void"},
		{"a healthy run without clients", clientlog.Log{}, well, "void"},
		{"no request at all", well, clientlog.Log{}, "no request was made"},
	} {
		f := Measure([]clientlog.Log{c.faulty}, window)
		h := Compare(Measure([]clientlog.Log{c.healthy}, window), f)
		if got := h.String(); c.want == "" && (h.Noticed || h.Void != "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func counts(every time.Duration, n int, leaveOut func(time.Duration) bool) []clientlog.Count {
	var out []clientlog.Count
	for at := time.Duration(0); at < 10*time.Second; at += every {
		if !leaveOut(at) {
			out = append(out, clientlog.Count{At: t0.Add(at), N: n})
		}
	}
	return out
}

func TestDatagramsAndStreams(t *testing.T) {
	never := func(time.Duration) bool { return false }
	gap := func(at time.Duration) bool { return at > 4*time.Second && at < 6*time.Second }
	const tick = 100 * time.Millisecond
	well := clientlog.Log{Sent: counts(tick, 50, never), Arrived: counts(tick, 50, never)}
	lossy := clientlog.Log{Sent: counts(tick, 50, never), Arrived: counts(tick, 49, never)}
	f := Measure([]clientlog.Log{lossy}, window)
	if h := Compare(Measure([]clientlog.Log{well}, window), f); !strings.Contains(h.String(), "2.0 % of the datagrams") {
		t.Error(h)
	}
	flows := clientlog.Log{Delivered: counts(tick, 1000, never)}
	stalls := clientlog.Log{Delivered: counts(tick, 1000, gap)}
	f = Measure([]clientlog.Log{stalls}, window)
	if h := Compare(Measure([]clientlog.Log{flows}, window), f); !strings.Contains(h.String(), "nothing came for 2.0 s (0.10 s before)") {
		t.Error(h)
	}
	trickle := Measure([]clientlog.Log{{Delivered: counts(tick, 300, never)}}, window)
	if h := Compare(Measure([]clientlog.Log{flows}, window), trickle); !strings.Contains(h.String(), "a stream came at 3000 per second, 10000 before") {
		t.Error(h)
	}
}

// A request that is never answered counts from its start, also where nothing else comes.
func TestOpenToTheEnd(t *testing.T) {
	l := requests(10*time.Millisecond, clientlog.OK, always(5*time.Millisecond))
	l.Requests = l.Requests[:500]
	l.Requests = append(l.Requests, clientlog.Request{Start: t0.Add(5 * time.Second), Length: 6 * time.Second, Outcome: clientlog.Open})
	if got := Measure([]clientlog.Log{l}, window).Silence; got < 4.9 || got > 5.1 {
		t.Errorf("silent for %.2f s, want 5", got)
	}
}

// Clients that were stuck before the window, and are to its end, count with their whole wait.
func TestStuckFromBefore(t *testing.T) {
	var l clientlog.Log
	for n := range 10 {
		l.Requests = append(l.Requests, clientlog.Request{Start: t0.Add(-time.Duration(n+1) * 100 * time.Millisecond), Length: 12 * time.Second, Outcome: clientlog.Open})
	}
	f := Measure([]clientlog.Log{l}, window)
	h := Compare(Measure([]clientlog.Log{requests(100*time.Millisecond, clientlog.OK, always(5*time.Millisecond))}, window), f)
	if f.Requests != 10 || f.Silence < 9.9 || !strings.Contains(h.String(), "p50 12000.0 ms") {
		t.Errorf("%+v: %s", f, h)
	}
}

func TestIdleIsNoSilence(t *testing.T) {
	l := requests(3*time.Second, clientlog.OK, always(20*time.Millisecond))
	if got := Measure([]clientlog.Log{l}, window).Silence; got > 0.03 {
		t.Errorf("silent for %.2f s: no request was open", got)
	}
}
