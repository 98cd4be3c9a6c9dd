package broadcast

import (
	"cmp"
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

// A stream that ends, or that comes in time and is less than it was: who did it is named first.
// One at a time: the namespaces of all have the same addresses.
func TestWhoEndedAStream(t *testing.T) {
	for _, tool := range Tools {
		if _, err := exec.LookPath(tool.Command); err != nil {
			t.Fatalf("%s (Debian package %s) is not installed: make setup", tool.Command, tool.Package)
		}
	}
	if err := origin.Check(); err != nil {
		t.Fatal(err)
	}
	snag := filepath.Join(t.TempDir(), "snag")
	built.Program(t, "snag", snag)
	for _, a := range []struct {
		what, symptom, suspect string
		publish                func(*Broadcast) *lab.Process
		fault                  func(t *testing.T, s *lab.Stage, b *Broadcast, encoder *lab.Process)
		says                   string
		length                 string
	}{
		{what: "the publisher is killed, and comes back", symptom: "stream-ended", suspect: "service-killed", says: fmt.Sprintf("[%d]", os.Getpid()),
			fault: func(t *testing.T, s *lab.Stage, b *Broadcast, encoder *lab.Process) {
				if err := syscall.Kill(encoder.PID, syscall.SIGKILL); err != nil {
					t.Error(err)
				}
				time.Sleep(2 * time.Second)
				b.Encode(FileClock, "", lab.MayEnd())
			}},
		{what: "its connection is reset at the server", symptom: "stream-ended", suspect: "service-killed", says: "its connection was reset by ss[",
			fault: func(_ *testing.T, s *lab.Stage, b *Broadcast, _ *lab.Process) {
				s.Command(b.Server, "ss", "-K", "src", strings.Split(Ingest, ":")[0])
			}},
		{what: "a rule rejects it", symptom: "stream-freeze", suspect: "netfilter-drop", says: "a firewall rule dropped",
			fault: func(_ *testing.T, s *lab.Stage, b *Broadcast, _ *lab.Process) {
				s.Command(b.Server, "nft", "add table ip cut; add chain ip cut in { type filter hook input priority 0; }; add rule ip cut in tcp dport 1935 ip saddr 10.88.1.2 reject with tcp reset")
			}},
		{what: "its picture turns black", symptom: "stream-bitrate-fell", suspect: "publisher-sends-less", says: "sends less", length: "16s",
			publish: func(b *Broadcast) *lab.Process { return b.Film(TurnsBlack) }},
	} {
		t.Run(a.what, func(t *testing.T) {
			a.length = cmp.Or(a.length, "12s")
			if a.publish == nil {
				a.publish = func(b *Broadcast) *lab.Process { return b.Encode(FileClock, "", lab.MayEnd()) }
			}
			s := labtest.Stage(t)
			b := New(s)
			encoder := a.publish(b)
			if err := s.Err(); err != nil {
				t.Fatal(err)
			}
			answered := finding(t, s, b.Viewer, snag, nil, "--for", a.length, "--stream", origin.URL(Deliver, origin.Stream))
			time.Sleep(5 * time.Second)
			if a.fault != nil {
				a.fault(t, s, b, encoder)
			}
			got := answered()
			if !slices.ContainsFunc(got.Symptoms, func(sym lab.AnswerSymptom) bool { return sym.Name == a.symptom }) {
				t.Errorf("no %s: %+v", a.symptom, got.Symptoms)
			}
			all := got.Culprits()
			if len(all) == 0 || all[0].Suspect != a.suspect || !strings.Contains(all[0].Text, a.says) {
				t.Errorf("%q are named, and not %s first, which says %q: %+v", got.culprits(), a.suspect, a.says, all)
			}
		})
	}
}
