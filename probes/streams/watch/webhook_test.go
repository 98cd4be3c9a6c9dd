package watch

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// answers is a receiver that gives one answer after another, the last for ever.
type answers struct {
	*httptest.Server
	got    []http.Header
	bodies []string
}

func answering(t *testing.T, each ...func(http.ResponseWriter)) *answers {
	a := &answers{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		each[min(len(a.got), len(each)-1)](w)
		a.got, a.bodies = append(a.got, r.Header), append(a.bodies, string(b))
	}))
	a.Config.SetKeepAlivesEnabled(false) // Go itself sends again what went over a connection that was used before
	t.Cleanup(a.Close)
	return a
}

func code(n int, headers ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(n)
	}
}

func hookTo(t *testing.T, url string) Webhook {
	t.Helper()
	hook, err := NewWebhook(url, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	hook.First, hook.Total = 10*time.Millisecond, 2*time.Second
	return hook
}

// What may be better in a moment is posted again, with the same id; what will not be, not.
func TestWebhookIsPostedAgain(t *testing.T) {
	cut := func(w http.ResponseWriter) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		c.Close()
	}
	for name, c := range map[string]struct {
		answers  []func(http.ResponseWriter)
		requests int
		says     string
	}{
		"an error, too many, a cut": {[]func(http.ResponseWriter){code(503), code(429), cut, code(200)}, 4, ""},
		"no such place":             {[]func(http.ResponseWriter){code(404), code(200)}, 1, "it answered 404 Not Found"},
		"a redirect":                {[]func(http.ResponseWriter){code(302, "Location", "/x"), code(200)}, 1, "it answered 302"},
		"it asks for too long":      {[]func(http.ResponseWriter){code(429, "Retry-After", "3600"), code(200)}, 1, "given up after 1 request in 0.0 s: it asks to wait for 60 min, longer than is left"},
	} {
		a := answering(t, c.answers...)
		err := hookTo(t, a.URL+"/hook").Do(context.Background(), callOf(frozen))
		if len(a.got) != c.requests || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %d requests, %v", name, len(a.got), err)
		}
		for i, h := range a.got {
			if h.Get("Idempotency-Key") != "1" || h.Get("webhook-id") != "1" || a.bodies[i] != a.bodies[0] || !strings.Contains(a.bodies[i], `"id":"1"`) {
				t.Errorf("%s: request %d: %v %s", name, i, h, a.bodies[i])
			}
		}
	}
	a := answering(t, code(500))
	hook := hookTo(t, a.URL)
	hook.Total = 100 * time.Millisecond
	if err := hook.Do(context.Background(), callOf(frozen)); err == nil || !strings.Contains(err.Error(), "the time for it is over") || len(a.got) < 2 || len(a.got) > 10 {
		t.Errorf("%d requests, %v", len(a.got), err)
	}
	hook = hookTo(t, a.URL)
	hook.First, hook.Total = 3*time.Second, 4*time.Second
	ending := make(chan struct{})
	close(ending)
	c := callOf(frozen)
	c.Ending = ending
	if err := hook.Do(context.Background(), c); err == nil || !strings.Contains(err.Error(), "given up after 1 request in 0.0 s: the watch ends") {
		t.Error(err)
	}
	tls := httptest.NewUnstartedServer(http.NotFoundHandler())
	tls.Config.ErrorLog = log.New(io.Discard, "", 0)
	tls.StartTLS()
	defer tls.Close()
	if err := hookTo(t, tls.URL).Do(context.Background(), callOf(frozen)); err == nil || strings.Contains(err.Error(), "given up") || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("somebody else's certificate: %v", err)
	}
}

