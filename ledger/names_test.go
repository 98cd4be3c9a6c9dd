package ledger

import (
	"testing"

	"snag/recording/rectest"
	"snag/scene"
)

// A name server of two threads: one sleeps for each query, the other waits for the next in a
// read from the same socket. Whoever asks waits for it, and it for nobody.
func TestNameServerIsBooked(t *testing.T) {
	c, err := rectest.Parse([]byte(`queries
-- manifest --
{"seconds": 10}
-- processes --
{"t":"0..10","pid":20,"comm":"names","netns":1,"state":"S","cpu_seconds":"1+0.01x","threads":2}
{"t":"0..10","pid":30,"comm":"api","netns":1,"state":"S","cpu_seconds":"1+0.01x","threads":1}
-- sockets --
{"t":"0..9","netns":1,"proto":"udp","state":"UNCONN","local":"0.0.0.0:53","inode":5,"cookie":5,"owners":[{"pid":20,"comm":"names","fd":3}]}
{"t":"0..9","netns":1,"proto":"tcp","state":"LISTEN","local":"0.0.0.0:53","inode":6,"cookie":6,"owners":[{"pid":20,"comm":"names","fd":4}],"send_q":128}
-- turns --
{"t":"0..9","netns":1,"role":"serve","local":"0.0.0.0:53","remote":"127.0.0.1","proto":"udp","pid":20,"comm":"names","n":5,"sum":1,"max":0.2}
-- queries --
{"t":"0..9","netns":1,"pid":30,"comm":"api","remote":"127.0.0.1:53","asked":5,"answered":5,"sum":1.05,"max":0.21}
-- thread_states --
{"t":"0..9","pid":20,"tid":20,"threads":1,"comm":"names","state":"S","call":"clock_nanosleep","fd":-1,"n":20,"looks":20}
{"t":"0..9","pid":20,"tid":21,"threads":1,"comm":"names","state":"S","call":"recvfrom","fd":3,"inode":5,"n":20,"looks":20}
`))
	if err != nil {
		t.Fatal(err)
	}
	l := Build(scene.Build(c.Recording), c.Recording)
	if len(l.Parties) != 2 {
		t.Fatal(table(l))
	}
	for _, p := range l.Parties {
		switch p.Role {
		case Serves:
			if p.Subject.Proto != "udp" || p.Answered != 50 || p.Share(Sleep) < 0.99 {
				t.Error(table(l))
			}
		case Calls:
			if p.Subject.Proto != "udp" || p.Share(Call) < 0.9 {
				t.Error(table(l))
			}
		}
	}
}
