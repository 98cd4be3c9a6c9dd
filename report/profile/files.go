package profile

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"snag/internal/private"
	"strings"
)

// WriteFiles writes the profile in each form into a folder, which it makes, and
// returns the files' names.
func (p *Profile) WriteFiles(dir string) ([]string, error) {
	if err := os.MkdirAll(dir, private.FolderMode()); err != nil {
		return nil, fmt.Errorf("make the folder of profiles: %w", err)
	}
	var out []string
	for _, form := range []struct {
		ending string
		write  func(io.Writer) error
	}{
		{".pb.gz", p.WritePprof},
		{".folded", p.WriteFolded},
		{".speedscope.json", func(w io.Writer) error { return p.WriteSpeedscope(w, "snag "+p.name()) }},
	} {
		name := filepath.Join(dir, p.name()+form.ending)
		if err := private.Put(name, form.write); err != nil {
			return out, fmt.Errorf("write the profile %s: %w", name, err)
		}
		out = append(out, name)
	}
	return out, nil
}

// name is the files', without its ending: "oncpu", "oncpu-page-faults".
func (p *Profile) name() string {
	if p.Event == "" {
		return p.Kind
	}
	return p.Kind + "-" + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '.':
			return r
		}
		return '-'
	}, p.Event)
}
