package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"snag/internal/packet"
	"snag/probes/streams/passive/capture"
)

// Nothing of what the captured connections carried is in a recording: not a run of
// eight bytes of any segment's middle.
func TestPassiveRecordsNoPayload(t *testing.T) {
	const file = "../../probes/streams/passive/testdata/nginx.pcap"
	dir := filepath.Join(t.TempDir(), "rec")
	frames := filepath.Join(t.TempDir(), "frames.jsonl")
	s, err := newWatching(watchFlags{read: file, out: dir, frames: frames, plain: true, most: 10, perSecond: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	var kept []byte
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		kept = append(kept, b...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(frames)
	if err != nil {
		t.Fatal(err)
	}
	kept = append(kept, log...)
	if !bytes.Contains(kept, []byte("live/cam1")) || len(log) < 10000 {
		t.Fatalf("%d bytes of recording and %d of frames have no stream in them", len(kept), len(log))
	}
	looked := 0
	err = capture.ReadFile(file, func(c *capture.Packet) {
		var p packet.Packet
		if !packet.Decode(c.Proto, c.Data, c.Wire, &p) {
			return
		}
		for at := 100; at+8 <= len(p.Payload); at += 50 {
			if run := p.Payload[at : at+8]; !bytes.Equal(run, make([]byte, 8)) {
				looked++
				if bytes.Contains(kept, run) {
					t.Errorf("payload was kept: %q", run)
				}
			}
		}
	})
	if err != nil || looked < 1000 {
		t.Fatalf("looked for %d runs: %v", looked, err)
	}
}
