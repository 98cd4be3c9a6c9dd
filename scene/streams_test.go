package scene

import (
	"fmt"
	"strings"
	"testing"

	"snag/recording"
	"snag/recording/rectest"
)

// streamCase is a server (pid 51) with two publishers (40 at 300 kB/s with a pause from
// 10 to 15, 45 at 80 kB/s), a player that is snag (99) and another (70).
func streamCase(t *testing.T, more string) *Scene {
	t.Helper()
	inode := 1
	sock := func(pid int, local, remote string, received, sent string) string {
		inode++
		return fmt.Sprintf(`{"t":"0..30","netns":1,"inode":%d,"proto":"tcp","state":"ESTABLISHED","local":%q,"remote":%q,"owners":[{"pid":%d,"comm":"p%d","fd":5}],"recv_q":0,"send_q":0,"drops":0,"tcp":{"bytes_received":%q,"bytes_sent":%q,"bytes_acked":%q}}`,
			inode, local, remote, pid, pid, received, sent, sent) + "\n"
	}
	text := "A case.\n-- sockets --\n" +
		`{"t":0,"netns":1,"inode":1,"proto":"tcp","state":"LISTEN","local":"0.0.0.0:1935","owners":[{"pid":51,"comm":"p51","fd":3}],"recv_q":0,"send_q":511,"drops":0}` + "\n" +
		sock(45, "10.0.0.40:4000", "10.0.0.2:1935", "3500+0x", "10000+80000x") +
		sock(51, "10.0.0.2:1935", "10.0.0.40:4000", "10000+80000x", "3500+0x") +
		sock(40, "10.0.0.3:4000", "10.0.0.2:1935", "3500+0x", "10000+300000x") +
		sock(51, "10.0.0.2:1935", "10.0.0.3:4000", "10000+300000x", "3500+0x") +
		sock(51, "10.0.0.2:1935", "10.0.0.9:6000", "3500+0x", "10000+300000x") +
		sock(51, "10.0.0.2:1935", "10.0.0.70:6000", "3500+0x", "10000+300000x") +
		sock(70, "10.0.0.70:6000", "10.0.0.2:1935", "10000+300000x", "3500+0x") +
		sock(99, "10.0.0.9:6000", "10.0.0.2:1935", "10000+300000x", "3500+0x") +
		"-- streams --\n" + `{"t":1,"name":"live/a","protocol":"rtmp","side":"player","netns":1,"local":"10.0.0.9:6000","remote":"10.0.0.2:1935","fps":30}` + "\n" + more
	c, err := rectest.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return Build(c.Recording)
}

func way(st *Stream) string {
	var out []string
	for _, l := range st.Way {
		from, to := "?", "?"
		if p := l.Sender(); p != nil {
			from = p.Subject.Comm
		}
		if p := l.Receiver(); p != nil {
			to = p.Subject.Comm
		}
		out = append(out, from+">"+to)
	}
	return strings.Join(out, " ")
}

