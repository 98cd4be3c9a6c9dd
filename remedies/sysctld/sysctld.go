// Package sysctld reads sysctl.d(5) files as systemd-sysctl does (man/sysctl.d.xml,
// src/sysctl/sysctl.c):
//
//   - a line is NAME = VALUE; blanks around both are dropped; lines that begin with
//     # or ; are comments, and nothing else is one;
//   - a leading - of a name has a failure ignored; -NAME without = keeps NAME from
//     being set by a pattern;
//   - NAME is written with dots or slashes: where the first of them is a slash all stay
//     as they are, else each is taken for the other (net.ipv4.conf.eth0/1.rp_filter);
//   - a NAME with * ? or [ is a pattern (glob(7)); a name that stands anywhere by
//     itself is not set by a pattern;
//   - files are read in the order of their names; what comes later holds.
package sysctld

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Setting is one line that holds.
type Setting struct {
	Name  string // with dots, as sysctl(8) writes it; a slash stands for a dot in it
	Value string
	File  string
	Line  int
	// Ignore: the line has a leading -.
	Ignore bool
}

// Path is a name's file below /proc/sys.
func Path(name string) string { return swap(name) }

// Name is the name of a file below /proc/sys.
func Name(path string) string { return swap(path) }

func swap(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '.':
			return '/'
		case '/':
			return '.'
		}
		return r
	}, s)
}

// normal is a name of a file as a path below /proc/sys.
func normal(s string) string {
	i := strings.IndexAny(s, "/.")
	if i >= 0 && s[i] == '.' {
		s = swap(s)
	}
	return strings.TrimPrefix(path.Clean("/"+s), "/")
}

// line is one that sets or keeps from being set.
type line struct {
	path   string // below /proc/sys, maybe a pattern
	value  string
	keep   bool // -NAME: not by a pattern
	ignore bool
	file   string
	n      int
}

// Problem is a line that means nothing.
type Problem struct {
	File string
	Line int
	Text string // at most its first 80 characters
	Why  string
}

// Line is one line of a file, whether it holds in the end or not.
type Line struct {
	File  string
	N     int
	Path  string // below /proc/sys
	Value string // blanks within as one
}

// Pattern reports whether a line's path is one (net/ipv4/conf/*/rp_filter): such a line
// never takes the place of one that names a setting by itself, in whatever file.
func (l Line) Pattern() bool { return pattern(l.Path) }

// Lines are those of one file that set something, in their order; of a file that is no
// file of settings there are none.
func Lines(file string, text []byte) (out []Line) {
	all, _, err := parse(file, bytes.NewReader(text))
	if err != nil {
		return nil
	}
	for _, l := range all {
		if !l.keep {
			out = append(out, Line{l.file, l.n, l.path, strings.Join(strings.Fields(l.value), " ")})
		}
	}
	return out
}

// maxLine and maxLines bound what is read: a file of settings has some hundred short
// lines.
const maxLine, maxLines = 64 << 10, 10_000

// parse reads one file.
func parse(file string, r io.Reader) (all []line, bad []Problem, err error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 4096), maxLine)
	n := 0
	for in.Scan() {
		if n++; n > maxLines {
			return nil, nil, fmt.Errorf("%s has more than %d lines: it is not a file of settings", file, maxLines)
		}
		text := strings.TrimSpace(in.Text())
		if text == "" || text[0] == '#' || text[0] == ';' {
			continue
		}
		l := line{file: file, n: n}
		name, value, sets := strings.Cut(text, "=")
		name = strings.TrimSpace(name)
		if rest, minus := strings.CutPrefix(name, "-"); minus {
			name, l.ignore = strings.TrimSpace(rest), sets
			l.keep = !sets
		} else if !sets {
			bad = append(bad, Problem{file, n, first(text), "it sets nothing: there is no ="})
			continue
		}
		l.path, l.value = normal(name), strings.TrimSpace(value)
		if l.path == "" || strings.Contains(name, "..") {
			bad = append(bad, Problem{file, n, first(text), "it names no setting"})
			continue
		}
		all = append(all, l)
	}
	if errors.Is(in.Err(), bufio.ErrTooLong) {
		return nil, nil, fmt.Errorf("%s has a line of more than %d bytes: it is not a file of settings", file, maxLine)
	}
	return all, bad, in.Err()
}

