package recording

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"snag/internal/private"
)

// Options of a writer; the zero value is what find uses.
type Options struct {
	// MaxSeries bounds the series of samples; 0 stands for 50,000. Samples of
	// further series are counted and named in the coverage of "recording".
	MaxSeries int
	// Replace lets Create clear a recording that dir already holds. Without it,
	// Create refuses, so that no incident is overwritten by the next.
	Replace bool
	// Now gives the end of the recording (Env.Now of the probes). Without it the
	// recording ends at the last time that was seen in it.
	Now func() Time
	// Files says that the times are those of files that others wrote: any, and of
	// one file after the other. Only within one series they must come in order.
	Files bool
	// Wait has Append and Sample wait for the disk where much is not written yet: a
	// reader of files is faster than a disk. A probe must not wait.
	Wait bool
	// Lines keeps the samples as text, and in memory until the end: for recordings of some
	// minutes at the most.
	Lines bool

	every    time.Duration                          // between flushes, 1 s
	store    func(dir string) (sampleStore, error)  // openHead
	onFlush  func(rows map[string]int, samples int) // after each flush: what is safe from kill -9
	maxBatch int                                    // bytes of one table that wake the loop early
}

func (o *Options) defaults() {
	if o.MaxSeries <= 0 {
		o.MaxSeries = defaultMaxSeries
	}
	if o.every <= 0 {
		o.every = time.Second
	}
	if o.store == nil {
		o.store = func(dir string) (sampleStore, error) { return openHead(filepath.Join(dir, samplesDir), o.Files) }
		if o.Lines {
			o.store = openLines
		}
	}
	if o.maxBatch <= 0 {
		o.maxBatch = 4 << 20
		if o.Wait { // who may be made to wait needs less room
			o.maxBatch = 1 << 20
		}
	}
}

// Create makes dir a recording and returns its writer. dir must not exist, or be the
// user's own and closed to others, and empty or, with Options.Replace, hold an earlier
// recording. The manifest's Version is set; its Start should be (0: the present). Only the
// user can read what is written: a recording tells of all processes.
func Create(dir string, m Manifest, o Options) (*Writer, error) {
	o.defaults()
	folder, err := private.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("record to %s: %w: give a directory that can be written", dir, err)
	}
	w, err := createIn(place{name: dir, at: folder.Path()}, m, o)
	if err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	w.folder = folder
	go w.loop()
	return w, nil
}

// place is a folder: its name for people, and a path that leads to it whatever becomes of
// its name.
type place struct{ name, at string }

// named puts the folder's name into an error that has its path.
func (p place) named(err error) error {
	if err == nil || p.at == p.name {
		return err
	}
	return &named{p, err}
}

type named struct {
	place
	err error
}

func (e *named) Error() string { return strings.ReplaceAll(e.err.Error(), e.at+"/", e.name+"/") }

func (e *named) Unwrap() error { return e.err }

func createIn(p place, m Manifest, o Options) (*Writer, error) {
	if err := refuseForeign(p); err != nil {
		return nil, err
	}
	lock, err := lockDir(p)
	if err != nil {
		return nil, err
	}
	w, err := create(p, m, o)
	if err != nil {
		unlockDir(lock)
		return nil, p.named(err)
	}
	w.lock = lock
	return w, nil
}

func create(p place, m Manifest, o Options) (*Writer, error) {
	dir := p.at
	// Under the lock: what is there now, nobody is writing.
	if _, err := os.Lstat(filepath.Join(dir, manifestFile)); err == nil {
		if !o.Replace {
			return nil, fmt.Errorf("record to %s: it already holds a recording: give another directory, or remove that one", p.name)
		}
		for _, name := range ours {
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				return nil, fmt.Errorf("record to %s: clear the recording that it holds: %w", p.name, err)
			}
		}
	}
	m.Version, m.End, m.Written = Version, 0, nil
	if m.Start == 0 {
		m.Start = Time(time.Now().UnixNano())
		if o.Now != nil {
			m.Start = o.Now()
		}
	}
	// First: from here on the folder is a recording, whenever the writer dies.
	if err := writeManifest(p, m); err != nil {
		return nil, spaceFor(err)
	}
	store, err := begin(dir, o)
	if err != nil {
		for _, name := range ours {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, name)))
		}
		return nil, spaceFor(fmt.Errorf("record to %s: %w", p.name, err))
	}
	return newWriter(p, m, o, store), nil
}

// spaceFor says of a disk that is full from the start what to do.
func spaceFor(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: free some space or record to another disk (--out, TMPDIR)", err)
	}
	return err
}

func begin(dir string, o Options) (sampleStore, error) {
	for _, d := range []string{samplesDir, tablesDir} {
		if o.Lines && d == samplesDir {
			continue
		}
		if err := os.Mkdir(filepath.Join(dir, d), private.FolderMode()); err != nil {
			return nil, err
		}
	}
	return o.store(dir)
}

// ours are the names that a recording has in its folder.
var ours = []string{manifestFile, manifestFile + ".tmp", samplesDir, packedSamples, tablesDir, "profiles"}

// refuseForeign protects what is not a recording: a folder with anything that
// a writer did not make is left alone.
func refuseForeign(p place) error {
	entries, err := os.ReadDir(p.at)
	if err != nil {
		return fmt.Errorf("record to %s: %w", p.name, p.named(err))
	}
	other := ""
	for _, e := range entries {
		switch {
		case e.Name() == manifestFile && e.Type().IsRegular():
			return nil // whether it may be replaced is decided under the lock
		case !made(e):
			other = e.Name()
		}
	}
	if other != "" {
		return fmt.Errorf("record to %s: it is not empty (%s) and no snag recording: give an empty or a new directory", p.name, cut(other, 60))
	}
	return nil
}

// made reports whether a writer that had no manifest yet could have left it.
func made(e fs.DirEntry) bool {
	switch e.Name() {
	case lockFile, manifestFile + ".tmp":
		return e.Type().IsRegular()
	}
	return false
}
