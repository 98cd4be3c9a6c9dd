package kernel

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestConfined(t *testing.T) {
	for _, c := range []struct {
		name, file, profile string
		follow              error
		lacks               bool
	}{
		{"Docker's profile", "attr/apparmor/current", "docker-default (enforce)\n", unix.EACCES, true},
		{"an older kernel", "attr/current", "cri-containerd.apparmor.d (enforce)\n", unix.EACCES, true},
		{"a profile that allows it", "attr/current", "snag (enforce)\n", nil, false},
		{"a profile that only complains", "attr/current", "docker-default (complain)\n", unix.EACCES, false},
		{"no profile", "attr/current", "unconfined\n", unix.EACCES, false},
		{"SELinux", "attr/current", "system_u:system_r:container_t:s0:c1,c2\x00", unix.EACCES, false},
		{"no security module", "status", "", unix.EACCES, false},
		{"process 1 is gone", "attr/current", "docker-default (enforce)\n", unix.ENOENT, false},
	} {
		proc := t.TempDir()
		path := filepath.Join(proc, "self", c.file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(c.profile), 0o644)); err != nil {
			t.Fatal(err)
		}
		asked := ""
		got := confined(proc, func(p string) error { asked = p; return c.follow })
		if (got != nil) != c.lacks {
			t.Errorf("%s: %v", c.name, got)
		}
		if got != nil && (!strings.Contains(got.Cure, "apparmor=unconfined") || asked != filepath.Join(proc, "1/ns/net")) {
			t.Errorf("%s: %v, of %s", c.name, got, asked)
		}
	}
}
