package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// file is one file of the packages.
type file struct {
	Path string // on the host: /usr/bin/snag
	Mode fs.FileMode
	Body []byte
	Only string // "deb" or "rpm"; "": both
}

const (
	program = "/usr/bin/snag"
	doc     = "/usr/share/doc/snag/"
	shared  = "/usr/share/snag/"
)

// units are started by who installs the package, and not by the installation.
var units = []string{"snag-record.service", "snag-serve.service"}

// contents is all that a package has. host is the same snag for the machine that runs this: it writes the manual.
func (r *release) contents(ctx context.Context, host, built string, modules []module) ([]file, error) {
	body, err := os.ReadFile(built)
	if err != nil {
		return nil, err
	}
	files := []file{{Path: program, Mode: 0o755, Body: body}}
	for _, name := range units {
		unit, err := os.ReadFile(filepath.Join(r.Root, "packaging", name))
		if err != nil {
			return nil, err
		}
		text, err := packagedUnit(string(unit))
		if err != nil {
			return nil, fmt.Errorf("packaging/%s: %w", name, err)
		}
		files = append(files, file{Path: "/usr/lib/systemd/system/" + name, Mode: 0o644, Body: []byte(text)})
	}
	for _, more := range []func() ([]file, error){
		func() ([]file, error) { return manual(ctx, host) },
		func() ([]file, error) { return completions(ctx, host) },
		func() ([]file, error) { return r.documents(modules) },
		r.monitoring,
	} {
		add, err := more()
		if err != nil {
			return nil, err
		}
		files = append(files, add...)
	}
	return files, nil
}

// monitoring are the dashboards for Grafana and the alerts for Prometheus: files that other programs load.
func (r *release) monitoring() ([]file, error) {
	var files []file
	for _, pattern := range []string{"grafana/*.json", "prometheus/snag.rules.yml"} {
		names, err := filepath.Glob(filepath.Join(r.Root, "packaging", pattern))
		if err != nil || len(names) == 0 {
			return nil, fmt.Errorf("packaging/%s: no such file (%w)", pattern, err)
		}
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			files = append(files, file{Path: shared + filepath.Dir(pattern) + "/" + filepath.Base(name), Mode: 0o644, Body: b})
		}
	}
	return files, nil
}

// packagedUnit is the unit with the program where packages have it.
func packagedUnit(unit string) (string, error) {
	const by, with = "ExecStart=/usr/local/bin/snag ", "ExecStart=" + program + " "
	if strings.Count(unit, by) != 1 || strings.Count(unit, "ExecStart") != strings.Count(unit, by)+1 { // and a comment
		return "", errors.New("its one ExecStart is to begin with /usr/local/bin/snag")
	}
	return strings.Replace(unit, by, with, 1), nil
}

func manual(ctx context.Context, host string) ([]file, error) {
	dir, err := os.MkdirTemp("", "snag-manual-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if out, err := exec.CommandContext(ctx, host, "manual", dir).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("write the manual: %w\n%s", err, out)
	}
	pages, err := filepath.Glob(dir + "/*.1")
	if err != nil || len(pages) == 0 {
		return nil, fmt.Errorf("snag manual wrote no page (%w)", err)
	}
	var files []file
	for _, p := range pages {
		b, err := os.ReadFile(p)
		if err != nil {
			return nil, err
		}
		files = append(files, file{Path: "/usr/share/man/man1/" + filepath.Base(p) + ".gz", Mode: 0o644, Body: zipped(b)})
	}
	return files, nil
}

func completions(ctx context.Context, host string) ([]file, error) {
	var files []file
	for _, f := range []struct{ shell, path, only string }{
		{"bash", "/usr/share/bash-completion/completions/snag", ""},
		{"zsh", "/usr/share/zsh/vendor-completions/_snag", "deb"},
		{"zsh", "/usr/share/zsh/site-functions/_snag", "rpm"},
		{"fish", "/usr/share/fish/vendor_completions.d/snag.fish", ""},
	} {
		b, err := exec.CommandContext(ctx, host, "completion", f.shell).Output()
		if err != nil {
			return nil, fmt.Errorf("write the completion of %s: %w", f.shell, err)
		}
		files = append(files, file{Path: f.path, Mode: 0o644, Body: b, Only: f.only})
	}
	return files, nil
}

// documents are the licences, the changes, and what Debian's tools expect of a package.
func (r *release) documents(modules []module) ([]file, error) {
	changes, err := os.ReadFile(filepath.Join(r.Root, "CHANGELOG.md"))
	if err != nil {
		return nil, err
	}
	licence, err := os.ReadFile(filepath.Join(r.Root, "LICENSE"))
	if err != nil {
		return nil, err
	}
	entry := fmt.Sprintf("snag (%s) stable; urgency=medium\n\n  * Release %s, commit\n    %s.\n    CHANGELOG.md.gz says what changed.\n\n -- %s  %s\n",
		debVersion(r.Version), r.Version, r.Commit, maintainer, r.Date.Format(time.RFC1123Z))
	override := "# One static program: it is to run on any distribution, and in a container that has nothing else.\n" +
		"snag: statically-linked-binary [usr/bin/snag]\n"
	return []file{
		{Path: doc + "copyright", Mode: 0o644, Body: []byte(copyright(modules, r.Date.Year())), Only: "deb"},
		{Path: doc + "LICENSE", Mode: 0o644, Body: licence, Only: "rpm"},
		{Path: doc + "modules.txt.gz", Mode: 0o644, Body: zipped([]byte(texts(modules)))},
		{Path: doc + "CHANGELOG.md.gz", Mode: 0o644, Body: zipped(changes)},
		{Path: doc + "changelog.gz", Mode: 0o644, Body: zipped([]byte(entry)), Only: "deb"},
		{Path: "/usr/share/lintian/overrides/snag", Mode: 0o644, Body: []byte(override), Only: "deb"},
	}, nil
}

// debVersion sorts a candidate before its release.
func debVersion(v string) string { return strings.Replace(v, "-", "~", 1) }

// zipped has no name and no time in its head.
func zipped(b []byte) []byte {
	var to bytes.Buffer
	w, _ := gzip.NewWriterLevel(&to, gzip.BestCompression) // the level is one
	_, _ = w.Write(b)                                      // to memory
	_ = w.Close()
	return to.Bytes()
}
