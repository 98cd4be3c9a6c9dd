package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"snag/internal/shown"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxFile bounds a plan file: 1 MiB is some 3,000 changes.
const maxFile = 1 << 20

// ReadFile reads a plan file and says what is wrong with its form. Whether its
// values are ones that a kernel takes, Valid tells.
func ReadFile(path string) (*Plan, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the plan %s: %w", path, errors.Unwrap(err))
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read the plan %s: %w", path, err)
	}
	p, err := Parse(b)
	if err != nil {
		return nil, fmt.Errorf("read the plan %s: %w", path, err)
	}
	return p, nil
}

// Parse reads a plan's text. A key that it does not know is an error: a mistyped
// one must not be passed over.
func Parse(text []byte) (*Plan, error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("it is larger than %d bytes: it is not a plan", maxFile)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	var p Plan
	switch err := d.Decode(&p); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("it is empty")
	case err != nil:
		return nil, fmt.Errorf("it is not a plan: %w", err)
	}
	if !errors.Is(d.Decode(new(any)), io.EOF) {
		return nil, errors.New("it holds more than one document: a plan is one")
	}
	if p.Version != Version {
		return nil, fmt.Errorf("it is of version %d, and this snag knows %d: make it again with snag tune plan", p.Version, Version)
	}
	return &p, nil
}

// Text is the plan as a file.
func (p *Plan) Text() ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	var n yaml.Node
	err := n.Encode(p)
	if err == nil {
		quoteHidden(&n)
		err = e.Encode(&n)
	}
	if err != nil {
		return nil, fmt.Errorf("write the plan: %w", err)
	}
	return shown.EscapeYAML(b.Bytes()), nil
}

// quoteHidden puts texts with characters that nobody sees into the quotes in which they
// can be escaped.
func quoteHidden(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" && !shown.Safe(strings.NewReplacer("\n", "", "\t", "").Replace(n.Value)) {
		n.Style = yaml.DoubleQuotedStyle
	}
	for _, c := range n.Content {
		quoteHidden(c)
	}
}

// JSON is the same file as JSON, which Parse reads as well: YAML's scalars and keys in
// the same order.
func (p *Plan) JSON() ([]byte, error) {
	text, err := p.Text()
	if err != nil {
		return nil, err
	}
	var n yaml.Node
	if err := yaml.Unmarshal(text, &n); err != nil {
		return nil, fmt.Errorf("write the plan as JSON: %w", err)
	}
	var b bytes.Buffer
	if err := writeJSON(&b, n.Content[0]); err != nil {
		return nil, fmt.Errorf("write the plan as JSON: %w", err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, b.Bytes(), "", "  "); err != nil {
		return nil, fmt.Errorf("write the plan as JSON: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// oneEscape makes visible for good what JSON escapes by two and YAML by one: neither
// would read the other's.
func oneEscape(s string) string {
	var b strings.Builder
	for _, r := range s {
		if one := string(r); r > 0xffff {
			b.WriteString(shown.Text(one))
		} else {
			b.WriteString(one)
		}
	}
	return b.String()
}

// writeJSON keeps the order of the keys, which a map would lose.
func writeJSON(b *bytes.Buffer, n *yaml.Node) error {
	open, shut := "{", "}"
	switch n.Kind {
	case yaml.MappingNode:
	case yaml.SequenceNode:
		open, shut = "[", "]"
	default:
		var v any
		if err := n.Decode(&v); err != nil {
			return err
		}
		if s, ok := v.(string); ok {
			v = oneEscape(s)
		}
		text, err := json.Marshal(v)
		b.Write(shown.Escape(text))
		return err
	}
	b.WriteString(open)
	for i, c := range n.Content {
		switch {
		case n.Kind == yaml.MappingNode && i%2 == 1:
			b.WriteByte(':')
		case i > 0:
			b.WriteByte(',')
		}
		if err := writeJSON(b, c); err != nil {
			return err
		}
	}
	b.WriteString(shut)
	return nil
}
