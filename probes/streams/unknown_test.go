package streams

import (
	"net/url"
	"strings"
	"testing"
)

func TestUnknownSchemes(t *testing.T) {
	for _, c := range []struct {
		url, want string
		not       string
	}{
		{"rtmpp://h/live/a", `unknown scheme "rtmpp"; did you mean "rtmp"? (there are rtmp://…`, ""},
		{"rtp+udp://h/a", `did you mean "rtsp+udp"?`, ""},
		{"rsp://h/a", `did you mean "rtsp"?`, ""},
		{"rtmq://h/a", `did you mean "rtmp"?`, ""},
		{"gopher://h/a", `unknown scheme "gopher" (there are`, "did you mean"},
		{"file:///a/index.html", "no reader for this path: of file:// there are file://….sdp", "rtmp"},
	} {
		u, err := url.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Open(u)
		if err == nil || !strings.Contains(err.Error(), c.want) || c.not != "" && strings.Contains(err.Error(), c.not) {
			t.Errorf("%s: %v, want %s", c.url, err, c.want)
		}
	}
}
