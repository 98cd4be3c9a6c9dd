package loaded

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"snag/load"
)

func sessionsOf(s load.Sessions) *load.Result {
	r := answered(load.Plan{Rate: 62.5, Conns: 20, Deadline: 320 * time.Millisecond, Sessions: true})
	r.Behind, r.Sessions = 5, &s
	return r
}

// What was measured is beside what the arithmetic predicts, and only what was seen is said.
func TestSessionsText(t *testing.T) {
	t.Parallel()
	missed, none, first := 12, 0, 400*time.Millisecond
	growth, predicted, worst, capacity, flat := 0.566, 0.5625, 0.57, 40.0, -0.001
	for _, tt := range []struct {
		s    load.Sessions
		want []string
		not  string
	}{
		{load.Sessions{All: 20, Missed: &missed, FirstMissed: &first, Needed: 62.5, Capacity: &capacity, Growth: &growth, Predicted: &predicted, Worst: &worst},
			[]string{"12 of 20 sessions missed the deadline of 320ms, the first with a message that was due 400 ms after the load began",
				"each second of a session adds 566 ms to its delay, measured, and 562 ms by arithmetic: (62.5 messages/s needed − 40 answered) / 40", "enough for 12 sessions of this kind"}, "alike"},
		{load.Sessions{All: 20, Missed: &missed, Silent: 1, Needed: 62.5, Capacity: &capacity, Growth: &predicted, Predicted: &predicted, Worst: &capacity},
			[]string{"1 session got no answer at all", "The sessions are not served alike: 40 s for the one that is served worst"}, "due 400"},
		{load.Sessions{All: 20, Missed: &none, Needed: 62.5, Growth: &flat, Worst: &flat},
			[]string{"0 of 20 sessions missed", "keeps up with 62.5 messages/s: the delay does not grow"}, "arithmetic"},
	} {
		var b bytes.Buffer
		Loaded{Result: sessionsOf(tt.s)}.Text(&b)
		one := strings.Join(strings.Fields(b.String()), " ")
		for _, want := range tt.want {
			if !strings.Contains(one, want) {
				t.Errorf("%q is missing in\n%s", want, b.String())
			}
		}
		if strings.Contains(one, tt.not) {
			t.Errorf("%q is in\n%s", tt.not, b.String())
		}
	}
}

// What was not measured is null.
func TestSessionsJSON(t *testing.T) {
	t.Parallel()
	none, capacity := 0, 40.0
	for _, tt := range []struct {
		s    load.Sessions
		want string
	}{
		{load.Sessions{All: 20, Missed: &none, Needed: 62.5},
			`{"all":20,"capacity":null,"carries":null,"first_missed":null,"growth":null,"growth_predicted":null,"growth_worst":null,"missed":0,"needed":62.5,"silent":0}`},
		{load.Sessions{All: 20, Needed: 62.5, Capacity: &capacity},
			`{"all":20,"capacity":40,"carries":12,"first_missed":null,"growth":null,"growth_predicted":null,"growth_worst":null,"missed":null,"needed":62.5,"silent":0}`},
	} {
		if got, err := json.Marshal(sessionsJSON(&tt.s)); err != nil || string(got) != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
}
