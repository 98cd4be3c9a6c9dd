package drawn

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/lab"
)

func culprit(suspect, subject string) lab.AnswerEntry {
	return lab.AnswerEntry{Suspect: suspect, State: "culprit", Subject: lab.Subject(subject), LeadsTo: []string{"stream-freeze"}}
}

func TestBlameOf(t *testing.T) {
	stopped := Truth{Fault: "stopped", Suspects: []string{"process-stopped", "encoder-stall"}, Subject: "ffmpeg", Also: []string{"packet-loss"}, Account: "stopped", Place: AtEncoder}
	seen := []string{"published", "freeze"}
	for _, x := range []struct {
		what  string
		heard Heard
		find  []lab.AnswerEntry
		want  Blame
	}{
		{"all right", Heard{Saw: seen, Host: []Verdict{{"", "", "not yet"}, {"encoder-stall", "ffmpeg[1]", ""}}, Said: []string{"frames again: frozen for 4.0 s"}},
			[]lab.AnswerEntry{culprit("process-stopped", "ffmpeg[1]")},
			Blame{Seen: true, Find: Right, Host: Right, Viewer: Right, FindSaid: "process-stopped on ffmpeg[1]", HostSaid: "encoder-stall on ffmpeg[1]"}},
		{"nobody is named", Heard{Saw: seen}, nil, Blame{Seen: true, Find: Silent, Host: Silent, Viewer: Right}},
		{"the wrong process", Heard{Saw: seen}, []lab.AnswerEntry{culprit("process-stopped", "nginx[2]")},
			Blame{Seen: true, Find: Wrong, Host: Silent, Viewer: Right, FindSaid: "process-stopped on nginx[2]", More: []string{"process-stopped on nginx[2]"}}},
		{"what it brings with it goes first", Heard{Saw: seen}, []lab.AnswerEntry{culprit("packet-loss", "eth0"), culprit("process-stopped", "ffmpeg[1]")},
			Blame{Seen: true, Find: Wrong, Host: Silent, Viewer: Right, FindSaid: "packet-loss on eth0"}},
		{"culprits of others", Heard{Saw: seen}, []lab.AnswerEntry{
			{Suspect: "cpu-saturated", State: "culprit", Subject: "go[3]", Elsewhere: true, LeadsTo: []string{"stream-freeze"}},
			{Suspect: "nagle-delayed-ack", State: "culprit", Subject: "nginx[2]", LeadsTo: []string{"request-latency"}}, culprit("encoder-stall", "ffmpeg[1]"),
		}, Blame{Seen: true, Find: Right, Host: Silent, Viewer: Right, FindSaid: "encoder-stall on ffmpeg[1]", More: []string{"nagle-delayed-ack on nginx[2]"}}},
		{"one wrong verdict of two", Heard{Saw: seen, Host: []Verdict{{"server-stall", "nginx[2]", ""}, {"encoder-stall", "ffmpeg[1]", ""}}}, nil,
			Blame{Seen: true, Find: Silent, Host: Wrong, Viewer: Right, HostSaid: "server-stall on nginx[2]"}},
		{"the viewer clears the encoder", Heard{Saw: seen, Said: []string{"all 3 streams of a:1 stopped together: the server, or the way to it; not one encoder"}}, nil,
			Blame{Seen: true, Find: Silent, Host: Silent, Viewer: Wrong, ViewerSaid: "all 3 streams of a:1 stopped together: the server, or the way to it; not one encoder"}},
		{"it was not seen", Heard{Saw: []string{"published", "first-frame"}}, nil, Blame{Find: Silent, Host: Silent, Viewer: Right}},
	} {
		x.want.Key, x.want.Fault = "k", "f/stopped"
		got, err := BlameOf(Kept{Key: "k", Parts: []Part{{Family: "f", Truth: &stopped}}, Heard: &x.heard}, lab.Answer{Verdict: x.find})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.More, x.want.More) {
			t.Errorf("%s: besides %q are named, want %q", x.what, got.More, x.want.More)
		}
		if got.More, x.want.More = nil, nil; !equal(got, x.want) {
			t.Errorf("%s: %+v, want %+v", x.what, got, x.want)
		}
	}
}

func equal(a, b Blame) bool {
	return a.Key == b.Key && a.Fault == b.Fault && a.Seen == b.Seen && a.Find == b.Find && a.Host == b.Host && a.Viewer == b.Viewer &&
		a.FindSaid == b.FindSaid && a.HostSaid == b.HostSaid && a.ViewerSaid == b.ViewerSaid
}

