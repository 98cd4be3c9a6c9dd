package ledger

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"snag/recording"
	"snag/recording/rectest"
	"snag/scene"
)

const seconds = 10

// service is a program of a written case: who listens where, what it is asked, and what its
// threads are found in.
type service struct {
	pid     int
	port    int
	n       int     // requests per second
	mean    float64 // s
	wait    float64 // of it unread, s
	slow    float64 // one answer of a second takes so long; 0: none
	threads []string
	calls   int // the port of a service that it calls, each request once
	called  float64
}

// state is a row of thread_states: a thread that was found so at all looks of a second.
func state(call string, more string) string {
	return fmt.Sprintf(`"state":"S","call":%q%s`, call, more)
}

var (
	locked   = state("futex", `,"fd":-1,"futex":4096,"lock":true`)
	asleep   = state("clock_nanosleep", `,"fd":-1`)
	polling  = state("epoll_wait", `,"fd":4`)
	running  = `"state":"R","fd":-1`
	onDisk   = `"state":"D","io":true,"call":"fdatasync","fd":9`
	awaiting = state("recvfrom", `,"fd":7,"inode":%d`)
)

// hist is where a second's answers fall: all that take the mean, but one that is slow.
func hist(n int, mean, slow float64) string {
	var counts []uint64
	add := func(took float64, n int) {
		i := 0
		for recording.TurnBound(i+1) <= took {
			i++
		}
		counts = append(counts, make([]uint64, max(0, i+1-len(counts)))...)
		counts[i] += uint64(n)
	}
	if slow > 0 {
		add(slow, 1)
		n--
	}
	add(mean, n)
	text, _ := json.Marshal(counts)
	return string(text)
}

// build makes a recording of services and books it.
func build(t *testing.T, more string, all ...service) (*scene.Scene, *recording.Recording, *Ledger) {
	t.Helper()
	var processes, sockets, turns, states, threads strings.Builder
	for _, v := range all {
		fmt.Fprintf(&processes, `{"t":"0..%d","pid":%d,"comm":"api","netns":1,"state":"S","cpu_seconds":"1+0.1x","threads":%d}`+"\n", seconds, v.pid, len(v.threads))
		for _, at := range []int{0, seconds - 1} {
			fmt.Fprintf(&sockets, `{"t":%d,"netns":1,"proto":"tcp","state":"LISTEN","local":"0.0.0.0:%d","inode":%d,"cookie":%d,"owners":[{"pid":%d,"comm":"api","fd":3}],"send_q":128}`+"\n", at, v.port, v.pid, v.pid, v.pid)
			if v.calls > 0 {
				fmt.Fprintf(&sockets, `{"t":%d,"netns":1,"proto":"tcp","state":"ESTABLISHED","local":"10.0.0.1:%d","remote":"10.0.0.1:%d","inode":%d,"cookie":%d,"owners":[{"pid":%d,"comm":"api","fd":7}]}`+"\n", at, 50000+v.pid, v.calls, v.pid+1000, v.pid+1000, v.pid)
			}
		}
		for at := range seconds {
			fmt.Fprintf(&turns, `{"t":%d,"netns":1,"role":"serve","local":"10.0.0.1:%d","remote":"10.0.0.7","pid":%d,"comm":"api","n":%d,"sum":%g,"max":%g,"wait_sum":%g,"hist":%s}`+"\n",
				at, v.port, v.pid, v.n, float64(v.n)*v.mean, max(v.mean, v.slow), float64(v.n)*v.wait, hist(v.n, v.mean, v.slow))
			if v.calls > 0 {
				fmt.Fprintf(&turns, `{"t":%d,"netns":1,"role":"call","local":"10.0.0.1","remote":"10.0.0.1:%d","pid":%d,"comm":"api","n":%d,"sum":%g,"max":%g,"hist":%s}`+"\n",
					at, v.calls, v.pid, v.n, float64(v.n)*v.called, v.called, hist(v.n, v.called, 0))
			}
			for i, s := range v.threads {
				if strings.Contains(s, "%d") {
					s = fmt.Sprintf(s, v.pid+1000)
				}
				fmt.Fprintf(&states, `{"t":%d,"pid":%d,"tid":%d,"threads":1,"comm":"api",%s,"n":20,"looks":20}`+"\n", at, v.pid, v.pid+i, s)
				fmt.Fprintf(&threads, `{"t":%d,"pid":%d,"tid":%d,"comm":"api","state":"S","fd":-1,"on_cpu_seconds":%g,"run_delay_seconds":0}`+"\n", at, v.pid, v.pid+i, float64(at))
			}
		}
	}
	text := fmt.Sprintf("A case.\n-- manifest --\n{\"seconds\": %d}\n-- processes --\n%s-- sockets --\n%s-- turns --\n%s-- thread_states --\n%s-- threads --\n%s%s",
		seconds, processes.String(), sockets.String(), turns.String(), states.String(), threads.String(), more)
	c, err := rectest.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s := scene.Build(c.Recording)
	return s, c.Recording, Build(s, c.Recording)
}

