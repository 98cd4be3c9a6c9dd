package watch

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// spell is a freeze of a stream: server/name, from and to since the epoch.
type spell struct {
	stream   string
	from, to time.Duration
}

// run plays a queue against freezes, tick by tick.
type run struct {
	q       *queue
	spells  []spell
	waits   bool                                    // with --host
	verdict time.Duration                           // when the host's recording is judged; 0: never
	takes   func(call int) time.Duration            // how long a call runs; nil: it ends at once
	others  func(now time.Duration, frozen int) int // nil: one is well
	calls   []Call
	told    []string // calls and notes, with their time
}

// spells reads "a/1 0s 5s; b/2 0.3s 9s".
func spells(script string) (out []spell) {
	for _, line := range strings.Split(script, ";") {
		f := strings.Fields(line)
		from, err := time.ParseDuration(f[1])
		to, err2 := time.ParseDuration(f[2])
		if err != nil || err2 != nil {
			panic(line)
		}
		out = append(out, spell{f[0], from, to})
	}
	return out
}

func (s spell) alarm(now time.Duration) Alarm {
	server, _, _ := strings.Cut(s.stream, "/")
	return Alarm{Event: AlarmFreeze, Stream: s.stream, Server: server, Onset: epoch.Add(s.from), For: now - s.from}
}

func (r *run) until(end time.Duration) {
	type running struct {
		call Call
		end  time.Duration
	}
	var under []running
	bad := map[string]spell{}
	for now := time.Duration(0); now <= end; now += tick {
		under = slices.DeleteFunc(under, func(u running) bool {
			if u.end <= now {
				r.q.ran(u.call)
			}
			return u.end <= now
		})
		var all []raised
		for _, s := range r.spells {
			a := s.alarm(now)
			switch {
			case s.from <= now && now < s.to:
				a.Awaited = r.waits && now-s.from < awaited && (r.verdict == 0 || now < r.verdict)
				all = append(all, raised{Alarm: a})
				bad[s.stream] = s
			case now >= s.to && bad[s.stream] == s:
				a.Event, a.For, a.Over = AlarmWell, s.to-s.from, true
				all = append(all, raised{a, true})
				delete(bad, s.stream)
			}
		}
		if r.verdict > 0 && now >= r.verdict && now < r.verdict+tick {
			var verdicts []Alarm
			for _, s := range r.spells {
				v := s.alarm(now)
				v.Judged = &Judged{Culprit: "encoder-stall", Text: "it stalls"}
				verdicts = append(verdicts, v)
			}
			r.q.judged(verdicts)
		}
		r.q.take(all, epoch.Add(now))
		others := 1
		if r.others != nil {
			others = r.others(now, len(bad))
		}
		calls, notes := r.q.next(epoch.Add(now), maxRunning-len(under), others)
		for _, text := range notes {
			r.told = append(r.told, fmt.Sprintf("%s %s", now, text))
		}
		for _, c := range calls {
			r.calls = append(r.calls, c)
			r.told = append(r.told, fmt.Sprintf("%s %s", now, said1(c)))
			length := time.Duration(0)
			if r.takes != nil {
				length = r.takes(len(r.calls))
			}
			under = append(under, running{c, now + max(length, 1)})
		}
	}
}

// said1 is a call as the tests name it.
func said1(c Call) string {
	text := c.Alarms[0].Event + " " + strings.Join(names(c.Alarms), "+")
	if c.Alarms[0].Over && c.Alarms[0].Event != AlarmWell {
		text += fmt.Sprintf(" over after %s", c.Alarms[0].For)
	}
	if c.Alarms[0].Judged != nil {
		text += " judged"
	}
	if c.Held.Alarms > 0 {
		text += fmt.Sprintf(" held %d of %s", c.Held.Alarms, strings.Join(c.Held.Streams, "+"))
	}
	return text
}

