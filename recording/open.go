package recording

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
)

// Open reads a recording into memory: a folder, finished or left by a writer
// that was killed, or a packed file (.snag). Nothing in it is changed. What can't
// be read is left out and named in Damage; an error comes only when there is
// nothing to judge. It may be of anybody: what is read of it is bounded (limits.go).
func Open(path string) (*Recording, error) { return openAs(path, current, newMeter()) }

// OpenOwn reads a recording that this program has just made, however large it is.
func OpenOwn(path string) (*Recording, error) { return openAs(path, current, noBounds()) }

func openAs(path string, to schema, m *meter) (*Recording, error) {
	st, err := os.Stat(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("open recording %s: %w", path, syscall.ENOENT)
		}
		return nil, fmt.Errorf("open recording: %w", err)
	}
	if !st.IsDir() {
		if !st.Mode().IsRegular() {
			return nil, &NotRecordingError{path, "neither a directory nor a file"}
		}
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("open recording: %w", err)
		}
		defer f.Close()
		return openPacked(f, path, to, m)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("open recording: %w", err)
	}
	defer root.Close()
	return readWithin(folder{root}, path, path, to, m)
}

// read puts a recording together. dir is its folder, "" for a packed one.
func read(s source, name, dir string, to schema) (*Recording, error) {
	return readWithin(s, name, dir, to, newMeter())
}

func readWithin(s source, name, dir string, to schema, m *meter) (*Recording, error) {
	manifest, todo, err := readManifest(s, name, to)
	if err != nil {
		return nil, err
	}
	r := &Recording{Dir: name, Manifest: manifest}
	m.begin(r)
	var gone losses
	parts := newPartition(r)
	readTables(parts, s, todo, &gone, m)
	readSamples(parts, s, dir, todo, &gone, m)
	if m.over != nil {
		m.over.Path = name
		return nil, m.over
	}
	for _, part := range parts.all() {
		gone.apply(part)
		for _, t := range tables {
			t.tidy(part)
		}
	}
	parts.unite()
	for _, one := range append([]*Recording{r}, r.Parts...) {
		if end := one.Manifest.End; end != 0 && end < one.Manifest.Start {
			one.Manifest.End = lastSeen(one)
			r.Damage = append(r.Damage, "the manifest has an end before the start: it is read up to the last time seen in it")
		}
	}
	if r.Manifest.End == 0 {
		r.Manifest.End = lastSeen(r)
		r.Damage = append(r.Damage, "the recording was cut off: it has no end in its manifest and is read up to the last time seen in it")
	}
	if err := m.window(r); err != nil {
		m.over.Path = name
		return nil, err
	}
	if manifest.Broken != "" {
		r.Damage = append(r.Damage, manifest.Broken)
	}
	earlier, err := earlierDamage(s)
	if err != nil {
		r.Damage = append(r.Damage, err.Error())
	}
	r.Damage = append(earlier, r.Damage...)
	return r, nil
}

