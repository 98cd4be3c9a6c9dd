package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/internal/built"
	"snag/internal/netns/netnstest"
	"snag/probes/streams/gb28181/gbtest"
)

// All cameras of a platform's catalogue are watched, those that are OFF are said, and
// what a camera calls itself does nothing to the terminal.
func TestWatchOfAPlatform(t *testing.T) {
	if netnstest.Alone(t) {
		return
	}
	dir := t.TempDir()
	snag := filepath.Join(dir, "snag")
	built.Program(t, "snag", snag)
	camera := func(n int) string { return fmt.Sprintf("3402000000132%07d", n) }
	p := (&gbtest.Platform{ID: "34020000002000000001", User: "34020000004000000007", Password: "s3cret", Each: 1,
		Film: gbtest.Film(t, 12), Lasts: 12 * time.Second, Cameras: []gbtest.Camera{
			{ID: camera(1), Name: "door", Status: "ON"},
			{ID: camera(2), Name: "hall", Status: "OFF"},
			{ID: camera(3), Name: "yard\u009b2J\u202e", Status: "ON"},
		}}).Serve(t, "udp")
	credentials := filepath.Join(dir, "servers")
	if err := os.WriteFile(credentials, []byte(p.Address+" user="+p.User+" password=s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, way := range []string{"--plain", "--json"} {
		var stdout, stderr bytes.Buffer
		cmd := exec.Command(snag, "watch", way, "--for", "7s", "--discover", p.URL(), "--discover-credentials", credentials)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %s%s", err, stdout.String(), stderr.String())
		}
		out := stdout.String()
		wants := []string{"door  first frame after", `yard\xc2\x9b2J\xe2\x80\xae  first frame after`, `"hall" (` + camera(2) + ") is OFF"}
		if way == "--json" {
			wants = []string{`"stream":"door"`, `"labels":{"device":"34020000002000000001"}`, `hall\" (` + camera(2) + ") is OFF"}
			for line := range strings.Lines(out) {
				file := filepath.Join(dir, "line.json")
				if err := os.WriteFile(file, []byte(line), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := valid("live/watch.schema.json", file); err != nil {
					t.Errorf("%s: %v", line, err)
				}
			}
		}
		for _, want := range wants {
			if strings.Count(out, want) == 0 || strings.Contains(want, "OFF") && strings.Count(out, want) != 1 {
				t.Errorf("%s: %q is not there as it should be:\n%s", way, want, out)
			}
		}
		if strings.ContainsAny(out+stderr.String(), "\x1b\u009b\u202e") || strings.Contains(out, "s3cret") || stderr.Len() > 0 {
			t.Errorf("%q %s", out, stderr.String())
		}
	}
	if p.Count("BYE") != 4 || p.Playing() != 0 || p.Seen()[len(p.Seen())-1] != "REGISTER" {
		t.Errorf("calls or the registration were not ended: %q", p.Seen())
	}
}
