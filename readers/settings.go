package readers

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// settings are what was asked for of single files: by the path as it was given, the
// file's name alone, or a folder above it.
type settings struct {
	zones   map[string]*time.Location
	offsets map[string]time.Duration
	hosts   map[string]string
}

func of[T any](all map[string]T, path string) (T, bool) {
	for p := path; ; p = filepath.Dir(p) {
		if v, ok := all[p]; ok {
			return v, true
		}
		if v, ok := all[filepath.Base(p)]; ok {
			return v, true
		}
		if next := filepath.Dir(p); next == p || next == "." {
			var none T
			return none, false
		}
	}
}

func (s settings) offsetOf(path string) time.Duration {
	d, _ := of(s.offsets, path)
	return d
}

func (s settings) hostOf(path string) string {
	h, _ := of(s.hosts, path)
	return h
}

func (s settings) zoneOf(path string) (*time.Location, bool) { return of(s.zones, path) }

// check reports whether each was asked for of a file that is there. An offset may be of a
// host, whose name may stand in a file: checkOffsets asks again when that is known.
func (s settings) check(paths []string) error {
	for _, asked := range []struct {
		flag string
		of   []string
	}{{"--tz", keys(s.zones)}, {"--host", keys(s.hosts)}} {
		for _, key := range asked.of {
			if !isGiven(key, paths) {
				return fmt.Errorf("%s %s=…: no file of that name is given: %s", asked.flag, key, strings.Join(paths, ", "))
			}
		}
	}
	return nil
}

// checkOffsets reports whether each offset was asked for of a file, or of a host that a
// file is of.
func (s settings) checkOffsets(paths []string, hosts map[string]string) error {
	for _, key := range keys(s.offsets) {
		known := isGiven(key, paths)
		for _, host := range hosts {
			known = known || host == shortHost(key)
		}
		if !known {
			return fmt.Errorf("--offset %s=…: no file of that name is given, and none of that host: %s", key, strings.Join(paths, ", "))
		}
	}
	return nil
}

// isGiven reports whether a key names one of the files, or what is inside of a folder.
func isGiven(key string, paths []string) bool {
	for _, p := range paths {
		if _, ok := of(map[string]bool{key: true}, p); ok || strings.HasPrefix(key, strings.TrimSuffix(p, "/")+"/") {
			return true
		}
	}
	return false
}

func keys[T any](m map[string]T) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	return out
}
