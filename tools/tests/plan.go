package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A way is how a package's tests run.
type way string

const (
	// pure packages need no privilege. They run at the same time, from the test cache
	// where nothing changed, and without any capability: what makes a namespace, loads
	// BPF or looks into another's process fails there, so that no live test stays
	// among them unseen.
	pure way = "pure"
	// beside: live, but each looks at its own namespaces only and mostly waits. Two at a time.
	beside way = "beside"
	// alone: live, and may measure the whole machine. One at a time.
	alone way = "alone"
)

// supports are the packages that give live tests their namespaces and programs.
var supports = []string{
	"snag/lab/labtest",
	"snag/internal/netns/netnstest",
	"snag/internal/systemdtest",
	"snag/probes/streams/counterpart",
}

type pkg struct {
	ImportPath, Dir           string
	TestGoFiles, XTestGoFiles []string
	TestImports, XTestImports []string

	waits bool // its tests say that they may run beside others
}

// way: a package is live when its tests import what makes namespaces, or when a test's
// file is called live.
func (p pkg) way() way {
	live := slices.ContainsFunc(slices.Concat(p.TestGoFiles, p.XTestGoFiles), func(file string) bool {
		return slices.Contains(strings.FieldsFunc(file, func(r rune) bool { return r == '_' || r == '.' }), "live")
	}) || slices.ContainsFunc(slices.Concat(p.TestImports, p.XTestImports), func(path string) bool {
		return slices.Contains(supports, path)
	})
	switch {
	case !live:
		return pure
	case p.waits:
		return beside
	default:
		return alone
	}
}

// togetherCall is by what the tests of an incident say that they look at their own
// namespaces only, need little CPU, and mostly wait.
const togetherCall = "labtest.Together("

// packages are those of the patterns that have tests.
func packages(ctx context.Context, patterns []string) ([]pkg, error) {
	fields := "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles,TestImports,XTestImports"
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", fields}, patterns...)...) //nolint:gosec // packages that the caller names
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages: go list: %w", err)
	}
	var all []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("read what go list printed: %w", err)
		}
		files := slices.Concat(p.TestGoFiles, p.XTestGoFiles)
		if len(files) == 0 {
			continue
		}
		for _, name := range files {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				return nil, err
			}
			p.waits = p.waits || bytes.Contains(text, []byte(togetherCall))
		}
		all = append(all, p)
	}
}
