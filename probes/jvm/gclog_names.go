package jvm

import (
	"path"
	"strings"
)

// logsWanted are the logs that a JVM was told to write of its collections: the last
// parts of their paths, in which * stands for what the JVM puts in (%p, %t, %hn), and
// whether they go to its standard output. What it really writes its descriptors tell;
// these names pick among them.
type logsWanted struct {
	names  []string
	stdout bool
}

// wantedLogs reads a command line as /proc has it: parts that end with a zero byte. Options may
// be in the environment too (JDK_JAVA_OPTIONS), which is not read, as it holds what gives access:
// such a log is found by its name and its first lines.
func wantedLogs(cmdline string) logsWanted {
	var w logsWanted
	args := strings.Split(cmdline, "\x00")
	legacy, file := false, false // JDK 8
	for _, arg := range args {
		arg = strings.Trim(arg, `"'`)
		switch {
		case strings.HasPrefix(arg, "-Xloggc:"):
			w.add(strings.TrimPrefix(arg, "-Xloggc:"))
			file = true
		case strings.HasPrefix(arg, "-Xlog:"):
			w.unified(strings.TrimPrefix(arg, "-Xlog:"))
		case arg == "-verbose:gc", arg == "-Xlog", strings.HasPrefix(arg, "-XX:+PrintGC"):
			legacy = true
		}
	}
	w.stdout = w.stdout || legacy && !file
	return w
}

// unified reads "what:output:decorations:options" (java -Xlog:help). Only selections
// that name gc or safepoint, or all, hold what is looked for.
func (w *logsWanted) unified(text string) {
	what, rest, _ := strings.Cut(text, ":")
	if !strings.Contains(what, "gc") && !strings.Contains(what, "safepoint") && !strings.Contains(what, "all") && what != "" {
		return
	}
	var output string
	if strings.HasPrefix(rest, `file="`) {
		output, _, _ = strings.Cut(strings.TrimPrefix(rest, `file="`), `"`)
	} else {
		output, _, _ = strings.Cut(rest, ":")
	}
	switch output = strings.Trim(strings.TrimPrefix(output, "file="), `"`); output {
	case "", "stdout", "stderr":
		w.stdout = true
	case "disable", "none":
	default:
		w.add(output)
	}
}

func (w *logsWanted) add(file string) {
	name := path.Base(file)
	for _, p := range []string{"%hn", "%p", "%t"} {
		name = strings.ReplaceAll(name, p, "*")
	}
	if name != "." && name != "/" && name != "" {
		w.names = append(w.names, name)
	}
}

// is reports whether an open file is one of those: JDK 8 writes to "gc.log.0.current"
// where it rotates.
func (w *logsWanted) is(file string) bool {
	name := path.Base(file)
	name = strings.TrimSuffix(name, ".current")
	for _, pattern := range w.names {
		if like(pattern, name) || like(pattern, strings.TrimRight(strings.TrimRight(name, "0123456789"), ".")) {
			return true
		}
	}
	return false
}

// like compares a name with a pattern in which * is any text.
func like(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	if !strings.HasPrefix(name, parts[0]) {
		return false
	}
	name = name[len(parts[0]):]
	for _, p := range parts[1 : len(parts)-1] {
		at := strings.Index(name, p)
		if at < 0 {
			return false
		}
		name = name[at+len(p):]
	}
	return strings.HasSuffix(name, parts[len(parts)-1])
}

// maybeLog tells an open file that an operator may have had the JVM write (jcmd PID
// VM.log output=…): by its name.
func maybeLog(file string) bool {
	name := strings.ToLower(path.Base(file))
	return strings.Contains(name, "gc") && !strings.HasSuffix(name, ".jar") || strings.Contains(name, "safepoint")
}
