package broadcast

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"snag/internal/built"
	"snag/lab"
	"snag/lab/labtest"
	"snag/lab/origin"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// answer is what these tests read of snag find --json.
type answer struct {
	lab.Answer
	Next     string `json:"next_measurement"`
	Coverage []struct {
		Probe string `json:"probe"`
		State string `json:"state"`
		Why   string `json:"why"`
	} `json:"coverage"`
}

// finding starts snag find with those arguments in a namespace and returns what waits
// for its answer. before is put in front of the command.
func finding(t *testing.T, s *lab.Stage, ns, snag string, before []string, args ...string) func() answer {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil { // nobody writes its recording there
		t.Fatal(err)
	}
	command := fmt.Sprintf("cd %s && %s find --for 12s --quiet --json --out rec %s >answer.json 2>errors; echo ended with $?", dir, snag, strings.Join(args, " "))
	p := s.Run(ns, "find", append(slices.Clone(before), "sh", "-c", command), lab.MayEnd())
	return func() answer {
		t.Helper()
		s.AwaitPrinted(p, "ended with")
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(filepath.Join(dir, "answer.json"))
		if err != nil {
			t.Fatal(err)
		}
		var a answer
		if err := json.Unmarshal(raw, &a); err != nil {
			said, _ := os.ReadFile(filepath.Join(dir, "errors"))
			t.Fatalf("%v: %q; %s; it printed %s", err, raw, p.Printed(), said)
		}
		return a
	}
}

func (a answer) culprits() (out []string) {
	for _, e := range a.Culprits() {
		out = append(out, fmt.Sprintf("%s %s", e.Suspect, e.Subject))
	}
	return out
}

func (a answer) frozen() bool {
	return slices.ContainsFunc(a.Symptoms, func(s lab.AnswerSymptom) bool {
		return s.Name == "stream-freeze" && strings.Contains(string(s.Subject), origin.App+"/"+origin.Stream)
	})
}

// The server of a stream is stopped for a while. A player who sees no process of it
// (a user without rights, in namespaces of his own for network and processes, as on
// another host) can't tell who it was, and is told where to look. Root who reads the
// stream inside the server's namespace (--netns), at an address of its loopback, is
// told who.
func TestFindAsAPlayerAndInsideTheNamespace(t *testing.T) {
	for _, tool := range append(Tools, lab.Tool{Command: "unshare", Package: "util-linux"}, lab.Tool{Command: "setpriv", Package: "util-linux"}) {
		if _, err := exec.LookPath(tool.Command); err != nil {
			t.Fatalf("%s (Debian package %s) is not installed: make setup", tool.Command, tool.Package)
		}
	}
	if err := origin.Check(); err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	for dir := bin; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) { // nobody must reach it
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	snag := filepath.Join(bin, "snag")
	built.Program(t, "snag", snag)
	s := labtest.Stage(t)
	b := New(s)
	b.Encode(FileClock, "")
	worker := b.Worker()
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	asPlayer := []string{"unshare", "--pid", "--fork", "--mount-proc", "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"}
	player := finding(t, s, b.Viewer, snag, asPlayer, "--stream", origin.URL(Deliver, origin.Stream))
	inside := finding(t, s, "", snag, nil, "--netns", b.Server, "--stream", origin.URL("127.0.0.1:1935", origin.Stream))
	time.Sleep(6 * time.Second) // both play it
	if err := syscall.Kill(worker, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3500 * time.Millisecond)
	if err := syscall.Kill(worker, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}

	got := player()
	if !got.frozen() {
		t.Errorf("the player saw no freeze: %+v, %+v", got.Symptoms, got.Coverage)
	}
	if all := got.culprits(); len(all) > 0 {
		t.Errorf("the player names %q", all)
	}
	if !strings.Contains(got.Abstained, "can't tell from here") {
		t.Errorf("the player does not say that it can't tell: %q", got.Abstained)
	}
	if want := "on 10.88.2.1: snag find --stream " + origin.URL(Deliver, origin.Stream); !strings.HasPrefix(got.Next, want) {
		t.Errorf("the player's next measurement is %q, not %q", got.Next, want)
	}

	got = inside()
	if !got.frozen() {
		t.Errorf("no freeze was seen inside: %+v, %+v", got.Symptoms, got.Coverage)
	}
	all := got.culprits()
	if who := fmt.Sprintf("nginx[%d]", worker); len(all) == 0 || !strings.HasPrefix(all[0], "process-stopped ") || !strings.Contains(all[0], who) {
		t.Errorf("inside %q are named, and not %s first, which was stopped", all, who)
	}
}
