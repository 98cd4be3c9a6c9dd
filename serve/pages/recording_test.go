package pages

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"snag/internal/web"
	"snag/recorder"
	"snag/serve/agent"
)

// A program with the token gets what the ring has of a time; nobody else does, and no request names a file.
func TestRecording(t *testing.T) {
	var argv []string
	folders := []string{}
	run := func(_ context.Context, c agent.Command) (agent.Output, error) {
		time.Sleep(60 * time.Millisecond) // longer than the server gives others
		var err error
		if argv, err = c.Argv(); err != nil {
			return agent.Output{}, err
		}
		for _, a := range argv {
			if a == "--from=2025-11-30T01:00:00Z" {
				return agent.Output{}, errors.New("the ring begins at 14:00")
			}
			if out, is := strings.CutPrefix(a, "--out="); is {
				return agent.Output{}, os.WriteFile(out, []byte("a recording"), 0o600)
			}
		}
		return agent.Output{}, errors.New("no --out")
	}
	server := httptest.NewUnstartedServer(nil)
	a := web.Of(server.Listener)
	server.Config.Handler = Handler(Options{At: a, Host: "web1", Ring: recorder.Ring{Dir: "/ring"}, Run: run, Access: NewAccess(token, a, false),
		NewFolder: func() (string, error) {
			dir, err := os.MkdirTemp(t.TempDir(), "x")
			folders = append(folders, dir)
			return dir, err
		}})
	server.Config.WriteTimeout = 30 * time.Millisecond
	server.Start()
	defer server.Close()
	ask := func(query, bearer string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/recording?"+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		if bearer != "" {
			req.Header.Set("Authorization", "Bearer "+bearer)
		}
		resp, err := server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(b)
	}
	whole := "from=2025-11-30T14:16:28Z&to=2025-11-30T14:17:28Z"
	for _, c := range []struct {
		query, bearer string
		code          int
		want          string
	}{
		{whole, token, 200, "a recording"},
		{whole, "", 401, ""},
		{whole, "wrong", 401, ""},
		{"from=2025-11-30T14:16:28Z", token, 400, "to: no time"},
		{"from=x&to=2025-11-30T14:17:28Z", token, 400, "from: no time"},
		{"from=2025-11-30T14:17:28Z&to=2025-11-30T14:16:28Z", token, 400, "must be after"},
		{"from=2025-11-30T10:16:28Z&to=2025-11-30T14:17:28Z", token, 400, "at the most"},
		{"from=2025-11-30T01:00:00Z&to=2025-11-30T01:01:00Z", token, 404, "the ring begins at 14:00"},
	} {
		code, body := ask(c.query, c.bearer)
		if code != c.code || !strings.Contains(body, c.want) {
			t.Errorf("%s with %q: %d %q, want %d %q", c.query, c.bearer, code, body, c.code, c.want)
		}
	}
	for _, dir := range folders {
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s is left", dir)
		}
	}
	if len(argv) < 4 || argv[0] != "find" || !strings.Contains(strings.Join(argv, " "), "--ring=/ring") {
		t.Errorf("%v", argv)
	}
}
