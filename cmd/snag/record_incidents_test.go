package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"snag/fleet/objects"
	"snag/recorder"
)

// stuck is a store that never answers and cannot be interrupted, as a folder of a server that is gone.
type stuck struct {
	objects.Store
	asked chan struct{}
}

func (s stuck) Put(context.Context, string, io.ReadSeeker, int64) error {
	close(s.asked)
	select {}
}

func (stuck) String() string { return "file:///stuck" }

// A recorder ends while its store does not answer.
func TestAStuckStoreDoesNotHoldUpTheEnd(t *testing.T) {
	t.Parallel()
	ring := recorder.Ring{Dir: t.TempDir()}
	folder := filepath.Dir(ring.Recording(1))
	if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(ring.Recording(1), nil, 0o600), os.WriteFile(filepath.Join(folder, "incident.json"), []byte(`{"id":1,"start":"2026-11-28T14:17:28Z","end":"2026-11-28T14:18:28Z"}`), 0o600)); err != nil {
		t.Fatal(err)
	}
	store := stuck{asked: make(chan struct{})}
	f := incidentFlags{sender: objects.NewSender(objects.Plan{Store: store, Ring: ring, Host: "web1", Note: func(string) {}, Current: func() int { return 0 }})}
	ctx, cancel := context.WithCancel(t.Context())
	end := f.start(ctx)
	<-store.asked
	cancel()
	began := time.Now()
	end()
	if d := time.Since(began); d < mostEnd || d > mostEnd+2*time.Second {
		t.Errorf("it ended after %s", d)
	}
	if c := f.sender.Counts(); c.Sent != 0 || c.Waiting != 1 {
		t.Errorf("%+v", c)
	}
}
