package ledger

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"snag/recording"
	"snag/recording/rectest"
	"snag/scene"
)

// loaded is a load of 20 requests per second at port 8080, as sections of a case: what its requests waited for, and
// by how much the seconds differ, as a share.
func loaded(waiting, lag, answer, uneven float64, more string) string {
	due := waiting + lag + answer
	text := fmt.Sprintf("-- netns --\n"+`{"t":0,"id":1,"own":true,"addrs":["eth0 10.0.0.1/24"]}`+"\n-- loads --\n"+`{"t":0,"end":%d,"target":"http://10.0.0.1:8080/","proto":"tcp","netns":1,"remote":"10.0.0.1:8080","local":"10.0.0.7","connections":4,"rate_asked":20,"asked":200,"sent":200,"answered":200,"open":2,"busy":0.1,"cpu_seconds":1,`+
		`"parts":{"n":200,"waiting":%g,"own_lag":%g,"answer":%g}%s}`+"\n-- load_seconds --\n", seconds, waiting, lag, answer, more)
	for at := range seconds {
		by := 1 + uneven
		if at%2 == 1 {
			by = 1 - uneven
		}
		text += fmt.Sprintf(`{"t":%d,"target":"http://10.0.0.1:8080/","asked":20,"sent":20,"answered":20,"waiting_sum":%g,"own_lag_sum":%g,"answer_sum":%g,"max":%g,"open":2,"due_hist":%s,"sent_hist":%s}`+"\n",
			at, 20*waiting, 20*lag, 20*answer*by, due, hist(20, due, 0), hist(20, answer, 0))
	}
	return text
}

func spentOn(all []Spent) string {
	var out []string
	for _, s := range all {
		out = append(out, fmt.Sprintf("%.0f ms %s", 1000*s.Seconds, s.Words()))
	}
	return strings.Join(out, ", ")
}

// Of 625 ms for an answer the service had the request for 500, of which it waited 400 for one of two workers.
func TestWhatTheServiceAccountsFor(t *testing.T) {
	_, r, l := build(t, loaded(0.1, 0.001, 0.625, 0.08, ""), service{pid: 60, port: 8080, n: 20, mean: 0.5, wait: 0.4, threads: []string{asleep, asleep}})
	if len(l.Loads) != 1 {
		t.Fatalf("%d loads", len(l.Loads))
	}
	one := l.Loads[0]
	share, ok := one.Share()
	if !ok || !near(share, 0.8) || !near(one.AtServer, 0.5) || !near(one.Between(), 0.125) || one.Server == nil || one.Server.PIDs[0] != 60 {
		t.Errorf("share %.3f (%v), at the server %.3f, between %.3f: %s", share, ok, one.AtServer, one.Between(), one.NotSeen)
	}
	if got := spentOn(one.Spent); got != "400 ms waiting for a worker, 100 ms sleeping" {
		t.Errorf("spent: %s", got)
	}
	// Seconds of 675 and 575 ms: the ratio estimator's interval, 2.31·√(10/9·10·(0.8·12.5·0.08)²)/125.
	if one.Within == nil || math.Abs(*one.Within-0.0493) > 0.002 {
		t.Errorf("within %v", one.Within)
	}
	// As many requests of others came from the same address: half of what was counted may be theirs.
	for i := range r.Turns {
		r.Turns[i].N, r.Turns[i].Sum = 2*r.Turns[i].N, 2*r.Turns[i].Sum
	}
	if l = Build(scene.Build(r), r); l.Loads[0].Within == nil || math.Abs(*l.Loads[0].Within-0.4-0.0986) > 0.01 {
		t.Errorf("with others' requests: within %v", l.Loads[0].Within)
	}
}

// A load of another host, one without an answer, and one of which the service's sockets show nothing.
func TestLoadsThatAreNotSeen(t *testing.T) {
	_, r, _ := build(t, loaded(0, 0.001, 0.625, 0, ""), service{pid: 60, port: 8080, n: 20, mean: 0.5, threads: []string{locked, locked}})
	build := func(change func(r *recording.Recording)) Load {
		one := *r
		one.Loads = []recording.Load{r.Loads[0]}
		change(&one)
		return Build(scene.Build(&one), &one).Loads[0]
	}
	elsewhere := build(func(r *recording.Recording) { r.Loads[0].Remote = "10.9.9.9:8080" })
	if _, ok := elsewhere.Share(); ok || elsewhere.Server != nil || elsewhere.NotSeen != "nobody on this host listens at 10.9.9.9:8080" {
		t.Errorf("elsewhere: %+v", elsewhere)
	}
	unlooked := build(func(r *recording.Recording) {
		r.Loads[0].Remote, r.Coverage = "10.9.9.9:8080", nil
	})
	if unlooked.NotSeen != "the sockets of this host were not measured" {
		t.Errorf("unlooked: %+v", unlooked)
	}
	silent := build(func(r *recording.Recording) { r.Loads[0].Parts = nil })
	if _, ok := silent.Share(); ok || silent.NotSeen != "no request was answered" {
		t.Errorf("without an answer: %+v", silent)
	}
	hidden := build(func(r *recording.Recording) { r.Turns = nil })
	if _, ok := hidden.Share(); ok || hidden.Server == nil || hidden.AtServer != 0 || !strings.Contains(hidden.NotSeen, "do not show the requests") {
		t.Errorf("hidden: %+v", hidden)
	}
	// What its threads did is known all the same, by the time that the clients measured.
	if hidden.Server.Answered != 200 || hidden.Server.Of(Lock) < 0.9*hidden.Server.Demand {
		t.Errorf("hidden: %d answers, %+v", hidden.Server.Answered, hidden.Server.Entries)
	}
	late := build(func(r *recording.Recording) { r.Turns, r.Loads[0].NotTheServices = nil, "snag was late" })
	if late.Server != nil {
		t.Errorf("figures that are not the service's are booked: %+v", late.Server)
	}
}

