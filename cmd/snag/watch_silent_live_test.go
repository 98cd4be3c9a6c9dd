package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/lab/origin"
)

// toned gives a film audio.
func toned(source string) []string {
	return []string{"-filter_complex", source + "[a]", "-map", "0:v", "-map", "[a]", "-c:a", "aac"}
}

// The audio of a film is silent from the 8th to the 48th second before it comes to a real server;
// another's is not.
func TestWatchTellsOfSilentAudio(t *testing.T) {
	dir, snag, server, here := aloneAtServer(t)
	if !here {
		return
	}
	out := filepath.Join(dir, "out")
	hook, of := told(t)
	publishFilm(t, server, "muted", "null", append(slices.Clone(inH264), toned("sine=r=44100,volume=0:enable='between(t,8,48)'")...)...)
	publishFilm(t, server, "film", "null", append(slices.Clone(inH264), toned("sine=r=44100,volume=-20dB")...)...)
	cmd := exec.Command(snag, "watch", "--json", "--picture", "--picture-every", "2s", "--webhook", hook, origin.URL(server, "muted")+" name=muted", origin.URL(server, "film")+" name=film")
	stderr := printing(t, cmd, out)
	for begun := time.Now(); time.Since(begun) < 90*time.Second && len(of("muted")) < 2; {
		time.Sleep(200 * time.Millisecond)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	said, err := os.ReadFile(out)
	if err != nil || stderr.Len() > 0 {
		t.Errorf("%v, %s", err, stderr)
	}
	if got := of("muted"); !slices.Equal(got, []string{"audio-silent", "well"}) {
		t.Errorf("muted: told %q", got)
	}
	if got := of("film"); len(got) > 0 {
		t.Errorf("film: told %q", got)
	}
	for _, text := range []string{`"event":"silent-audio"`, `"sound":"silent"`, `"state":"audio-silent"`, `"sound":"ok"`} {
		if !strings.Contains(string(said), text) {
			t.Errorf("it did not say %s", text)
		}
	}
	if strings.Contains(string(said), "not measured") || t.Failed() {
		t.Errorf("it said:\n%s", said)
	}
}
