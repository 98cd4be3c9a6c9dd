package page

import (
	"strings"
	"testing"

	"snag/recording"
	"snag/verdict"
)

// captureOf is a capture in which a server sends 100 segments, has one lost, and is silent for 5 s.
func captureOf() *recording.Recording {
	start := recording.Time(1_700_000_000e9)
	const client, server = "10.0.0.7:40112", "10.0.0.1:80"
	r := &recording.Recording{Manifest: recording.Manifest{Start: start, End: start + 20e9, Host: "files", Files: []recording.File{{Name: "x.pcap", Format: "pcap"}}}}
	add := func(ms int64, s recording.Segment) {
		s.T, s.Netns, s.Client, s.Server = start+recording.Time(ms*1e6), 1<<33, client, server
		r.Add(s)
	}
	add(0, recording.Segment{Up: true, Flags: "S", Window: 64240})
	add(20, recording.Segment{Flags: "S.", Ack: 1, Window: 65160})
	add(21, recording.Segment{Up: true, Flags: "P.", Seq: 1, Ack: 1, Len: 17, Window: 64256, Wait: true})
	add(40, recording.Segment{Flags: ".", Seq: 1, Ack: 18, Window: 65152, Wait: true})
	for i := range uint32(100) {
		s := recording.Segment{Flags: ".", Seq: 1 + i*1448, Ack: 18, Len: 1448, Window: 65152, Wait: i == 0}
		add(5040+int64(i)*10, s)
		add(5041+int64(i)*10, recording.Segment{Up: true, Flags: ".", Seq: 18, Ack: 1 + (i+1)*1448, Window: 64256})
	}
	add(6300, recording.Segment{Flags: ".", Seq: 1 + 50*1448, Ack: 18, Len: 1448, Window: 65152, Again: true})
	r.Add(recording.Flow{T: start, End: start + 6300e6, Netns: 1 << 33, Proto: "tcp", Client: client, Server: server, Closed: "open", SYNs: 1, SYNACKs: 1, Asked: 1, Silent: 1, SilentSum: 5,
		Silence: &recording.Silence{After: 0.021, Length: 5, Begins: "an HTTP request"}})
	return r
}

func TestACaptureIsDrawn(t *testing.T) {
	d := New(verdict.Judge(captureOf()), limits[0])
	titles := map[string]Chart{}
	for _, c := range d.Charts {
		titles[c.Title] = c
	}
	seq := titles["sequence numbers"]
	if len(seq.Lines) != 4 || seq.Lines[0].V[len(seq.Lines[0].V)-1] != 1+100*1448 || seq.Unit != "bytes" || !strings.Contains(seq.About, "10.0.0.7:40112 ← 10.0.0.1:80") {
		t.Errorf("%+v", seq)
	}
	if again := seq.Lines[3]; again.Label != "sent again" || len(again.V) != 1 {
		t.Errorf("%+v", again)
	}
	rate := titles["throughput"]
	sum := 0.0
	for _, v := range rate.Lines[0].V {
		sum += v / float64(len(rate.Lines[0].V))
	}
	if want := 99 * 1448 / 1.26; sum < 0.9*want || sum > 1.1*want { // from the first segment to the one that comes again
		t.Errorf("%.0f bytes/s on average, want %.0f", sum, want)
	}
	if w := titles["window, and what is on its way"]; len(w.Lines) != 2 || w.Lines[0].V[0] != 64240 && w.Lines[0].V[0] != 64256 {
		t.Errorf("%+v", w)
	}
	tables := map[string]Table{}
	for _, table := range d.Tables {
		tables[table.Name] = table
	}
	ladder := tables["ladder"]
	if len(ladder.Rows) != 3 || ladder.Rows[0][2] != "17 B" || ladder.Rows[1][4] != "ACK of 18 B" || ladder.Rows[2][1] != 5.0 {
		t.Errorf("%+v", ladder)
	}
	if c := tables["conversations"]; len(c.Rows) != 1 || c.Rows[0][5] != 5.0 {
		t.Errorf("%+v", c)
	}
	for _, line := range d.Charts[0].Lines {
		if len(line.T) != len(line.V) {
			t.Errorf("%s: %d times, %d values", line.Label, len(line.T), len(line.V))
		}
	}
}