func TestQueue(t *testing.T) {
	l := Limits{Least: 30 * time.Second, Most: 5 * time.Minute, PerMinute: 2, Tries: 5, Within: 30 * time.Minute, AllTries: 20, Heals: 2 * time.Minute}
	perMinute := "2 actions over all streams in a minute, which is the limit"
	joins := "streams that stop while others of their server stand are reported together, a call each 30 s at the most"
	step := "the next action for a stream comes 30 s after the last, later with each that did not help"
	hung := func(int) time.Duration { return time.Hour }
	for name, c := range map[string]struct {
		ends  bool
		run   run
		until time.Duration
		want  string
	}{
		"streams that stop together are one call, and their ends one": {true,
			run{spells: spells("a/1 0s 5s; a/2 200ms 5400ms; a/3 0s 5s; b/4 600ms 6s; a/5 800ms 5600ms")}, 20 * time.Second, `
1s freeze a/1+a/3+a/2+b/4+a/5
6s well a/1+a/3+a/2+b/4+a/5`},
		"nobody else may stop: nothing is waited for": {true,
			run{spells: spells("a/1 0s 5s"), others: func(time.Duration, int) int { return 0 }}, 20 * time.Second, `
0s freeze a/1
5s well a/1`},
		"who joins later is told together, a call each interval": {true,
			run{spells: spells("a/1 0s 90s; a/2 5s 80s; a/3 12s 80s; a/5 31600ms 80s; a/6 63s 80s")}, 70 * time.Second, `
1s freeze a/1
6s --x: 1 alarm of 1 stream (a/2) postponed: ` + joins + `; sent at 03:00:31
13s --x: 1 alarm of 1 stream (a/3) postponed: ` + joins + `; sent at 03:00:31
31s freeze a/2+a/3+a/1 held 2 of a/2+a/3
32.6s --x: 1 alarm of 1 stream (a/5) postponed: ` + joins + `; sent at 03:01:01
1m1s freeze a/5+a/2+a/3 held 1 of a/5
1m4s --x: 1 alarm of 1 stream (a/6) postponed: ` + joins + `; sent at 03:01:31`},
		"another server's stream is another incident": {true,
			run{spells: spells("a/1 0s 90s; b/1 5s 90s")}, 20 * time.Second, `
1s freeze a/1
6s freeze b/1`},
		"what is over the limit is told once it may be, also what is over by then": {true,
			run{spells: spells("a/1 0s 5s; b/1 10s 15s; c/1 20s 25s; d/1 20200ms 90s; e/1 50s 90s")}, 65 * time.Second, `
1s freeze a/1
5s well a/1
11s freeze b/1
15s well b/1
21s --x: 2 alarms of 2 streams (c/1, d/1) postponed: ` + perMinute + `; sent at 03:01:01
51s --x: 1 alarm of 1 stream (e/1) postponed: ` + perMinute + `; sent at 03:01:01
1m1s freeze c/1+d/1+e/1 over after 5s held 3 of c/1+d/1+e/1`},
		"a command is not run for what is over: the next run tells of it": {false,
			run{spells: spells("a/1 0s 5s; b/1 10s 15s; c/1 20s 25s; d/1 20s 90s")}, 65 * time.Second, `
1s freeze a/1
11s freeze b/1
21s --x: 2 alarms of 2 streams (c/1, d/1) postponed: ` + perMinute + `; sent at 03:01:01 if it still lasts then, else with the next call
1m1s freeze d/1 held 2 of c/1+d/1`},
		"a stream that freezes again and again": {true,
			run{spells: spells("a/1 0s 2s; a/1 5s 7s; a/1 10s 12s; a/1 15s 17s")}, 40 * time.Second, `
1s freeze a/1
2s well a/1
6s --x: 1 alarm of 1 stream (a/1) postponed: ` + step + `; sent at 03:00:31
31s freeze a/1 over after 2s held 3 of a/1`},
		"calls that hang": {true,
			run{spells: spells("a/1 0s 2m; b/1 65s 4m; c/1 130s 4m; d/1 195s 10m; e/1 260s 10m"), takes: func(n int) time.Duration {
				return map[int]time.Duration{1: 300 * time.Second, 2: time.Hour, 3: time.Hour, 4: time.Hour}[n]
			}}, 302 * time.Second, `
1s freeze a/1
1m6s freeze b/1
2m11s freeze c/1
3m16s freeze d/1
4m21s --x: 1 alarm of 1 stream (e/1) postponed: 4 calls have not ended yet, which is the limit; sent after that
5m1s well a/1
5m1.2s freeze e/1 held 1 of e/1`},
		"a command waits for the verdict, and is run though all is well by then": {false,
			run{spells: spells("a/1 0s 1200ms; a/2 400ms 60s"), waits: true, verdict: 9 * time.Second}, 20 * time.Second, `
9s freeze a/1+a/2 over after 1.2s judged`},
		"… for 15 s at the most": {false,
			run{spells: spells("a/1 0s 1200ms; a/2 400ms 20s"), waits: true}, 20 * time.Second, `
15s freeze a/1+a/2 over after 1.2s`},
		"… from the first of several freezes": {false,
			run{spells: spells("a/1 0s 2s; a/1 5s 7s; a/1 9s 11s"), waits: true}, 40 * time.Second, `
15s freeze a/1 over after 2s held 2 of a/1`},
		"… and what is over, and over a limit then, is told with the next run": {false,
			run{spells: spells("a/1 0s 2s; a/1 20s 22s; a/1 60s 100s"), waits: true}, 80 * time.Second, `
15s freeze a/1 over after 2s
35s --x: 1 alarm of 1 stream (a/1) postponed: ` + step + `; sent with the next call
1m15s freeze a/1 held 1 of a/1`},
		"a verdict is told once, though the stream is well by then": {true,
			run{spells: spells("a/1 0s 2s; a/2 400ms 60s"), waits: true, verdict: 9 * time.Second}, 20 * time.Second, `
1s freeze a/1+a/2
3s well a/1
9s verdict a/1+a/2 over after 2s judged`},
		"a verdict waits for the call that is told of": {true,
			run{spells: spells("a/1 0s 2s"), waits: true, verdict: 9 * time.Second, takes: func(n int) time.Duration {
				return map[int]time.Duration{1: 30 * time.Second}[n]
			}}, 40 * time.Second, `
1s freeze a/1
31s verdict a/1 over after 2s judged
31.2s well a/1`},
		"no call ends": {false, run{spells: spells("a/1 0s 2s; a/1 40s 42s"), takes: hung}, 50 * time.Second, `
1s freeze a/1
41s --x: 1 alarm of 1 stream (a/1) postponed: the last call for a stream has not ended yet; sent after that if it still lasts then, else with the next call`},
	} {
		r := c.run
		r.q = newQueue("--x", c.ends, l)
		r.until(c.until)
		if got := "\n" + strings.Join(r.told, "\n"); got != c.want {
			t.Errorf("%s:%s", name, got)
		}
	}
}

