package main

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"snag/internal/built"
)

// asked is a service on loopback that is asked all the time, and how long it takes for an answer.
func askedService(t *testing.T) (takes *atomic.Int64) {
	t.Helper()
	takes = &atomic.Int64{}
	takes.Store(int64(5 * time.Millisecond))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(time.Duration(takes.Load()))
		_, _ = io.WriteString(w, "ok")
	}))
	stop := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		client := http.Client{Transport: &http.Transport{}}
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
			if resp, err := client.Get(s.URL); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		}
	})
	t.Cleanup(func() { close(stop); running.Wait(); s.Close() })
	return takes
}

// A baseline is saved, and a release that makes each answer 60 ms slower is worse than it: exit code 10. The exit code
// of a check without a change is that of its first word; other programs of the machine may make it any.
func TestBaselineSaveAndCheck(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("not root: the probes see no requests")
	}
	dir := t.TempDir()
	snag := filepath.Join(dir, "snag")
	built.Program(t, "snag", snag)
	takes := askedService(t)
	run := func(args ...string) (string, int) {
		t.Helper()
		cmd := exec.Command(snag, append([]string{"baseline"}, args...)...)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		t.Logf("snag baseline %s: exit %d\n%s%s", strings.Join(args, " "), cmd.ProcessState.ExitCode(), out, stderr.String())
		return string(out), cmd.ProcessState.ExitCode()
	}
	kept := filepath.Join(dir, "kept")
	text, code := run("save", "before", "--for", "10s", "-q", "--dir", kept)
	if code != 0 || !strings.HasPrefix(text, "baseline before: 1") || !strings.HasSuffix(text, " s in "+filepath.Join(kept, "before.snag")+"\nsnag baseline check before compares with it\n") {
		t.Fatal("it was not saved")
	}
	if info, err := os.Stat(filepath.Join(kept, "before.snag")); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v: others can read it: %v", err, info.Mode())
	}
	if _, code := run("save", "before", "--for", "10s", "--dir", kept); code != 2 {
		t.Error("a baseline was replaced without being asked for")
	}
	text, code = run("check", "before", "-q", "--dir", kept)
	word := map[int]string{0: "AS GOOD", 10: "WORSE", 11: "CAN'T TELL"}[code]
	if word == "" || !strings.HasPrefix(text, word+" ") || !strings.Contains(text, "\nA  baseline before  ") {
		t.Errorf("exit code %d: %s", code, text)
	}
	takes.Store(int64(65 * time.Millisecond))
	page := filepath.Join(dir, "page.html")
	text, code = run("check", "before", "-q", "--dir", kept, "--html", page)
	if code != 10 || !strings.HasPrefix(text, "WORSE ") || !strings.Contains(strings.Join(strings.Fields(text), " "), "the same requests take") {
		t.Errorf("exit code %d: %s", code, text)
	}
	if b, err := os.ReadFile(page); err != nil || !strings.Contains(string(b), "baseline before") {
		t.Errorf("its page: %d bytes, %v", len(b), err)
	}
}
