package conflict

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"snag/internal/sorting"
	"snag/remedies/sysctld"
)

// Line is one setting in a file of the host.
type Line struct {
	File    string // as it is named on the host
	N       int    // of the line, from 1
	Section string // "" outside of any: [sysctl] of a tuned profile, [Link] of a .link file
	Key     string
	Value   string
}

const (
	// mostFiles, mostBytes and mostLines bound what is read of a folder and of a file:
	// drop-ins are some ten of some kilobytes.
	mostFiles = 500
	mostBytes = 256 << 10
	mostLines = 2000
)

// Files are the host's own settings that come back at a boot, or by a daemon.
type Files struct {
	// Sysctl is in the order in which they are set, the last wins: sysctl.d(5).
	Sysctl []sysctld.Line
	// Links are of .link files, Networks of .network files (netplan writes its own to
	// /run/systemd/network).
	Links, Networks []Line
	// Tuned is of the active profile and what it includes; Profile is its name.
	Tuned   []Line
	Profile string
	// TunedLast reports that tuned's sysctls win over those of sysctl.d
	// (reapply_sysctl = 0 in tuned-main.conf).
	TunedLast bool
	// IRQBalance reports that the daemon runs.
	IRQBalance bool
}

// ReadFiles reads a host's files below a root ("/"). What is not there sets nothing.
func ReadFiles(root string) Files {
	var f Files
	dirs := func(tail string) []string {
		return []string{"/etc/" + tail, "/run/" + tail, "/usr/local/lib/" + tail, "/usr/lib/" + tail, "/lib/" + tail}
	}
	read := map[string]bool{}
	// sysctl --system reads /etc/sysctl.conf last; systemd-sysctl by the link 99-sysctl.conf
	// only, which Debian has: it is one file.
	for _, name := range append(dropIns(root, dirs("sysctl.d"), ".conf"), "/etc/sysctl.conf") {
		real, err := filepath.EvalSymlinks(filepath.Join(root, name))
		if err != nil || read[real] {
			continue
		}
		read[real] = true
		f.Sysctl = append(f.Sysctl, sysctld.Lines(name, readSome(root, name))...)
	}
	for _, name := range dropIns(root, dirs("systemd/network"), ".link") {
		f.Links = append(f.Links, parseINI(name, readSome(root, name))...)
	}
	for _, name := range dropIns(root, dirs("systemd/network"), ".network") {
		f.Networks = append(f.Networks, parseINI(name, readSome(root, name))...)
	}
	f.tuned(root)
	f.IRQBalance = runs(root, "irqbalance")
	return f
}

// dropIns are the files of some folders by their names, a name in an earlier folder in
// place of the same in a later one.
func dropIns(root string, dirs []string, suffix string) []string {
	at := map[string]string{}
	for _, dir := range dirs {
		all, err := os.ReadDir(filepath.Join(root, dir))
		if err != nil {
			continue
		}
		for _, e := range all {
			if _, ok := at[e.Name()]; !ok && strings.HasSuffix(e.Name(), suffix) && len(at) < mostFiles {
				at[e.Name()] = path.Join(dir, e.Name())
			}
		}
	}
	var out []string
	for _, name := range at {
		out = append(out, name)
	}
	sorting.By(out, func(a, b string) int { return cmp.Compare(path.Base(a), path.Base(b)) })
	return out
}

// readSome is a file's beginning; nil where it can't be read. A folder, a pipe and a
// device hold no settings.
func readSome(root, name string) []byte {
	at := filepath.Join(root, name)
	st, err := os.Stat(at)
	if err != nil || !st.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(at)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	b, _ := io.ReadAll(io.LimitReader(f, mostBytes))
	return b
}

// parseINI reads [Section] and key=value, as systemd's and tuned's files have them.
func parseINI(name string, text []byte) (out []Line) {
	section := ""
	for i, row := range bytes.Split(text, []byte("\n")) {
		line := strings.TrimSpace(string(row))
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if line[0] == '[' {
			section = strings.TrimSuffix(line[1:], "]")
			continue
		}
		if key, value, ok := strings.Cut(line, "="); ok && len(out) < mostLines {
			out = append(out, Line{File: name, N: i + 1, Section: section, Key: strings.TrimSpace(key), Value: strings.TrimSpace(value)})
		}
	}
	return out
}
