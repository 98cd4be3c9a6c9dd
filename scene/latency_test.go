package scene

import (
	"fmt"
	"strings"
	"testing"

	"snag/recording"
	"snag/recording/rectest"
)

// symptomsOf builds the scene of a written case and returns its symptoms of that
// name.
func symptomsOf(t *testing.T, name string, tables ...string) []Symptom {
	t.Helper()
	c, err := rectest.Parse([]byte("A case.\n" + strings.Join(tables, "\n") + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	var out []Symptom
	for _, s := range Build(c.Recording).Symptoms {
		if s.Name == name {
			out = append(out, s)
		}
	}
	return out
}

const listener = `-- sockets --
{"t":0,"netns":1,"proto":"tcp","state":"LISTEN","local":"0.0.0.0:80","inode":5,"cookie":5,"owners":[{"pid":60,"comm":"api","fd":6}],"send_q":128}
{"t":29,"netns":1,"proto":"tcp","state":"LISTEN","local":"0.0.0.0:80","inode":5,"cookie":5,"owners":[{"pid":60,"comm":"api","fd":6}],"send_q":128}`

// turnRows writes a row per second. slow[t] turns of that second took 0.4 s, the
// others fast.
func turnRows(role string, n int, fast float64, slow map[int]int, wait float64) string {
	return turnRowsOf(role, n, fast, slow, 0.4, wait)
}

// turnRowsOf are those in which slow answers take that long.
func turnRowsOf(role string, n int, fast float64, slow map[int]int, long, wait float64) string {
	var b strings.Builder
	if role == "serve" {
		b.WriteString("-- turns --\n")
	}
	bucket := func(v float64) int {
		i := 0
		for recording.TurnBound(i+1) <= v {
			i++
		}
		return i
	}
	for t := range 30 {
		hist := make([]string, bucket(long)+1)
		for i := range hist {
			hist[i] = "0"
		}
		hist[bucket(fast)] = fmt.Sprint(n - slow[t])
		longest := fast
		if slow[t] > 0 {
			hist[bucket(long)], longest = fmt.Sprint(slow[t]), long
		}
		ends := `"local":"10.0.0.1:80","remote":"10.0.0.7"`
		if role == "call" {
			ends = `"local":"10.0.0.7","remote":"10.0.0.1:80"`
		}
		fmt.Fprintf(&b, `{"t":%d,"netns":1,"role":%q,%s,"pid":60,"comm":"api","n":%d,"sum":%g,"max":%g,"wait_sum":%g,"hist":[%s]}`+"\n",
			t, role, ends, n, float64(n-slow[t])*fast+float64(slow[t])*long, longest, wait*float64(n), strings.Join(hist, ","))
	}
	return b.String()
}

func TestLateAnswersByTheServicesOwnMeasure(t *testing.T) {
	pauses := map[int]int{7: 8, 8: 8, 20: 8}
	for _, x := range []struct {
		what string
		rows string
		want int
	}{
		{"answers of 1 ms, some of 400 ms in three seconds", turnRows("serve", 100, 0.001, pauses, 0), 1},
		{"all well", turnRows("serve", 100, 0.001, nil, 0), 0},
		{"all take 400 ms, by design", turnRows("serve", 100, 0.4, nil, 0), 0},
		{"150 ms by design, and some of 400 ms: no more than 4 times as long", turnRows("serve", 100, 0.15, pauses, 0), 0},
		{"two late ones of 3,000", turnRows("serve", 100, 0.001, map[int]int{7: 2}, 0), 0},
		{"too few turns to know what is usual", turnRows("serve", 1, 0.001, map[int]int{7: 1, 9: 1, 11: 1, 13: 1, 15: 1}, 0), 0},
		{"the same turns from both ends", turnRows("serve", 100, 0.001, pauses, 0) + turnRows("call", 100, 0.001, pauses, 0), 1},
	} {
		got := symptomsOf(t, RequestLatency, listener, x.rows)
		if len(got) != x.want {
			t.Errorf("%s: %d symptoms, want %d: %+v", x.what, len(got), x.want, got)
			continue
		}
		if x.want == 0 {
			continue
		}
		s := got[0]
		if s.Subject.Kind != recording.KindListener || s.Subject.PID != 60 || s.Unit != "s" || s.Amount < 0.3 || s.Amount > 0.45 {
			t.Errorf("%s: %+v", x.what, s)
		}
		if len(s.Active) != 2 || s.Onset != rectest.Start.Add(7e9) || s.Active[0].End != rectest.Start.Add(9e9) {
			t.Errorf("%s: active %v", x.what, s.Active)
		}
	}
}

func TestLateAnswersInMostSeconds(t *testing.T) {
	episodes, chance := map[int]int{}, map[int]int{}
	for second := range 30 {
		if second%3 != 0 {
			episodes[second] = 40
		}
		if second%4 != 0 {
			chance[second] = 2
		}
	}
	got := symptomsOf(t, RequestLatency, listener, turnRows("serve", 100, 0.001, episodes, 0))
	if len(got) != 1 || !strings.Contains(got[0].Text, "800 of 3,000 answers took over 80 ms, up to 400 ms") {
		t.Errorf("forty of a hundred in two of three seconds: %+v", got)
	}
	if got := symptomsOf(t, RequestLatency, listener, turnRows("serve", 10, 0.001, chance, 0)); len(got) != 0 {
		t.Errorf("two of ten, and none in some seconds, as chance has it: %+v", got)
	}
}

// Six late answers of thousands are no symptom as long as they took less than a second in all.
func TestFewLateAnswers(t *testing.T) {
	for each, want := range map[float64]int{0.1: 0, 0.4: 1} {
		rows := turnRowsOf("serve", 120, 0.001, map[int]int{3: 3, 4: 3}, each, 0)
		if got := symptomsOf(t, RequestLatency, listener, rows); len(got) != want {
			t.Errorf("six answers of %g s: %+v", each, got)
		}
	}
}

func TestRequestsThatLieUnread(t *testing.T) {
	got := symptomsOf(t, RequestLatency, listener, turnRows("serve", 10, 0.4, nil, 0.3))
	if len(got) != 1 || got[0].Amount < 0.29 || got[0].Amount > 0.31 || !strings.Contains(got[0].Text, "waited unread in the socket buffer for 300 ms") {
		t.Errorf("%+v", got)
	}
	// A long poll is read at once.
	if got := symptomsOf(t, RequestLatency, listener, turnRows("serve", 10, 0.4, nil, 0.0001)); len(got) != 0 {
		t.Errorf("a long poll: %+v", got)
	}
}

func TestSlowHandshakesByDestination(t *testing.T) {
	const rows = `-- connections --
{"t":3,"netns":1,"role":"connect","local":"10.0.0.7","remote":"10.0.0.9:443","pid":70,"comm":"app","opened":10,"handshake_sum":%g,"handshake_max":%g}
{"t":4,"netns":1,"role":"connect","local":"10.0.0.7","remote":"10.0.0.9:443","pid":70,"comm":"app","opened":10,"handshake_sum":0.01,"handshake_max":0.001}`
	got := symptomsOf(t, ConnectLatency, fmt.Sprintf(rows, 4.06, 1.02))
	if len(got) != 1 || got[0].Amount != 3 || got[0].Subject.Remote != "10.0.0.9:443" || got[0].Share != 0.15 {
		t.Errorf("four of a second each are three at least: %+v", got)
	}
	for _, x := range [][2]float64{{0.4, 0.3}, {1.1, 1.05}} {
		if got := symptomsOf(t, ConnectLatency, fmt.Sprintf(rows, x[0], x[1])); len(got) != 0 {
			t.Errorf("handshakes of %v s: %+v", x, got)
		}
	}
	// The destination is here: the listener suffers.
	here := strings.ReplaceAll(fmt.Sprintf(rows, 4.06, 1.02), "10.0.0.9:443", "10.0.0.1:80")
	if got := symptomsOf(t, ConnectLatency, listener, here); len(got) != 1 || got[0].Subject.Kind != recording.KindListener {
		t.Errorf("%+v", got)
	}
}

func TestFailedCallsCountOnce(t *testing.T) {
	const errors = `-- blind --
sockets.turns
-- errors --
{"t":3,"netns":1,"pid":60,"comm":"api","call":"socket","errno":"ECONNRESET","n":8,"proto":"tcp","local":"10.0.0.1:80","remote":"10.0.0.7:40001"}
{"t":3,"netns":1,"pid":60,"comm":"api","call":"recv","errno":"ECONNRESET","n":6,"proto":"tcp","local":"10.0.0.1:80","remote":"10.0.0.7:40001"}
{"t":4,"netns":1,"pid":60,"comm":"api","call":"send","errno":"EPIPE","n":2,"proto":"tcp","local":"10.0.0.1:80","remote":"10.0.0.7:40002"}`
	const served = `-- connections --
{"t":3,"netns":1,"role":"accept","local":"0.0.0.0:80","remote":"10.0.0.7","pid":60,"comm":"api","opened":%d,"closed":10,"bytes_in":%d,"bytes_out":900}`
	got := symptomsOf(t, ConnectionErrors, listener, errors, fmt.Sprintf(served, 80, 900))
	if len(got) != 1 || got[0].Amount != 8 || got[0].Share != 0.1 || got[0].Subject.PID != 60 || got[0].Subject.Kind != recording.KindListener {
		t.Errorf("%+v", got)
	}
	if got := symptomsOf(t, ConnectionErrors, listener, errors, fmt.Sprintf(served, 8000, 900)); len(got) != 0 {
		t.Errorf("1 in 1,000: %+v", got)
	}
	// A health check that resets and never sent a byte.
	silent := `-- connections --
{"t":3,"netns":1,"role":"accept","local":"0.0.0.0:80","remote":"10.0.0.7","pid":60,"comm":"api","opened":10,"closed":10,"bytes_in":0,"bytes_out":0}`
	check := strings.Join(strings.Split(errors, "\n")[:5], "\n")
	if got := symptomsOf(t, ConnectionErrors, listener, check, silent); len(got) != 0 {
		t.Errorf("a health check: %+v", got)
	}
	// Where requests are counted it is known that nobody waited on them.
	measured := strings.TrimPrefix(errors, "-- blind --\nsockets.turns\n")
	if got := symptomsOf(t, ConnectionErrors, listener, measured, fmt.Sprintf(served, 80, 900)); len(got) != 0 {
		t.Errorf("no request was open: %+v", got)
	}
	cut := `-- turns --
{"t":3,"netns":1,"role":"serve","local":"10.0.0.1:80","remote":"10.0.0.7","pid":60,"comm":"api","n":72,"sum":0.1,"max":0.01,"cut":8,"cut_by":"a reset"}`
	if got := symptomsOf(t, ConnectionErrors, listener, measured, cut); len(got) != 1 || got[0].Amount != 8 || got[0].Share != 0.1 || got[0].Subject.Kind != recording.KindListener {
		t.Errorf("%+v", got)
	}
	accept := `-- errors --
{"t":3,"netns":1,"pid":60,"comm":"api","call":"accept","errno":"EMFILE","n":30,"fd":6}`
	if got := symptomsOf(t, ConnectionErrors, listener, accept); len(got) != 1 || got[0].Subject.PID != 60 || !strings.Contains(got[0].Text, "accept EMFILE") {
		t.Errorf("%+v", got)
	}
}

// All answers of some seconds take longer, and none much longer than the rest.
func TestAnswersThatBecomeSlower(t *testing.T) {
	turns := func(slow float64) string {
		return fmt.Sprintf(`-- turns --
{"t":"0..3","netns":1,"role":"serve","local":"10.0.0.1:80","remote":"10.0.0.7","pid":60,"comm":"api","n":20,"sum":0.4,"max":0.03,"hist":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,20]}
{"t":"4..9","netns":1,"role":"serve","local":"10.0.0.1:80","remote":"10.0.0.7","pid":60,"comm":"api","n":20,"sum":%g,"max":0.2,"hist":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,20]}`, 20*slow)
	}
	got := symptomsOf(t, RequestLatency, listener, turns(0.08))
	if len(got) != 1 || !strings.Contains(got[0].Text, "80 ms on average, the others 20 ms") {
		t.Errorf("%+v", got)
	}
	if got := symptomsOf(t, RequestLatency, listener, turns(0.045)); len(got) != 0 {
		t.Errorf("twice as long: %+v", got)
	}
	// Some take 80 ms all along, and there are fewer of the short ones beside them: the frames of
	// HTTP/2 that need no answer come and go.
	fewerShort := `-- turns --
{"t":"0..3","netns":1,"role":"serve","local":"10.0.0.1:80","remote":"10.0.0.7","pid":60,"comm":"api","n":40,"sum":1.25,"max":0.1,"hist":[0,0,0,0,0,0,25,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,15]}
{"t":"4..9","netns":1,"role":"serve","local":"10.0.0.1:80","remote":"10.0.0.7","pid":60,"comm":"api","n":16,"sum":1.25,"max":0.1,"hist":[0,0,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,15]}`
	if got := symptomsOf(t, RequestLatency, listener, fewerShort); len(got) != 0 {
		t.Errorf("fewer short ones: %+v", got)
	}
}

// Errors that a proxy keeps to itself are nobody's.
func TestErrorsThatTheirCallerKeeps(t *testing.T) {
	turns := func(passed int) string {
		return fmt.Sprintf(`-- turns --
{"t":"0..9","netns":1,"role":"serve","local":"10.0.0.1:80","remote":"10.0.0.1","pid":60,"comm":"api","n":20,"sum":0.1,"max":0.01,"failed":2,"failed_as":"HTTP 5xx or 429"}
{"t":"0..9","netns":1,"role":"call","local":"10.0.0.1","remote":"10.0.0.1:80","pid":70,"comm":"haproxy","n":20,"sum":0.1,"max":0.01}
{"t":"0..9","netns":1,"role":"serve","local":"10.0.0.1:443","remote":"10.0.0.7","pid":70,"comm":"haproxy","n":20,"sum":0.1,"max":0.01,"failed":%d,"failed_as":"HTTP 5xx or 429"}`, passed)
	}
	if got := symptomsOf(t, FailedAnswers, listener, turns(0)); len(got) != 0 {
		t.Errorf("kept: %+v", got)
	}
	if got := symptomsOf(t, FailedAnswers, listener, turns(2)); len(got) != 2 {
		t.Errorf("passed on: %+v", got)
	}
	// Who asks before the errors begin, a restart that waits until it is ready, got none.
	restart := `-- turns --
{"t":"0..3","netns":1,"role":"serve","local":"10.0.0.1:80","remote":"10.0.0.1","pid":60,"comm":"api","n":20,"sum":0.1,"max":0.01}
{"t":"4..9","netns":1,"role":"serve","local":"10.0.0.1:80","remote":"10.0.0.1","pid":60,"comm":"api","n":20,"sum":0.1,"max":0.01,"failed":2,"failed_as":"HTTP 5xx or 429"}
{"t":"0..3","netns":1,"role":"call","local":"10.0.0.1","remote":"10.0.0.1:80","pid":71,"comm":"rolling","n":20,"sum":0.1,"max":0.01}
{"t":"4..9","netns":1,"role":"call","local":"10.0.0.1","remote":"10.0.0.1:80","pid":%d,"comm":"haproxy","n":20,"sum":0.1,"max":0.01}
{"t":"0..9","netns":1,"role":"serve","local":"10.0.0.1:443","remote":"10.0.0.7","pid":70,"comm":"haproxy","n":20,"sum":0.1,"max":0.01}`
	if got := symptomsOf(t, FailedAnswers, listener, fmt.Sprintf(restart, 70)); len(got) != 0 {
		t.Errorf("asked before: %+v", got)
	}
	if got := symptomsOf(t, FailedAnswers, listener, fmt.Sprintf(restart, 71)); len(got) != 1 {
		t.Errorf("asked meanwhile: %+v", got)
	}
}

// A lock that is held for half a second in every three: half of a second's answers are as quick as ever.
func TestSlowerForLessThanASecond(t *testing.T) {
	for _, x := range []struct {
		what    string
		n, slow int
		long    float64
		want    int
	}{
		{"20 of 130 took 70 ms", 130, 20, 0.07, 1},
		{"20 of 130 took 30 ms, as a program that takes turns on a CPU makes some", 130, 20, 0.03, 0},
		{"10 of 130 took 70 ms: one in thirteen", 130, 10, 0.07, 0},
		{"5 of 30 took 70 ms: by chance none in some seconds", 30, 5, 0.07, 0},
	} {
		slow := map[int]int{}
		for second := 0; second < 30; second += 3 {
			slow[second] = x.slow
		}
		if got := symptomsOf(t, RequestLatency, listener, turnRowsOf("serve", x.n, 0.004, slow, x.long, 0)); len(got) != x.want {
			t.Errorf("%s: %+v", x.what, got)
		}
	}
}
