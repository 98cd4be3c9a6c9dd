package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"snag/remedies/sysctld"
)

// sysctlFolders are where systemd-sysctl reads, the first wins among files of one name
// (sysctl.d(5)).
var sysctlFolders = []string{"/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d", "/lib/sysctl.d"}

// Overrides says which other files set a sysctl after ours, and so against it: files
// are read in the order of their names, whatever their folder, and the last wins.
// A pattern never takes an explicit setting's place. /etc/sysctl.conf is read last by
// procps (sysctl --system).
func (d Disk) Overrides(ours File) ([]string, error) {
	mine := sysctld.Lines(ours.Path, []byte(ours.Text))
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
		for _, other := range sysctld.Lines(file, b) {
			for _, m := range mine {
				if other.Path == m.Path && other.Value != m.Value {
					all = append(all, fmt.Sprintf("%s:%d sets %s to %s after %s, which has %s: take that line away", other.File, other.N,
						strings.ReplaceAll(m.Path, "/", "."), other.Value, path.Base(ours.Path), m.Value))
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
