package jvm

import (
	"testing"
)

func TestWantedLogs(t *testing.T) {
	for _, c := range []struct {
		cmdline string
		yes, no []string
		stdout  bool
	}{
		{"java\x00-Xlog:gc*,safepoint:file=/var/log/app/gc-%p-%t.log:time,uptime:filecount=5\x00Main\x00", []string{"/var/log/app/gc-12-2026-11-21_16-00-00.log", "/srv/gc-1-x.log.3"}, []string{"/var/log/app/gc.log", "/var/log/app/app.log"}, false},
		{"java\x00-Xloggc:logs/gc.log\x00-XX:+PrintGCDetails\x00", []string{"/x/logs/gc.log", "/x/logs/gc.log.0.current", "/x/logs/gc.log.12"}, []string{"/x/logs/other.log"}, false},
		{"java\x00-XX:+PrintGCDetails\x00", nil, []string{"/x/gc.log"}, true},
		{"java\x00-Xlog:gc\x00", nil, nil, true},
		{"java\x00-Xlog:class+load:file=classes.log\x00-Xlog:disable\x00", nil, []string{"/x/classes.log"}, false},
		{"java\x00-Xlog:gc:stderr\x00-Xlog::file=\"/x y/all.log\"\x00", []string{"/x y/all.log"}, nil, true},
		{"java\x00-Xlog:gc:\x00-Xloggc:\x00-Xlog:gc:file=\x00", nil, []string{"", "/", "."}, true},
	} {
		w := wantedLogs(c.cmdline)
		for _, f := range c.yes {
			if !w.is(f) {
				t.Errorf("%q: %s is none of %q", c.cmdline, f, w.names)
			}
		}
		for _, f := range c.no {
			if w.is(f) {
				t.Errorf("%q: %s is one of %q", c.cmdline, f, w.names)
			}
		}
		if w.stdout != c.stdout {
			t.Errorf("%q: standard output %v", c.cmdline, w.stdout)
		}
	}
	for pattern, names := range map[string][2]string{"a*c*e": {"abcde", "abde"}, "*": {"x", "x"}, "gc*.log": {"gc.log", "gc.txt"}} {
		if !like(pattern, names[0]) || like(pattern, names[1]) && names[0] != names[1] {
			t.Errorf("%s is like %q", pattern, names)
		}
	}
}

func FuzzWantedLogs(f *testing.F) {
	f.Add("java\x00-Xlog:gc*:file=\"gc-%p.log\":time\x00", "/a/gc-1.log.0.current")
	f.Fuzz(func(t *testing.T, cmdline, file string) {
		w := wantedLogs(cmdline)
		if w.is(file) && len(w.names) == 0 {
			t.Errorf("%q is one of none", file)
		}
	})
}
