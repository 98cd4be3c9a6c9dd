package plan

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Time is a time in a plan's file. It is written as RFC 3339, and read as any timestamp
// of YAML 1.1 (https://yaml.org/type/timestamp.html), quoted or not: other programs' YAML
// libraries write it with a space, PyYAML as 2026-11-21 04:53:59+00:00.
type Time struct{ time.Time }

// At is a time, to the second.
func At(t time.Time) Time { return Time{t.UTC().Truncate(time.Second)} }

// MarshalYAML writes it.
func (t Time) MarshalYAML() (any, error) { return t.Time, nil }

// UnmarshalYAML reads it.
func (t *Time) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return fmt.Errorf("line %d: a time is expected", n.Line)
	}
	text := strings.TrimSpace(n.Value)
	if text == "" || n.ShortTag() == "!!null" {
		*t = Time{}
		return nil
	}
	at, err := parseTime(text)
	if err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	*t = Time{at.UTC()}
	return nil
}

var timestamp = regexp.MustCompile(`^(\d{4}-\d\d?-\d\d?)(?:(?:[Tt]|[ \t]+)(\d\d?:\d\d:\d\d)(\.\d*)?[ \t]*(?:(Z)|([-+])(\d\d?)(?::?(\d\d))?)?)?$`)

// parseTime reads a timestamp of YAML 1.1; without a zone it is UTC.
func parseTime(text string) (time.Time, error) {
	m := timestamp.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, fmt.Errorf("%q is not a time, as 2026-11-21T04:53:59Z", text)
	}
	if m[2] == "" {
		return time.Parse("2006-1-2", m[1])
	}
	zone := "+00:00"
	if m[5] != "" {
		zone = fmt.Sprintf("%s%02s:%02s", m[5], m[6], m[7])
	}
	return time.Parse("2006-1-2 15:4:5.999999999-07:00", m[1]+" "+m[2]+strings.TrimSuffix(m[3], ".")+strings.ReplaceAll(zone, " ", "0"))
}
