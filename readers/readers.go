// Package readers makes a recording of files that others wrote. Each format has a
// folder; what a file is, its content tells and never its name.
package readers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"snag/internal/packet"
	"snag/internal/pcapfilter"
	"snag/readers/reader"
	"snag/recording"
)

// Plan is what is to be read.
type Plan struct {
	Files []string
	// Dir is where the recording goes.
	Dir  string
	Find string // a text to look for in what the files hold; "": none
	// From and To bound the times that are judged, as people write them; "": all.
	From, To string
	Only     string // a filter of captures' packets (pcapfilter); "": all
	// Zone is that of times without one; nil: what the files tell, else this host's.
	Zone *time.Location
	// Zones, Offsets (added to all times) and Hosts are of single files: by the path as
	// it is in Files, the file's name, or a folder above it.
	Zones    map[string]*time.Location
	Offsets  map[string]time.Duration
	Hosts    map[string]string
	Map      string // of patterns, for logs: a file, or the name of one that is ready
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
	zone   guess
}

// Read reads all files into one recording. A file that is not there, and files of
// which none is of a known kind, are errors before anything is written. Of several
// files those that are unknown or can't be opened are left out, and what can't be
// read to its end, or was interrupted (ctx), is kept as far as it came: both are
// said in the recording (recording.FactUnread).
func Read(ctx context.Context, p Plan) error {
	asked := settings{p.Zones, p.Offsets, p.Hosts}
	if err := asked.check(p.Files); err != nil {
		return err
	}
	only, err := onlyOf(p.Only)
	if err != nil {
		return err
	}
	given, err := expand(p.Files)
	if err != nil {
		return err
	}
	files, unread, err := open(ctx, given, p)
	defer func() {
		for _, f := range files {
			_ = f.in.Close()
		}
	}()
	if err != nil {
		return err
	}
	unread = append(unread, given.closed...)
	defer context.AfterFunc(ctx, func() { // whatever a format waits for
		for _, f := range files {
			f.in.Interrupt()
		}
	})()
	times := guessZones(ctx, files, given, p, asked)
	captures := survey(ctx, files, only)
	unread = append(unread, captures.pipes...)
	clocks := compareClocks(ctx, files, times, given, captures, asked)
	if err := asked.checkOffsets(p.Files, clocks.of); err != nil {
		return err
	}
	part, err := timesAsked(p, files, times, clocks)
	if err != nil {
		return err
	}
	for i := range files {
		own := part.moved(clocks.offsetOf(files[i].in.Path))
		files[i].opt.From, files[i].opt.To = own.from, own.to
	}
	w, err := recording.Create(p.Dir, recording.Manifest{Snag: p.Snag, Host: "files", Symptoms: p.Symptoms, Start: 1}, recording.Options{Files: true, Wait: true})
	if err != nil {
		return err
	}
	all := sets(files, asked)
	in := &intake{w: w, marked: len(all)+given.parts() > 1, part: part}
	var failed error
	var gave bool // any file gave anything
	stop := progress(ctx, p.Tick, files)
	for _, set := range all {
		f := set[0]
		s := in.add(&source{name: nameOf(set), format: f.format.Name, host: asked.hostOf(f.in.Path), asked: asked.hostOf(f.in.Path) != "", zone: f.zone})
		clocks.tell(s, f.in.Path)
		if f.format.Together {
			s.counters = map[string][2]float64{}
		}
		k := in.sink(s)
		told, err := readSet(ctx, set, k)
		if !part.moved(s.offset).clip(&told) {
			unread = append(unread, fmt.Sprintf("read %s: nothing of it lies within --from and --to", s.name))
		}
		k.ended(told, err)
		unread = append(unread, doubts(set, told, err)...)
		gave = gave || err == nil || told.Lines > 0 || told.First != 0
		failed = errors.Join(failed, err)
	}
	in.compare(ctx, captures, files, looksOf(given, clocks.offsetOf), clocks)
	stop()
	for _, path := range given.recordings {
		in.takeRecording(path, given.open[path], asked, clocks)
		gave = true
	}
	for _, text := range shorten(unread) {
		w.Append(recording.Fact{T: in.first(), Name: recording.FactUnread, Value: text, Source: "snag read"})
	}
	err = in.finish(oldest(files), zoneOfUser(p, files))
	if gave {
		failed = nil // it is in the recording
	}
	return errors.Join(failed, err, w.Close())
}

