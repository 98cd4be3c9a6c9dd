package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"snag/lab/origin"
	"snag/recorder"
	"snag/recording"
)

// A publisher is stopped for five seconds: the recorder that reads its stream keeps one incident of it,
// which names the stream and the publisher. A stream that is well has none, and its URL's secrets are
// nowhere in the ring. Other programs of this machine may have incidents of their own meanwhile.
func TestRecordOfAStreamThatStops(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root: sockets of others can't be seen")
	}
	dir, snag, server, here := aloneAtServer(t)
	if !here {
		return
	}
	file := func(name string) string { return filepath.Join(dir, name) }
	stops := publishFilm(t, server, "stops", "null", inH264...)
	publishFilm(t, server, "runs", "null", inH264...)
	within(t, "both are published", func() bool {
		text, _ := exec.Command(snag, "watch", "--plain", "--for", "2s", origin.URL(server, "stops"), origin.URL(server, "runs")).Output() // it exits 10 if one is not
		return strings.Count(string(text), "first frame after") == 2
	})
	secret := strings.Replace(origin.URL(server, "stops"), "rtmp://", "rtmp://user:hunter2@", 1) + "?key=hunter3"
	cmd := exec.Command(snag, "record", "--ring", file("ring"), "--stream", secret, "--stream", origin.URL(server, "runs"))
	stderr := printing(t, cmd, file("out"))
	frames := func(name string) bool {
		now := recording.Time(time.Now().UnixNano())
		r, err := recorder.Ring{Dir: file("ring")}.Read(now.Add(-time.Minute), now)
		return err == nil && len(r.Select("snag_stream_gap_seconds", "stream", name)) > 0
	}
	within(t, "both streams are read", func() bool { return frames("live/stops") && frames("live/runs") })
	time.Sleep(3 * time.Second) // of the stream as it is when it is well
	if err := stops.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(5 * time.Second)
	if err := stops.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	of := func(name string) (out []recorder.Incident) {
		text, _ := exec.Command(snag, "incidents", "--json", "--ring", file("ring")).Output() // none yet is an error
		for d := json.NewDecoder(strings.NewReader(string(text))); d.More(); {
			var i recorder.Incident
			if err := d.Decode(&i); err != nil {
				t.Fatalf("%v in %s", err, text)
			}
			if strings.Contains(i.Noticed+fmt.Sprint(i.Symptoms), name) {
				out = append(out, i)
			}
		}
		return out
	}
	for end := time.Now().Add(40 * time.Second); len(of("live/stops")) == 0 && time.Now().Before(end); {
		time.Sleep(500 * time.Millisecond)
	}
	found := of("live/stops")
	who := fmt.Sprintf("ffmpeg[%d]", stops.Process.Pid)
	if len(found) != 1 || len(found[0].Culprits) == 0 || found[0].Culprits[0].Name != "process-stopped" || found[0].Culprits[0].Subject != who {
		t.Errorf("%+v, want one that names %s; it said %s", found, who, stderr)
	}
	if others := of("live/runs"); len(others) > 0 {
		t.Errorf("the stream that was well has %+v", others)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if text := stderr.String(); !strings.Contains(text, "begins: stream live/stops: frozen") || strings.Contains(text, "hunter") {
		t.Errorf("it said %s", text)
	}
	now := recording.Time(time.Now().UnixNano())
	r, err := recorder.Ring{Dir: file("ring")}.Read(now.Add(-2*time.Minute), now)
	if err != nil {
		t.Fatal(err)
	}
	own := false
	for _, table := range recording.TableNames() {
		r.EachRow(table, func(row recording.Row) bool {
			b, err := json.Marshal(row)
			if err != nil || strings.Contains(string(b), "hunter") {
				t.Errorf("a row of %s: %s, %v", table, b, err)
			}
			own = own || strings.Contains(string(b), "--stream")
			return true
		})
	}
	if !own {
		t.Error("the recorder's own command line, which has the URL, is not in the ring")
	}
}
