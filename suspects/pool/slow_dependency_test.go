package pool

import (
	"strings"
	"testing"

	"snag/recording/rectest"
	"snag/scene"
	"snag/suspects/suspect"
)

const behindApplication = `A web server waits for an application, and that for its database.
-- manifest --
{"seconds": 8}
-- processes --
{"t":"0..8","pid":70,"comm":"nginx","netns":1,"uid":33,"state":"S","threads":1,"cpu_seconds":"1+0.01x"}
{"t":"0..8","pid":60,"comm":"app","netns":1,"uid":33,"state":"S","threads":16,"cpu_seconds":"1+0.01x"}
-- sockets --
{"t":"0..8","netns":1,"inode":5,"proto":"unix","state":"LISTEN","local":"unix:/run/app.sock","owners":[{"pid":60,"comm":"app","fd":3}],"recv_q":0,"send_q":511,"drops":0}
{"t":"0..8","netns":1,"inode":6,"proto":"tcp","state":"LISTEN","local":"0.0.0.0:80","owners":[{"pid":70,"comm":"nginx","fd":3}],"recv_q":0,"send_q":511,"drops":0}
-- turns --
{"t":"0..7","netns":1,"role":"serve","local":"10.0.0.1:80","remote":"10.0.0.7","pid":70,"comm":"nginx","n":10,"sum":4.1,"max":0.5}
{"t":"0..7","netns":1,"role":"call","local":"unix:","remote":"unix:/run/app.sock","pid":70,"comm":"nginx","n":10,"sum":4.1,"max":0.5}
{"t":"0..7","netns":1,"role":"serve","local":"unix:/run/app.sock","remote":"unix:","pid":60,"comm":"app","n":10,"sum":4.1,"max":0.5,"wait_sum":0.001}
{"t":"0..7","netns":1,"role":"call","local":"10.0.0.1","remote":"10.0.0.9:5432","pid":60,"comm":"app","n":10,"sum":4,"max":0.5}
`

// Of a chain of services on one host the last is named, if its own calls are long.
func TestSlowDependencyBehindAnother(t *testing.T) {
	for calls, want := range map[string]suspect.Side{`"n":10,"sum":4,`: suspect.Against, `"n":80,"sum":4,`: suspect.For} {
		c, err := rectest.Parse([]byte(strings.Replace(behindApplication, `"n":10,"sum":4,`, calls, 1)))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range weighSlowDependency(scene.Build(c.Recording), c.Recording, nil) {
			if strings.Contains(f.Subject.Remote, "app.sock") {
				found = true
				if f.Evidence[0].Side != want {
					t.Errorf("with %s: %+v", calls, f.Evidence)
				}
			}
		}
		if !found {
			t.Errorf("with %s: nothing of the application", calls)
		}
	}
}
