package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"snag/internal/built"
	"snag/internal/cli"
	"snag/internal/netns/netnstest"
	"snag/lab/origin"
)

// At a real server: a stream that nobody publishes, until somebody does; and one whose publisher is
// another one after a while.
func TestWatchOfPublishersThatComeLate(t *testing.T) {
	if err := origin.Check(); err != nil {
		t.Fatal(err)
	}
	if netnstest.Alone(t) { // its ports of loopback are nobody else's
		return
	}
	dir := t.TempDir()
	snag, out := filepath.Join(dir, "snag"), filepath.Join(dir, "out")
	built.Program(t, "snag", snag)
	server := rtmpServer(t, dir)
	hook, of := told(t)
	first := publishFilm(t, server, "again", "null", inH264...)
	cmd := exec.Command(snag, "watch", "--plain", "--webhook", hook, origin.URL(server, "again")+" name=again", origin.URL(server, "late")+" name=late")
	stderr := printing(t, cmd, out)
	says := func() string {
		b, _ := os.ReadFile(out) // what is not there yet is empty
		return string(b)
	}
	within(t, "the published one is read", func() bool { return strings.Contains(says(), "again  first frame after") })
	within(t, "the other is told", func() bool { return slices.Equal(of("late"), []string{"never-published"}) })
	publishFilm(t, server, "late", "null", inH264...)
	within(t, "its first frame is told", func() bool { return slices.Equal(of("late"), []string{"never-published", "well"}) })
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	within(t, "the first publisher is gone", func() bool { return strings.Contains(says(), "again  ended") })
	publishFilm(t, server, "again", "null", inH264...)
	within(t, "its timestamps begin anew", func() bool { return strings.Contains(says(), "again  its timestamps begin anew, at ") })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitCulprit || stderr.Len() > 0 {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}
