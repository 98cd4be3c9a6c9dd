package origin

import (
	"strings"
	"testing"
)

func TestConfigKeepsToItsFolder(t *testing.T) {
	c := Config("/tmp/stage/nginx", "0.0.0.0:1935")
	for _, want := range []string{"pid /tmp/stage/nginx/nginx.pid;", "error_log /tmp/stage/nginx/error.log", "listen 0.0.0.0:1935;", "daemon off;"} {
		if !strings.Contains(c, want) {
			t.Errorf("the configuration lacks %q:\n%s", want, c)
		}
	}
	for _, bad := range []string{"/var/", "/etc/", "/run/", "DIR", "LISTEN", "MODULE"} {
		if strings.Contains(c, bad) {
			t.Errorf("the configuration has %q:\n%s", bad, c)
		}
	}
	if strings.Count(c, "{") != strings.Count(c, "}") {
		t.Error("unbalanced brackets")
	}
}

func TestMoving(t *testing.T) {
	// Printed by ffmpeg 5.1 with -progress pipe:1.
	began := "frame=0\nfps=0.00\nstream_0_0_q=0.0\nbitrate=N/A\nprogress=continue\n"
	goes := began + "frame=12\nfps=23.70\nstream_0_0_q=20.0\nbitrate= 301.2kbits/s\nprogress=continue\n"
	if Moving(began) || !Moving(goes) || Moving("") {
		t.Errorf("Moving: began %v, goes %v, nothing %v", Moving(began), Moving(goes), Moving(""))
	}
}