func near(a, b float64) bool { return math.Abs(a-b) < 0.03 }

func TestWhatIsFelt(t *testing.T) {
	many := func(n int, state string) (out []string) {
		for range n {
			out = append(out, state)
		}
		return out
	}
	pauses := "-- events --\n"
	for i := range seconds {
		pauses += fmt.Sprintf(`{"t":%d.2,"end":%d.6,"kind":"gc-pause","subject":{"kind":"process","pid":60,"comm":"api"},"attrs":{"collector":"MSC"},"value":0.4,"unit":"s"}`+"\n", i, i)
	}
	for _, c := range []struct {
		what    string
		service service
		more    string
		first   Account // of the delay; "": none is felt
		held    float64
	}{
		{"seven of eight threads wait for a lock", service{n: 20, mean: 0.5, threads: append(many(7, locked), asleep)}, "", Lock, 9},
		{"a thread that computes, and requests that wait for it: a load that fills it", service{n: 100, mean: 0.1, wait: 0.09, threads: many(1, running)}, "", "", 0},
		{"eight threads that sleep, and more requests than they take", service{n: 20, mean: 2, wait: 1.6, threads: many(8, asleep)}, "", Sleep, 32},
		{"the same threads, and no more requests than they take", service{n: 10, mean: 0.4, threads: many(8, asleep)}, "", "", 0},
		{"long polls", service{n: 1, mean: 9, threads: many(2, polling)}, "", "", 0},
		{"a slow disk", service{n: 5, mean: 0.1, threads: many(1, onDisk)}, "", Disk, 0.5},
		{"the same, too short to be felt", service{n: 100, mean: 0.005, threads: many(1, onDisk)}, "", "", 0},
		{"a disk that adds 8 ms to each answer", service{n: 50, mean: 0.008, threads: many(1, onDisk)}, "", "", 0},
		{"and 30 ms to one in twenty", service{n: 50, mean: 0.008, slow: 0.035, threads: many(1, onDisk)}, "", Disk, 0.4},
		{"a runtime that stops for 0.4 s of each", service{n: 10, mean: 0.2, wait: 0.18, threads: many(4, polling)}, pauses, Pause, 1.8},
	} {
		c.service.pid, c.service.port = 60, 8080
		_, _, l := build(t, c.more, c.service)
		if c.first == "" {
			if len(l.Felt) > 0 {
				t.Errorf("%s: felt %+v\n%s", c.what, l.Felt, table(l))
			}
			continue
		}
		if len(l.Felt) != 1 || l.Felt[0].By[0].Account != c.first || math.Abs(l.Felt[0].Held-c.held) > 0.15*c.held {
			t.Errorf("%s: felt %+v, want %s, %.1f held up\n%s", c.what, l.Felt, c.first, c.held, table(l))
		}
	}
}

