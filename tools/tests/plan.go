package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// A way is how a package's tests run.
type way string

const (
	// pure packages need no privilege. They run beside those below, from the test cache
	// where nothing changed, and without any capability: what makes a namespace, loads
	// BPF or looks into another's process fails there, so that no live test stays
	// among them unseen.
	pure way = "pure"
	// beside: live, but each looks at its own namespaces and processes, and mostly
	// waits. besideWidth at a time.
	beside way = "beside"
	// paired: live, needs a machine on which little runs, and takes little of it. Two at a
	// time.
	paired way = "paired"
	// alone: live, and measures the whole machine, or takes most of it. One at a time.
	alone way = "alone"
)

// besideWidth packages that mostly wait run at a time: each uses a quarter of a CPU, and half
// of one where system calls are slow.
const besideWidth = 4

// pureWidth packages without privileges are built and run at a time: one more than there
// are CPUs, since a few wait.
func pureWidth() int { return runtime.NumCPU() + 1 }

// longest are the packages that begin before all others of their way: what takes half a
// minute and begins last is waited for by nobody but the user.
var longest = []string{"snag/lab/all", "snag/lab/elimination", "snag/report/page", "snag/lab/anyserver", "snag/cmd/snag", "snag/cmd/snag-lab", "snag/lab/chain", "snag/report/profile", "snag/probes/streams/rtsp", "snag/lab/busy", "snag/probes/streams/hls", "snag/probes/jvm", "snag/report", "snag/remedies/verify", "snag/recording", "snag/readers/strace"}

func longestFirst(all []pkg) {
	rank := func(p pkg) int {
		if i := slices.Index(longest, p.ImportPath); i >= 0 {
			return i
		}
		return len(longest)
	}
	slices.SortStableFunc(all, func(a, b pkg) int { return rank(a) - rank(b) })
}

// whole are the packages whose tests need the machine for themselves, and why. An
// incident of the lab needs it unless its tests say by labtest.Together that it does
// not.
var whole = map[string]string{
	"snag/cmd/snag":        "snag find judges the whole machine",
	"snag/cmd/snag-lab":    "snag find judges the whole machine",
	"snag/lab":             "it makes incidents that are judged",
	"snag/probes/host":     "it makes thousands of interfaces, which other probes count",
	"snag/probes/offcpu":   "threads wait for the CPU as long as it says",
	"snag/probes/oncpu":    "its shares of CPU time are those of the machine",
	"snag/probes/runtimes": "the holder of a lock is sampled, which a busy machine delays",
	"snag/recorder":        "its test of memory keeps the machine busy",
	"snag/probes/sockets":  "it counts what the machine's sockets do, and fills their tables",
	"snag/probes/syscalls": "what it costs is measured",
}

// pairs are the packages whose tests need a machine on which little runs, and why. They
// look at their own namespaces, wait for most of their time, and each uses a fifth of a CPU
// at most.
var pairs = map[string]string{
	"snag/lab/all":         "one of its remedies is judged by answers that are some milliseconds late",
	"snag/lab/broadcast":   "snag find inside a namespace judges the whole machine",
	"snag/lab/elimination": "a busy machine is one of its findings",
	"snag/lab/labtest":     "the sockets of its server are measured, in slices where others are busy",
}

// prompt are the pure packages whose tests fail where they wait for a CPU, and why.
var prompt = map[string]string{
	"snag/load":                   "its requests have deadlines",
	"snag/cmd/snag/livepage":      "a page is asked before its streams are judged",
	"snag/readers/strace":         "the pauses of a traced program are measured",
	"snag/probes/streams/gb28181": "a camera gives up what nobody answers",
}

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

	flags []string // of its test program
	part  bool     // it is the part of a package that may run beside others

	waits    bool // its tests say that they may run beside others
	incident bool // its tests make an incident of the lab
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
	case p.part:
		return beside
	case pairs[p.ImportPath] != "":
		return paired
	case whole[p.ImportPath] != "", p.incident && !p.waits:
		return alone
	default:
		return beside
	}
}

// By eachCall the tests of an incident make its variants, and by togetherCall they say
// besides that they look at their own namespaces only, need little CPU, and mostly wait.
const (
	eachCall     = "labtest.Each("
	togetherCall = "labtest.Together("
)

// ofIncidents is the part of the lab's incidents that are drawn: one of so many.
const ofIncidents = 3

// drawn leaves out the incidents that a seed does not draw. make score-short makes one
// incident of each family live anyway, and says of each that it is as meant; here it is
// told by its counters, in three variants.
func drawn(all []pkg, seed string) (kept []pkg, left int) {
	for _, p := range all {
		h := fnv.New32a()
		_, _ = io.WriteString(h, seed+" "+p.ImportPath)
		if p.incident && h.Sum32()>>4%ofIncidents != 0 {
			left++
			continue
		}
		kept = append(kept, p)
	}
	return kept, left
}

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
			p.incident = p.waits || p.incident || bytes.Contains(text, []byte(eachCall))
		}
		all = append(all, p)
	}
}
