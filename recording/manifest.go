package recording

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"snag/internal/private"

	"golang.org/x/sys/unix"
)

const (
	manifestFile = "manifest.json"
	samplesDir   = "samples"
	tablesDir    = "tables"
	maxManifest  = 1 << 20 // bytes
)

// writeManifest replaces the manifest at once: whoever reads it, and whenever
// the power goes, finds the old one or the new one whole.
func writeManifest(p place, m Manifest) error {
	dir := p.at
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("write the manifest of %s: %w", p.name, err)
	}
	tmp := filepath.Join(dir, manifestFile+".tmp")
	err = func() error {
		if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a writer that was killed
			return err
		}
		f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, private.FileMode())
		if err != nil {
			return err
		}
		_, err = f.Write(append(b, '\n'))
		if err == nil {
			err = f.Sync()
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
		return os.Rename(tmp, filepath.Join(dir, manifestFile))
	}()
	if err != nil {
		os.Remove(tmp)
		return fmt.Errorf("write the manifest of %s: %w", p.name, p.named(err))
	}
	return p.named(syncDir(dir))
}

// syncDir makes renames and new files in dir last.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	return nil
}

// NotRecordingError reports that a path holds something else.
type NotRecordingError struct{ Path, Why string }

func (e *NotRecordingError) Error() string {
	return fmt.Sprintf("%s is not a snag recording: %s", e.Path, e.Why)
}

// VersionError reports that a recording is of a version that this snag can't read.
type VersionError struct {
	Path    string
	Version int
	Snag    string // the snag that wrote it
}

func (e *VersionError) Error() string {
	if e.Version < 1 {
		return fmt.Sprintf("open %s: its manifest names version %d, which no snag wrote: the file is damaged", e.Path, e.Version)
	}
	cure := "a newer snag"
	if e.Snag != "" {
		cure = "snag ≥ " + cut(e.Snag, 40)
	}
	return fmt.Sprintf("open %s: it is of version %d and this snag reads up to %d: use %s", e.Path, e.Version, Version, cure)
}

// decodeManifest reads a manifest of any version that this snag knows and moves
// it to the present one.
func decodeManifest(path string, b []byte, to schema) (Manifest, []move, error) {
	var head struct {
		Version *int   `json:"version"`
		Snag    string `json:"snag"`
	}
	if err := decodeRow(b, &head); err != nil {
		return Manifest{}, nil, fmt.Errorf("open %s: %s can't be read: %w: restore the file, or record again", path, manifestFile, err)
	}
	if head.Version == nil {
		return Manifest{}, nil, &NotRecordingError{path, manifestFile + " has no version"}
	}
	todo, ok := to.from(*head.Version)
	if !ok {
		return Manifest{}, nil, &VersionError{path, *head.Version, head.Snag}
	}
	b, err := moveManifest(todo, b)
	if err != nil {
		return Manifest{}, nil, fmt.Errorf("open %s: move %s to version %d: %w", path, manifestFile, to.version, err)
	}
	var m Manifest
	if err := json.Unmarshal(b, &m); err != nil {
		return Manifest{}, nil, fmt.Errorf("open %s: %s can't be read: %w: restore the file, or record again", path, manifestFile, err)
	}
	m.Version = to.version
	return m, todo, nil
}

func readManifest(s source, path string, to schema) (Manifest, []move, error) {
	f, err := s.open(manifestFile)
	if errors.Is(err, os.ErrNotExist) {
		return Manifest{}, nil, &NotRecordingError{path, "no " + manifestFile}
	}
	if err != nil {
		return Manifest{}, nil, fmt.Errorf("open %s: %w", path, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err != nil {
		return Manifest{}, nil, fmt.Errorf("open %s: read %s: %w", path, manifestFile, err)
	}
	if len(b) > maxManifest {
		return Manifest{}, nil, &NotRecordingError{path, manifestFile + " is over 1 MB"}
	}
	if depth(b) > maxDepth {
		return Manifest{}, nil, &NotRecordingError{path, fmt.Sprintf("%s has over %d objects inside each other", manifestFile, maxDepth)}
	}
	return decodeManifest(path, b, to)
}