func first(s string) string {
	if len(s) > 80 {
		s = s[:80]
	}
	return strings.ToValidUTF8(s, "?")
}

// pattern reports whether a path is one.
func pattern(p string) bool { return strings.ContainsAny(p, "*?[") }

// hold is what holds of all lines, in the order in which it is set: a later line of a
// name replaces an earlier one. match lists the paths below /proc/sys of a pattern.
func hold(lines []line, match func(pattern string) []string) (all []Setting) {
	at := map[string]int{} // the last line of each path
	for i, l := range lines {
		at[l.path] = i
	}
	var patterns []line
	for i, l := range lines {
		switch {
		case at[l.path] != i || l.keep:
		case pattern(l.path):
			patterns = append(patterns, l)
		}
	}
	kept := func(p string) bool {
		if _, ok := at[p]; ok {
			return true
		}
		return slices.ContainsFunc(lines, func(l line) bool {
			ok, err := path.Match(l.path, p)
			return l.keep && ok && err == nil
		})
	}
	set := map[string]Setting{}
	var order []string
	put := func(p string, l line) {
		if _, ok := set[p]; ok {
			order = slices.DeleteFunc(order, func(o string) bool { return o == p })
		}
		order = append(order, p)
		set[p] = Setting{Name: Name(p), Value: l.value, File: l.file, Line: l.n, Ignore: l.ignore}
	}
	for _, l := range patterns {
		for _, p := range match(l.path) {
			if !kept(p) {
				put(p, l)
			}
		}
	}
	for i, l := range lines {
		if at[l.path] == i && !l.keep && !pattern(l.path) {
			put(l.path, l)
		}
	}
	for _, p := range order {
		all = append(all, set[p])
	}
	return all
}

// Read reads a file, or the *.conf of a folder in the order of their names. proc is
// where /proc is: patterns are matched with what is below its sys.
func Read(proc, at string) ([]Setting, []Problem, error) {
	files := []string{at}
	st, err := os.Stat(at)
	if err != nil {
		return nil, nil, fmt.Errorf("read the settings of %s: %w", at, errors.Unwrap(err))
	}
	if st.IsDir() {
		if files, err = confs(at); err != nil {
			return nil, nil, err
		}
	}
	var lines []line
	var bad []Problem
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return nil, nil, fmt.Errorf("read the settings of %s: %w", file, errors.Unwrap(err))
		}
		l, b, err := parse(file, f)
		_ = f.Close()
		if err != nil {
			return nil, nil, fmt.Errorf("read the settings: %w", err)
		}
		lines, bad = append(lines, l...), append(bad, b...)
	}
	return hold(lines, func(pattern string) []string { return matches(proc, pattern) }), bad, nil
}

// confs are a folder's files of settings; a name that leads to /dev/null masks and
// reads as an empty one.
func confs(dir string) ([]string, error) {
	all, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, errors.Unwrap(err))
	}
	var files []string
	for _, e := range all {
		if strings.HasSuffix(e.Name(), ".conf") && e.Type()&fs.ModeDir == 0 {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no *.conf: it is not a folder of settings (sysctl.d)", dir)
	}
	slices.Sort(files)
	return files, nil
}

// mostMatches bounds a pattern such as net/*/*/*/*.
const mostMatches = 1000

func matches(proc, pattern string) []string {
	root := filepath.Join(proc, "sys") + "/"
	found, err := filepath.Glob(root + pattern)
	if err != nil {
		return nil // a pattern that is none matches nothing
	}
	var all []string
	for _, f := range found[:min(len(found), mostMatches)] {
		if st, err := os.Stat(f); err == nil && st.Mode().IsRegular() {
			all = append(all, strings.TrimPrefix(f, root))
		}
	}
	return all
}
