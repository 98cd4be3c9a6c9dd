package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"go.yaml.in/yaml/v3"
)

// maxFile bounds a plan file, bytes: 1 MiB is ten thousand peers.
const maxFile = 1 << 20

// ReadFile reads a plan and checks it. sum is the checksum of its text: a drain goes on only with the same plan.
// change, if it is not nil, is what the command line says otherwise, and lists the peers of PeersFrom.
func ReadFile(path string, change func(*Plan) error) (p *Plan, sum string, err error) {
	// A FIFO must not hold it up.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, "", fmt.Errorf("read the plan %s: %w", path, errors.Unwrap(err))
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil {
		p, err = Parse(b, change)
	}
	if err != nil {
		return nil, "", fmt.Errorf("read the plan %s: %w", path, err)
	}
	hash := sha256.Sum256(b)
	return p, hex.EncodeToString(hash[:]), nil
}

// Parse reads a plan's text, changes it if change is not nil, and checks it.
func Parse(text []byte, change func(*Plan) error) (*Plan, error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("it is larger than %d bytes: it is not a plan", maxFile)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("it is empty: docs/drain.md has an example")
	case err != nil:
		return nil, clear(err)
	}
	if !errors.Is(d.Decode(new(yaml.Node)), io.EOF) {
		return nil, errors.New("it holds more than one document: a plan is one")
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, errors.New("it is not a plan: it has no keys as version and peers")
	}
	if err := known(root, planType, ""); err != nil {
		return nil, err
	}
	var p Plan
	if err := root.Decode(&p); err != nil {
		return nil, clear(err)
	}
	if p.OnHurt == "" {
		p.OnHurt = HurtReturn
	}
	if len(p.Peers) > 0 && p.PeersFrom != "" {
		return nil, fmt.Errorf("line %d: peers and peers_from: give one of them", line(root, "peers_from"))
	}
	if change != nil {
		if err := change(&p); err != nil {
			return nil, err
		}
	}
	return &p, p.valid(root)
}

// clear is an error of the YAML library without its own prefix, on one line.
func clear(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	text = strings.TrimPrefix(text, "unmarshal errors:\n")
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return errors.New(first)
}
