package all

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"snag/recording"
	"snag/recording/rectest"
	"snag/verdict"
)

// TestCommandsForNow holds every command that a verdict prints as a remedy for now, of all
// written cases that are guilty and of all recorded incidents, against what it promises: a
// shell takes it, nothing in it is left to fill in, and what it names is in the recording.
func TestCommandsForNow(t *testing.T) {
	written, err := filepath.Glob("../../suspects/testdata/*/guilty*.txtar")
	if err != nil || len(written) == 0 {
		t.Fatalf("%d written cases: %v", len(written), err)
	}
	recorded, err := filepath.Glob("../recordings/*-sick.snag")
	if err != nil || len(recorded) == 0 {
		t.Fatalf("%d recordings: %v", len(recorded), err)
	}
	commands := map[string]bool{}
	for _, file := range append(written, recorded...) {
		var r *recording.Recording
		if strings.HasSuffix(file, ".txtar") {
			c, err := rectest.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			r = c.Recording
		} else if r, err = recording.Open(file); err != nil {
			t.Fatal(err)
		}
		var text []byte
		for _, e := range verdict.Judge(r).Entries {
			if e.Remedy.Now == "" {
				continue
			}
			if text == nil {
				text = textOf(t, r)
			}
			commands[e.Remedy.Now] = true
			if why := unfit(e.Remedy.Now, text); why != "" {
				t.Errorf("%s: %s: %s\n%s", filepath.Base(file), e.Suspect.Name, why, e.Remedy.Now)
			}
		}
	}
	if len(commands) < 30 {
		t.Errorf("only %d commands", len(commands))
	}
	for c := range commands {
		shell := exec.Command("bash", "-n")
		shell.Stdin = strings.NewReader(c)
		if said, err := shell.CombinedOutput(); err != nil || len(said) > 0 {
			t.Errorf("bash -n: %s %v\n%s", said, err, c)
		}
	}
}

// textOf is all that a recording says, but for its numbers over time.
func textOf(t *testing.T, r *recording.Recording) []byte {
	t.Helper()
	all := *r
	all.Series, all.Baseline = nil, nil
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Series {
		text = append(fmt.Appendf(text, "\n%q", s.Labels), '\n')
	}
	return text
}

// named are the parts of commands that name something: processes, interfaces, addresses
// with their ports, ports alone, control groups.
var named = []*regexp.Regexp{
	regexp.MustCompile(`(?:kill -CONT|--pid|nsenter -t|taskset -apc \S+) (\d+)`),
	regexp.MustCompile(`-L -p ([\d,]+)`),
	regexp.MustCompile(`\bdev (\S+)`),
	regexp.MustCompile(`ethtool -[A-Z] (\S+)`),
	regexp.MustCompile(`/sys/class/net/([^/]+)/`),
	regexp.MustCompile(`conf\.([^. ]+)\.rp_filter`),
	regexp.MustCompile(`\b(\d+\.\d+\.\d+\.\d+(?::\d+)?)\b`),
	regexp.MustCompile(`dport (\d+)`),
	regexp.MustCompile(`ip netns exec (\S+)`),
	regexp.MustCompile(`(?:start|--runtime) (\S+)`),
	regexp.MustCompile(`/sys/fs/cgroup(?:/cpu|/memory)?(/[^ ']+)/[^/ ']+`),
}

var placeholder = regexp.MustCompile(`[<>…]{2}|<[A-Za-z]|\b[A-Z]{3,}\b`)

// unfit says what is wrong with a command; "" for nothing.
func unfit(command string, text []byte) string {
	if strings.ContainsAny(command, "\n#") {
		return "more than one command"
	}
	if p := placeholder.FindString(strings.ReplaceAll(command, "kill -CONT", "")); p != "" {
		return p + " is left to fill in"
	}
	for _, re := range named {
		for _, m := range re.FindAllStringSubmatch(command, -1) {
			for _, name := range strings.Split(m[1], ",") {
				if !bytes.Contains(text, []byte(name)) || !regexp.MustCompile(`(^|[^\w.])`+regexp.QuoteMeta(name)+`($|[^\w])`).Match(text) {
					return name + " is not in the recording"
				}
			}
		}
	}
	return ""
}
