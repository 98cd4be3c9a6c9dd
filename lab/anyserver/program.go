package anyserver

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"snag/lab"
	"snag/lab/drawn"
)

// program is what the server is started by, without its arguments.
func program(b *drawn.Bench, name string, o Options) []string {
	switch o.Language {
	case C:
		built := filepath.Join(b.Dir(), "any-server")
		compile(b, built, "cc", "-O1", "-o", built, source(b, "c/any-server.c"), "-lpthread")
		bin := filepath.Join(b.Dir(), name) // the process takes its name from it
		if err := os.Link(built, bin); err != nil && b.Err() == nil {
			b.Fail(name, fmt.Errorf("name the program: %w", err))
		}
		return []string{bin}
	case Java:
		// A compiler of the JVM's first tier: javac is done before the second pays.
		compile(b, filepath.Join(b.Dir(), "AnyServer*.class"), "javac", "-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-proc:none",
			"-d", b.Dir(), source(b, "java/AnyServer.java"))
		flags := o.JVM
		if len(flags) == 0 {
			flags = []string{"-XX:+UseSerialGC", "-Xmx128m"}
		}
		return slices.Concat([]string{"java"}, flags, []string{"-XX:TieredStopAtLevel=1", "-Dsun.net.inetaddr.ttl=0", "-Dsun.net.inetaddr.negative.ttl=0", "-cp", b.Dir(), "AnyServer"})
	case Python:
		return []string{"/usr/bin/python3", source(b, "script/any-server.py")}
	case Node:
		return []string{"node", source(b, "script/any-server.js")}
	}
	self, err := os.Executable()
	if err != nil {
		b.Fail(name, fmt.Errorf("find the running binary: %w", err))
	}
	return []string{self, lab.ActorCommand, "any-server", "--comm", name}
}

// kept are the files that a compiler made, by its name: the runs of one program compile
// once.
var (
	keeping sync.Mutex
	kept    = map[string]map[string][]byte{}
)

// compile has a compiler make the files of a pattern, or writes those that it made before.
func compile(b *drawn.Bench, pattern string, argv ...string) {
	keeping.Lock()
	defer keeping.Unlock()
	files := kept[argv[0]]
	if files == nil {
		b.Command("", argv...)
		names, err := filepath.Glob(pattern)
		files = map[string][]byte{}
		for _, name := range names {
			raw, readErr := os.ReadFile(name)
			if readErr != nil {
				err = readErr
			}
			files[filepath.Base(name)] = raw
		}
		if err != nil || b.Err() != nil {
			b.Fail(argv[0], fmt.Errorf("keep what it made: %w", err))
			return
		}
		kept[argv[0]] = files
		return
	}
	for name, raw := range files {
		path := filepath.Join(b.Dir(), name)
		if _, err := os.Stat(path); err == nil {
			continue // another server of the stage runs from it
		}
		if err := os.WriteFile(path, raw, 0o755); err != nil {
			b.Fail(argv[0], fmt.Errorf("write what it made: %w", err))
		}
	}
}

func source(b *drawn.Bench, path string) string {
	text, err := sources.ReadFile(path)
	if err != nil {
		b.Fail(path, err)
	}
	return b.File(filepath.Base(path), string(text))
}
