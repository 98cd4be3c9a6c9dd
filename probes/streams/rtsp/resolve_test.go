package rtsp

import "testing"

func TestResolve(t *testing.T) {
	for _, c := range [][3]string{
		{"rtsp://h/a/", "trackID=1", "rtsp://h/a/trackID=1"},
		{"rtsp://h/a", "trackID=1", "rtsp://h/a/trackID=1"},
		{"rtsp://h/a?x=1", "trackID=1", "rtsp://h/a?x=1/trackID=1"}, // as cameras want it
		{"rtsp://h/a", "*", "rtsp://h/a"},
		{"rtsp://h/a", "", "rtsp://h/a"},
		{"rtsp://h/a", "/b", "rtsp://h/b"},
		{"rtsp://h/a", "rtsp://other/b", "rtsp://other/b"},
	} {
		if got := resolve(c[0], c[1]); got != c[2] {
			t.Errorf("%s and %s: %s, want %s", c[0], c[1], got, c[2])
		}
	}
}
