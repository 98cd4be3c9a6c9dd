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

	"snag/readers/reader"
	"snag/readers/strace"
	"snag/recording"
)

// Formats are all that can be read, the most particular first.
var Formats = []reader.Format{
	strace.Format,
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

// Read reads all files into one recording. A file that is not there, and files of
// which none is of a known kind, are errors before anything is written. Of several
// files those that are unknown or can't be opened are left out, and what can't be
// read to its end, or was interrupted (ctx), is kept as far as it came: both are
// said in the recording (recording.FactUnread).
func Read(ctx context.Context, p Plan) error {
	files, unread, err := open(ctx, p)
	defer func() {
		for _, f := range files {
			_ = f.in.Close()
		}
	}()
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { // whatever a format waits for
		for _, f := range files {
			f.in.Interrupt()
		}
	})()
	var first, last recording.Time // when the files' lines begin and end
	w, err := recording.Create(p.Dir, recording.Manifest{Snag: p.Snag, Host: "files", Symptoms: p.Symptoms, Start: 1},
		recording.Options{Now: func() recording.Time { return last }, Wait: true})
	if err != nil {
		return err
	}
	var failed error
	var gave bool // any file gave anything
	stop := progress(ctx, p.Tick, files)
	for _, set := range sets(files) {
		told, err := readSet(ctx, set, w)
		if first == 0 || told.First != 0 && told.First < first {
			first = told.First
		}
		last = max(last, told.Last)
		note(w, told, err)
		unread = append(unread, doubts(set, told, err)...)
		gave = gave || err == nil || told.Lines > 0 || told.First != 0
		failed = errors.Join(failed, err)
	}
	stop()
	for _, text := range shorten(unread) {
		w.Append(recording.Fact{T: first, Name: recording.FactUnread, Value: text, Source: "snag read"})
	}
	if first == 0 { // no file has times: when they were written is the best that is known
		first = recording.Time(files[0].in.Modified.UnixNano())
		last = first
	}
	err = w.Update(func(m *recording.Manifest) {
		m.Start = first
		m.Anchor = recording.Anchor{Wall: int64(first)}
	})
	if gave {
		failed = nil // it is in the recording
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
func open(ctx context.Context, p Plan) (files []file, unread []string, err error) {
	if p.Zone == nil {
		p.Zone = time.Local
	}
	head := headOf(len(p.Files))
	for _, path := range p.Files {
		in, err := openOne(ctx, path, head)
		switch {
		case err != nil && (len(p.Files) == 1 || errors.Is(err, os.ErrNotExist) || ctx.Err() != nil):
			return files, nil, err
		case err != nil:
			unread = append(unread, err.Error())
			continue
		}
		f := file{in: in, opt: reader.Options{Zone: p.Zone, PID: pidOf(path), Modified: in.Modified}}
		var why string
		if f.format, why = formatOf(in.Head()); why != "" {
			unread = append(unread, fmt.Sprintf("read %s: %s", path, why))
			_ = in.Close()
			continue
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		return nil, nil, errors.New(strings.Join(shorten(unread), "\nsnag: "))
	}
	return files, unread, nil
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
	known := true
	for _, f := range files {
		done += f.in.Done()
		all += f.in.Size
		known = known && f.in.Size > 0
	}
	if !known {
		all = 0
	}
	return done, all
}
