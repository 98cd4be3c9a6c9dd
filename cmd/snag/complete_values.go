package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"snag/load"
	"snag/recorder"
	"snag/remedies/knob"
	"snag/suspects"
)

// cgroupRoot is where the control groups are mounted: version 2 at once, version 1 a folder for each controller.
const cgroupRoot = "/sys/fs/cgroup"

// mostGroups and deepestGroup bound the search for units: a shell waits for it.
const (
	mostGroups   = 20_000
	deepestGroup = 8
)

// unitName are the control groups that systemd makes for units (systemd.unit(5)).
var unitName = regexp.MustCompile(`\.(service|scope|slice|socket|mount|swap)$`)

// unitsBelow are the systemd units that have a control group below root, without systemctl.
func unitsBelow(root string) []string {
	var out []string
	n := 0
	_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if n++; n > mostGroups {
			return fs.SkipAll
		}
		if err != nil || !e.IsDir() {
			return nil //nolint:nilerr // it went away, or is not readable: it is not offered
		}
		if unitName.MatchString(e.Name()) {
			out = append(out, e.Name())
		}
		if strings.Count(strings.TrimPrefix(path, root), "/") >= deepestGroup {
			return fs.SkipDir
		}
		return nil
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// namespaces are the network namespaces that have a name.
func namespaces(dirs []string) (out []string) {
	for _, dir := range dirs {
		entries, _ := os.ReadDir(dir) // none: no such folder
		for _, e := range entries {
			out = append(out, e.Name())
		}
	}
	return out
}

func suspectTitles() (out []string) {
	for _, s := range suspects.All {
		out = append(out, s.Name+"\t"+s.Title)
	}
	return out
}

func knobAbouts() (out []string) {
	for _, p := range knob.Pages() {
		out = append(out, p.Name+"\t"+p.About)
		for _, d := range p.Settings {
			out = append(out, d.Name+"\t"+d.About)
		}
	}
	return out
}

// baselineNames are those in the folder of --dir.
func baselineNames(cmd *cobra.Command) []string {
	files, _ := filepath.Glob(filepath.Join(cmd.Flag("dir").Value.String(), "*.snag")) // a strange name: none
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".snag")
	}
	return files
}

// incidentNumbers are those in the ring of --ring.
func incidentNumbers(cmd *cobra.Command) (out []string) {
	all, _ := recorder.Ring{Dir: cmd.Flag("ring").Value.String()}.Incidents() // no ring: none
	for _, i := range all {
		out = append(out, strconv.Itoa(i.ID)+"\t"+i.Start.UTC().Format("2006-01-02 15:04:05 UTC ")+whatOf(i))
	}
	return out
}

// loadSchemes are the beginnings of targets.
func loadSchemes() (out []string) {
	for _, scheme := range strings.FieldsFunc(load.Schemes, func(r rune) bool { return strings.ContainsRune(",; ", r) }) {
		if scheme != "media:" {
			out = append(out, scheme+"://")
		}
	}
	return out
}
