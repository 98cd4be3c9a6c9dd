package files

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"snag/probes/probe"
	"snag/probes/probe/probetest"
	"snag/recording"
)

// TestLiveWriters finds two real packagers: ffmpeg's HLS muxer, which holds a segment
// in memory, and its plain segment muxer, which has it open.
func TestLiveWriters(t *testing.T) {
	dir := t.TempDir()
	make1 := func(name string, out ...string) *exec.Cmd {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		c := exec.Command("ffmpeg", append([]string{"-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc2=s=160x90:r=10", "-t", "60",
			"-c:v", "libx264", "-preset", "ultrafast", "-g", "10"}, out...)...)
		c.Dir = filepath.Join(dir, name)
		if err := c.Start(); err != nil {
			t.Fatalf("start ffmpeg (tools/setup.sh installs it): %v", err)
		}
		t.Cleanup(func() {
			_ = c.Process.Kill()
			_ = c.Wait()
		})
		return c
	}
	packs := make1("one", "-f", "hls", "-hls_time", "1", "x.m3u8")
	cuts := make1("two", "-f", "segment", "-segment_time", "1", "-segment_list", "x.m3u8", "-segment_list_type", "m3u8", "-segment_list_flags", "live", "s%d.ts")
	for _, name := range []string{"one", "two"} {
		for range 100 {
			if _, err := os.Stat(filepath.Join(dir, name, "x.m3u8")); err == nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	sink := probetest.NewSink()
	env := &probe.Env{Proc: "/proc", SelfPID: os.Getpid(), Anchor: probe.NewAnchor(), Sink: sink, Watch: probe.NewWatch(8), Notice: func(string) {}}
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second)
	defer cancel()
	New(env, []Stream{{Name: "a", Path: "/live/one/x.m3u8"}, {Name: "b", Path: "/live/two/x.m3u8"}, {Name: "c", Path: "/live/none.m3u8"}}).Run(ctx)
	changes := map[string]map[recording.Time]bool{}
	segment := false
	for _, row := range sink.Recording().StreamFiles {
		want := map[string]int{"a": packs.Process.Pid, "b": cuts.Process.Pid}[row.Name]
		if row.PID != want || row.Comm != "ffmpeg" {
			t.Errorf("%s is written by %d (%s), want %d", row.Name, row.PID, row.By, want)
		}
		if changes[row.Name] == nil {
			changes[row.Name] = map[recording.Time]bool{}
		}
		changes[row.Name][row.MTime] = true
		segment = segment || row.Segment != ""
	}
	if len(changes["a"]) < 2 || len(changes["b"]) < 2 {
		t.Errorf("the playlists changed %d and %d times, want more than once", len(changes["a"])-1, len(changes["b"])-1)
	}
	if !segment {
		t.Error("no segment under way was seen")
	}
	if c, _ := sink.Recording().Measured(measure); c.State != recording.CoveragePartial || c.Why == "" {
		t.Errorf("coverage %+v, want partial: nobody writes c", c)
	}
	if got := env.Watch.TakeCarriers(); len(got) != 2 {
		t.Errorf("%v carry a stream, want the two", got)
	}
}
