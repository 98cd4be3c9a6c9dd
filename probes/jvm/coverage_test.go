package jvm

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"snag/recording"
)

func TestMachineOf(t *testing.T) {
	for maps, want := range map[string]string{
		"7f00-7f01 r-xp 00000000 08:01 12 /opt/semeru/lib/default/libj9vm29.so\n":                   " (OpenJ9)",
		"7f00-7f01 r-xp 00000000 08:01 12 /opt/jdk8/jre/lib/amd64/j9vm/libjvm.so\n":                 " (OpenJ9)",
		"7f00-7f01 r-xp 00000000 08:01 12 /usr/lib/jvm/java-17/lib/server/libjvm.so\n7f00-7f01 r\n": "",
		"": "",
	} {
		if got := machineOf(strings.NewReader(maps)); got != want {
			t.Errorf("%q is %q, want %q", maps, got, want)
		}
	}
}

func TestCoverageOfLogs(t *testing.T) {
	of := func(change func(*journals), jvms, hidden int) recording.Coverage {
		l := &journals{proc: "/proc", failed: map[int]error{}}
		change(l)
		return l.coverage(1, jvms, hidden)
	}
	for _, c := range []struct {
		what         string
		change       func(*journals)
		jvms, hidden int
		state        string
		why, cure    string
	}{
		{"no JVM", func(*journals) {}, 0, 0, recording.CoverageOff, "no JVM", ""},
		{"no log", func(*journals) {}, 2, 0, recording.CoverageOff, "no JVM here writes", "-Xlog:gc*"},
		{"one", func(l *journals) { l.followed = 1 }, 2, 0, recording.CoverageOK, "", ""},
		{"another user's beside it", func(l *journals) { l.followed = 1 }, 2, 1, recording.CoveragePartial, "other users", "CAP_SYS_PTRACE"},
		{"another user's alone", func(*journals) {}, 0, 1, recording.CoverageUnavailable, "other users", "CAP_SYS_PTRACE"},
		{"refused", func(l *journals) { l.failed[os.Getpid()] = errors.Join(fs.ErrPermission) }, 1, 0, recording.CoverageUnavailable, "permission", "CAP_SYS_PTRACE"},
		{"refused, and ended", func(l *journals) { l.followed, l.failed[1<<22+1] = 1, errors.Join(fs.ErrPermission) }, 1, 0, recording.CoverageOK, "", ""},
		{"no time", func(l *journals) { l.followed, l.untimed = 1, 3 }, 1, 0, recording.CoveragePartial, "3 lines have no time", "uptime"},
		{"too fast", func(l *journals) { l.followed, l.missed = 1, 9 }, 1, 0, recording.CoveragePartial, "9 bytes", ""},
		{"short ones left out", func(l *journals) { l.followed, l.left, l.longest = 1, 4, time.Millisecond }, 1, 0, recording.CoverageOK, "the 4 shortest", ""},
		{"long ones left out", func(l *journals) { l.followed, l.left, l.longest = 1, 4, time.Second }, 1, 0, recording.CoveragePartial, "4 of the shortest", ""},
	} {
		got := of(c.change, c.jvms, c.hidden)
		if got.Probe != measureLog || got.State != c.state || !strings.Contains(got.Why, c.why) || !strings.Contains(got.Cure, c.cure) {
			t.Errorf("%s: %+v", c.what, got)
		}
	}
}
