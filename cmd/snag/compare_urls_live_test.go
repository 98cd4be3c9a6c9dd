package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"snag/internal/cli"
	"snag/lab/origin"
)

// comparing is what snag printed, and its exit code.
func comparing(t *testing.T, snag string, args ...string) (out string, code int) {
	t.Helper()
	b, err := exec.Command(snag, args...).Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if exit != nil {
		code = exit.ExitCode()
	}
	return strings.Join(strings.Fields(string(b)), " "), code
}

// At a real server: two streams and two services side by side, and those of which one side gives nothing.
func TestCompareOfURLs(t *testing.T) {
	_, snag, server, here := aloneAtServer(t)
	if !here {
		return
	}
	service := func(wait time.Duration) string {
		s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(wait) }))
		t.Cleanup(s.Close)
		return s.URL + "/?key=hidden"
	}
	quick, slow := service(5*time.Millisecond), service(60*time.Millisecond)
	for _, film := range []struct{ name, filter string }{{"whole", "null"}, {"other", "null"}, {"half", "select='not(mod(n,2))'"}} {
		publishFilm(t, server, film.name, film.filter, inH264...)
	}
	whole, other, half := origin.URL(server, "whole"), origin.URL(server, "other"), origin.URL(server, "half")
	nothing := "http://me:hidden@127.0.0.1:1/"
	within(t, "all three are published", func() bool {
		out, _ := comparing(t, snag, "watch", "--for", "5s", "--plain", whole, other, half)
		return strings.Count(out, "first frame after") == 3
	})
	type pair struct {
		a, b string
		want []string
		code int
	}
	for name, c := range map[string]pair{
		"half of the frames":     {whole, half, []string{"WORSE " + half + ": 12.", " at " + whole, "frames per second 2", "-50 %"}, cli.ExitCulprit},
		"as many frames":         {whole, other, []string{"AS GOOD", "frames per second 2"}, 0},
		"nobody publishes B":     {whole, origin.URL(server, "none"), []string{"WORSE B does not answer: " + origin.URL(server, "none")}, cli.ExitCulprit},
		"nobody publishes A":     {origin.URL(server, "none"), whole, []string{"CAN'T TELL A does not answer: " + origin.URL(server, "none")}, cli.ExitCantTell},
		"a slower service":       {quick, slow, []string{"WORSE " + strings.ReplaceAll(slow, "hidden", "…") + ": the same requests take", "at " + strings.ReplaceAll(quick, "hidden", "…"), "Not seen"}, cli.ExitCulprit},
		"a service that refuses": {quick, nothing, []string{"WORSE B does not answer: http://127.0.0.1:1/: ", "connection refused"}, cli.ExitCulprit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, code := comparing(t, snag, "compare", "--for", "16s", "--a", c.a, "--b", c.b)
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in %s", want, out)
				}
			}
			if code != c.code || strings.Contains(out, "hidden") {
				t.Errorf("exit code %d, %s", code, out)
			}
		})
	}
}
