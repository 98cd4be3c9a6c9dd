package sockets

import (
	"fmt"
	"testing"

	"snag/probes/probe"
	"snag/recording"
)

// A stream goes from ffmpeg to nginx, from there to a relay, and from there to snag.
// Beside it nginx has another player, and a daemon on the host a connection of its own.
func TestAStreamIsFollowedToItsSource(t *testing.T) {
	sock := func(pid int, local, remote string, received, sent uint64) recording.Socket {
		return recording.Socket{Proto: "tcp", State: "ESTABLISHED", Local: local, Remote: remote,
			Owners: []recording.FDRef{{PID: pid}}, TCP: &recording.TCPInfo{BytesReceived: received, BytesSent: sent}}
	}
	const big = 1 << 20
	all := map[string]recording.Socket{
		"ffmpeg":       sock(40, "10.0.0.3:4000", "10.0.0.2:1935", 3500, big),
		"ingest":       sock(51, "10.0.0.2:1935", "10.0.0.3:4000", big, 3500),
		"to relay":     sock(51, "10.0.0.2:1935", "10.0.0.5:5000", 3500, big),
		"other player": sock(51, "10.0.0.2:1935", "10.0.0.8:5000", 3500, big),
		"relay in":     sock(60, "10.0.0.5:5000", "10.0.0.2:1935", big, 3500),
		"relay out":    sock(60, "10.0.0.5:1936", "10.0.0.9:6000", 3500, big),
		"snag":         sock(99, "10.0.0.9:6000", "10.0.0.5:1936", big, 3500),
		"daemon":       sock(70, "10.0.0.6:6000", "10.0.0.7:80", big, 3500),
	}
	w := newOnWay()
	got := map[string]bool{}
	for range len(all) { // dumps, each in any order: it may lead one step only
		for name, s := range all {
			got[name] = w.follow(&s, name == "snag")
		}
	}
	for name := range all {
		if want := name != "daemon" && name != "other player"; got[name] != want {
			t.Errorf("%s is on the way: %v, want %v", name, got[name], want)
		}
	}
	for pid, want := range map[int]bool{40: true, 51: true, 60: true, 70: false} {
		if w.pids[pid] != want {
			t.Errorf("process %d is watched: %v, want %v", pid, w.pids[pid], want)
		}
	}
}

// A packager writes files that a web server serves: no connection leads to it, and what
// feeds it is on the way all the same.
func TestWhoWritesFilesIsFollowed(t *testing.T) {
	watch := probe.NewWatch(4)
	watch.Carry(60)
	watch.Carry(0)
	w := newOnWay()
	in := recording.Socket{Proto: "tcp", State: "ESTABLISHED", Local: "10.0.0.5:5000", Remote: "10.0.0.2:1935",
		Owners: []recording.FDRef{{PID: 60}}, TCP: &recording.TCPInfo{BytesReceived: 1 << 20, BytesSent: 3500}}
	if w.follow(&in, false) {
		t.Error("it is on the way before anybody said so")
	}
	w.carry(watch.TakeCarriers())
	if !w.grown || !w.follow(&in, false) {
		t.Error("what feeds the packager is not on the way")
	}
	out := recording.Socket{Proto: "tcp", State: "ESTABLISHED", Local: "10.0.0.2:1935", Remote: "10.0.0.5:5000", Owners: []recording.FDRef{{PID: 51}}}
	if !w.follow(&out, false) || !w.pids[51] {
		t.Error("its other end is not on the way")
	}
	if again := watch.TakeCarriers(); len(again) != 0 || w.pids[0] {
		t.Errorf("%v are told again", again)
	}
	for pid := range 100 {
		w.carry([]int{1000 + pid})
	}
	if len(w.pids) > mostOnWay {
		t.Errorf("%d processes", len(w.pids))
	}
}

func TestAServerOfThousandsIsFollowedInPart(t *testing.T) {
	w := newOnWay()
	w.pids[1] = true
	for i := range 5000 {
		s := recording.Socket{Proto: "tcp", State: "ESTABLISHED", Local: "10.0.0.1:1935", Remote: fmt.Sprintf("10.0.1.1:%d", i),
			Owners: []recording.FDRef{{PID: 1}}, TCP: &recording.TCPInfo{BytesReceived: 1 << 20}}
		w.follow(&s, false)
		back := recording.Socket{Proto: "tcp", State: "ESTABLISHED", Local: s.Remote, Remote: s.Local, Owners: []recording.FDRef{{PID: 100 + i}}}
		w.follow(&back, false)
	}
	if len(w.ends) > mostEnds || len(w.pids) > mostOnWay {
		t.Errorf("%d ends and %d processes", len(w.ends), len(w.pids))
	}
}

func TestAllSocketsAreReadUntilTheWayIsKnown(t *testing.T) {
	w := newOnWay()
	if w.open(&probe.Env{}, 1) {
		t.Error("nobody asked for a stream")
	}
	env := &probe.Env{Streams: []string{"rtmp://10.0.0.2/live/a"}}
	s := recording.Socket{Proto: "tcp", State: "ESTABLISHED", Local: "10.0.0.9:1", Remote: "10.0.0.2:1935"}
	var open []int
	for tick := 1; tick <= 20; tick++ {
		if tick == 12 {
			w.follow(&s, true) // a reader that connected anew
		}
		if w.open(env, tick) {
			open = append(open, tick)
		}
	}
	if want := "[1 2 3 4 5 12 13 14]"; fmt.Sprint(open) != want {
		t.Errorf("all sockets at the ticks %v, want %s", open, want)
	}
}
