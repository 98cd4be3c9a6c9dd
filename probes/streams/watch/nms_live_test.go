package watch

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"snag/probes/streams/counterpart"
)

// Both of Node-Media-Server's versions, which want to know who asks: the one by basic
// authentication, the other by a token.
func TestDiscoverNodeMediaServer(t *testing.T) {
	t.Parallel()
	const secret = "0123456789abcdef0123456789abcdef"
	for _, c := range []struct {
		module, config, path, credentials string
	}{
		{counterpart.NodeMediaServer2(t), `{logType: 1, rtmp: {port: {port: RTMP, host: "127.0.0.1"}, gop_cache: true}, http: {port: HTTP, mediaroot: "DIR", allow_origin: "*"}, auth: {api: true, api_user: "me", api_pass: "s3 cret"}}`, "", "user=me password='s3 cret'"},
		{counterpart.NodeMediaServer4(t), `{bind: "127.0.0.1", rtmp: {port: RTMP}, http: {port: HTTP}, store: {path: "DIR"}, auth: {jwt: {secret: "` + secret + `", algorithm: "HS256"}}}`, "/api/v1/streams", "token=" + jwt(secret)},
	} {
		rtmp, http := counterpart.Port(t), counterpart.Port(t)
		config := strings.NewReplacer("RTMP", fmt.Sprint(rtmp), "HTTP", fmt.Sprint(http), "DIR", t.TempDir()).Replace(c.config)
		counterpart.Run(t, "node", "-e", fmt.Sprintf("new (require(%q))(%s).run()", c.module, config))
		counterpart.Await(t, fmt.Sprint("127.0.0.1:", rtmp))
		counterpart.Await(t, fmt.Sprint("127.0.0.1:", http))
		d, err := ParseDiscovery(fmt.Sprintf("nms:http://127.0.0.1:%d%s url=rtmp://{host}:%d/{app}/{stream}", http, c.path, rtmp))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := d.Ask(context.Background()); err == nil || !strings.Contains(err.Error(), "401") {
			t.Errorf("%s: nobody was to be let in: %v", c.module, err)
		}
		with, err := parseCredentials("servers", fmt.Sprintf("127.0.0.1:%d %s", http, c.credentials))
		if err != nil {
			t.Fatal(err)
		}
		d.With(with)
		if entries, problems, err := d.Ask(context.Background()); err != nil || len(entries)+len(problems) > 0 {
			t.Errorf("%s: nobody publishes: %q, %v, %v", c.module, urls(entries), problems, err)
		}
		play := exec.Command(counterpart.Installed(t, "ffmpeg", "ffmpeg"), "-nostdin", "-loglevel", "quiet", "-i", fmt.Sprintf("rtmp://127.0.0.1:%d/live/nobody", rtmp), "-f", "null", "-")
		counterpart.Start(t, play)
		publish(t, fmt.Sprintf("rtmp://127.0.0.1:%d/live/cam1", rtmp))
		publish(t, fmt.Sprintf("rtmp://127.0.0.1:%d/hall/a", rtmp))
		want := fmt.Sprintf("rtmp://127.0.0.1:%d/hall/a rtmp://127.0.0.1:%d/live/cam1", rtmp, rtmp)
		got := ""
		for range 400 {
			entries, _, err := d.Ask(context.Background())
			if got = strings.Join(urls(entries), " "); err == nil && got == want {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		if got != want {
			t.Errorf("%s lists %q, not %q", c.module, got, want)
		}
	}
}

// jwt is a token as Node-Media-Server's login gives it.
func jwt(secret string) string {
	part := func(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
	text := part([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + part([]byte(`{"username":"admin"}`))
	m := hmac.New(sha256.New, []byte(secret))
	m.Write([]byte(text))
	return text + "." + part(m.Sum(nil))
}

// publish sends a small picture for as long as the test takes.
func publish(t *testing.T, to string) {
	t.Helper()
	counterpart.Run(t, counterpart.Installed(t, "ffmpeg", "ffmpeg"), "-nostdin", "-loglevel", "error", "-re", "-f", "lavfi", "-i", "testsrc=size=160x90:rate=25",
		"-c:v", "libx264", "-preset", "ultrafast", "-threads", "1", "-g", "25", "-pix_fmt", "yuv420p", "-t", "60", "-f", "flv", to)
}
