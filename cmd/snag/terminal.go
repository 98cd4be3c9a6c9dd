package main

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// isTerminal tells whether a person sees what is written there: /dev/null is a
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

// rows is how many lines of a verdict a terminal shows at once, where that is more
// than the verdict keeps to by itself; else 0: a low terminal is scrolled, and costs
// no evidence.
func rows() int {
	const lowest, most = 42, 60
	s, err := unix.IoctlGetWinsize(int(os.Stdout.Fd()), unix.TIOCGWINSZ)
	if err != nil || s.Row < lowest {
		return 0
	}
	return min(int(s.Row)-1, most) // the prompt has a line too
}
