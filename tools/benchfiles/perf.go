package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// load of the profile: programs with short stacks and long ones, and the kernel's.
const profiled = `
python3 -c 'import json, re, ast
for i in range(40): json.loads(json.dumps([{"a": [1, 2, {"b": "c" * 20}]}] * 20000)); re.findall("(c+)b?", "ccccb" * 5000); ast.parse("a = (1 + 2) * [3, 4][0]\n" * 3000)' &
tar cf - /usr/lib/python3 2>/dev/null | gzip -9 >/dev/null &
find /usr -type f 2>/dev/null | sort -r | sha256sum >/dev/null &
wait
`

// profiles makes the text of perf script from a profile of real programs.
func profiles(m maker) ([]input, error) {
	data, seed := filepath.Join(m.dir, "perf.data"), filepath.Join(m.dir, "seed")
	if err := m.run("perf", "record", "-q", "-e", "cpu-clock", "-F", "997", "-a", "-g", "-o", data, "--", "sh", "-c", profiled); err != nil {
		return nil, err
	}
	text, err := exec.CommandContext(m.ctx, "perf", "script", "-i", data).Output()
	if err != nil {
		return nil, fmt.Errorf("perf script: %w", err)
	}
	if err := os.WriteFile(seed, text, 0o644); err != nil {
		return nil, err
	}
	span := profileSpan(text)
	path := filepath.Join(m.dir, "perf.txt")
	err = multiply(m.ctx, seed, path, m.bytes, func(dst, line []byte, turn int) []byte {
		return shiftSample(dst, line, int64(turn)*span)
	})
	if err != nil {
		return nil, err
	}
	collapse := os.Getenv("STACKCOLLAPSE_PERF") // of brendangregg/FlameGraph, which no registry has
	if collapse == "" {
		collapse = filepath.Join(m.tools, "bin", "stackcollapse-perf.pl")
	}
	inferno := filepath.Join(m.tools, "bin", "inferno-collapse-perf")
	return []input{{title: "perf script (-a -g, 997 Hz)", path: path, peers: []peer{
		grep("cpu-clock"),
		{name: "inferno-collapse-perf", command: []string{inferno, "FILE"}},
		{name: "inferno-collapse-perf, one thread", command: []string{inferno, "-n", "1", "FILE"}},
		{name: "stackcollapse-perf.pl", command: []string{collapse, "FILE"}, once: true},
	}, goals: []goal{{"CPU", grepName, 4}, {"CPU", "inferno-collapse-perf", 1. / 3}, {"RSS", "", 80}}}}, nil
}

// sampleTime finds the time of a sample's first line: "python3 812 [001]  12.345678:
// 250000 cpu-clock: ".
func sampleTime(line []byte) (from int, units, perSecond int64, rest []byte, ok bool) {
	if len(line) == 0 || line[0] == '\t' || line[0] == '\n' || line[0] == ' ' && bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("f")) {
		return 0, 0, 0, nil, false
	}
	i := bytes.IndexByte(line, ']')
	if i < 0 {
		return 0, 0, 0, nil, false
	}
	for i++; i < len(line) && line[i] == ' '; i++ {
	}
	units, perSecond, rest, ok = stamp(line[i:])
	return i, units, perSecond, rest, ok && len(rest) > 0 && rest[0] == ':'
}

func profileSpan(text []byte) int64 {
	var first, last int64
	for line := range bytes.Lines(text) {
		if _, t, _, _, ok := sampleTime(line); ok {
			if first == 0 {
				first = t
			}
			last = max(last, t)
		}
	}
	return last - first + 1000
}

func shiftSample(dst, line []byte, by int64) []byte {
	i, t, perSecond, rest, ok := sampleTime(line)
	if !ok {
		return append(dst, line...)
	}
	dst = append(dst, line[:i]...)
	return append(appendStamp(dst, t+by, perSecond), rest...)
}
