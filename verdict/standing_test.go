package verdict

import (
	"strings"
	"testing"

	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/suspect"
)

func covered(states map[string]string) (out []recording.Coverage) {
	for _, measure := range vital {
		c := recording.Coverage{Probe: measure, State: recording.CoverageOK}
		if s, ok := states[measure]; ok {
			c.State, c.Why, c.Cure = s, "no right to it", "run as root, or give the binary CAP_BPF"
		}
		out = append(out, c)
	}
	return out
}

func TestStanding(t *testing.T) {
	party := func(mean float64, answered uint64, account ledger.Account) *ledger.Ledger {
		return &ledger.Ledger{Parties: []*ledger.Party{{Role: ledger.Serves, Subject: process(7), Answered: answered, Mean: mean, Demand: 10,
			Entries: []ledger.Entry{{Account: account, Where: "10.0.0.9:5432", Seconds: 9.5}, {Account: ledger.Work, Seconds: 0.5}}}}}
	}
	uneven := party(0.014, 500, ledger.Work)
	uneven.Parties[0].P50, uneven.Parties[0].P99, uneven.Parties[0].PIDs = 0.008, 0.2, []int{7}
	less, even := *uneven.Parties[0], *uneven.Parties[0]
	less.P50, less.P99, even.P99 = 0.002, 0.06, 0.07
	unavailable := map[string]string{"sockets.turns": recording.CoverageUnavailable}
	for _, c := range []struct {
		what string
		v    Verdict
		r    recording.Recording
		want Standing
		why  string
	}{
		{"all was measured", Verdict{}, recording.Recording{Coverage: covered(nil)}, Well, ""},
		{"nobody counted requests", Verdict{}, recording.Recording{Coverage: covered(unavailable)}, Blind, "sockets.turns was not measured: no right to it"},
		{"those of others are hidden", Verdict{}, recording.Recording{Coverage: covered(map[string]string{"sockets.diag": recording.CoveragePartial})}, Blind, "sockets.diag was measured in part"},
		{"files have no probes", Verdict{}, recording.Recording{Coverage: covered(unavailable), Manifest: recording.Manifest{Files: []recording.File{{Name: "trace"}}}}, Well, ""},
		{"answers wait for another", Verdict{Ledger: party(0.6, 50, ledger.Call)}, recording.Recording{Coverage: covered(nil)}, Slow, "take 600 ms, 95 % of it waiting for an answer (10.0.0.9:5432)"},
		{"quick ones", Verdict{Ledger: party(0.06, 50, ledger.Call)}, recording.Recording{Coverage: covered(nil)}, Well, ""},
		{"long polls", Verdict{Ledger: party(0.6, 50, ledger.Parked)}, recording.Recording{Coverage: covered(nil)}, Well, ""},
		{"an uneven tail", Verdict{Ledger: uneven}, recording.Recording{Coverage: covered(nil)}, Slow, "one in a hundred answers of p[7] takes 200 ms, where half take 8 ms"},
		{"an uneven tail that nobody would notice of every answer", Verdict{Ledger: &ledger.Ledger{Parties: []*ledger.Party{&less}}}, recording.Recording{Coverage: covered(nil)}, Slow, "one in a hundred answers of p[7] takes 60 ms, where half take 2 ms"},
		{"a tail of less than ten times", Verdict{Ledger: &ledger.Ledger{Parties: []*ledger.Party{&even}}}, recording.Recording{Coverage: covered(nil)}, Well, ""},
		{"requests of HTTP/2 were missed", Verdict{Ledger: &ledger.Ledger{Unknown: uneven.Parties}}, recording.Recording{Coverage: covered(nil)}, Blind, "many requests of HTTP/2 at p[7] were not seen"},
		{"too few to say so", Verdict{Ledger: party(0.6, 4, ledger.Call)}, recording.Recording{Coverage: covered(nil)}, Well, ""},
		{"a recording that was cut off at its start", Verdict{Entries: []Entry{{State: NotSeen}, {State: NotSeen}}}, recording.Recording{}, Blind, "nothing to judge any of its suspects by"},
		{"one suspect could not be seen", Verdict{Entries: []Entry{{State: NotSeen}, {State: Cleared}}}, recording.Recording{}, Well, ""},
		{"something is wrong", Verdict{Abstained: "no cause was proved", Next: "strace"}, recording.Recording{Coverage: covered(unavailable)}, Unproved, "no cause was proved"},
		{"a culprit", Verdict{Entries: []Entry{{State: Culprit}}}, recording.Recording{Coverage: covered(unavailable)}, Found, ""},
	} {
		c.v.Recording, c.v.Scene = &c.r, &scene.Scene{}
		why, next := c.v.Why()
		if got := c.v.Standing(); got != c.want || !strings.Contains(why, c.why) || (why == "") != (c.why == "") || (next == "") != (c.why == "") {
			t.Errorf("%s: %s, %q, next %q", c.what, got, why, next)
		}
	}
}

