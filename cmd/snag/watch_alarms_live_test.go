package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// Five streams that stop together are one message to the webhook, which is signed and
// posted again where it was not taken, and one run of the command.
func TestWatchTellsAnIncidentOnce(t *testing.T) {
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Fatal(err)
	}
	t.Parallel()
	const streams = 5
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(file(name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	const secret = "a secret of the test"
	type message struct {
		Event   string
		Count   int `json:"stream_count"`
		Streams []struct{ Event, Stream string }
	}
	var mu sync.Mutex
	var got []message
	var ids []string
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		m := hmac.New(sha256.New, []byte(secret))
		fmt.Fprintf(m, "%s.%s.%s", r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp"), body)
		if want := "v1," + base64.StdEncoding.EncodeToString(m.Sum(nil)); r.Header.Get("webhook-signature") != want {
			t.Errorf("signed %q, want %q", r.Header.Get("webhook-signature"), want)
		}
		mu.Lock()
		defer mu.Unlock()
		if ids = append(ids, r.Header.Get("Idempotency-Key")); len(ids) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		var p message
		if err := json.Unmarshal(body, &p); err != nil {
			t.Error(err)
		}
		got = append(got, p)
	}))
	defer hook.Close()
	put("secret", secret+"\n")
	put("act", "#!/bin/sh\necho \"$SNAG_EVENT $SNAG_STREAM_COUNT\" $SNAG_STREAMS >> "+file("acted")+"\n")
	film := []string{"-nostdin", "-loglevel", "quiet", "-re", "-f", "lavfi", "-i", "testsrc=size=160x90:rate=25", "-t", "90"}
	argv := []string{"watch", "--plain", "--webhook", hook.URL + "/hunter2", "--webhook-secret", file("secret"), "--on-freeze", file("act")}
	for i := range streams {
		_, port, _ := strings.Cut(loopback(t), ":")
		film = append(film, "-c:v", "mpeg2video", "-g", "25", "-f", "mpegts", "udp://127.0.0.1:"+port+"?pkt_size=1316")
		argv = append(argv, fmt.Sprintf("udp://127.0.0.1:%s name=cam%d", port, i))
	}
	cmd := exec.Command("snag", argv...)
	stderr := printing(t, cmd, file("out"))
	says := func() string {
		b, _ := os.ReadFile(file("out")) // what is not there yet is empty
		return string(b)
	}
	sender := beside(t, append([]string{"ffmpeg"}, film...)...)
	within(t, "all streams come", func() bool { return strings.Count(says(), "first frame after") == streams })
	if err := sender.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	messages := func() []message {
		mu.Lock()
		defer mu.Unlock()
		return got
	}
	within(t, "the freeze is told", func() bool { return len(messages()) == 1 })
	if err := sender.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	within(t, "its end is told", func() bool { return len(messages()) == 2 })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	for i, event := range []string{"freeze", "well"} {
		m := messages()[i]
		if m.Event != event || m.Count != streams || len(m.Streams) != streams {
			t.Errorf("%+v, want all streams of %s", m, event)
		}
	}
	if ids[0] == "" || ids[0] != ids[1] || ids[1] == ids[2] || len(ids) != 3 {
		t.Errorf("posted as %q", ids)
	}
	acted, err := os.ReadFile(file("acted"))
	if err != nil || strings.Count(string(acted), "\n") != 1 || !strings.HasPrefix(string(acted), "freeze 5 cam") || len(strings.Fields(string(acted))) != 2+streams {
		t.Errorf("the command was run for %q, %v", acted, err)
	}
	if text := says() + stderr.String(); strings.Contains(text, "hunter2") || !strings.Contains(text, " and 4 more: called, frozen for") {
		t.Errorf("it said\n%s", text)
	}
}
