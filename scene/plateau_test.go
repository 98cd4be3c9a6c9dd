package scene

import (
	"fmt"
	"testing"
)

// transfer is a sender that always has more and its reader, both on this host.
// acked is how the sender's count grows, limited how long a window held it back.
func transfer(acked, limited string, unread int) string {
	return fmt.Sprintf(`-- sockets --
{"t":"0..20","netns":1,"proto":"tcp","state":"ESTABLISHED","local":"10.0.0.1:80","remote":"10.0.0.2:4000","inode":7,"cookie":7,"owners":[{"pid":60,"comm":"api","fd":8}],"send_q":400000,"tcp":{"rtt":0.05,"bytes_acked":%s,"bytes_sent":%[1]s,"busy":"0+1x","rwnd_limited":%s}}
{"t":"0..20","netns":2,"proto":"tcp","state":"ESTABLISHED","local":"10.0.0.2:4000","remote":"10.0.0.1:80","inode":8,"cookie":8,"owners":[{"pid":70,"comm":"fetch","fd":8}],"recv_q":%d,"tcp":{"rtt":0.05,"bytes_received":%[1]s}}`, acked, limited, unread)
}

func TestPlateaus(t *testing.T) {
	for _, x := range []struct {
		what string
		rows string
		want int
	}{
		{"held by the window, its reader keeps up", transfer(`"1000000+1300000x"`, `"0+0.9x"`, 0), 1},
		{"held by nothing", transfer(`"1000000+1300000x"`, `"0+0.1x"`, 0), 0},
		{"its reader takes its time", transfer(`"1000000+1300000x"`, `"0+0.9x"`, 90000), 0},
		{"a trickle", transfer(`"1000+1000x"`, `"0+0.9x"`, 0), 0},
	} {
		got := symptomsOf(t, ThroughputPlateau, x.rows)
		if len(got) != x.want {
			t.Errorf("%s: %+v", x.what, got)
		}
		if x.want == 1 && (got[0].Amount < 0.89 || got[0].Amount > 0.91 || got[0].Subject.PID != 60) {
			t.Errorf("%s: %+v", x.what, got[0])
		}
	}
}

func TestAFreezeIsToldFromOneEnd(t *testing.T) {
	const both = `-- sockets --
{"t":"0..20","netns":1,"proto":"tcp","state":"ESTABLISHED","local":"10.0.0.1:80","remote":"10.0.0.2:4000","inode":7,"cookie":7,"owners":[{"pid":60,"comm":"relay","fd":8}],"send_q":400000,"tcp":{"rtt":0.05,"bytes_acked":5000}}
{"t":"0..20","netns":2,"proto":"tcp","state":"ESTABLISHED","local":"10.0.0.2:4000","remote":"10.0.0.1:80","inode":8,"cookie":8,"owners":[{"pid":70,"comm":"player","fd":8}],"recv_q":%s,"tcp":{"rtt":0.05,"bytes_received":5000}}`
	got := symptomsOf(t, StreamFreeze, fmt.Sprintf(both, "90000"))
	if len(got) != 1 || got[0].Subject.PID != 70 || got[0].Side != "read" {
		t.Errorf("want the end that does not read: %+v", got)
	}
	// Nothing came: the writer's is all there is.
	got = symptomsOf(t, StreamFreeze, fmt.Sprintf(both, "0"))
	if len(got) != 1 || got[0].Subject.PID != 60 || got[0].Side != "write" {
		t.Errorf("want the end that can't send: %+v", got)
	}
}