// A view that is cut clears nobody; a measure that the kernel has not cuts no view.
func TestACutViewClearsNobody(t *testing.T) {
	for _, c := range []struct {
		states map[string]string
		want   State
	}{
		{nil, Cleared},
		{map[string]string{"host.processes": recording.CoveragePartial}, NotSeen},
		{map[string]string{"sockets.turns": recording.CoverageUnavailable}, Cleared},
	} {
		v := Verdict{Recording: &recording.Recording{Coverage: covered(c.states)}, Entries: []Entry{{State: Cleared, Text: "measured"}, {State: Risk, Text: "a risk"}}}
		v.clearNobody()
		e := v.Entries[0]
		if e.State != c.want || v.Entries[1].State != Risk || (e.State == NotSeen) != (e.Next != "" && strings.Contains(e.Text, "host.processes")) {
			t.Errorf("%v: %+v", c.states, v.Entries)
		}
	}
}

// A suspect explains what is booked to its accounts, and no more.
func TestOnlyWhatIsBooked(t *testing.T) {
	late := scene.Symptom{Name: scene.RequestLatency, Subject: process(7), Share: 0.9}
	delays := map[scene.NodeID][]ledger.Delay{scene.IDOf(late.Subject): {
		{Held: 10, By: []ledger.Part{{Account: ledger.Lock, Share: 0.7}, {Account: ledger.Disk, Share: 0.3}}},
		{Held: 1, By: []ledger.Part{{Account: ledger.Queue, Share: 1}}}, // the way there
	}}
	for _, c := range []struct {
		claims []ledger.Account
		want   float64
	}{
		{[]ledger.Account{ledger.Lock}, 0.7}, {[]ledger.Account{ledger.Disk, ledger.Lock}, 1}, {[]ledger.Account{ledger.Queue}, 0.1},
		{[]ledger.Account{ledger.Nagle}, 0}, {nil, 1},
	} {
		if got := booked(&suspect.Suspect{Claims: c.claims}, late, delays); got < c.want-0.01 || got > c.want+0.01 {
			t.Errorf("%v: %.2f, want %.2f", c.claims, got, c.want)
		}
	}
	if got := booked(&suspect.Suspect{Claims: []ledger.Account{ledger.Nagle}}, scene.Symptom{Name: scene.StreamFreeze, Subject: process(7)}, delays); got != 1 {
		t.Errorf("of a freeze nothing is booked: %.2f", got)
	}
}

// That the view is cut is said first, whatever the verdict begins with.
func TestACutViewIsSaidFirst(t *testing.T) {
	cut := map[string]string{"host.processes": recording.CoveragePartial}
	for _, c := range []struct {
		what   string
		v      Verdict
		states map[string]string
		warns  bool
	}{
		{"a culprit", Verdict{Entries: []Entry{{State: Culprit}}}, cut, true},
		{"nobody was proved", Verdict{Abstained: "no cause was proved"}, cut, true},
		{"not enough seen: the line below says why", Verdict{}, cut, false},
		{"all was seen", Verdict{Entries: []Entry{{State: Culprit}}}, nil, false},
	} {
		c.v.Recording, c.v.Scene, c.v.Warnings = &recording.Recording{Coverage: covered(c.states)}, &scene.Scene{}, []string{"another"}
		c.v.warnOfCut()
		if got := strings.HasPrefix(c.v.Warnings[0], "the view is cut, so no suspect is cleared: host.processes was measured in part"); got != c.warns {
			t.Errorf("%s: %q", c.what, c.v.Warnings)
		}
	}
}
