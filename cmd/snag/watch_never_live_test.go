package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"snag/internal/cli"
	"snag/lab/origin"
)

// At a real server: a stream that nobody publishes, until somebody does; and one whose publisher is
// another one after a while.
func TestWatchOfPublishersThatComeLate(t *testing.T) {
	dir, snag, server, here := aloneAtServer(t)
	if !here {
		return
	}
	out := filepath.Join(dir, "out")
	hook, of := told(t)
	first := publishFilm(t, server, "again", "null", inH264...)
	cmd := exec.Command(snag, "watch", "--plain", "--webhook", hook, origin.URL(server, "again")+" name=again", origin.URL(server, "late")+" name=late")
	stderr := printing(t, cmd, out)
	says := func() string {
		b, _ := os.ReadFile(out) // what is not there yet is empty
		return string(b)
	}
	within(t, "the published one is read", func() bool { return strings.Contains(says(), "again  first frame after") })
	within(t, "the alarm of the other comes", func() bool { return slices.Equal(of("late"), []string{"never-published"}) })
	publishFilm(t, server, "late", "null", inH264...)
	within(t, "its first frame is told", func() bool { return slices.Equal(of("late"), []string{"never-published", "well"}) })
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	within(t, "the first publisher is gone", func() bool { return strings.Contains(says(), "again  ended") })
	publishFilm(t, server, "again", "null", inH264...)
	within(t, "its timestamps begin again", func() bool { return strings.Contains(says(), "again  its timestamps begin again, at ") })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitCulprit || stderr.Len() > 0 {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}
