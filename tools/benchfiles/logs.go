package main

import (
	"bytes"
	_ "embed"
	"os"
	"path/filepath"
	"time"
)

//go:embed programs/Garbage.java
var garbage string

// gcLogs makes the logs of five collectors.
func gcLogs(m maker) (inputs []input, err error) {
	program := filepath.Join(m.dir, "Garbage.java")
	if err := os.WriteFile(program, []byte(garbage), 0o644); err != nil {
		return nil, err
	}
	viewer := []string{"java", "-Djava.awt.headless=true", "-jar", filepath.Join(m.tools, "gcviewer.jar"), "FILE", "OUT", "-t", "SUMMARY"}
	for _, c := range []string{"Serial", "Parallel", "G1", "Z", "Shenandoah"} {
		seed, path := filepath.Join(m.dir, c+".seed"), filepath.Join(m.dir, c+".log")
		flags := []string{"java", "-Xmx96m", "-XX:+Use" + c + "GC", "-Xlog:gc*,safepoint:file=" + seed + ":uptime,level,tags:filecount=0", program, "4"}
		if err := m.run(flags...); err != nil {
			return nil, err
		}
		b, err := os.ReadFile(seed)
		if err != nil {
			return nil, err
		}
		span, collections := logSpan(b)
		err = multiply(m.ctx, seed, path, m.bytes, func(dst, line []byte, turn int) []byte {
			return shiftGC(dst, line, int64(turn)*span, int64(turn)*collections)
		})
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, input{title: "GC log of " + c, path: path, peers: []peer{
			grep("Pause"),
			{name: "GCViewer", command: viewer, once: true},
		}, goals: []goal{{"CPU", "GCViewer", 1. / 15}, {"RSS", "", 80}}})
	}
	return inputs, nil
}

// logSpan is how long a log is, ms, and how many collections it numbers.
func logSpan(b []byte) (span, collections int64) {
	for line := range bytes.Lines(b) {
		if len(line) > 1 && line[0] == '[' {
			if t, _, _, ok := stamp(line[1:]); ok {
				span = max(span, t)
			}
		}
		if i := bytes.Index(line, []byte(" GC(")); i >= 0 {
			n, _ := number(line[i+4:])
			collections = max(collections, n+1)
		}
	}
	return span + 10, collections
}

// shiftGC moves a line's uptime and its collection's number.
func shiftGC(dst, line []byte, by, collections int64) []byte {
	if len(line) > 1 && line[0] == '[' {
		if t, perSecond, rest, ok := stamp(line[1:]); ok {
			dst, line = appendStamp(append(dst, '['), t+by, perSecond), rest
		}
	}
	if i := bytes.Index(line, []byte(" GC(")); i >= 0 {
		n, rest := number(line[i+4:])
		dst = append(dst, line[:i+4]...)
		return append(appendInt(dst, n+collections), rest...)
	}
	return append(dst, line...)
}

const clf = "02/Jan/2006:15:04:05 -0700"

// accessLogs makes an access log of nginx, plain and packed.
func accessLogs(m maker) ([]input, error) {
	if err := m.nginx(func(s site) error { return m.run(s.load(5 * time.Second)...) }); err != nil {
		return nil, err
	}
	seed, path := filepath.Join(m.dir, "site", "access.log"), filepath.Join(m.dir, "access.log")
	b, err := os.ReadFile(seed)
	if err != nil {
		return nil, err
	}
	from, to := accessTime(b[:bytes.IndexByte(b, '\n')+1]), accessTime(b[bytes.LastIndexByte(b[:max(len(b)-1, 0)], '\n')+1:])
	span := to.Sub(from) + time.Second
	err = multiply(m.ctx, seed, path, m.bytes, func(dst, line []byte, turn int) []byte {
		i := bytes.IndexByte(line, '[')
		at := accessTime(line)
		if at.IsZero() {
			return append(dst, line...)
		}
		dst = at.Add(time.Duration(turn)*span).AppendFormat(append(dst, line[:i+1]...), clf)
		return append(dst, line[i+1+len(clf):]...)
	})
	if err != nil {
		return nil, err
	}
	if err := m.run("gzip", "-k", path); err != nil {
		return nil, err
	}
	return []input{
		{title: "nginx access log", path: path, peers: []peer{
			grep(" 404 "),
			{name: "mawk, requests by status", command: []string{"mawk", `{ n[$9]++; b[$9] += $10 } END { for (k in n) print k, n[k], b[k] }`, "FILE"}},
			{name: "perl, requests by second and status", command: []string{"perl", "-ne", `if (/\[([^\]]+)\] "[^"]*" (\d+) (\d+)/) { $n{"$1 $2"}++; $b{$2} += $3 } END { print scalar(keys %n), "\n" }`, "FILE"}, once: true},
		}, goals: []goal{{"RSS", "", 80}}},
		{title: "the same, gzip", path: path + ".gz", peers: []peer{{name: "gzip -dc", command: []string{"gzip", "-dc", "FILE"}}},
			goals: []goal{{"CPU", "gzip -dc", 1.4}, {"wall", "gzip -dc", 1.4}, {"RSS", "", 80}}},
	}, nil
}

// accessTime reads a line's time.
func accessTime(line []byte) time.Time {
	i := bytes.IndexByte(line, '[')
	if i < 0 || len(line) < i+1+len(clf) {
		return time.Time{}
	}
	t, err := time.Parse(clf, string(line[i+1:i+1+len(clf)]))
	if err != nil {
		return time.Time{}
	}
	return t
}
