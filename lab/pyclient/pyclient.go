// Package pyclient has clients of real services by the libraries that their users have, in
// Python, which keep the log of lab/clientlog.
package pyclient

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"snag/lab"
	"snag/lab/drawn"
)

//go:embed python
var files embed.FS

// Python is Debian's, whose packages have the client libraries.
const Python = "/usr/bin/python3"

// Start starts clients of a protocol (a file of python/protocols) at that load; options
// are the protocol's, NAME=VALUE, and timeout=SECONDS.
func Start(b *drawn.Bench, ns, name, protocol, to string, l drawn.Load, options ...string) *lab.Process {
	dir, err := unpack(b.Dir())
	if err != nil {
		return b.Fail(name, err)
	}
	argv := []string{Python, filepath.Join(dir, "client.py"), protocol, "--comm", name, "--to", to, "--log", b.ClientLog(name),
		"--conns", fmt.Sprint(l.Conns), "--every", fmt.Sprint(l.Every().Seconds())}
	if l.Open {
		argv = append(argv, "--open")
	}
	if l.Fresh {
		argv = append(argv, "--fresh")
	}
	b.Values[name+"'s connections"], b.Values[name+"'s requests per second"] = l.Conns, l.Rate
	p := b.Run(ns, name, append(argv, options...))
	b.AwaitPrinted(p, "ready")
	return p
}

// Dir is the folder of the stage with the programs, for a worker that speaks a protocol too.
func Dir(b *drawn.Bench) string {
	dir, err := unpack(b.Dir())
	if err != nil {
		b.Fail("pyclient", err)
	}
	return dir
}

// unpack writes the programs into a folder once.
func unpack(dir string) (string, error) {
	to := filepath.Join(dir, "pyclient")
	if _, err := os.Stat(to); err == nil {
		return to, nil
	}
	sub, err := fs.Sub(files, "python")
	if err != nil {
		return "", err
	}
	return to, os.CopyFS(to, sub)
}
