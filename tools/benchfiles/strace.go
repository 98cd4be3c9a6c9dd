package main

import (
	"bytes"
	_ "embed"
	"os"
	"path/filepath"
	"time"
)

//go:embed programs/relay.py
var relay string

// traces makes one trace of nginx and of a relay, plain and packed.
func traces(m maker) ([]input, error) {
	seed := filepath.Join(m.dir, "seed")
	if err := m.nginx(func(s site) error {
		return m.run(s.load(3 * time.Second)...)
	}, "strace", "-f", "-ttt", "-T", "-yy", "-o", seed); err != nil {
		return nil, err
	}
	second := seed + "2"
	if err := m.run("strace", "-f", "-ttt", "-T", "-yy", "-o", second, "python3", "-c", relay, "6"); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(second)
	if err == nil {
		err = appendTo(seed, b)
	}
	if err != nil {
		return nil, err
	}
	span, err := spanOf(seed)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(m.dir, "trace")
	err = multiply(m.ctx, seed, path, m.bytes, func(dst, line []byte, turn int) []byte {
		return shiftTrace(dst, line, int64(turn), span)
	})
	if err != nil {
		return nil, err
	}
	if err := m.run("gzip", "-k", path); err != nil {
		return nil, err
	}
	if err := m.run("zstd", "-q", path); err != nil {
		return nil, err
	}
	parser := filepath.Join(m.tools, "bin", "strace-parser")
	return []input{
		{title: "strace -f -ttt -T -yy", path: path, peers: []peer{
			grep("resumed"),
			{name: "strace-parser", command: []string{parser, "FILE", "summary"}, once: true},
			{name: "mawk, bytes by descriptor", command: []string{"mawk", `{ if (match($0, /(read|recvfrom|write|sendto)\([0-9]+/)) { k = substr($0, RSTART, RLENGTH); if (match($0, /\) += [0-9]+/)) { s = substr($0, RSTART, RLENGTH); sub(/.*= /, "", s); b[k] += s; n[k]++ } } } END { for (k in b) print k, n[k], b[k] }`, "FILE"}, once: true},
			{name: "perl, bytes by descriptor", command: []string{"perl", "-ne", `if (/(read|recvfrom|write|sendto)\((\d+).*\) += (\d+)/) { $b{"$1 $2"} += $3; $n{"$1 $2"}++ } END { print "$_ $n{$_} $b{$_}\n" for keys %b }`, "FILE"}, once: true},
		}, goals: []goal{{"CPU", grepName, 4.5}, {"wall", grepName, 2.5}, {"CPU", "strace-parser", 0.25}, {"RSS", "", 80}}},
		{title: "the same, gzip", path: path + ".gz", peers: []peer{{name: "gzip -dc", command: []string{"gzip", "-dc", "FILE"}}},
			goals: []goal{{"CPU", "gzip -dc", 1.4}, {"wall", "gzip -dc", 1.4}, {"RSS", "", 80}}},
		{title: "the same, zstd", path: path + ".zst", peers: []peer{{name: "zstd -dc", command: []string{"zstd", "-dc", "FILE"}}},
			goals: []goal{{"RSS", "", 80}}},
	}, nil
}

// spanOf is how long a trace is, µs, with a little to spare.
func spanOf(path string) (int64, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	var first, last int64
	for line := range bytes.Lines(b) {
		_, rest := number(line)
		t, _, _, ok := stamp(bytes.TrimLeft(rest, " "))
		if !ok {
			continue
		}
		if first == 0 {
			first = t
		}
		last = max(last, t)
	}
	if first == 0 {
		return 0, errEmpty
	}
	return last - first + 1000, nil
}

// shiftTrace moves a line's time and thread, and the thread that a clone gave.
func shiftTrace(dst, line []byte, turn, span int64) []byte {
	const apart = 1000 // of the threads of two turns
	pid, rest := number(line)
	rest = bytes.TrimLeft(rest, " ")
	t, perSecond, rest, ok := stamp(rest)
	if !ok {
		return append(dst, line...)
	}
	dst = append(appendInt(dst, pid+turn*apart), ' ')
	dst = appendStamp(dst, t+turn*span, perSecond)
	if i := bytes.LastIndex(rest, []byte(") = ")); i > 0 && bytes.HasPrefix(rest, []byte(" clone")) {
		if child, after := number(rest[i+4:]); child > 0 {
			dst = append(dst, rest[:i+4]...)
			return append(appendInt(dst, child+turn*apart), after...)
		}
	}
	return append(dst, rest...)
}
