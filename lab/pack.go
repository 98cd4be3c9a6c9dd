package lab

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Pack writes a recording folder as a gzipped tar, the same bytes for the same
// folder: no owners, no times of files.
func Pack(dir, out string) (err error) {
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return fmt.Errorf("lab: pack %s: %w", dir, err)
	}
	f, err := os.Create(out)
	if err != nil {
		return fmt.Errorf("lab: pack %s: %w", dir, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		return packOne(t, dir, path, d)
	})
	if err = errors.Join(err, t.Close(), z.Close()); err != nil {
		return fmt.Errorf("lab: pack %s: %w", dir, err)
	}
	return nil
}

func packOne(t *tar.Writer, dir, path string, d fs.DirEntry) error {
	if !d.IsDir() && !d.Type().IsRegular() {
		return nil
	}
	name, err := filepath.Rel(dir, path)
	if err != nil {
		return err
	}
	if d.IsDir() {
		return t.WriteHeader(&tar.Header{Name: name + "/", Typeflag: tar.TypeDir, Mode: 0o755, ModTime: time.Unix(0, 0)})
	}
	info, err := d.Info()
	if err != nil {
		return err
	}
	if err := t.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: info.Size(), ModTime: time.Unix(0, 0)}); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(t, f)
	return err
}