func TestRepeat(t *testing.T) {
	busy := func(after string) error { return &answered{code: 503, retryAfter: after} }
	for _, c := range []struct {
		err  error
		n    int
		left time.Duration
		wait time.Duration
		why  string
	}{
		{busy(""), 1, time.Minute, time.Second, ""},
		{busy(""), 3, time.Minute, 4 * time.Second, ""},
		{busy(""), 50, time.Minute, mostRepeat, ""},
		{busy(""), 4, 7 * time.Second, 0, "the time for it is over"},
		{busy("20"), 1, time.Minute, 20 * time.Second, ""},
		{busy("1"), 4, time.Minute, 8 * time.Second, ""},
		{busy(epoch.Add(30 * time.Second).Format(http.TimeFormat)), 1, time.Minute, 30 * time.Second, ""},
		{busy(epoch.Add(-time.Hour).Format(http.TimeFormat)), 1, time.Minute, time.Second, ""},
		{busy("soon"), 1, time.Minute, time.Second, ""},
		{busy("-5"), 1, time.Minute, time.Second, ""},
		{busy(""), 1, -time.Second, 0, "the time for it is over"},
		{busy("90"), 1, time.Minute, 0, "it asks to wait for 90 s, longer than is left"},
		{&unreached{io.EOF}, 2, time.Minute, 2 * time.Second, ""},
	} {
		if wait, why := repeat(c.err, c.n, time.Second, c.left, epoch, 1); wait != c.wait || why != c.why {
			t.Errorf("%+v: %s %q", c, wait, why)
		}
	}
	if wait, _ := repeat(busy(""), 1, time.Second, time.Minute, epoch, 0); wait != time.Second/2 {
		t.Errorf("at the least %s", wait)
	}
}

// A receiver can tell who posted, what, and when, as docs/watch.md has it.
func TestWebhookIsSigned(t *testing.T) {
	dir := t.TempDir()
	put := func(text string) string {
		t.Helper()
		path := filepath.Join(dir, "secret")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const plain = "0123456789abcdef-the-secret"
	a := answering(t, code(503), code(200))
	hook := hookTo(t, a.URL)
	var err error
	if hook.Secret, err = ReadSecret(put(plain + "\n")); err != nil {
		t.Fatal(err)
	}
	began := time.Now().Unix()
	if err := hook.Do(context.Background(), callOf(frozen)); err != nil {
		t.Fatal(err)
	}
	body := filepath.Join(dir, "body")
	for i, h := range a.got {
		if err := os.WriteFile(body, []byte(a.bodies[i]), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("sh", "-c", `{ printf '%s.%s.' "$1" "$2"; cat "$3"; } | openssl dgst -sha256 -hmac "$(cat "$4")" -binary | base64`,
			"sh", h.Get("webhook-id"), h.Get("webhook-timestamp"), body, put(plain+"\n")).Output()
		if want := "v1," + strings.TrimSpace(string(out)); err != nil || h.Get("webhook-signature") != want {
			t.Errorf("signed %q, want %q (%v)", h.Get("webhook-signature"), want, err)
		}
		var at int64
		if _, err := fmt.Sscan(h.Get("webhook-timestamp"), &at); err != nil || at < began || at > time.Now().Unix() {
			t.Errorf("signed at %q", h.Get("webhook-timestamp"))
		}
	}
	// The example of standardwebhooks.com's libraries.
	secret, err := ReadSecret(put("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	identify(h, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`), secret)
	if got := h.Get("webhook-signature"); got != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Errorf("the known message is signed %q", got)
	}
	h = http.Header{}
	if identify(h, "1", epoch, nil, nil); h.Get("webhook-signature") != "" {
		t.Error("signed without a secret")
	}
	for _, c := range []struct{ path, says string }{
		{put("short\n"), "fewer than 16: openssl rand -hex 32 makes one"},
		{filepath.Join(dir, "none"), "no such file"},
		{dir, "is a directory"},
	} {
		if _, err := ReadSecret(c.path); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.path, err)
		}
	}
	for text, says := range map[string]string{"whsec_***": "is not base64", strings.Repeat("x", 5000): "more than 4096", "whsec_" + base64.StdEncoding.EncodeToString([]byte("short")): "fewer than 16", "": "has 0 bytes"} {
		if _, err := ReadSecret(put(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.20s: %v", text, err)
		}
	}
}

// A chat service's URL is its secret, path and all: no note shows it, nor what the
// server says of it.
func TestWebhookHidesItsURL(t *testing.T) {
	a := answering(t, func(w http.ResponseWriter) {
		http.Error(w, "Cannot POST /services/T1/hunter1?token=hunter2, nor /services/T1/hunter1 with hunter2", http.StatusNotFound)
	})
	for _, to := range []string{a.URL, "http://127.0.0.1:1", "http://no-such-host.invalid"} {
		to = strings.Replace(to, "http://", "http://me:hunter3@", 1)
		hook := hookTo(t, to+"/services/T1/hunter1?token=hunter2")
		hook.Total = 0
		if err := hook.Do(context.Background(), callOf(frozen)); err == nil || strings.Contains(err.Error(), "hunter") || !strings.Contains(err.Error(), "/…: ") {
			t.Error(err)
		}
	}
}
