package probes

import (
	"os"
	"testing"
	"time"

	"snag/internal/netns/netnstest"
	"snag/recording"
)

// A recording of one namespace has its processes, its sockets and itself; nothing of the machine's others.
func TestOwnNetns(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to make a network namespace")
	}
	if netnstest.Alone(t) {
		return
	}
	dir := t.TempDir()
	if err := Record(t.Context(), Plan{Dir: dir, For: 2 * time.Second, OwnNetns: true, Notice: func(string) {}, Probes: []string{"host", "sockets", "routes", "nics"}}); err != nil {
		t.Fatal(err)
	}
	r, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Processes {
		if p.PID == 1 || p.Netns != 0 && p.Netns != r.Manifest.Netns {
			t.Errorf("%s[%d] is of another namespace", p.Comm, p.PID)
		}
	}
	if len(r.Processes) == 0 || len(r.Netns) == 0 {
		t.Errorf("%d processes of %d namespaces", len(r.Processes), len(r.Netns))
	}
	for _, n := range r.Netns {
		if !n.Own {
			t.Errorf("another namespace: %+v", n)
		}
	}
	for _, s := range r.Sockets {
		if s.Netns != r.Manifest.Netns {
			t.Errorf("a socket of another namespace: %+v", s)
		}
	}
}
