package profile

import (
	"bytes"
	"strings"
	"testing"

	"snag/recording"
)

func TestLocksAreTold(t *testing.T) {
	fd := 7
	r := &recording.Recording{
		Stacks: []recording.Stack{
			{ID: 1, Frames: []string{"internal/sync.(*Mutex).lockSlow", "main.handle"}, Objects: []string{"/srv/api", "/srv/api"}},
			{ID: 2, Frames: []string{"internal/poll.runtime_pollWait", "net.(*conn).Read", "io.ReadAtLeast", "main.ask\x1b"}, Objects: []string{"/srv/api", "/srv/api", "/srv/api", "/srv/api"}},
		},
		LockWaits: []recording.LockWait{
			{T: 1, PID: 60, Comm: "api", Address: 0xc0, Kind: "mutex", Waiters: 8, N: 40, Sum: 6, Max: 0.1, Stack: 1, Owner: 61, OwnerBy: recording.OwnerUnlocks, OwnerStack: 2, OwnerCall: "read", OwnerFD: &fd},
			{T: 2, PID: 60, Comm: "api", Address: 0xc0, Kind: "mutex", Waiters: 7, N: 50, Sum: 6.5, Max: 0.2, Stack: 1},
			{T: 2, PID: 60, Comm: "api", Address: 0, Kind: "mutex", Waiters: 3, N: 5, Sum: 1, Max: 0.3},
			{T: 2, PID: 60, Comm: "api", Address: 0xf0, Kind: "condition", Waiters: 30, N: 5, Sum: 30, Max: 1},
			{T: 2, PID: 60, Comm: "api", Address: 0xe0, Kind: "mutex", Waiters: 2, N: 5, Sum: 0.001, Max: 0.001},
			{T: 2, PID: 99, Comm: "other", Address: 0xd0, Kind: "mutex", Waiters: 9, N: 5, Sum: 9, Max: 1},
		},
		Events: []recording.Event{{Kind: recording.EventSafepoint, Subject: recording.Subject{PID: 60}, Value: 0.002, Attrs: map[string]string{"runtime": "Go", "operation": "read mem stats"}}},
	}
	var b bytes.Buffer
	if err := WriteLocks(&b, r, 60, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, want := range []string{
		"12.500 s in api[60]: up to 8 goroutines for the lock at 0xc0, 90 times, 0.200 s at the longest, in main.handle; held in main.ask\\x1b by goroutines, at last on thread 61, which sat in read on descriptor 7",
		"up to 3 threads for one lock; its word does not name the holder, 5 times, 0.300 s at the longest; who held it is not known",
		"stops of Go's world: 1, 2.000 ms in all, 2.000 ms at the longest (read mem stats)",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	for _, not := range []string{"other", "0xf0", "0xe0"} {
		if strings.Contains(got, not) {
			t.Errorf("%q is in\n%s", not, got)
		}
	}
	b.Reset()
	if err := WriteLocks(&b, &recording.Recording{}, 0, TextOptions{}); err != nil || b.Len() != 0 {
		t.Errorf("nobody waited: %q, %v", b.String(), err)
	}
}
