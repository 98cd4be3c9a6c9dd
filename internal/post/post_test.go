package post

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 28, 14, 17, 28, 0, time.UTC)
	for text, want := range map[string]time.Duration{"120": 2 * time.Minute, now.Add(90 * time.Second).Format(http.TimeFormat): 90 * time.Second, now.Add(-time.Hour).Format(http.TimeFormat): 0, "-4": 0, "soon": 0, "": 0} {
		if got := RetryAfter(text, now); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
	if a, b := Pause(1, time.Second, 0, 0), Pause(50, time.Second, 0, 1); a != time.Second/2 || b != longestPause {
		t.Errorf("%s, %s", a, b)
	}
}

func TestHeaders(t *testing.T) {
	file := filepath.Join(t.TempDir(), "headers")
	if err := os.WriteFile(file, []byte("# of the collector\n\nAuthorization: Bearer s3cret\nX-A: 1:2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := Headers([]string{"@" + file, "X-B: b"})
	if err != nil || h.Get("Authorization") != "Bearer s3cret" || h.Get("X-A") != "1:2" || h.Get("X-B") != "b" {
		t.Errorf("%v, %v", h, err)
	}
	if err := os.WriteFile(file, []byte("X-A: 1\ns3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"s3cret", "Bad Name: s3cret", "X-A:", "X-A: s3cret\x01", "Content-Type: s3cret", "host: s3cret", "@" + file, "@/nowhere", "@/dev/zero"} {
		if _, err := Headers([]string{text}); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Headers([]string{"@" + file}); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("%v", err)
	}
}

func TestToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	for text, want := range map[string]string{"abc==\n": "abc==", " abc ": "abc", "": "", "\n": "", "a\nb": "", "a\x00b": ""} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Token(file)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
		if err != nil && !strings.Contains(err.Error(), file) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Token(file + "s"); err == nil {
		t.Error("a file that is not there has a token")
	}
}
