package verdict

import (
	"testing"
	"time"

	"snag/recording"
	"snag/recording/rectest"
	"snag/scene"
)

// 08:53:20 to 08:53:50 UTC.
const relayScene = `A relay with a listener, a UDP socket and a viewer.
-- processes --
{"t":"0..29","pid":60,"comm":"relay","state":"S","threads":1}
{"t":"0..29","pid":70,"comm":"player","state":"S","threads":1}
-- sockets --
{"t":0,"netns":1,"proto":"tcp","state":"LISTEN","local":"0.0.0.0:1935","inode":5,"cookie":5,"owners":[{"pid":60,"comm":"relay","fd":6}],"send_q":128}
{"t":0,"netns":1,"proto":"udp","state":"UNCONN","local":"0.0.0.0:5004","inode":6,"cookie":6,"owners":[{"pid":60,"comm":"relay","fd":7}]}
{"t":0,"netns":1,"proto":"tcp","state":"ESTABLISHED","local":"10.0.0.1:1935","remote":"10.0.0.7:40000","inode":7,"cookie":7,"owners":[{"pid":60,"comm":"relay","fd":8}]}
`

func TestReportedSymptoms(t *testing.T) {
	c, err := rectest.Parse([]byte(relayScene))
	if err != nil {
		t.Fatal(err)
	}
	s := scene.Build(c.Recording)
	start := s.Window.Start
	for _, x := range []struct {
		text    string
		offset  int
		since   recording.Time
		name    string
		subject recording.Kind
		local   string
		pid     int
		onset   recording.Time
	}{
		{text: "it freezes", name: scene.StreamFreeze, subject: recording.KindHost, onset: start},
		{text: "freeze 08:53:28Z stream X", name: scene.StreamFreeze, subject: recording.KindHost, onset: start.Add(8 * time.Second)},
		// Told in the host's zone, and read off a log in UTC.
		{text: "freeze 09:53:28 stream X", offset: 3600, name: scene.StreamFreeze, subject: recording.KindHost, onset: start.Add(8 * time.Second)},
		{text: "freeze 08:53:28 stream X", offset: 3600, name: scene.StreamFreeze, subject: recording.KindHost, onset: start.Add(8 * time.Second)},
		{text: "slow answers on port 1935", name: scene.RequestLatency, subject: recording.KindListener, local: "0.0.0.0:1935", pid: 60, onset: start},
		{text: "10.0.0.1:1935 resets", name: scene.ConnectionErrors, subject: recording.KindListener, local: "0.0.0.0:1935", pid: 60, onset: start},
		{text: "loss on udp 5004", name: scene.DatagramsLost, subject: recording.KindSocket, local: "0.0.0.0:5004", pid: 60, onset: start},
		{text: "player[70] stalls", name: scene.StreamFreeze, subject: recording.KindProcess, pid: 70, onset: start},
		{text: "pid 70 stalls", name: scene.StreamFreeze, subject: recording.KindProcess, pid: 70, onset: start},
		{text: "the player stalls", name: scene.StreamFreeze, subject: recording.KindProcess, pid: 70, onset: start},
		{text: "10.0.0.7 complains", name: Reported, subject: recording.KindSocket, local: "10.0.0.1:1935", pid: 60, onset: start},
		{text: "port 9999 freezes", name: scene.StreamFreeze, subject: recording.KindHost, onset: start},
		{text: "it freezes", since: start.Add(-time.Minute), name: scene.StreamFreeze, subject: recording.KindHost, onset: start.Add(-time.Minute)},
		{text: "freeze 08:54:28Z", name: scene.StreamFreeze, subject: recording.KindHost, onset: start},
	} {
		got := reported(s, recording.Manifest{UTCOffset: x.offset, Since: x.since}, x.text)
		if got.Name != x.name || got.Subject.Kind != x.subject || got.Subject.Local != x.local || got.Subject.PID != x.pid || got.Onset != x.onset || !got.Reported {
			t.Errorf("%q: %s on %s %q pid %d, onset %v", x.text, got.Name, got.Subject.Kind, got.Subject.Local, got.Subject.PID, got.Onset.Sub(start))
		}
	}
	since := scene.Build(c.Recording)
	c.Recording.Manifest.Since = start.Add(5 * time.Second)
	if got := reports(since, c.Recording); len(got) != 1 || got[0].Name != Reported || got[0].Onset != start.Add(5*time.Second) {
		t.Errorf("--since alone: %+v", got)
	}
}

func TestWhatBeganLaterIsNotTheCause(t *testing.T) {
	window := recording.Interval{Start: rectest.Start, End: rectest.Start.Add(30e9)}
	at := func(seconds ...int) *candidate {
		c := &candidate{}
		for _, s := range seconds {
			c.finding.Active = append(c.finding.Active, recording.Interval{Start: window.Start.Add(time.Duration(s) * time.Second), End: window.Start.Add(time.Duration(s)*time.Second + 1e9)})
		}
		c.onset = c.finding.Active[0].Start
		return c
	}
	for _, x := range []struct {
		cause *candidate
		onset int
		late  bool
	}{
		{at(10), 12, false},
		{at(10), 9, false}, // within the slack of sampling
		{at(10), 7, true},
		{at(10, 15, 20), 7, true},    // not even if it comes again: it was not there before
		{at(10), -60, true},          // once, and later
		{at(10, 15, 20), -60, false}, // again and again: so also before the recording
		{at(0), -60, false},
	} {
		if got := tooLate(x.cause, window.Start.Add(time.Duration(x.onset)*time.Second), window); got != x.late {
			t.Errorf("cause at %v, symptom at %d s: late %v", x.cause.onset.Sub(window.Start), x.onset, got)
		}
	}
}
