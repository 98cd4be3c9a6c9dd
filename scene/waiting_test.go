package scene

import (
	"fmt"
	"strings"
	"testing"

	"snag/recording/rectest"
)

// A client of 30 connections: at each look the answer of one of them, or of six, has come and is not
// read yet.
func TestOneAnswerOfThirtyHasJustCome(t *testing.T) {
	for unread, want := range map[int]int{1: 0, 6: 1} {
		var b strings.Builder
		b.WriteString("A case.\n-- processes --\n" + `{"t":"0..9","pid":70,"comm":"client","netns":1,"state":"S","threads":9,"cpu_seconds":"0+0.1x"}` + "\n-- sockets --\n")
		for at := range 10 {
			for k := range 30 {
				waits := 0
				if (k+30-at)%30 < unread {
					waits = 200
				}
				fmt.Fprintf(&b, `{"t":%d,"netns":1,"inode":%d,"proto":"tcp","state":"ESTABLISHED","local":"10.0.0.7:%d","remote":"10.0.0.1:50051","owners":[{"pid":70,"comm":"client","fd":%d}],"recv_q":%d,"send_q":0,"drops":0,"tcp":{"bytes_received":%d,"bytes_sent":%d}}`+"\n",
					at, 100+k, 40000+k, 5+k, waits, 1000*(at+1), 500*(at+1))
			}
		}
		c, err := rectest.Parse([]byte(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		got := waitingRequests(Build(c.Recording), c.Recording)
		if len(got) != want {
			t.Errorf("%d of 30 wait to be read: %d symptoms, not %d: %+v", unread, len(got), want, got)
		}
	}
}
