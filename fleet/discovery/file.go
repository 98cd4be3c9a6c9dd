package discovery

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// mostFile is how long a file of targets is at most, in bytes.
const mostFile = 32 << 20

// pattern is what Prometheus takes (discovery/file): * only in the last element.
var pattern = regexp.MustCompile(`^[^*]*(\*[^/]*)?\.(json|yml|yaml|JSON|YML|YAML)$`)

// files are those of a pattern, read again when they change.
type files struct {
	pattern string
	read    map[string]*file // by path
}

type file struct {
	size    int64
	changed time.Time
	targets []Target // of the last time that it could be read
	err     error    // why it can't be read now
}

// group is a list of targets in a file: file_sd's <static_config>.
type group struct {
	Targets []string          `json:"targets" yaml:"targets"`
	Labels  map[string]string `json:"labels" yaml:"labels"`
}

// lookEvery is how often a file's size and time of change are looked at.
const lookEvery = time.Second

func parseFile(rest string, _ Dial) (Source, error) {
	if !pattern.MatchString(rest) {
		return nil, errors.New("a path ends in .json, .yml or .yaml, and has * only in its last element, as /etc/prometheus/targets/*.json")
	}
	return &files{pattern: rest, read: map[string]*file{}}, nil
}

func (f *files) Name() string { return "file:" + shown(f.pattern) }

// List reads what has changed. A file that can't be read keeps its last targets, and is a problem.
func (f *files) List(context.Context) (out List, err error) {
	paths, err := filepath.Glob(f.pattern)
	if err != nil {
		return out, fmt.Errorf("list the files %s: %w", f.pattern, err)
	}
	if len(paths) == 0 && len(f.read) == 0 {
		return out, fmt.Errorf("list the files %s: there is none", f.pattern)
	}
	for path := range f.read {
		if !slices.Contains(paths, path) {
			delete(f.read, path)
		}
	}
	good := false
	for _, path := range paths {
		one := f.look(path)
		out.Targets = append(out.Targets, one.targets...)
		if one.err != nil {
			out.Problems = append(out.Problems, one.err)
		}
		good = good || one.err == nil || one.targets != nil
	}
	if len(paths) > 0 && !good {
		return List{}, errors.Join(out.Problems...)
	}
	return out, nil
}

// look reads a file, if it has changed.
func (f *files) look(path string) *file {
	one := f.read[path]
	if one == nil {
		one = &file{}
		f.read[path] = one
	}
	st, err := os.Stat(path)
	if err == nil && one.err == nil && st.Size() == one.size && st.ModTime().Equal(one.changed) {
		return one
	}
	var all []Target
	if err == nil {
		all, err = readTargets(path)
	}
	one.err = nil
	switch {
	case err == nil:
		one.targets, one.size, one.changed = all, st.Size(), st.ModTime()
	case one.targets != nil:
		one.err = fmt.Errorf("read %s: %w; the %d targets that it had before are kept", path, bare(err), len(one.targets))
	default:
		one.err = fmt.Errorf("read %s: %w", path, bare(err))
	}
	return one
}

func bare(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func readTargets(path string) ([]Target, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostFile+1))
	if err != nil {
		return nil, err
	}
	if len(b) > mostFile {
		return nil, fmt.Errorf("it has more than %d MB: is it a list of targets?", mostFile>>20)
	}
	groups, err := decodeGroups(b, strings.EqualFold(filepath.Ext(path), ".json"))
	if err != nil {
		return nil, err
	}
	out := []Target{}
	for i, g := range groups {
		for _, address := range g.Targets {
			if address == "" {
				return nil, fmt.Errorf("group %d has an empty target", i+1)
			}
			labels := map[string]string{"__meta_filepath": path}
			for name, value := range g.Labels {
				labels[name] = value
			}
			out = append(out, Target{Address: address, Labels: labels})
		}
	}
	return out, nil
}

// decodeGroups reads a list of groups: JSON, or YAML.
func decodeGroups(b []byte, isJSON bool) (groups []*group, err error) {
	const want = `it is no list of {"targets": […], "labels": {…}}: %w`
	if isJSON {
		if err := json.Unmarshal(b, &groups); err != nil {
			return nil, fmt.Errorf(want, err)
		}
	} else {
		d := yaml.NewDecoder(bytes.NewReader(b))
		d.KnownFields(true)
		if err := d.Decode(&groups); err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf(want, err)
		}
	}
	if slices.Contains(groups, nil) {
		return nil, errors.New("it has an empty group")
	}
	return groups, nil
}

// Follow looks at the files every second.
func (f *files) Follow(ctx context.Context, on func(Update)) { poll(ctx, lookEvery, f.List, on) }
