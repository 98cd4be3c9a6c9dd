package lab_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"snag/lab"
)

// fakeSnag stands for the binary that is judged: it checks how it is called and
// answers what it is told.
func fakeSnag(t *testing.T, answer string, code string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "snag")
	script := `#!/bin/sh
[ "$1 $2 $3 $4 $5" = "find --for 1s --json --out" ] || { echo "called with $*" >&2; exit 2; }
mkdir -p "$6" && echo '{}' > "$6/manifest.json"
echo '` + answer + `'
exit ` + code + "\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

var quiet = lab.Incident{
	Name: "quiet",
	Want: lab.Want{Suspect: "udp-port-closed"},
	Start: func(s *lab.Stage, _ lab.Variant) error {
		p := s.Actor(s.Netns("x"), "quiet-actor", "sleeper", nil)
		s.AwaitPrinted(p, "ready")
		return nil
	},
}

func TestRun(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("making network namespaces needs root")
	}
	culprit := `{"version":2,"symptoms":[],"verdict":[{"suspect":"udp-port-closed","state":"culprit","subject":"x","confidence":0.9}]}`
	nothing := `{"version":2,"symptoms":[],"verdict":[]}`
	for _, c := range []struct {
		name, answer, code string
		variant            lab.Variant
		want               lab.Outcome
		err                string
	}{
		{"culprit named", culprit, "10", lab.Sick, lab.Right, ""},
		{"culprit on the twin", culprit, "10", lab.Healthy, lab.FalseAccusation, ""},
		{"nobody on the twin", nothing, "0", lab.Distractor, lab.Right, ""},
		{"find fails", nothing, "1", lab.Sick, "", "exit status 1"},
		{"find answers with no JSON", "oops", "0", lab.Sick, "", "read the verdict"},
	} {
		out := filepath.Join(t.TempDir(), "recording")
		res, err := lab.Run(context.Background(), quiet, c.variant, lab.RunOptions{
			SnagPath: fakeSnag(t, c.answer, c.code), For: time.Second, Out: out, Shared: true,
		})
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.err)
		}
		if res.Outcome != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, res.Outcome, res.Why, c.want)
		}
		if _, err := os.Stat(filepath.Join(out, "manifest.json")); err != nil {
			t.Errorf("%s: the recording: %v", c.name, err)
		}
	}
	if left, _ := filepath.Glob("/run/netns/snaglab" + strconv.Itoa(os.Getpid()) + "-*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestRunRefuses(t *testing.T) {
	needy := lab.Incident{Name: "needy", Needs: []lab.Tool{{Command: "no-such-command", Package: "no-such-package"}}}
	for _, c := range []struct {
		inc  lab.Incident
		d    time.Duration
		want string
	}{
		{needy, time.Second, "apt-get install no-such-package"},
		{quiet, 0, "between 1s"},
		{quiet, time.Hour, "between 1s"},
	} {
		_, err := lab.Run(context.Background(), c.inc, lab.Sick, lab.RunOptions{For: c.d})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// Two incidents at the same time have a stage each, of different names, and leave
// nothing behind.
func TestRunTogether(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("making network namespaces needs root")
	}
	second := quiet
	second.Name, second.Want = "second", lab.Want{Suspect: "qdisc-drop"}
	both := `{"version":2,"symptoms":[],"verdict":[{"suspect":"udp-port-closed","state":"culprit","subject":"x","confidence":0.9},{"suspect":"qdisc-drop","state":"culprit","subject":"y","confidence":0.8}]}`
	res, err := lab.RunTogether(context.Background(), []lab.Incident{quiet, second}, lab.Sick, lab.RunOptions{
		SnagPath: fakeSnag(t, both, "10"), For: time.Second, Out: filepath.Join(t.TempDir(), "recording"), Shared: true,
	})
	if err != nil || res.Outcome != lab.Right || res.Incident != "quiet+second" {
		t.Errorf("%+v, %v", res, err)
	}
	if len(res.Namespaces) != 3 {
		t.Errorf("namespaces %v, want one of each stage and the lab's own", res.Namespaces)
	}
	if left, _ := filepath.Glob("/run/netns/snaglab" + strconv.Itoa(os.Getpid()) + "*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
