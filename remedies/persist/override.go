package persist

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// sysctlFolders are where systemd-sysctl reads, the first wins among files of one name
// (sysctl.d(5)).
var sysctlFolders = []string{"/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d", "/lib/sysctl.d"}

// line is one setting in a file of sysctl.d.
type line struct {
	file  string
	n     int
	key   string // with slashes, as below /proc/sys
	value string
}

// Overrides says which other files set a sysctl after ours, and so against it: files
// are read in the order of their names, whatever their folder, and the last wins.
// A pattern never takes an explicit setting's place. /etc/sysctl.conf is read last by
// procps (sysctl --system).
func (d Disk) Overrides(ours File) ([]string, error) {
	mine := parse(ours.Path, ours.Text)
	if len(mine) == 0 || !slices.Contains(sysctlFolders, path.Dir(ours.Path)) {
		return nil, nil
	}
	files := map[string]string{} // by name
	for _, folder := range slices.Backward(sysctlFolders) {
		entries, err := os.ReadDir(d.at(folder))
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotFolder) {
			return nil, fmt.Errorf("list %s: %w", folder, bare(err))
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".conf") {
				files[e.Name()] = folder + "/" + e.Name()
			}
		}
	}
	var later []string
	for name := range files {
		if name > path.Base(ours.Path) {
			later = append(later, name)
		}
	}
	slices.Sort(later)
	var all []string
	read := map[string]bool{}
	for _, file := range append(paths(files, later), "/etc/sysctl.conf") {
		at := d.at(file)
		real, err := filepath.EvalSymlinks(at)
		if err != nil || read[real] { // Debian links 99-sysctl.conf to /etc/sysctl.conf
			continue
		}
		read[real] = true
		b, err := os.ReadFile(real)
		if err != nil || len(b) > maxFile {
			continue
		}
		for _, other := range parse(file, string(b)) {
			for _, m := range mine {
				if other.key == m.key && other.value != m.value {
					all = append(all, fmt.Sprintf("%s:%d sets %s to %s after %s, which has %s: take that line away", other.file, other.n,
						strings.ReplaceAll(m.key, "/", "."), other.value, path.Base(ours.Path), m.value))
				}
			}
		}
	}
	return all, nil
}

func paths(files map[string]string, names []string) (all []string) {
	for _, n := range names {
		all = append(all, files[n])
	}
	return all
}

// parse reads lines "key = value"; - in front has errors passed over.
func parse(file, text string) (all []line) {
	s := bufio.NewScanner(strings.NewReader(text))
	for n := 1; s.Scan(); n++ {
		l := strings.TrimSpace(s.Text())
		if l == "" || l[0] == '#' || l[0] == ';' {
			continue
		}
		key, value, ok := strings.Cut(l, "=")
		if !ok {
			continue
		}
		key = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(key), "-"))
		all = append(all, line{file, n, slashes(key), strings.Join(strings.Fields(value), " ")})
	}
	return all
}

// slashes writes a key as the path below /proc/sys: where its first separator is a
// dot, dots and slashes change places (sysctl.d(5)).
func slashes(key string) string {
	if i := strings.IndexAny(key, "./"); i < 0 || key[i] == '/' {
		return key
	}
	return strings.Map(func(r rune) rune {
		switch r {
		case '.':
			return '/'
		case '/':
			return '.'
		}
		return r
	}, key)
}
