package main

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// isTerminal reports whether a person sees what is written there: /dev/null is a
// character device as well, and no terminal.
func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil && os.Getenv("TERM") != "dumb"
}

// The widths that tables are made for: below, what they say would be cut; above, the
// eye loses the line.
const narrowest, widest = 60, 160

// columns is how wide standard output is: as COLUMNS says, else as the terminal does;
// 0 where neither is known (a pipe, a file).
func columns() int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return min(max(n, narrowest), widest)
	}
	if s, err := unix.IoctlGetWinsize(int(os.Stdout.Fd()), unix.TIOCGWINSZ); err == nil && s.Col > 0 {
		return min(max(int(s.Col), narrowest), widest)
	}
	return 0
}

// rows is how many lines of a verdict the terminal shows at once; 0 where that is not known (a pipe, a file).
func rows() int {
	s, err := unix.IoctlGetWinsize(int(os.Stdout.Fd()), unix.TIOCGWINSZ)
	if err != nil || s.Row == 0 {
		return 0
	}
	return rowsFor(int(s.Row))
}

// rowsFor leaves a line to the prompt. A verdict does not become shorter than on 24 lines, which nearly every terminal
// has: a lower one is scrolled.
func rowsFor(terminal int) int {
	const lowest, most = 24, 61
	return min(max(terminal, lowest), most) - 1
}