func TestTheWayOfAStream(t *testing.T) {
	const bytes = "-- samples --\nsnag_stream_bytes_total{stream=\"live/a\",side=\"player\",kind=\"video\"} 10000+%dx30\n"
	pieces := func(every, bytes int) string { // a server that sends what it has every few seconds
		values := ""
		for at := range 31 {
			values += fmt.Sprint(" ", 10000+at/every*every*bytes)
		}
		return "-- samples --\nsnag_stream_bytes_total{stream=\"live/a\",side=\"player\",kind=\"video\"}" + values + "\n"
	}
	stops := func(pid int) string {
		return "-- events --\n" + fmt.Sprintf(`{"t":10,"end":13,"kind":"stopped","subject":{"kind":"process","pid":%d}}`, pid) + "\n"
	}
	const freeze = "-- events --\n" + `{"t":11,"end":13.5,"kind":"stream-freeze","subject":{"kind":"stream","name":"live/a"},"value":2.5,"unit":"s","attrs":{"side":"player"}}` + "\n"
	for _, c := range []struct {
		name, more, want, ends, by string
	}{
		{"its bytes tell which publisher", fmt.Sprintf(bytes, 300000), "p51>p99 p40>p51", "", "rhythm"},
		{"the other one's", fmt.Sprintf(bytes, 80000), "p51>p99 p45>p51", "", "rhythm"},
		{"neither's", fmt.Sprintf(bytes, 160000), "p51>p99", "receives 2 streams", ""},
		{"it comes in pieces, as many bytes as", pieces(3, 300000), "p51>p99 p40>p51", "", "as many bytes"},
		{"in pieces, the other one's", pieces(3, 80000), "p51>p99 p45>p51", "", "as many bytes"},
		{"in pieces, neither's", pieces(3, 160000), "p51>p99", "receives 2 streams", ""},
		{"without figures", "", "p51>p99", "receives 2 streams", ""},
		{"the wire names it", `{"t":1,"name":"live/a","protocol":"rtmp","side":"publisher","netns":1,"local":"10.0.0.2:1935","remote":"10.0.0.40:4000"}` + "\n", "p51>p99 p45>p51", "", "publisher's connection"},
		{"a connection that ended", "-- sockets --\n" + `{"t":30,"netns":1,"inode":5,"proto":"tcp","state":"CLOSE","local":"10.0.0.2:1935","remote":"10.0.0.3:4000","recv_q":0,"send_q":0,"drops":0}` + "\n" + fmt.Sprintf(bytes, 300000), "p51>p99 p40>p51", "", "rhythm"},
		{"its sender was stopped when it froze", stops(45) + freeze, "p51>p99 p45>p51", "", "was stopped when the stream suffered"},
		{"both were", stops(45) + stops(40) + freeze, "p51>p99", "receives 2 streams", ""},
		{"it did not suffer", stops(45), "p51>p99", "receives 2 streams", ""},
		{"the wire names another", `{"t":1,"name":"live/b","protocol":"rtmp","side":"publisher","netns":1,"local":"10.0.0.2:1935","remote":"10.0.0.40:4000"}` + "\n", "p51>p99", "receives 2 streams", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := streamCase(t, c.more).Streams[0]
			if way(st) != c.want || (st.Ends == "") != (c.ends == "") || !strings.Contains(st.Ends, c.ends) || !strings.Contains(st.By, c.by) {
				t.Errorf("way %q ends %q by %q, want %q %q %q", way(st), st.Ends, st.By, c.want, c.ends, c.by)
			}
		})
	}
}