// Also where no limit parts them, the end of a freeze is told before the next.
func TestQueueTellsEndsFirst(t *testing.T) {
	r := run{q: newQueue("--x", true, Limits{PerMinute: 1000, Tries: 1000, AllTries: 1000, Within: time.Hour, Heals: time.Hour}),
		spells: spells("b/1 0s 60s; a/1 0s 5s; a/1 5200ms 20s"), others: func(time.Duration, int) int { return 0 }}
	r.until(10 * time.Second)
	end := slices.IndexFunc(r.calls, func(c Call) bool { return c.Alarms[0].Event == AlarmWell })
	next := slices.IndexFunc(r.calls, func(c Call) bool {
		return slices.ContainsFunc(c.Alarms, func(a Alarm) bool { return a.Stream == "a/1" && a.Onset.After(epoch) })
	})
	if end < 0 || next < 0 || next < end {
		t.Errorf("the end is call %d, the next freeze %d:\n%s", end, next, strings.Join(r.told, "\n"))
	}
}

// A stream that is no longer watched is told so, and is no longer frozen for ever.
func TestQueueOfStreamsThatGo(t *testing.T) {
	q := newQueue("--x", true, DefaultLimits)
	a := spell{"a/1", 0, 0}.alarm(0)
	q.take([]raised{{Alarm: a}}, epoch)
	q.next(epoch, 4, 0)
	q.ran(callOf(a))
	q.take(nil, epoch.Add(time.Second))
	calls, _ := q.next(epoch.Add(time.Second), 4, 0)
	if len(calls) != 1 || said1(calls[0]) != "gone a/1" {
		t.Fatalf("%+v", calls)
	}
	q.ran(calls[0])
	q.take(nil, epoch.Add(time.Hour))
	if len(q.streams) != 0 || q.asking != 0 {
		t.Errorf("%d streams are remembered for ever, %d await a verdict", len(q.streams), q.asking)
	}
}

