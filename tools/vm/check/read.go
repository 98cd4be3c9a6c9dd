package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"snag/report"
)

// find is one run of snag find in a machine.
type find struct {
	exit int
	doc  report.Document
}

// machine is what was left of one kernel's run.
type machine struct {
	release string // "5.10.0-46-cloud-amd64"
	finds   map[string]find
	lab     map[string]int // exit codes of snag-lab run, by incident
	inside  map[string]int // and of the parts of tools/vm/inside
	ring    report.Calls   // of the program of io_uring
}

// The runs of tools/vm/init.
const (
	quiet  = "quiet"
	nobody = "nobody"
	udp    = "udp"
	nagle  = "nagle"
	convoy = "closer" // of tools/vm/inside
)

func compile(path string) (*jsonschema.Schema, error) {
	s, err := jsonschema.NewCompiler().Compile(path)
	if err != nil {
		return nil, fmt.Errorf("compile the schema of the verdict %s: %w", path, err)
	}
	return s, nil
}

func read(dir string, schema *jsonschema.Schema) (*machine, error) {
	b, err := os.ReadFile(filepath.Join(dir, "release"))
	if err != nil {
		return nil, fmt.Errorf("read which kernel ran: %w", err)
	}
	m := &machine{release: strings.TrimSpace(string(b)), finds: map[string]find{}}
	for _, name := range []string{quiet, nobody, udp, nagle, convoy} {
		f, err := readFind(filepath.Join(dir, name), schema)
		if err != nil {
			return nil, fmt.Errorf("the run %s: %w", name, err)
		}
		m.finds[name] = f
	}
	if m.lab, err = readExits(dir, "lab-"); err != nil {
		return nil, err
	}
	if m.inside, err = readExits(dir, "inside-"); err != nil {
		return nil, err
	}
	if b, err = os.ReadFile(filepath.Join(dir, "inside-uring.text")); err != nil {
		return nil, err
	}
	if m.inside["uring"] == 0 {
		err = json.Unmarshal(b, &m.ring)
	}
	return m, err
}

// readExits reads the exit codes in files of that beginning, by the rest of their names.
func readExits(dir, prefix string) (map[string]int, error) {
	codes := map[string]int{}
	files, err := filepath.Glob(filepath.Join(dir, prefix+"*.exit"))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), prefix), ".exit")
		if codes[name], err = readExit(path); err != nil {
			return nil, fmt.Errorf("the run %s%s: %w", prefix, name, err)
		}
	}
	return codes, nil
}

func readFind(base string, schema *jsonschema.Schema) (f find, err error) {
	if f.exit, err = readExit(base + ".exit"); err != nil {
		return f, err
	}
	b, err := os.ReadFile(base + ".json")
	if err != nil {
		return f, err
	}
	if len(bytes.TrimSpace(b)) == 0 {
		said, _ := os.ReadFile(base + ".err") // an answer without it says as much
		return f, fmt.Errorf("exit %d and no verdict: %s", f.exit, bytes.TrimSpace(said))
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		return f, fmt.Errorf("parse the verdict: %w", err)
	}
	if err := schema.Validate(doc); err != nil {
		return f, fmt.Errorf("the verdict is not of its schema: %w", err)
	}
	return f, json.Unmarshal(b, &f.doc)
}

func readExit(path string) (int, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(b)))
}
