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

// check tells whether each was asked for of a file that is there.
func (s settings) check(paths []string) error {
	for _, asked := range []struct {
		flag string
		of   []string
	}{{"--tz", keys(s.zones)}, {"--offset", keys(s.offsets)}, {"--host", keys(s.hosts)}} {
		for _, key := range asked.of {
			found := false
			for _, p := range paths {
				_, ok := of(map[string]bool{key: true}, p)
				// What is inside of a folder that was given may be named too.
				found = found || ok || strings.HasPrefix(key, strings.TrimSuffix(p, "/")+"/")
			}
			if !found {
				return fmt.Errorf("%s %s=…: no file of that name is given: %s", asked.flag, key, strings.Join(paths, ", "))
			}
		}
	}
	return nil
}

func keys[T any](m map[string]T) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	return out
}
