package runtimes

import (
	"bufio"
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path"
	"strings"
)

// runtime is what runs a program.
type runtime string

// Runtimes that are told apart.
const (
	golang runtime = "Go"
	node   runtime = "Node"
	python runtime = "Python"
	ruby   runtime = "Ruby"
	dotnet runtime = ".NET"
	other  runtime = ""
)

// recognise reports what runs a process: Go by what its linker leaves in every program,
// the others by the program's name or a library that only they have.
func recognise(proc string, pid int) runtime {
	dir := fmt.Sprintf("%s/%d", proc, pid)
	exe, err := os.Readlink(dir + "/exe")
	if err != nil {
		return other
	}
	if r := byName(path.Base(strings.TrimSuffix(exe, " (deleted)"))); r != other {
		return r
	}
	if isGo(dir + "/exe") {
		return golang
	}
	maps, err := os.Open(dir + "/maps")
	if err != nil {
		return other
	}
	defer maps.Close()
	return byLibrary(bufio.NewScanner(maps))
}

// byName knows the programs that others' code runs in: node, python3.11, ruby, dotnet.
func byName(base string) runtime {
	switch strings.TrimRight(base, "0123456789.") {
	case "node", "nodejs":
		return node
	case "python":
		return python
	case "ruby":
		return ruby
	case "dotnet":
		return dotnet
	}
	return other
}

// byLibrary knows programs that have such a runtime inside (uWSGI, Phusion Passenger, a
// single-file .NET program).
func byLibrary(maps *bufio.Scanner) runtime {
	for maps.Scan() {
		line := maps.Bytes()
		base := line[bytes.LastIndexByte(line, '/')+1:]
		switch {
		case bytes.HasPrefix(base, []byte("libpython")):
			return python
		case bytes.HasPrefix(base, []byte("libruby")):
			return ruby
		case bytes.HasPrefix(base, []byte("libcoreclr.so")):
			return dotnet
		case bytes.HasPrefix(base, []byte("libnode.so")):
			return node
		}
	}
	return other
}

// isGo looks for what Go's linker leaves in every program, stripped or not.
func isGo(file string) bool {
	f, err := elf.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	for _, name := range []string{".gopclntab", ".data.rel.ro.gopclntab"} {
		if f.Section(name) != nil {
			return true
		}
	}
	return false
}