// What only the clients of a load meet is felt at the service that they ask.
func TestWhatALoadFeels(t *testing.T) {
	quick := service{pid: 60, port: 8080, n: 20, mean: 0.05, threads: []string{asleep}}
	for _, c := range []struct {
		what      string
		load      string
		objective float64
		each      float64 // 0: nothing is felt
		late      float64
	}{
		{"no connection is free for 200 ms", loaded(0.2, 0.001, 0.051, 0, ""), 0, 0.2, 0},
		{"none is free for 20 ms, of 70", loaded(0.02, 0.001, 0.051, 0, ""), 0, 0, 0},
		{"snag itself is late by 200 ms", loaded(0, 0.2, 0.051, 0, ""), 0, 0, 0},
		{"the figures are not the service's", loaded(0.2, 0.001, 0.051, 0, `,"not_the_services":"snag was late"`), 0, 0, 0},
		{"beyond an objective of 100 ms", loaded(0.2, 0.001, 0.051, 0, ""), 0.1, 0.152, 1},
		{"within an objective of 400 ms", loaded(0.2, 0.001, 0.051, 0, ""), 0.4, 0, 0},
		{"one in twenty is lost", loaded(0, 0.001, 0.051, 0, `,"lost":{"no answer in time":10}`), 0.4, 0.02, 0.0476},
	} {
		_, r, _ := build(t, c.load, quick)
		r.Manifest.Target.Objective = c.objective
		l := Build(scene.Build(r), r)
		if c.each == 0 {
			if len(l.Felt) > 0 {
				t.Errorf("%s: felt %+v", c.what, l.Felt[0])
			}
			continue
		}
		if len(l.Felt) != 1 || l.Felt[0].Load == nil || l.Felt[0].Party.PIDs[0] != 60 || l.Felt[0].By[0].Account != Sleep ||
			math.Abs(l.Felt[0].Each-c.each) > 0.05*c.each || math.Abs(l.Felt[0].Late-c.late) > 0.01 || math.Abs(l.Felt[0].Held-20*c.each) > c.each {
			t.Errorf("%s: felt %+v, want %.3f s of each", c.what, l.Felt, c.each)
		}
	}
}

// Of a service's wait for a CPU what snag's own load took of the CPUs is nobody else's doing.
func TestALoadsOwnCPU(t *testing.T) {
	c, err := rectest.Parse([]byte(`Somebody else used 1 s, the service 1 s, and the load 8 s.
-- manifest --
{"seconds": 10}
-- processes --
{"t":"0..10","pid":60,"comm":"api","cpu_seconds":"1+0.1x"}
{"t":"0..10","pid":61,"comm":"other","cpu_seconds":"1+0.1x"}
{"t":"0..10","pid":999999,"comm":"snag","cpu_seconds":"1+0.8x"}
-- loads --
{"t":0,"end":10,"target":"tcp://10.0.0.1:1","proto":"tcp","netns":1,"remote":"10.0.0.1:1","connections":1,"cpu_seconds":8}
`))
	if err != nil {
		t.Fatal(err)
	}
	if got := othersCPU(scene.Build(c.Recording), c.Recording, &Party{PIDs: []int{60}}); math.Abs(got-0.1) > 0.01 {
		t.Errorf("others used %.2f of the CPU time, want 0.1", got)
	}
}

// Who waits for datagrams at the socket that a load asks waits for the next request, and not for an answer.
func TestALoadOfDatagrams(t *testing.T) {
	c, err := rectest.Parse([]byte(`A thread that sleeps in each request, and waits for the next half of the time.
-- manifest --
{"seconds": 2}
-- processes --
{"t":"0..2","pid":60,"comm":"echo","netns":1,"cpu_seconds":"1+0.01x"}
-- sockets --
{"t":"0..2","netns":1,"inode":7,"proto":"udp","state":"UNCONN","local":"127.0.0.1:5000","owners":[{"pid":60,"comm":"echo","fd":3}]}
-- thread_states --
{"t":"0..1","pid":60,"tid":60,"threads":1,"comm":"echo","state":"S","call":"recvfrom","fd":3,"inode":7,"kind":"socket","n":10,"looks":20}
{"t":"0..1","pid":60,"tid":60,"threads":1,"comm":"echo","state":"S","call":"clock_nanosleep","fd":-1,"n":10,"looks":20}
-- loads --
{"t":0,"end":2,"target":"udp://127.0.0.1:5000","proto":"udp","netns":1,"remote":"127.0.0.1:5000","local":"127.0.0.1","connections":1,"rate_asked":10,"asked":20,"sent":20,"answered":20,"parts":{"n":20,"answer":0.05}}
-- load_seconds --
{"t":"0..1","target":"udp://127.0.0.1:5000","asked":10,"sent":10,"answered":10,"waiting_sum":0,"own_lag_sum":0,"answer_sum":0.5,"max":0.05,"open":0.5,"sent_hist":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,10]}
`))
	if err != nil {
		t.Fatal(err)
	}
	l := Build(scene.Build(c.Recording), c.Recording)
	if len(l.Parties) != 1 || l.Parties[0].Answered != 20 || l.Parties[0].Of(Call) > 0 || !near(l.Parties[0].Share(Sleep), 1) {
		t.Errorf("\n%s", table(l))
	}
}