// Each claim of a viewer is wrong of some place and right of another.
func TestClaims(t *testing.T) {
	for _, x := range []struct {
		says         string
		wrong, right truth
	}{
		{"of 3 streams: not one encoder", truth{Truth: Truth{Place: AtEncoder}}, truth{Truth: Truth{Place: AtServer}}},
		{"the way to snag, or snag's own host", truth{Truth: Truth{Place: AtServer}}, truth{Truth: Truth{Place: AtReader}}},
		{"look at what it does not share with the others (its source)", truth{Truth: Truth{Place: AtServer}}, truth{Truth: Truth{Place: AtEncoder}}},
		{"the timestamps began again: the sender was restarted, or another took its place", truth{Truth: Truth{Place: AtEncoder, Account: "stopped"}}, truth{Truth: Truth{Place: AtEncoder, Account: "errors"}}},
		{"a slow encoder, or a link that is too narrow: can't tell", truth{Truth: Truth{Place: AtServer}}, truth{Truth: Truth{Place: OnUplink}}},
	} {
		wrong := func(of truth) bool {
			return slices.ContainsFunc(claims, func(c claim) bool { return c.wrong(x.says, of) })
		}
		if !wrong(x.wrong) || wrong(x.right) {
			t.Errorf("%q: wrong at %s %v, at %s %v", x.says, x.wrong.Place, wrong(x.wrong), x.right.Place, wrong(x.right))
		}
	}
}

func TestHeard(t *testing.T) {
	dir, until := t.TempDir(), time.Date(2026, 11, 28, 12, 0, 10, 0, time.UTC)
	for name, text := range map[lab.Watch]string{
		lab.OnHost: `{"type":"event","stream":"asked","event":"freeze","text":"FROZEN"}
{"type":"verdict","stream":"asked","culprit":"encoder-stall","subject":"ffmpeg[1]","text":"it was stopped"}
{"type":"verdict","stream":"live/other","culprit":"server-stall","subject":"nginx[2]","text":"x"}
`,
		lab.Viewer: `{"type":"event","stream":"asked","event":"freeze","text":"FROZEN"}
{"type":"event","t":"2026-11-28T12:00:09Z","stream":"asked","event":"freeze","text":"frames again"}
{"type":"event","t":"2026-11-28T12:00:11Z","stream":"asked","event":"late","text":"late"}
{"type":"summary"}
`,
		lab.Alarms: "\nonly this one of 3 streams stopped\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, string(name)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h, err := heard(dir, until)
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Host) != 1 || h.Host[0].Culprit != "encoder-stall" || !slices.Equal(h.Saw, []string{"freeze"}) ||
		strings.Join(h.Said, "|") != "FROZEN|frames again|late|only this one of 3 streams stopped" {
		t.Errorf("%+v", h)
	}
	if err := os.Remove(filepath.Join(dir, string(lab.Alarms))); err != nil {
		t.Fatal(err)
	}
	if _, err := heard(dir, until); err != nil {
		t.Errorf("nothing froze: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, string(lab.Viewer)), []byte("{\"type\":"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := heard(dir, until); err == nil || !strings.Contains(err.Error(), "line 1 of viewer.jsonl") {
		t.Errorf("a torn line: %v", err)
	}
}

func TestBlamePlan(t *testing.T) {
	a, b := Case{Families: []Family{{Name: "a"}}, Fault: "x"}, Case{Families: []Family{{Name: "b"}}, Fault: "y"}
	var keys []string
	for _, c := range BlamePlan([]Case{a, b}, 7, 3) {
		keys = append(keys, c.Key())
	}
	if got := strings.Join(keys, " "); got != "000007-a-x-faulty 000009-b-y-faulty 000011-a-x-faulty" {
		t.Error(got)
	}
}

func TestWriteBlames(t *testing.T) {
	var out strings.Builder
	err := WriteBlames(&out, []Blame{
		{Key: "1", Fault: "a/x", Seen: true, Find: Right, Host: Silent, Viewer: Right},
		{Key: "2", Fault: "a/x", Find: Silent, Host: Silent, Viewer: Right},
		{Key: "3", Fault: "b/y", Seen: true, Find: Wrong, FindSaid: "no-route on x", Host: Right, Viewer: Right, More: []string{"no-route on x"}},
	}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"0.50 0.09–0.91 of 2", "- `1`: watch --host: silent", "- `3`: find --stream: wrong no-route on x", "- `3`: beside it: no-route on x", "1 runs gave no recording"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "`2`") {
		t.Errorf("a run that nobody saw is told of:\n%s", out.String())
	}
}
