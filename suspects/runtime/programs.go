package runtime

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"snag/internal/units"
	"snag/recording"
)

// program is a process whose files were read, with what it used of the CPU.
type program struct {
	pid          int
	comm, exe    string
	script       string // what an interpreter runs
	files        map[string]recording.Library
	names        []string // of files, in order
	cpu, seconds float64  // CPU time between its first and its last row, and the time between them
}

// programsOf returns the programs of a recording whose files were read.
func programsOf(r *recording.Recording) []*program {
	by := map[int]*program{}
	var out []*program
	for _, f := range r.Libraries {
		p := by[f.PID]
		if p == nil {
			p = &program{pid: f.PID, comm: f.Comm, files: map[string]recording.Library{}}
			by[f.PID] = p
			out = append(out, p)
		}
		name := plainName(f.Path)
		if _, seen := p.files[name]; !seen {
			p.names = append(p.names, name)
		}
		p.files[name] = f
	}
	first := map[int]recording.Process{}
	for _, row := range r.Processes {
		p := by[row.PID]
		if p == nil {
			continue
		}
		was, seen := first[row.PID]
		if !seen {
			first[row.PID] = row
			was = row
		}
		p.exe = row.Exe
		p.cpu, p.seconds = row.CPU-was.CPU, row.T.Sub(was.T).Seconds()
		if words := strings.Fields(row.Cmdline); len(words) > 1 && !strings.HasPrefix(words[1], "-") {
			p.script = filepath.Base(words[1])
		}
	}
	return out
}

// plainName is a file's name without its version: libx264.so of
// /usr/lib/libx264.so.164.
func plainName(path string) string {
	name := filepath.Base(path)
	if i := strings.Index(name, ".so"); i > 0 {
		return name[:i+3]
	}
	return name
}

// sameProgram finds the like of a program in another recording: the same name,
// program file, and script of an interpreter.
func sameProgram(p *program, all []*program) *program {
	for _, q := range all {
		if q.comm == p.comm && filepath.Base(q.exe) == filepath.Base(p.exe) && q.script == p.script {
			return q
		}
	}
	return nil
}

// otherBuild is one file in two builds.
type otherBuild struct{ here, there build }

type build struct{ recording.Library }

func (b build) what() string {
	if b.BuildID != "" {
		return fmt.Sprintf("%s, build %s", b.Path, b.BuildID[:min(12, len(b.BuildID))])
	}
	return fmt.Sprintf("%s, %s", b.Path, units.Bytes(float64(b.Size)))
}

func (o otherBuild) String() string {
	return fmt.Sprintf("%s (%s) instead of %s", filepath.Base(o.here.Path), o.here.what(), o.there.what())
}

// timely is a time, a process number or the like in a path; versions have fewer digits.
var timely = regexp.MustCompile(`\d{5,}`)

// differing are the files of p that are another build than q's, of how many that
// both have and that could be compared.
func differing(p, q *program) (out []otherBuild, all int) {
	for _, name := range p.names {
		a, b := p.files[name], q.files[name]
		switch {
		case b.Path == "", b.Path != a.Path && timely.ReplaceAllString(a.Path, "") == timely.ReplaceAllString(b.Path, ""):
			continue // or it is made anew at each start, in a place named by the time or a number: a compiled configuration
		case a.BuildID != "" && b.BuildID != "":
			all++
			if a.BuildID != b.BuildID {
				out = append(out, otherBuild{build{a}, build{b}})
			}
		case a.Size > 0 && b.Size > 0:
			all++
			if a.Size != b.Size {
				out = append(out, otherBuild{build{a}, build{b}})
			}
		}
	}
	return out, all
}
