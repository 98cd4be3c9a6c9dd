package ledger

import (
	"testing"

	"snag/recording/rectest"
	"snag/scene"
)

// The signals tell when a process was stopped, even if nobody looked at its threads at that time.
// Requests that came while it was stopped waited unread because of the stop.
func TestAStopWithExactTimes(t *testing.T) {
	c, err := rectest.Parse([]byte(`A server that is stopped for 0.6 s, before anybody looked at its threads.
-- manifest --
{"seconds": 6}
-- processes --
{"t":"0..6","pid":60,"comm":"redis-server","netns":1,"state":"S","threads":1,"cpu_seconds":"1+0.01x"}
-- sockets --
{"t":"0..6","netns":1,"proto":"tcp","state":"LISTEN","local":"10.0.0.1:6379","inode":5,"cookie":5,"owners":[{"pid":60,"comm":"redis-server","fd":6}],"send_q":511}
-- events --
{"t":2.2,"end":2.2,"kind":"signal","subject":{"kind":"process","pid":60,"comm":"redis-server"},"attrs":{"signal":"SIGSTOP","result":"delivered"},"value":1,"unit":"signals"}
{"t":2.8,"end":2.8,"kind":"signal","subject":{"kind":"process","pid":60,"comm":"redis-server"},"attrs":{"signal":"SIGCONT","result":"ignored"},"value":1,"unit":"signals"}
-- turns --
{"t":1,"netns":1,"role":"serve","local":"10.0.0.1:6379","remote":"10.0.0.7","pid":60,"comm":"redis-server","n":100,"sum":0.01,"max":0.001,"wait_sum":0.005,"hist":[0,0,0,0,0,0,0,100]}
{"t":2,"netns":1,"role":"serve","local":"10.0.0.1:6379","remote":"10.0.0.7","pid":60,"comm":"redis-server","n":100,"sum":4.01,"max":0.59,"wait_sum":4.005,"hist":[0,0,0,0,0,0,0,92,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,8]}
`))
	if err != nil {
		t.Fatal(err)
	}
	stopped := func(least float64) {
		t.Helper()
		l := Build(scene.Build(c.Recording), c.Recording)
		if len(l.Parties) != 1 {
			t.Fatalf("%d parties", len(l.Parties))
		}
		if share := l.Parties[0].Share(Stopped); share < least {
			t.Errorf("%.2f of its time is booked to the stop:\n%s", share, table(l))
		}
	}
	stopped(0.97)
	// It was stopped before the recording began, and only the signal that woke it was seen.
	c.Recording.Processes[0].State, c.Recording.Events = "T", c.Recording.Events[1:]
	stopped(0.97)
}

// The JVM counts the time until its last thread has stopped apart from the stop. Requests that end when the stop is
// over were open in the second before as well.
func TestTheTimeUntilAllThreadsHaveStopped(t *testing.T) {
	c, err := rectest.Parse([]byte(`A thread reaches no safepoint for 0.98 s, for which all others wait; the collection itself takes 7 ms.
-- manifest --
{"seconds": 6}
-- processes --
{"t":"0..6","pid":60,"comm":"java","netns":1,"state":"S","threads":9,"cpu_seconds":"1+0.5x"}
-- samples --
snag_jvm_safepoint_seconds_total{pid="60"} 0 0 0 0 0.007 0.007 0.007
snag_jvm_safepoint_sync_seconds_total{pid="60"} 0 0 0 0 0.98 0.98 0.98
-- events --
{"t":3.6,"end":3.607,"kind":"gc-pause","subject":{"kind":"process","pid":60,"comm":"java"},"attrs":{"collector":"Copy"},"value":0.007,"unit":"s"}
-- turns --
{"t":1,"netns":1,"role":"serve","local":"10.0.0.1:8080","remote":"10.0.0.7","pid":60,"comm":"java","n":40,"sum":0.04,"max":0.002,"hist":[0,0,0,0,0,0,0,0,0,0,0,40]}
{"t":3,"netns":1,"role":"serve","local":"10.0.0.1:8080","remote":"10.0.0.7","pid":60,"comm":"java","n":28,"sum":7.86,"max":0.98,"wait_sum":0.2,"hist":[0,0,0,0,0,0,0,0,0,0,0,20,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,8]}
{"t":4,"netns":1,"role":"serve","local":"10.0.0.1:8080","remote":"10.0.0.7","pid":60,"comm":"java","n":40,"sum":0.04,"max":0.002,"hist":[0,0,0,0,0,0,0,0,0,0,0,40]}
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range []bool{true, false} {
		if !event {
			c.Recording.Events = nil // an older JVM reports only counts
		}
		l := Build(scene.Build(c.Recording), c.Recording)
		if share := l.Parties[0].Share(Pause); share < 0.9 {
			t.Errorf("with the event: %t: %.2f of its time is booked to the stop:\n%s", event, share, table(l))
		}
	}
}

// Nobody looked at its threads: that its control group may not run is known all the same, and for how long.
func TestAQuotaThatNobodyLookedAt(t *testing.T) {
	c, err := rectest.Parse([]byte(`A server whose control group has used up its quota for nine tenths of the time.
-- manifest --
{"seconds": 6}
-- processes --
{"t":"0..6","pid":60,"comm":"memcached","netns":1,"state":"S","threads":1,"cpu_seconds":"1+0.01x","cgroup":"/cache"}
-- samples --
snag_cgroup_cpu_throttled_seconds_total{cgroup="/cache"} 1+0.9x6
-- turns --
{"t":"0..5","netns":1,"role":"serve","local":"10.0.0.1:11211","remote":"10.0.0.7","pid":60,"comm":"memcached","n":100,"sum":4,"max":0.05,"wait_sum":3.9,"hist":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,100]}
`))
	if err != nil {
		t.Fatal(err)
	}
	l := Build(scene.Build(c.Recording), c.Recording)
	if share := l.Parties[0].Share(Quota); share < 0.85 || share > 0.95 {
		t.Errorf("%.2f of its time is booked to the quota:\n%s", share, table(l))
	}
}
