package ledger

import (
	"math"
	"testing"

	"snag/recording/rectest"
	"snag/scene"
)

// A process that a watched one's parent forked a moment ago is looked at, and the clocks of its
// threads are not read: it shares CPUs as the others of its name do.
func TestALaterChildOfAFamily(t *testing.T) {
	c, err := rectest.Parse([]byte(`A worker that ran a quarter of the time that it wanted to, and its younger sibling.
-- manifest --
{"seconds": 10}
-- processes --
{"t":"0..10","pid":60,"comm":"worker","state":"R","threads":1,"cpu_seconds":"1+0.25x"}
{"t":"5..10","pid":61,"comm":"worker","state":"R","threads":1,"cpu_seconds":"1+0.25x"}
-- threads --
{"t":"0..10","pid":60,"tid":60,"comm":"worker","state":"R","fd":-1,"on_cpu_seconds":"1+0.25x","run_delay_seconds":"3+0.75x"}
-- thread_states --
{"t":"5..9","pid":61,"tid":61,"threads":1,"comm":"worker","state":"R","fd":-1,"n":20,"looks":20}
`))
	if err != nil {
		t.Fatal(err)
	}
	d := looksOf(scene.Build(c.Recording), c.Recording)[61][5]
	if d == nil {
		t.Fatal("nobody looked at it")
	}
	if work, cpu := d.at(Work), d.at(CPU); math.Abs(work-0.25) > 0.01 || math.Abs(cpu-0.75) > 0.01 {
		t.Errorf("%.2f at work and %.2f waiting for a CPU, want 0.25 and 0.75", work, cpu)
	}
}
