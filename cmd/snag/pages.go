package main

import (
	"bufio"
	"context"
	"debug/elf"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// unusedAfter is when what only the start needed is given back: that of the program,
// and once the first streams are read that of their connections.
var unusedAfter = []time.Duration{0, 10 * time.Second}

func giveBackStart(ctx context.Context) {
	for _, d := range unusedAfter {
		if rest(ctx, d); ctx.Err() != nil {
			return
		}
		giveBackPages()
	}
}

// giveBack gives back what one part of a command needed and the next does not: pages
// of the program, and memory that is free, which the heap would else keep for a while.
func giveBack() {
	giveBackPages()
	debug.FreeOSMemory()
}

// giveBackPages takes the pages of the program's own file out of this process once it
// has started: the start runs through the tables of every package, of which a watch
// needs few. They are clean pages of the page cache; those that are used come back by
// themselves, from there.
func giveBackPages() {
	if !isStatic("/proc/self/exe") {
		return
	}
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return // it costs what it costs
	}
	defer f.Close()
	own, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	for s := bufio.NewScanner(f); s.Scan(); {
		if from, to, ok := readOnly(s.Text(), own); ok {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED)
		}
	}
}

// isStatic reports whether nothing in a program's file is changed when it is loaded: it
// lies where it was linked to, and no loader fills in addresses, which would be lost.
func isStatic(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Type == elf.ET_EXEC && !slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
}

// readOnly reads a line of /proc/PID/maps (proc_pid_maps(5)): whether it is a mapping
// of that file that nobody writes to.
func readOnly(line, file string) (from, to uintptr, ok bool) {
	span, rest, _ := strings.Cut(line, " ")
	if !strings.HasSuffix(rest, " "+file) || len(rest) < 4 || rest[1] != '-' {
		return 0, 0, false
	}
	a, b, _ := strings.Cut(span, "-")
	low, err1 := strconv.ParseUint(a, 16, 64)
	high, err2 := strconv.ParseUint(b, 16, 64)
	return uintptr(low), uintptr(high), err1 == nil && err2 == nil && low < high
}
