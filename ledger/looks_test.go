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

// An event loop that computes all the time hardly ever waits for work: it waits for a CPU, and that
// makes it none that serves nobody. In the second in which one more process is watched the probe
// begins a second of its own.
func TestALoopThatNeverWaits(t *testing.T) {
	c, err := rectest.Parse([]byte(`An event loop with more to do than it can.
-- manifest --
{"seconds": 10}
-- processes --
{"t":"0..10","pid":60,"comm":"node","state":"R","threads":2,"cpu_seconds":"1+0.75x"}
-- threads --
{"t":"0..10","pid":60,"tid":60,"comm":"node","state":"R","fd":-1,"on_cpu_seconds":"1+0.75x","run_delay_seconds":"3+0.24x","voluntary_switches":"1+1x"}
{"t":"0..10","pid":60,"tid":61,"comm":"node","state":"S","fd":-1,"on_cpu_seconds":"1+0.005x","voluntary_switches":"1+20x"}
-- turns --
{"t":"0..9","netns":1,"role":"serve","local":"10.0.0.1:3000","remote":"10.0.0.7","pid":60,"comm":"node","n":45,"sum":9,"max":0.21,"hist":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,45]}
-- thread_states --
{"t":5,"pid":60,"tid":60,"threads":1,"comm":"node","state":"R","fd":-1,"n":5,"looks":5}
{"t":5.25,"pid":60,"tid":60,"threads":1,"comm":"node","state":"R","fd":-1,"n":15,"looks":15}
{"t":6.98,"pid":60,"tid":60,"threads":1,"comm":"node","state":"R","fd":-1,"n":20,"looks":20}
{"t":8.02,"pid":60,"tid":60,"threads":1,"comm":"node","state":"R","fd":-1,"n":20,"looks":20}
`))
	if err != nil {
		t.Fatal(err)
	}
	all := looksOf(scene.Build(c.Recording), c.Recording)[60]
	if all[7] == nil || all[9] != nil {
		t.Errorf("the second that began at 6.98 s covers the seventh, nothing the ninth: %+v", all)
	}
	d := all[5]
	if work, cpu := d.at(Work), d.at(CPU); math.Abs(work-0.76) > 0.01 || math.Abs(cpu-0.24) > 0.01 || d.looks != 20 {
		t.Errorf("%.2f at work and %.2f waiting for a CPU in %d samples, want 0.76, 0.24 and 20", work, cpu, d.looks)
	}
}

// The first thread of a hundred, whose states are taken together, reads a pipe from the first second
// to the last: it serves nobody. One that was once seen elsewhere may, and so may one that a request
// may have waited for all the time.
func TestAThreadThatNeverLeaves(t *testing.T) {
	for _, c := range []struct {
		name, pipe string
		oldest     string
		booked     bool
	}{
		{"all the time", `"0..9"`, "0.2", false},
		{"with an exception", `"0..8"`, "0.2", true},
		{"with a request of that age", `"0..9"`, "10", true},
	} {
		got, err := rectest.Parse([]byte(`A service of a hundred threads.
-- manifest --
{"seconds": 10}
-- processes --
{"t":"0..10","pid":60,"comm":"api","state":"S","threads":100,"cpu_seconds":"1+0.1x"}
-- turns --
{"t":"0..9","netns":1,"role":"serve","local":"10.0.0.1:8080","remote":"10.0.0.7","pid":60,"comm":"api","n":50,"sum":4,"max":0.2,"open":1,"oldest":` + c.oldest + `}
-- thread_states --
{"t":"0..9","pid":60,"threads":4,"state":"S","call":"clock_nanosleep","fd":-1,"n":8,"looks":20}
{"t":` + c.pipe + `,"pid":60,"threads":1,"state":"S","call":"read","fd":7,"kind":"pipe","inode":5,"n":20,"looks":20}
{"t":"0..9","pid":60,"threads":95,"state":"S","call":"epoll_wait","fd":4,"n":1900,"looks":20}
`))
		if err != nil {
			t.Fatal(err)
		}
		d := looksOf(scene.Build(got.Recording), got.Recording)[60][5]
		if d == nil {
			t.Fatal("nobody looked at it")
		}
		if pipe := d.at(Pipe); (pipe > 0) != c.booked {
			t.Errorf("%s: %.2f threads wait for a pipe", c.name, pipe)
		}
	}
}