// onlyOf is a filter of decoded packets; nil for none.
func onlyOf(text string) (func(*packet.Packet) bool, error) {
	if text == "" {
		return nil, nil
	}
	filter, err := pcapfilter.Parse(text)
	return func(p *packet.Packet) bool {
		return filter(&pcapfilter.Packet{Src: p.Src.Addr(), Dst: p.Dst.Addr(), SrcPort: p.Src.Port(), DstPort: p.Dst.Port(), Proto: p.Proto, Len: p.Size})
	}, err
}

// readSet reads one file, or several that belong together.
func readSet(ctx context.Context, set []file, w recording.Sink) (reader.Told, error) {
	f := set[0]
	if len(set) == 1 {
		told, err := f.format.Read(ctx, f.in, f.opt, w)
		return told, named(f.in.Path, err)
	}
	var in []*reader.Input
	var opt []reader.Options
	for _, f := range set {
		in, opt = append(in, f.in), append(opt, f.opt)
	}
	return f.format.ReadSet(ctx, in, opt, w)
}

// sets puts files together that are NAME.PID of one NAME and one format (strace
// -ff), and those of one folder and one host whose format wants them so; every
// other file stands alone.
func sets(files []file, asked settings) (out [][]file) {
	at := map[string]int{}
	for _, f := range files {
		key := f.format.Name + " " + strings.TrimSuffix(f.in.Path, "."+strconv.Itoa(f.opt.PID))
		switch {
		case f.format.SetOf != nil:
			ring := f.format.SetOf(f.in.Path)
			if key = f.format.Name + " " + ring + " " + asked.hostOf(f.in.Path); ring == "" {
				out = append(out, []file{f})
				continue
			}
		case f.format.Together:
			key = f.format.Name + " " + f.opt.Root + " " + asked.hostOf(f.in.Path)
		case f.opt.PID == 0 || f.format.ReadSet == nil:
			out = append(out, []file{f})
			continue
		}
		if i, ok := at[key]; ok {
			out[i] = append(out[i], f)
			continue
		}
		at[key] = len(out)
		out = append(out, []file{f})
	}
	return out
}

// nameOf is what a set is called: its folder where it is all of it, else its first
// file.
func nameOf(set []file) string {
	if f := set[0]; f.format.Together && f.opt.Root != "" {
		return f.opt.Root
	}
	return set[0].in.Path
}

// pidOf is the process that a file's name ends in; 0: it ends in none.
func pidOf(path string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(filepath.Ext(path), "."))
	if err != nil || n <= 0 || n > 1<<22 { // PID_MAX_LIMIT
		return 0
	}
	return n
}

// open opens all files and reports what they are.
func open(ctx context.Context, given given, p Plan) (files []file, unread []string, err error) {
	head := headOf(len(given.files))
	other := map[string]int{} // files of a folder that are of no known kind
	for _, path := range given.files {
		in, err := openOne(ctx, path, head)
		folder, inside := given.folder[path]
		switch {
		case err != nil && ctx.Err() == nil && inside:
			unread = append(unread, err.Error())
			continue
		case err != nil && (len(given.files) == 1 || errors.Is(err, os.ErrNotExist) || ctx.Err() != nil):
			return files, nil, err
		case err != nil:
			unread = append(unread, err.Error())
			continue
		}
		f := file{in: in, opt: reader.Options{Zone: time.Local, Only: p.Only, Find: p.Find, Map: p.Map, PID: pidOf(path), Modified: in.Modified, Root: folder}}
		var why string
		if f.format, why = formatOf(in.Head()); why != "" && inside {
			f.format, why = formatNamed(path, in.Head(), why)
		}
		switch {
		case why != "" && inside:
			other[folder]++
			_ = in.Close()
			continue
		case why != "":
			unread = append(unread, fmt.Sprintf("read %s: %s", path, why))
			_ = in.Close()
			continue
		}
		files = append(files, f)
	}
	for folder, n := range other {
		if !slices.ContainsFunc(files, func(f file) bool { return f.opt.Root == folder }) {
			unread = append(unread, fmt.Sprintf("read %s: of its %d files snag knows none", folder, n))
		}
	}
	if len(files) == 0 && len(given.recordings) == 0 {
		return nil, nil, errors.New(strings.Join(shorten(unread), "\nsnag: "))
	}
	return files, unread, nil
}

// progress reports how far the reading is, twice a second, until it is stopped.
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