func readTables(parts *partition, s source, todo []move, gone *losses, m *meter) {
	r := parts.whole
	present := s.list(tablesDir)
	with := &rowReader{names: texts{}}
	for _, t := range tables {
		file := t.name + ".jsonl"
		name := path.Join(tablesDir, file)
		wrote := 0
		if r.Manifest.Written != nil {
			wrote = r.Manifest.Written.Rows[t.name]
		}
		if !slices.Contains(present, file) {
			if wrote > 0 {
				r.Damage = append(r.Damage, fmt.Sprintf("%s is missing: %d rows lost", name, wrote))
				gone.add(t.name, name+" is missing")
			}
			continue
		}
		f, err := s.open(name)
		if err != nil {
			r.Damage = append(r.Damage, fmt.Sprintf("%s can't be read: %v", name, err))
			gone.add(t.name, name+" can't be read")
			continue
		}
		decode := t.decoder(with)
		d := eachLine(m.text(f), func(line []byte) error {
			if err := tooOdd(line); err != nil {
				return err
			}
			if err := m.row(t.name, t.size, line); err != nil {
				return err
			}
			line, err := moveRow(todo, t.name, line)
			if err != nil || line == nil {
				return err
			}
			key, line := unmarked(line)
			return decode(parts.part(key), line)
		})
		f.Close()
		if m.over != nil {
			return
		}
		if packed, ok := s.(files); ok {
			delete(packed, name) // its rows are there now
		}
		r.Damage = append(r.Damage, d.sentences(name)...)
		if d.stopped == nil && d.lines < wrote {
			r.Damage = append(r.Damage, fmt.Sprintf("%s holds %d of the %d rows that were written", name, d.lines, wrote))
		}
	}
	// Tables of a newer snag are passed over: they change nothing that is known.
	if len(present) == 0 && (r.Manifest.Written == nil || len(r.Manifest.Written.Rows) > 0) {
		r.Damage = append(r.Damage, tablesDir+" is missing or empty: no table was recorded, or all were lost")
	}
}

// samplesMissing is the damage of a recording whose samples are gone.
const samplesMissing = "samples are missing: no counter or gauge can be judged"

func readSamples(parts *partition, s source, dir string, todo []move, gone *losses, m *meter) {
	r := parts.whole
	all := newSeriesSet()
	all.meter = m
	var damage []string
	found := false
	if f, err := s.open(packedSamples); err == nil {
		found = true
		damage = append(damage, eachLine(m.text(f), func(line []byte) error { return decodeSeries(all, line) }).sentences(packedSamples)...)
		f.Close()
	} else if !errors.Is(err, fs.ErrNotExist) {
		damage = append(damage, fmt.Sprintf("%s can't be read: %v", packedSamples, err))
	}
	if !found && dir != "" {
		var err error
		if found, damage, err = readStore(all, dir); err != nil {
			damage = append(damage, err.Error())
		}
	}
	if w := r.Manifest.Written; !found && (len(r.Manifest.Files) == 0 || w == nil || w.Samples > 0) { // files that others wrote may have none
		damage = append(damage, samplesMissing)
		gone.add("samples", "samples are missing")
	}
	if m.over != nil {
		return
	}
	series := all.list(func(name string) string { return moveMetric(todo, name) })
	n := uint64(0)
	for _, s := range series {
		n += uint64(len(s.Points))
	}
	parts.split(series)
	r.Damage = append(r.Damage, damage...)
	if w := r.Manifest.Written; found && w != nil {
		if n < w.Samples {
			r.Damage = append(r.Damage, fmt.Sprintf("samples hold %d of the %d values that were written", n, w.Samples))
		}
	}
}

// lastSeen is the greatest time in the recording: where a cut-off one ends.
func lastSeen(r *Recording) Time {
	last := r.Manifest.Start
	for _, s := range r.Series {
		if n := len(s.Points); n > 0 {
			last = max(last, s.Points[n-1].T)
		}
	}
	for _, t := range tables {
		t.each(r, func(row Row) bool {
			last = max(last, t.time(row))
			return true
		})
	}
	return last
}

// earlierDamage is what was already lost when a recording was packed.
func earlierDamage(s source) ([]string, error) {
	f, err := s.open(packedDamage)
	if err != nil {
		return nil, nil //nolint:nilerr // most recordings have none
	}
	defer f.Close()
	var out []string
	d := eachLine(f, func(line []byte) error {
		if len(out) < maxDamage {
			out = append(out, cut(strings.TrimSpace(string(line)), 1000))
		}
		return nil
	})
	if d.lines > maxDamage {
		out = append(out, fmt.Sprintf("and %d sentences more on what was lost", d.lines-maxDamage))
	}
	if d.bad > 0 || d.stopped != nil {
		return out, fmt.Errorf("%s can't be read whole", packedDamage)
	}
	return out, nil
}