// What a service waits for at another one of this host is what that one's threads do.
func TestACallContinuesThere(t *testing.T) {
	_, _, l := build(t, "", service{pid: 60, port: 8080, n: 20, mean: 1, threads: []string{awaiting, awaiting, awaiting}, calls: 9000, called: 0.9},
		service{pid: 70, port: 9000, n: 20, mean: 0.88, threads: []string{locked, locked, locked, asleep}})
	for _, d := range l.Felt {
		if d.Party.PIDs[0] != 60 || d.Party.Role != Serves {
			continue
		}
		if d.By[0].Account != Call || d.Of([]Account{Lock}) < 0.5 || d.Of([]Account{Disk}) > 0 || l.Booked(60, Lock) < 0.5 || l.Booked(60, Pause) != 0 {
			t.Errorf("%+v\n%s", d, table(l))
		}
		return
	}
	t.Errorf("nothing is felt at :8080\n%s", table(l))
}

// Delays of some seconds have these as their times, those of all have none.
func TestWhenItWasFelt(t *testing.T) {
	p := &Party{delayed: map[int]float64{2: 5, 3: 4, 7: 6, 8: 0.1}}
	window := recording.Interval{Start: 0, End: recording.Time(10e9)}
	got := p.active(window)
	if len(got) != 2 || got[0] != (recording.Interval{Start: 2e9, End: 4e9}) || got[1] != (recording.Interval{Start: 7e9, End: 8e9}) {
		t.Errorf("%v", got)
	}
	for i := range 10 {
		p.delayed[i] = 1
	}
	if got := p.active(window); got != nil {
		t.Errorf("%v", got)
	}
	// It lasts, and began in the third second: the two before had requests, and no delay.
	p.delayed[0], p.delayed[1] = 0, 0.02
	if got := p.active(window); got != nil {
		t.Errorf("nobody asked in the first two seconds: %v", got)
	}
	p.answers = map[int]uint64{0: 10, 1: 12, 2: 9}
	if got := p.active(window); len(got) != 1 || got[0] != (recording.Interval{Start: 2e9, End: 10e9}) {
		t.Errorf("%v", got)
	}
}

// Unread data is anybody's inside, and nobody's on the way.
func TestOf(t *testing.T) {
	d := Delay{By: []Part{{Unread, 0.6}, {Lock, 0.3}, {Queue, 0.1}}}
	for _, c := range []struct {
		accounts []Account
		want     float64
	}{{[]Account{Lock}, 0.9}, {[]Account{Disk}, 0.6}, {[]Account{Queue, Loss}, 0.1}, {[]Account{Nagle}, 0}} {
		if got := d.Of(c.accounts); !near(got, c.want) {
			t.Errorf("%v: %.2f, want %.2f", c.accounts, got, c.want)
		}
	}
}

// The time in which nobody looked at a service's threads is taken to be as the rest, where that
// is half of it and more; how long requests waited unread is known throughout.
func TestWhatWasNotSeen(t *testing.T) {
	for _, c := range []struct {
		unseen, unread, cpu, work float64
		want                      float64
	}{{0, 0, 4, 6, 0.4}, {4, 0, 3, 3, 0.5}, {4, 1, 2.5, 2.5, 0.55}, {6, 0, 3, 1, 0.3}} {
		p := &Party{Role: Serves, Demand: 10, Entries: []Entry{{Account: Unseen, Seconds: c.unseen}, {Account: Unread, Seconds: c.unread}, {Account: CPU, Seconds: c.cpu}, {Account: Work, Seconds: c.work}}}
		d := Delay{Party: p, Seconds: c.unread + c.cpu, Share: (c.unread + c.cpu) / 10}
		if got := d.shareSeen(); !near(got, c.want) {
			t.Errorf("%+v: %.2f", c, got)
		}
	}
}
