// Package readers makes a recording of files that others wrote. Each format has a
// folder; what a file is, its content tells and never its name.
package readers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"snag/readers/perf"
	"snag/readers/reader"
	"snag/readers/strace"
	"snag/recording"
)

// Formats are all that can be read, the most particular first.
var Formats = []reader.Format{
	perf.Data, perf.Pprof, perf.Speedscope, perf.Script,
	strace.Format,
	perf.Folded,
}

// Plan is what is to be read.
type Plan struct {
	Files []string
	// Dir is where the recording goes.
	Dir      string
	Zone     *time.Location // of times without one; nil: this host's
	Symptoms []string
	Snag     string // the version
	// Tick is told how much of all was read, bytes as the files lie there; all is 0
	// where that is not known. nil: nobody.
	Tick func(done, all int64)
}

// file is one file, opened and known.
type file struct {
	in     *reader.Input
	format reader.Format
	opt    reader.Options
}

// Read reads all files into one recording. What can't be opened or is of no known
// kind is an error before anything is written; what can't be read to its end is
// kept as far as it came, and said in the coverage.
func Read(ctx context.Context, p Plan) error {
	files, err := open(p)
	defer func() {
		for _, f := range files {
			_ = f.in.Close()
		}
	}()
	if err != nil {
		return err
	}
	var first, last recording.Time // when the files' lines begin and end
	w, err := recording.Create(p.Dir, recording.Manifest{Snag: p.Snag, Host: "files", Symptoms: p.Symptoms, Start: 1},
		recording.Options{Now: func() recording.Time { return last }})
	if err != nil {
		return err
	}
	var failed error
	var cpus int // of the host that recorded
	for _, set := range sets(files) {
		stop := progress(ctx, p.Tick, files)
		told, err := readSet(ctx, set, w)
		stop()
		if first == 0 || told.First != 0 && told.First < first {
			first = told.First
		}
		last = max(last, told.Last)
		cpus = max(cpus, told.CPUs)
		note(w, told, err)
		if err != nil {
			failed = errors.Join(failed, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	err = w.Update(func(m *recording.Manifest) {
		m.Start = first
		m.CPUs = cpus
		m.Anchor = recording.Anchor{Wall: int64(first)}
	})
	var torn *reader.Torn
	if errors.As(failed, &torn) {
		failed = nil // it is in the coverage
	}
	return errors.Join(failed, err, w.Close())
}

// readSet reads one file, or several that belong together.
func readSet(ctx context.Context, set []file, w *recording.Writer) (reader.Told, error) {
	f := set[0]
	if len(set) == 1 {
		return f.format.Read(ctx, f.in, f.opt, w)
	}
	var in []*reader.Input
	var opt []reader.Options
	for _, f := range set {
		in, opt = append(in, f.in), append(opt, f.opt)
	}
	return f.format.ReadSet(ctx, in, opt, w)
}

// sets puts files together that are NAME.PID of one NAME and one format (strace
// -ff); every other file stands alone.
func sets(files []file) (out [][]file) {
	at := map[string]int{}
	for _, f := range files {
		stem := strings.TrimSuffix(f.in.Path, "."+strconv.Itoa(f.opt.PID))
		if f.opt.PID == 0 || f.format.ReadSet == nil {
			out = append(out, []file{f})
			continue
		}
		key := f.format.Name + " " + stem
		if i, ok := at[key]; ok {
			out[i] = append(out[i], f)
			continue
		}
		at[key] = len(out)
		out = append(out, []file{f})
	}
	return out
}

// pidOf is the process that a file's name ends in; 0: it ends in none.
func pidOf(path string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(filepath.Ext(path), "."))
	if err != nil || n <= 0 || n > 1<<22 { // PID_MAX_LIMIT
		return 0
	}
	return n
}

// open opens all files and tells what they are.
func open(p Plan) (files []file, err error) {
	if p.Zone == nil {
		p.Zone = time.Local
	}
	for _, path := range p.Files {
		in, err := reader.Open(path)
		if err != nil {
			return files, err
		}
		f := file{in: in, opt: reader.Options{Zone: p.Zone, PID: pidOf(path)}}
		files = append(files, f)
		if st, err := os.Stat(path); err == nil {
			f.opt.Modified = st.ModTime()
		}
		for _, format := range Formats {
			if format.Sniff(in.Head()) {
				f.format = format
				break
			}
		}
		if f.format.Read == nil {
			return files, fmt.Errorf("read %s: it is nothing that snag knows: %s", path, known())
		}
		files[len(files)-1] = f
	}
	return files, nil
}

func known() string {
	var all []string
	for _, f := range Formats {
		all = append(all, f.About)
	}
	return "it reads " + strings.Join(all, ", ")
}

// note writes what files held.
func note(w *recording.Writer, told reader.Told, err error) {
	for _, row := range told.Coverage {
		if err != nil && row.State == recording.CoverageOK {
			row.State, row.Why = recording.CoveragePartial, err.Error()
		}
		w.Append(row)
	}
	for _, fact := range told.Facts {
		w.Append(fact)
	}
}

// progress tells how far the reading is, twice a second, until it is stopped.
func progress(ctx context.Context, tick func(done, all int64), files []file) (stop func()) {
	if tick == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		every := time.NewTicker(500 * time.Millisecond)
		defer every.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-every.C:
				tick(sizes(files))
			}
		}
	}()
	return func() { cancel(); <-ended }
}

func sizes(files []file) (done, all int64) {
	for _, f := range files {
		done += f.in.Done()
		if f.in.Size == 0 {
			return done, 0
		}
		all += f.in.Size
	}
	return done, all
}
