package fetch

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var at = time.Date(2026, 11, 30, 14, 17, 28, 0, time.UTC)

func TestTemplates(t *testing.T) {
	for template, want := range map[string]string{
		"https://{address}:9849":       "",
		"http://{host}.example:9849/x": "",
		"/srv/rings/{host}":            "",
		"https://host:9849":            "neither {host} nor {address}",
		"srv/{host}":                   "neither an http:// or https:// URL nor a folder",
		"ftp://{host}":                 "neither an http:// or https:// URL nor a folder",
		"https://u:p@{host}":           "the token goes into a file",
		"https://{host}/?t=secret":     "the token goes into a file",
	} {
		_, err := New(template, nil, "")
		if got := err == nil; got != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", template, err, want)
		}
	}
	if _, err := New("https://{host}", nil, filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("an authority that is not there")
	}
}

// A host that gives its recording, the second of whose addresses answers; and those that do not.
func TestAsk(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String())
		switch {
		case r.Header.Get("Authorization") != "Bearer secret":
			http.Error(w, "no token", http.StatusUnauthorized)
		case r.URL.Query().Get("from") == at.Add(-time.Hour).Format(time.RFC3339Nano):
			http.Error(w, "the ring begins later\x1b[31m", http.StatusNotFound)
		default:
			_, _ = w.Write([]byte("a recording"))
		}
	}))
	defer server.Close()
	port := server.URL[strings.LastIndex(server.URL, ":")+1:]
	file := filepath.Join(t.TempDir(), "x.snag")
	s, err := New("http://{address}:"+port, http.Header{"Authorization": {"Bearer secret"}}, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Get(t.Context(), "edge-1", []string{"127.0.0.2", "127.0.0.1"}, at.Add(-time.Minute), at, file); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil || string(b) != "a recording" {
		t.Errorf("%q, %v", b, err)
	}
	if last := asked[len(asked)-1]; last != "/recording?from=2026-11-30T14%3A16%3A28Z&to=2026-11-30T14%3A17%3A28Z" {
		t.Errorf("asked for %s", last)
	}
	err = s.Get(t.Context(), "edge-1", []string{"127.0.0.1"}, at.Add(-time.Hour), at, file)
	if err == nil || !strings.Contains(err.Error(), "404 Not Found: the ring begins later") || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("%v", err)
	}
	if err = s.Get(t.Context(), "edge-1", nil, at, at, file); err == nil || !strings.Contains(err.Error(), "no address") {
		t.Errorf("%v", err)
	}
	s.headers = nil
	if err = s.Get(t.Context(), "edge-1", []string{"127.0.0.1"}, at.Add(-time.Minute), at, file); err == nil || !strings.Contains(err.Error(), "--recordings-token-file") {
		t.Errorf("%v", err)
	}
}

// The name of a host comes from the store, and must not lead out of the folder.
func TestFolders(t *testing.T) {
	s, err := New(filepath.Join(t.TempDir(), "{host}"), nil, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"../../etc", "..", ""} {
		if err := s.Get(t.Context(), host, nil, at.Add(-time.Minute), at, filepath.Join(t.TempDir(), "x")); err == nil || !strings.Contains(err.Error(), "no name of a folder") {
			t.Errorf("%q: %v", host, err)
		}
	}
	if err := s.Get(t.Context(), "edge-1", nil, at.Add(-time.Minute), at, filepath.Join(t.TempDir(), "x")); err == nil {
		t.Error("a host without a ring")
	}
}
