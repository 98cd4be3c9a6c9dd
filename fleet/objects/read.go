package objects

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"snag/internal/private"
	"snag/internal/sorting"
)

// Bounds of what is read of a store: others may write there.
const (
	mostNames    = 1_000_000 // objects
	mostDocument = 1 << 20   // bytes
	mostFile     = 256 << 20 // bytes, as of a recording that is fetched from another host
	mostFiles    = 16
)

// List returns the incidents of a host, or of all ("" ), by the time when they began.
func List(ctx context.Context, s Store, host string) ([]Found, error) {
	prefix := ""
	if host != "" {
		prefix = HostName(host) + "/"
	}
	var out []Found
	names := 0
	err := s.List(ctx, prefix, func(name string) bool {
		if names++; names > mostNames {
			return false
		}
		dir, file := path.Split(name)
		if f, is := ParseName(strings.TrimSuffix(dir, "/")); is && file == documentFile {
			out = append(out, f)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	if names > mostNames {
		return nil, fmt.Errorf("%s has more than %d objects: name a host with --host, or a longer prefix", s, mostNames)
	}
	sorting.By(out, func(a, b Found) int { return cmp.Or(a.Start.Compare(b.Start), strings.Compare(a.Name, b.Name)) })
	return out, nil
}

// Read reads the document of an incident by its name, HOST/TIME-ID.
func Read(ctx context.Context, s Store, name string) (d Document, err error) {
	r, err := s.Get(ctx, path.Join(name, documentFile))
	if err != nil {
		return d, err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, mostDocument+1))
	switch {
	case err != nil:
	case len(b) > mostDocument:
		err = fmt.Errorf("it is longer than %d MB", mostDocument>>20)
	default:
		err = json.Unmarshal(b, &d)
	}
	switch {
	case err != nil:
	case d.Version != version:
		err = fmt.Errorf("it is of version %d, and this snag reads %d: use the snag of that host", d.Version, version)
	case d.Name != name:
		err = errors.New("it is of another incident")
	}
	if err != nil {
		return d, fmt.Errorf("read %s of %s: %w", name, s, err)
	}
	return d, nil
}

// Fetch gets the files of an incident into a folder. It returns the recording that its verdict is of: the closer look
// where that proved the culprits.
func Fetch(ctx context.Context, s Store, d Document, dir string) (string, error) {
	if len(d.Files) > mostFiles {
		return "", fmt.Errorf("%s of %s has more than %d files", d.Name, s, mostFiles)
	}
	if err := fetch(ctx, s, path.Join(d.Name, documentFile), filepath.Join(dir, documentFile)); err != nil {
		return "", err
	}
	for _, name := range d.Files {
		if !fileForm.MatchString(name) {
			return "", fmt.Errorf("%s of %s has a file that is not one of an incident's", d.Name, s)
		}
		if err := fetch(ctx, s, path.Join(d.Name, name), filepath.Join(dir, name)); err != nil {
			return "", err
		}
	}
	want := recordingFile
	if d.Looked && slices.Contains(d.Files, lookFile) {
		want = lookFile
	}
	if !slices.Contains(d.Files, want) {
		return "", fmt.Errorf("%s of %s has no recording: %s", d.Name, s, cmp.Or(strings.Join(d.LeftOut, "; "), "the host had none"))
	}
	return filepath.Join(dir, want), nil
}

func fetch(ctx context.Context, s Store, name, to string) error {
	r, err := s.Get(ctx, name)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return private.Put(to, func(w io.Writer) error {
		n, err := io.Copy(w, io.LimitReader(r, mostFile+1))
		switch {
		case err != nil:
			return fmt.Errorf("read %s of %s: after %d bytes: %w", name, s, n, err)
		case n > mostFile:
			return fmt.Errorf("read %s of %s: it is longer than %d MB", name, s, mostFile>>20)
		}
		return nil
	})
}
