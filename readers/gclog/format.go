package gclog

import (
	"bytes"
	"context"
	"path"
	"strconv"
	"strings"

	"snag/internal/gclog"
	"snag/readers/reader"
	"snag/recording"
	"snag/recording/jvmlog"
)

// Format is what snag read needs of it.
var Format = reader.Format{
	Name:  "gclog",
	About: "what a JVM logged of its collections (-Xlog:gc*,safepoint, or -XX:+PrintGCDetails)",
	Sniff: Sniff,
	Read:  read,
}

// marks are words of which each line of such a log has one, but for some details. The second row is
// of what JDK 5 to 8 print beside the collections: the heap (PrintHeapAtGC), ages
// (PrintTenuringDistribution), sizes (PrintAdaptiveSizePolicy) and free lists (PrintFLSStatistics).
var marks = words(
	"gc", "GC", "safepoint", "application threads", "Heap", "[Times:", "CMS",
	"[Pause ", "[Concurrent ", " workers for ", "Pacer for ", // Shenandoah
	"[0x", "Desired survivor", "- age ", "AdaptiveSize", "avg_", "BinaryTreeDictionary", "Free Space:", "Chunk Size:", "Number of Blocks:", "Block  Size:", "Height:", "---------",
)

func words(all ...string) (out [][]byte) {
	for _, w := range all {
		out = append(out, []byte(w))
	}
	return out
}

// marked tells a line of such a log from one of a service's.
func marked(line []byte) bool {
	for _, m := range marks {
		if bytes.Contains(line, m) {
			return true
		}
	}
	return unified(line) || isDetail(line)
}

// isDetail tells a line of what G1 prints of one collection: "   [Parallel Time: 6.2 ms]", and
// below it "       Avg: 134.5, Min: …".
func isDetail(line []byte) bool {
	text := bytes.TrimLeft(line, " ")
	return len(text) < len(line) && (bytes.HasPrefix(text, []byte("[")) && bytes.ContainsRune(text, ':') || bytes.HasPrefix(text, []byte("Avg:")))
}

// unified tells a line of -Xlog by its decorations: all are in brackets, and one of them is the
// level. What else is logged (os, class, startuptime) has no word of a collection.
func unified(line []byte) bool {
	level := false
	for len(line) > 0 && line[0] == '[' {
		end := bytes.IndexByte(line, ']')
		if end < 0 {
			return false
		}
		level = level || isLevel(string(bytes.TrimSpace(line[1:end])))
		line = line[end+1:]
	}
	return level
}

// Sniff tells a log of collections: something in its beginning is told, and one line
// in four has a word of it. A service's log with a few such lines among its own is
// read as that.
func Sniff(head []byte) bool {
	events := 0
	var r gclog.Reader
	r.Feed(head, func(*gclog.Event) { events++ })
	if events == 0 && r.Collector() == "" && !taggedGC(head) && !bytes.Contains(head, []byte(logFile)) {
		return false
	}
	lines, of := 0, 0
	for len(head) > 0 && lines < 400 {
		var line []byte
		line, head, _ = bytes.Cut(head, []byte("\n"))
		lines++
		if marked(line) {
			of++
		}
	}
	return 4*of >= lines
}

// logFile stands in the first and the last line of each file of a rotated set (JDK 7 and 8).
const logFile = " GC log file "

// fewTagged lines of -Xlog with the tag gc are a log of collections, though no collection is in its
// beginning: a JVM says much when it starts.
const fewTagged = 3

func taggedGC(head []byte) bool {
	n := 0
	for line := range bytes.Lines(head) {
		if unified(line) && (bytes.Contains(line, []byte("[gc]")) || bytes.Contains(line, []byte("[gc,"))) {
			n++
		}
	}
	return n >= fewTagged
}

// Rotated files get a number, or .current: the log's own name is before that.
func stem(file string) string {
	name := strings.TrimSuffix(strings.TrimSuffix(file, ".gz"), ".zst")
	name = strings.TrimSuffix(name, ".current")
	bare := strings.TrimRight(name, "0123456789")
	if s, ok := strings.CutSuffix(bare, "."); ok && bare != name {
		return s
	}
	return name
}

