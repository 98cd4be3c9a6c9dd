package logs

import (
	"bufio"
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// A map is a text file of patterns. Each line is what lines that match tell, and a
// regular expression in which %{NAME} and %{NAME:group} stand for named patterns:
//
//	# comment
//	define CAM cam\d+
//	freeze   no frames of %{CAM:stream} for %{NUMBER:seconds} s
//	refused  publish of %{CAM:stream} from %{IP:peer} rejected
//	skip     health check
//
// The first that matches counts. Groups that are known: stream, peer, member, process,
// pid, host, local, seconds, status, request_time, upstream, upstream_time, bytes_in,
// bytes_out, errno, call. The time is the line's own and needs no group.

// rule is one line of a map.
type rule struct {
	what    string
	re      *regexp.Regexp
	literal []byte
	groups  []string
	at      int // its line
}

var ruleName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,40}$`)

// skip is the rule of lines that tell nothing.
const skip = "skip"

// mostRules of a map.
const mostRules = 1000

// readMap reads a map.
func readMap(name string, r io.Reader) ([]*rule, error) {
	var rules []*rule
	own := map[string]string{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		what, pattern, _ := strings.Cut(line, " ")
		pattern = strings.TrimSpace(pattern)
		if what == "define" {
			var ok bool
			if what, pattern, ok = strings.Cut(pattern, " "); !ok || !regexp.MustCompile(`^\w+$`).MatchString(what) {
				return nil, fmt.Errorf("%s:%d: write define NAME REGEXP", name, n)
			}
			own[what] = strings.TrimSpace(pattern)
			continue
		}
		if !ruleName.MatchString(what) || pattern == "" {
			return nil, fmt.Errorf("%s:%d: write what such a line means and a pattern, as: refused publish of %%{NOTSPACE:stream} from %%{IP:peer} rejected", name, n)
		}
		text, err := expand(pattern, own)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		re, err := regexp.Compile(text)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		if len(rules) >= mostRules {
			return nil, fmt.Errorf("%s:%d: a map has %d patterns at most", name, n, mostRules)
		}
		rules = append(rules, &rule{what, re, []byte(literal(text)), re.SubexpNames(), n})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(rules) == 0 {
		return nil, fmt.Errorf("%s: no pattern is in it", name)
	}
	return rules, nil
}

// apply reports whether a message matches, and takes what its groups name.
func (r *rule) apply(message []byte, e *entry) bool {
	if len(r.literal) > 0 && !bytes.Contains(message, r.literal) {
		return false
	}
	m := r.re.FindSubmatchIndex(message)
	if m == nil {
		return false
	}
	if r.what == skip {
		return true
	}
	if e.what = r.what; e.what == "request" {
		e.what, e.request = "", true
	}
	var addrs, times []byte
	for i, group := range r.groups {
		if group == "" || m[2*i] < 0 {
			continue
		}
		value := message[m[2*i]:m[2*i+1]]
		switch group {
		case "stream":
			e.stream = value
		case "peer":
			e.peer = value
		case "member":
			e.member = value
		case "process":
			e.process = value
		case "pid":
			e.pid = number(value)
		case "host":
			e.host = value
		case "local":
			e.local = value
		case "seconds":
			e.lasted = decimal(value)
		case "level":
			e.level = levelOf(value)
		case "status", "request_time":
			e.field([]byte(group), value)
		case "upstream":
			addrs = value
		case "upstream_time":
			times = value
		case "bytes_in":
			e.in = int64(number(value))
		case "bytes_out":
			e.out = int64(number(value))
		case "errno":
			e.errno = errnoOf(string(value))
		case "call":
			e.call = string(value)
		}
	}
	if times != nil {
		e.addUpstreams(addrs, times)
	}
	e.session = e.session || slices.Contains([]string{disconnect, unpublished, stop}, e.what) && e.lasted >= 0
	return true
}

// errnoOf takes a name (ECONNRESET), or Linux' number, or the words of it.
func errnoOf(text string) string {
	if strings.HasPrefix(text, "E") {
		return text
	}
	switch text {
	case "32":
		return "EPIPE"
	case "104":
		return "ECONNRESET"
	case "110":
		return "ETIMEDOUT"
	case "111":
		return "ECONNREFUSED"
	case "24":
		return "EMFILE"
	}
	for _, f := range failures {
		if strings.Contains(text, f.text) {
			return f.errno
		}
	}
	return ""
}

//go:embed maps
var maps embed.FS

// Maps are the names of those that are ready.
func Maps() []string {
	entries, err := maps.ReadDir("maps")
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), ".map"))
	}
	return out
}

// rulesOf reads a map: one that is ready by its name, else a file.
func rulesOf(name string) ([]*rule, error) {
	if name == "" {
		return nil, nil
	}
	if r := ready(name); r != nil {
		return readMap(name, r)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read the map %s: %w (ready are %s)", name, errors.Unwrap(err), strings.Join(Maps(), ", "))
	}
	defer f.Close()
	return readMap(name, f)
}

// ready is one of them; nil where there is none of that name.
func ready(name string) io.Reader {
	b, err := maps.ReadFile("maps/" + name + ".map")
	if err != nil {
		return nil
	}
	return bytes.NewReader(b)
}