// What is told is bounded, and so is what is remembered.
func TestQueueIsBounded(t *testing.T) {
	q := newQueue("--x", true, DefaultLimits)
	all := func(from time.Duration) (out []raised) {
		for i := range 3 * mostAwaiting {
			out = append(out, raised{Alarm: spell{fmt.Sprintf("a/%s%d", strings.Repeat("x", 90), i), from, 0}.alarm(from)})
		}
		return out
	}
	told := 0
	for now := time.Duration(0); now < 4*time.Minute; now += 5 * time.Second {
		q.take(all(0), epoch.Add(now))
		calls, notes := q.next(epoch.Add(now), 4, 0)
		if len(strings.Join(notes, "")) > 5000 {
			t.Fatalf("notes of %d bytes", len(strings.Join(notes, "")))
		}
		for _, c := range calls {
			bytes := len(strings.Join(names(c.Alarms), "\n"))
			if len(c.Alarms) > mostStreams || bytes > mostNameBytes || len(c.Held.Streams) > mostNamed {
				t.Fatalf("a call of %d streams, %d bytes, %d held back by name", len(c.Alarms), bytes, len(c.Held.Streams))
			}
			told += len(c.Alarms)
			q.ran(c)
		}
	}
	if told < 3*mostAwaiting || q.asking > mostAwaiting {
		t.Errorf("%d of %d streams are told, %d await a verdict", told, 3*mostAwaiting, q.asking)
	}
	q.take(nil, epoch.Add(time.Hour))
	for range 50 { // that they are gone is told, too
		calls, _ := q.next(epoch.Add(time.Hour), 4, 0)
		for _, c := range calls {
			q.ran(c)
		}
	}
	q.take(nil, epoch.Add(3*time.Hour))
	if len(q.streams) != 0 || q.asking != 0 || len(q.guard.streams) != 0 {
		t.Errorf("%d streams are remembered, %d await a verdict, the guard knows %d", len(q.streams), q.asking, len(q.guard.streams))
	}
}

// Whatever freezes, and however long calls take: no freeze is lost. A call tells it,
// or sums it up, or the last note does.
func TestQueueLosesNothing(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var all []spell
		for i := range 12 {
			for at := time.Duration(rng.IntN(60)) * time.Second; at < 10*time.Minute; {
				end := at + time.Duration(1+rng.IntN(40))*time.Second
				all = append(all, spell{fmt.Sprintf("s%d/%d", i%4, i), at, end})
				at = end + time.Duration(1+rng.IntN(100))*time.Second
			}
		}
		r := run{q: newQueue("--x", seed%2 == 0, DefaultLimits), spells: all, waits: seed%4 > 1, verdict: time.Duration(seed%3) * time.Minute,
			takes: func(int) time.Duration { return time.Duration(rng.IntN(40)) * time.Second }}
		r.until(12 * time.Minute)
		lost := r.q.untold()
		for _, s := range all {
			told := slices.ContainsFunc(r.calls, func(c Call) bool {
				return slices.ContainsFunc(c.Alarms, func(a Alarm) bool {
					return a.Stream == s.stream && a.Event == AlarmFreeze && a.Onset.Equal(epoch.Add(s.from))
				}) || c.At.After(epoch.Add(s.from)) && slices.Contains(c.Held.Streams, s.stream)
			})
			if !told && !strings.Contains(lost, s.stream) {
				t.Fatalf("seed %d: %+v is told nowhere:\n%s\n%s", seed, s, strings.Join(r.told, "\n"), lost)
			}
		}
		for i, c := range r.calls {
			minute := 0
			for _, d := range r.calls[:i+1] {
				if d.Alarms[0].Event == AlarmFreeze && d.At.After(c.At.Add(-time.Minute)) {
					minute++
				}
			}
			if minute > DefaultLimits.PerMinute {
				t.Fatalf("seed %d: %d calls in a minute", seed, minute)
			}
		}
	}
}
