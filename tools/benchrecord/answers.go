package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// What the tools printed is kept below this folder of the run, packed by gzip:
// INCIDENT/TOOL.before.gz and INCIDENT/TOOL.during.gz, each command after "$ " and then
// its output. INCIDENT/incident.json has the times.
const answersFolder = "answers"

// span is a time that a recorder is asked about.
type span struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// event is one incident that was made, or why it could not be.
type event struct {
	Title   string            `json:"title"`
	Before  span              `json:"before"`
	During  span              `json:"during"`
	Failed  string            `json:"failed,omitempty"`
	Missing map[string]string `json:"missing,omitempty"` // tools that could not be asked
}

// section is one command and what it printed.
type section struct{ command, output string }

func joinSections(all []section) string {
	var b strings.Builder
	for _, s := range all {
		fmt.Fprintf(&b, "$ %s\n%s\n", s.command, s.output)
	}
	return b.String()
}

func splitSections(text string) (all []section) {
	for _, part := range strings.Split("\n"+text, "\n$ ")[1:] {
		command, out, _ := strings.Cut(part, "\n")
		all = append(all, section{command, out})
	}
	return all
}

func writeText(path, text string) error {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, text)
	if err := errors.Join(err, z.Close(), os.MkdirAll(filepath.Dir(path), 0o755)); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

func readText(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	b, err := io.ReadAll(z)
	return string(b), err
}
