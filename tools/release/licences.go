package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// module is what is linked beside snag: a module, or Go's standard library.
type module struct {
	Path, Version, Sum string
	Licence            string   // SPDX's name; "" where the text is of none that is known here
	Texts              []string // of its licence files
}

// linked are the modules that a program was linked of, with their licences, sorted by path.
func linked(ctx context.Context, root, program, arch string) ([]module, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("read what %s is linked of: %w", program, err)
	}
	dirs, err := moduleDirs(ctx, root, arch)
	if err != nil {
		return nil, err
	}
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("find Go's own folder: %w", err)
	}
	dirs["std"] = strings.TrimSpace(string(goroot))
	all := []module{{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}}
	for _, d := range info.Deps {
		if d.Replace != nil {
			return nil, fmt.Errorf("%s is replaced by %s: a release is made of what go.mod names", d.Path, d.Replace.Path)
		}
		all = append(all, module{Path: d.Path, Version: d.Version, Sum: d.Sum})
	}
	for i := range all {
		m := &all[i]
		dir := dirs[m.Path]
		if dir == "" {
			return nil, fmt.Errorf("%s %s is not in the cache of modules: tools/setup.sh fetches it", m.Path, m.Version)
		}
		if m.Texts, err = licenceTexts(dir); err != nil {
			return nil, fmt.Errorf("licence of %s: %w", m.Path, err)
		}
		m.Licence = classify(m.Texts)
	}
	slices.SortFunc(all, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// moduleDirs is where the files of the modules are that snag is linked of on an architecture.
func moduleDirs(ctx context.Context, root, arch string) (map[string]string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-f", `{{with .Module}}{{.Path}}{{"\t"}}{{.Dir}}{{end}}`, "./cmd/snag")
	cmd.Dir = root
	cmd.Env = environment(arch)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the modules: %w", err)
	}
	dirs := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		dirs[path] = dir
	}
	return dirs, nil
}

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice)([.-].*)?$`)

func licenceTexts(dir string) ([]string, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, f := range files {
		if !f.Type().IsRegular() || !licenceFile.MatchString(f.Name()) {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, strings.TrimSpace(strings.ReplaceAll(string(b), "\r\n", "\n")))
	}
	if len(all) == 0 {
		return nil, errors.New("it has no file with a licence: a package must name it")
	}
	return all, nil
}

// marks are words of one licence, without its punctuation; BSD-3-Clause before BSD-2-Clause.
var marks = []struct{ id, text string }{
	{"Apache-2.0", "apache license version 2.0"},
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"BSD-3-Clause", "may be used to endorse or promote products derived from this software"},
	{"BSD-2-Clause", "redistributions in binary form must reproduce the above copyright notice"},
	{"ISC", "permission to use copy modify and or distribute this software for any purpose with or without fee"},
	{"MIT", "permission is hereby granted free of charge to any person obtaining a copy of this software"},
}

var notWord = regexp.MustCompile(`[^a-z0-9.]+`)

// classify names the licences of a module's files, "" where none of their texts has a mark. A file may hold several.
func classify(texts []string) string {
	ids := map[string]bool{}
	for _, text := range texts {
		plain := notWord.ReplaceAllString(strings.ToLower(text), " ")
		three := false // the text of three clauses has that of two in it
		for _, m := range marks {
			if !strings.Contains(plain, m.text) || m.id == "BSD-2-Clause" && three {
				continue
			}
			ids[m.id] = true
			three = three || m.id == "BSD-3-Clause"
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(ids)), " AND ")
}

// texts are all licences in full, each once, with the modules that it is of.
func texts(modules []module) string {
	of := map[string][]string{}
	var order []string
	for _, m := range modules {
		for _, t := range m.Texts {
			if of[t] == nil {
				order = append(order, t)
			}
			of[t] = append(of[t], m.Path+" "+m.Version)
		}
	}
	var b strings.Builder
	b.WriteString("Licences of what is linked into snag (std is Go's standard library).\n")
	for _, t := range order {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(of[t], "\n"), t)
	}
	return b.String()
}

// copyright is Debian's file of that name (DEP 5).
func copyright(modules []module, year int) string {
	var b strings.Builder
	b.WriteString(`Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: snag
Comment: /usr/share/doc/snag/modules.txt.gz has the full licence of every module that is
 linked into the program. These are:
`)
	for _, m := range modules {
		licence := m.Licence
		if licence == "" {
			licence = "see there"
		}
		fmt.Fprintf(&b, " %s %s: %s\n", m.Path, m.Version, licence)
	}
	fmt.Fprintf(&b, `
Files: *
Copyright: %d the authors of snag
License: Apache-2.0
 On Debian systems the full text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
`, year)
	return b.String()
}
