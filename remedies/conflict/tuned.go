package conflict

import (
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// mostIncluded bounds a chain of profiles that include each other.
const mostIncluded = 16

// tuned reads the active profiles (tuned-profiles(7), tuned.conf(5)).
func (f *Files) tuned(root string) {
	f.Profile = strings.TrimSpace(string(readSome(root, "/etc/tuned/active_profile")))
	todo := strings.Fields(f.Profile)
	seen := map[string]bool{}
	for len(todo) > 0 && len(seen) < mostIncluded {
		name := todo[0]
		todo = todo[1:]
		if seen[name] || strings.ContainsAny(name, "/\\") || name == ".." {
			continue
		}
		seen[name] = true
		for _, dir := range []string{"/etc/tuned", "/etc/tuned/profiles", "/usr/lib/tuned", "/usr/lib/tuned/profiles"} {
			at := path.Join(dir, name, "tuned.conf")
			text := readSome(root, at)
			if text == nil {
				continue
			}
			for _, l := range parseINI(at, text) {
				if l.Section == "main" && l.Key == "include" {
					todo = append(todo, strings.FieldsFunc(l.Value, func(r rune) bool { return r == ',' || r == ' ' })...)
				}
				f.Tuned = append(f.Tuned, l)
			}
			break
		}
	}
	for _, l := range parseINI("/etc/tuned/tuned-main.conf", readSome(root, "/etc/tuned/tuned-main.conf")) {
		if l.Key == "reapply_sysctl" {
			v := strings.ToLower(l.Value)
			f.TunedLast = v == "0" || v == "false" || v == "no"
		}
	}
}

// runs reports whether a process of that name is there, below a root's /proc.
func runs(root, comm string) bool {
	all, err := os.ReadDir(filepath.Join(root, "proc"))
	if err != nil {
		return false
	}
	for _, e := range all {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		if b, err := os.ReadFile(filepath.Join(root, "proc", e.Name(), "comm")); err == nil && strings.TrimSpace(string(b)) == comm {
			return true
		}
	}
	return false
}
