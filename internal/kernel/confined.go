package kernel

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// SeesOthers reports what is lacking where an AppArmor profile keeps this process from reading others, which no
// capability changes: docker-default allows ptrace only between containers of that profile. nil where nothing is.
func SeesOthers(proc string) *Lack {
	return confined(proc, func(path string) error {
		_, err := os.Readlink(path)
		return err
	})
}

// confined takes what follows a link of process 1, as the file system of a test refuses root nothing. A profile alone
// is no lack: it may allow to read others.
func confined(proc string, follow func(path string) error) *Lack {
	profile := enforced(proc)
	if profile == "" || !errors.Is(follow(filepath.Join(proc, "1/ns/net")), fs.ErrPermission) {
		return nil
	}
	return &Lack{
		Why:  "snag's AppArmor profile " + profile + " forbids to read other processes",
		Cure: "run its container without an AppArmor profile (docker run --security-opt apparmor=unconfined, appArmorProfile: {type: Unconfined})",
	}
}

// enforced is the AppArmor profile that confines this process, "" where none does. The file is "docker-default
// (enforce)"; SELinux writes its own context there, without a mode (security/apparmor/procattr.c).
func enforced(proc string) string {
	for _, name := range []string{"self/attr/apparmor/current", "self/attr/current"} { // the first since Linux 5.8
		b, err := os.ReadFile(filepath.Join(proc, name))
		if err != nil {
			continue
		}
		if profile, ok := strings.CutSuffix(strings.Trim(string(b), "\x00\n "), " (enforce)"); ok {
			return profile
		}
	}
	return ""
}
