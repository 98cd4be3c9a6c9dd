package scene

import (
	"slices"
	"testing"

	"snag/recording/rectest"
)

// A database forks a process for each connection. Those that began or ended in the window answer; the one that was
// there all along writes its log.
func TestHeirs(t *testing.T) {
	c, err := rectest.Parse([]byte(`-- processes --
{"t":"0..9","pid":50,"comm":"postgres","netns":1,"state":"S","threads":1,"start":-100}
{"t":"0..9","pid":51,"ppid":50,"comm":"postgres","netns":1,"state":"S","threads":1,"start":-100}
{"t":"0..9","pid":52,"ppid":50,"comm":"postgres","netns":1,"state":"S","threads":1,"start":-100}
-- sockets --
{"t":"0..9","netns":1,"proto":"tcp","state":"LISTEN","local":"10.0.0.1:5432","inode":5,"cookie":5,"owners":[{"pid":50,"comm":"postgres","fd":6}],"send_q":511}
-- exits --
{"t":4,"pid":52,"ppid":50,"comm":"postgres","netns":1,"age_seconds":104,"n":1}
-- turns --
{"t":3,"netns":1,"role":"serve","local":"10.0.0.1:5432","remote":"10.0.0.7","pid":60,"comm":"postgres","n":1,"sum":0.01,"max":0.01}
-- thread_states --
{"t":3,"pid":51,"tid":51,"parent":50,"threads":1,"comm":"postgres","state":"D","io":true,"call":"fdatasync","fd":9,"n":2,"looks":20}
{"t":3,"pid":52,"tid":52,"parent":50,"threads":1,"comm":"postgres","state":"D","io":true,"call":"fdatasync","fd":9,"n":2,"looks":20}
{"t":3,"pid":61,"tid":61,"parent":50,"threads":1,"comm":"postgres","state":"D","io":true,"call":"fdatasync","fd":9,"n":2,"looks":20}
{"t":3,"pid":71,"tid":71,"threads":1,"comm":"other","state":"S","call":"read","fd":3,"n":20,"looks":20}
`))
	if err != nil {
		t.Fatal(err)
	}
	r := c.Recording
	all := Services(Build(r), r, "serve")
	if len(all) != 1 {
		t.Fatalf("%d services", len(all))
	}
	pids := slices.Sorted(slices.Values(all[0].PIDs))
	if !slices.Equal(pids, []int{52, 60, 61}) {
		t.Errorf("%v answer; want 60, which the turns name, 61, which began, and 52, which ended", pids)
	}
}