// fewPIDs: gc.log.12 is the twelfth of a rotated set and not of a process.
const fewPIDs = 100

// subjectOf is the JVM that wrote a log: its process where decorations or the file's
// name have it, else one that stands in for it.
func subjectOf(file string, named int, head []byte) recording.Subject {
	sub := recording.Subject{Kind: recording.KindProcess, Comm: "java"}
	switch pid := pidOf(head); {
	case pid > 0:
		sub.PID = pid
	case named > fewPIDs:
		sub.PID = named
	default:
		sub.PID = recording.StandIn(stem(file))
		sub.Comm = jvmlog.Shown("java of " + path.Base(stem(file)))
	}
	return sub
}

// pidOf reads the process off the decorations: the first of them that is a bare number,
// where all lines have the same (a thread's would change).
func pidOf(head []byte) int {
	pid, lines := 0, 0
	for len(head) > 0 {
		line, rest, whole := bytes.Cut(head, []byte("\n"))
		head = rest
		if !whole {
			break
		}
		n := 0
		for len(line) > 0 && line[0] == '[' && n == 0 {
			end := bytes.IndexByte(line, ']')
			if end < 0 {
				break
			}
			n, _ = strconv.Atoi(string(bytes.TrimSpace(line[1:end])))
			line = line[end+1:]
		}
		if n == 0 {
			continue
		}
		if pid != 0 && n != pid {
			return 0
		}
		pid, lines = n, lines+1
	}
	if lines < 3 || pid < 0 || recording.StandsIn(pid) {
		return 0
	}
	return pid
}

func read(ctx context.Context, in *reader.Input, o reader.Options, out recording.Sink) (reader.Told, error) {
	l := newLog(subjectOf(in.Path, o.PID, in.Head()), recording.Time(o.Modified.UnixNano()))
	host := hostOf(in.Head())
	l.flags, l.first = flagsOf(in.Head()), gclog.FirstStamp(in.Head())
	var r gclog.Reader
	buf := make([]byte, 256<<10)
	var failed error
	for failed == nil && ctx.Err() == nil {
		n, err := in.Read(buf)
		r.Feed(buf[:n], l.take)
		l.lines += uint64(bytes.Count(buf[:n], []byte("\n")))
		l.lastLine(buf[:n])
		if failed = err; n > 0 && buf[0] == 0 && buf[n-1] == 0 {
			in.SkipHole()
		}
	}
	r.End(l.take)
	told := l.end(in.Path, out)
	told.Host = host
	if ctx.Err() != nil {
		return told, context.Canceled
	}
	return told, in.Err()
}

// flagsOf are the JVM's arguments as JDK 5 to 8 write them first.
func flagsOf(head []byte) string {
	_, rest, ok := bytes.Cut(head, []byte("CommandLine flags: "))
	if !ok {
		return ""
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	return string(bytes.TrimSpace(line[:min(len(line), 400)]))
}

// hostOf reads the host off the decorations, where they have it: the JVM puts it right
// before the pid, the tid or the level (logDecorators.hpp), all of which are known.
func hostOf(head []byte) string {
	for range 20 {
		line, rest, _ := bytes.Cut(head, []byte("\n"))
		head = rest
		var last string
		for len(line) > 0 && line[0] == '[' {
			end := bytes.IndexByte(line, ']')
			if end < 0 {
				break
			}
			word := string(bytes.TrimSpace(line[1:end]))
			if isHost(last) && (isLevel(word) || isNumber(word)) {
				return last
			}
			last, line = word, line[end+1:]
		}
	}
	return ""
}

func isLevel(word string) bool {
	switch word {
	case "trace", "debug", "info", "warning", "error":
		return true
	}
	return false
}

func isNumber(word string) bool {
	_, err := strconv.Atoi(word)
	return err == nil
}

// isHost tells a host's name from a clock's stamp: it begins with a letter.
func isHost(word string) bool {
	if word == "" || len(word) > 64 || isLevel(word) || word[0]|0x20 < 'a' || word[0]|0x20 > 'z' {
		return false
	}
	return strings.Trim(strings.ToLower(word), "abcdefghijklmnopqrstuvwxyz0123456789.-_") == ""
}