// A stream of which no frame came is followed over the connection on which snag asked for it, and
// back to the only publisher that sent nothing.
func TestTheWayOfAStreamWithoutFrames(t *testing.T) {
	of := func(url, other, silent string) string {
		inode := 1
		sock := func(pid int, local, remote, received, sent string) string {
			inode++
			return fmt.Sprintf(`{"t":"0..30","netns":1,"inode":%d,"proto":"tcp","state":"ESTABLISHED","local":%q,"remote":%q,"owners":[{"pid":%d,"comm":"p%d","fd":5}],"recv_q":0,"send_q":0,"drops":0,"tcp":{"bytes_received":%q,"bytes_sent":%q,"bytes_acked":%q}}`,
				inode, local, remote, pid, pid, received, sent, sent) + "\n"
		}
		c, err := rectest.Parse([]byte("A case.\n-- sockets --\n" +
			`{"t":0,"netns":1,"inode":1,"proto":"tcp","state":"LISTEN","local":"0.0.0.0:1935","owners":[{"pid":51,"comm":"p51","fd":3}],"recv_q":0,"send_q":511,"drops":0}` + "\n" +
			sock(45, "10.0.0.40:4000", "10.0.0.2:1935", "3500+0x", other) +
			sock(51, "10.0.0.2:1935", "10.0.0.40:4000", other, "3500+0x") +
			sock(40, "10.0.0.3:4000", "10.0.0.2:1935", "3500+0x", silent) +
			sock(51, "10.0.0.2:1935", "10.0.0.3:4000", silent, "3500+0x") +
			sock(51, "10.0.0.2:1935", "10.0.0.9:6000", "300+0x", "3500+0x") +
			sock(99, "10.0.0.9:6000", "10.0.0.2:1935", "3500+0x", "300+0x") +
			"-- streams --\n" + fmt.Sprintf(`{"t":1,"name":"live/a","protocol":"rtmp","side":"player","netns":1,"url":%q}`, url) + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		c.Recording.Manifest.SelfPID = 99
		return way(Build(c.Recording).Streams[0])
	}
	const flows, stands = "100000+80000x", "100000+0x"
	for want, got := range map[string]string{
		"p51>p99 p40>p51": of("rtmp://10.0.0.2:1935/live/a", flows, stands),
		"p51>p99":         of("rtmp://10.0.0.2:1935/live/a", stands, stands), // either may be it
		"":                of("rtmp://10.0.0.7:1935/live/a", flows, stands),  // it asked another
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestWhatTouchesAStream(t *testing.T) {
	s := streamCase(t, "-- samples --\nsnag_stream_bytes_total{stream=\"live/a\",side=\"player\",kind=\"video\"} 10000+300000x30\n")
	st := s.Streams[0]
	for pid, want := range map[int]bool{40: true, 51: true, 45: false, 70: false} {
		if got := s.Touch(st.Subject, s.Process(pid).Subject); got != want {
			t.Errorf("process %d touches the stream: %v, want %v", pid, got, want)
		}
	}
	other := s.SocketAt(1, "tcp", "10.0.0.2:1935", "10.0.0.70:6000")
	if s.Touch(other.Subject, st.Subject) {
		t.Error("another player's connection touches the stream")
	}
	if !s.Touch(recording.Subject{Kind: recording.KindHost}, st.Subject) {
		t.Error("the host does not touch the stream")
	}
	// A stream ties its publisher to its server, and no more to each other than before.
	if got := s.Touch(s.Process(40).Subject, s.Process(70).Subject); !got {
		t.Error("a publisher and a player of one server are related by its sockets")
	}
}

func TestAFreezeIsToldOnce(t *testing.T) {
	s := streamCase(t, `-- samples --
snag_stream_bytes_total{stream="live/a",side="player",kind="video"} 10000+300000x30
-- events --
{"t":10,"kind":"stream-freeze","subject":{"kind":"stream","name":"live/a"},"attrs":{"side":"player"},"value":1,"unit":"s"}
{"t":10,"end":15,"kind":"stream-freeze","subject":{"kind":"stream","name":"live/a"},"attrs":{"side":"player"},"value":5,"unit":"s"}
{"t":20,"kind":"stream-freeze","subject":{"kind":"stream","name":"live/a"},"attrs":{"side":"player"},"value":9,"unit":"s"}
{"t":12,"end":14,"kind":"stream-freeze","subject":{"kind":"stream","name":"live/b"},"attrs":{"side":"player"},"value":2,"unit":"s"}
{"t":12,"end":14,"kind":"stream-freeze","subject":{"kind":"stream","name":"live/a"},"attrs":{"side":"consumer"},"value":2,"unit":"s"}
`)
	var freezes []Symptom
	for _, sym := range s.Symptoms {
		if sym.Name == StreamFreeze {
			freezes = append(freezes, sym)
		}
	}
	if len(freezes) != 1 || freezes[0].Amount != 15 || len(freezes[0].Active) != 2 {
		t.Errorf("freezes: %+v, want one of 5 s and one of 10 s that goes on", freezes)
	}
	guess := Symptom{Name: StreamFreeze, Subject: s.SocketAt(1, "tcp", "10.0.0.2:1935", "10.0.0.3:4000").Subject,
		Active: []recording.Interval{{Start: rectest.Start.Add(11e9), End: rectest.Start.Add(14e9)}}}
	elsewhere := guess
	elsewhere.Subject = s.SocketAt(1, "tcp", "10.0.0.70:6000", "10.0.0.2:1935").Subject
	later := guess
	later.Active = []recording.Interval{{Start: rectest.Start.Add(17.5e9), End: rectest.Start.Add(17.9e9)}}
	for what, c := range map[string]struct {
		sym  Symptom
		want bool
	}{"a socket of its way": {guess, true}, "another player's": {elsewhere, false}, "at another time": {later, false}} {
		if got := s.carries(c.sym, freezes[0]); got != c.want {
			t.Errorf("%s is the same: %v, want %v", what, got, c.want)
		}
	}
}

// A connection that was named only once its frames were compared is one stream, with
// what befell it before.
func TestAConnectionThatGotAName(t *testing.T) {
	s := streamCase(t, `{"t":1,"name":"10.0.0.3:4000 → :1935","protocol":"rtmp","side":"publisher","netns":1,"local":"10.0.0.2:1935","remote":"10.0.0.3:4000","named_by":"address"}
{"t":9,"name":"live/a","was":"10.0.0.3:4000 → :1935","protocol":"rtmp","side":"publisher","netns":1,"local":"10.0.0.2:1935","remote":"10.0.0.3:4000","named_by":"frames"}
-- events --
{"t":4,"end":6,"kind":"stream-freeze","subject":{"kind":"stream","name":"10.0.0.3:4000 → :1935"},"attrs":{"side":"publisher"},"value":2,"unit":"s"}
{"t":12,"end":14,"kind":"stream-freeze","subject":{"kind":"stream","name":"live/a"},"attrs":{"side":"publisher"},"value":2,"unit":"s"}
`)
	var of []*Stream
	for _, st := range s.Streams {
		if st.Row.Side == recording.StreamSidePublisher {
			of = append(of, st)
		}
	}
	if len(of) != 1 || of[0].Row.Name != "live/a" || len(of[0].Events) != 2 {
		t.Fatalf("%d published streams: %+v", len(of), of)
	}
}
