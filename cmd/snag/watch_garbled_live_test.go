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

// noise changes some bytes of each key picture from the 10th to the 26th second.
const noise = `noise=amount=500*gt(key\,0)*between(n\,250\,650)`

// The key pictures of a film are damaged for a while before it comes to a real server; another's are not.
func TestWatchTellsOfGarbledPictures(t *testing.T) {
	dir, snag, server, here := aloneAtServer(t)
	if !here {
		return
	}
	out := filepath.Join(dir, "out")
	hook, of := told(t)
	publishFilm(t, server, "damaged", "null", append(slices.Clone(inH264), "-bsf:v", noise)...)
	publishFilm(t, server, "film", "null", inH264...)
	cmd := exec.Command(snag, "watch", "--json", "--picture", "--picture-every", "2s", "--webhook", hook, origin.URL(server, "damaged")+" name=damaged", origin.URL(server, "film")+" name=film")
	stderr := printing(t, cmd, out)
	for begun := time.Now(); time.Since(begun) < 60*time.Second && len(of("damaged")) < 2; {
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
	if got := of("damaged"); !slices.Equal(got, []string{"garbled-picture", "well"}) {
		t.Errorf("damaged: told %q", got)
	}
	if got := of("film"); len(got) > 0 {
		t.Errorf("film: told %q", got)
	}
	for _, text := range []string{`"event":"garbled-picture"`, `"picture":"garbled-picture"`, `"state":"garbled-picture"`, `"picture":"ok"`} {
		if !strings.Contains(string(said), text) {
			t.Errorf("it did not say %s", text)
		}
	}
	if strings.Contains(string(said), "not measured") || t.Failed() {
		t.Errorf("it said:\n%s", said)
	}
}
