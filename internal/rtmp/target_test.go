package rtmp

import (
	"net/url"
	"strings"
	"testing"
)

func target4(t *testing.T, raw string) Target {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	to, err := ParseTarget(u)
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func TestTargets(t *testing.T) {
	for _, c := range []struct{ url, address, app, name, tcURL, shown string }{
		{"rtmp://h/live/cam1", "h:1935", "live", "cam1", "rtmp://h/live", "rtmp://h/live/cam1"},
		{"rtmps://h:8443/live/cam1?a=b&c", "h:8443", "live", "cam1?a=b&c", "rtmps://h:8443/live", "rtmps://h:8443/live/cam1?a=…&…"},
		{"rtmps://h/live/cam1", "h:443", "live", "cam1", "rtmps://h/live", "rtmps://h/live/cam1"},
		{"rtmp://u:p@[::1]:19350/live/inst/cam1", "[::1]:19350", "live/inst", "cam1", "rtmp://[::1]:19350/live/inst", "rtmp://[::1]:19350/live/inst/cam1"},
		{"rtmp://h/a/b/c/d", "h:1935", "a/b", "c/d", "rtmp://h/a/b", "rtmp://h/a/b/c/d"},
		{"rtmp://h/vod/mp4:a/b", "h:1935", "vod", "mp4:a/b", "rtmp://h/vod", "rtmp://h/vod/mp4:a/b"},
		{"rtmp://h/live?token=x/cam1", "h:1935", "live?token=x", "cam1", "rtmp://h/live?token=x", "rtmp://h/live?token=…"},
		{"rtmp://h/live/a%20b", "h:1935", "live", "a%20b", "rtmp://h/live", "rtmp://h/live/a%20b"},
		{"rtmp://h/live/a%2fb", "h:1935", "live", "a%2fb", "rtmp://h/live", "rtmp://h/live/a%2fb"},
		{"rtmp://h/live/кам", "h:1935", "live", "кам", "rtmp://h/live", "rtmp://h/live/%D0%BA%D0%B0%D0%BC"},
		{"rtmp://h/cam1", "h:1935", "", "cam1", "rtmp://h/", "rtmp://h/cam1"},
	} {
		to := target4(t, c.url)
		if to.Address() != c.address || to.App != c.app || to.Name != c.name || to.TCURL != c.tcURL || to.Shown != c.shown {
			t.Errorf("%s: %+v", c.url, to)
		}
	}
	for _, bad := range []string{"http://h/live/x", "rtmp:///live/x", "rtmp://h", "rtmp://h/", "rtmp://h/live/" + strings.Repeat("x", maxURL)} {
		u, err := url.Parse(bad)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseTarget(u); err == nil || !strings.Contains(err.Error(), "rtmp://host[:1935]/app/name") {
			t.Errorf("%.40s: %v", bad, err)
		}
	}
}
