package main

import (
	"fmt"

	"github.com/spf13/pflag"
)

// elsewhere is what snag find --fleet says to the process that judges what other hosts recorded.
type elsewhere struct {
	kept string // the folder in which the user finds it later; "": none
	rows int    // of the terminal that are left; 0: it is not known how many
}

func (f *readFlags) registerFetched(flags *pflag.FlagSet) {
	flags.BoolVar(&f.fetched, "fetched", false, "keep the bounds of judge, and give up all privileges")
	flags.StringVar(&f.of.kept, "kept", "", "the folder in which the user finds it later")
	flags.IntVar(&f.of.rows, "rows", 0, "how many lines the verdict may have")
	for _, name := range []string{"fetched", "kept", "rows"} {
		_ = flags.MarkHidden(name) // for snag find --fleet itself
	}
}

// mostBounds is how many times the memory of one recording several together may take.
const mostBounds = 4

// asFetched keeps the bounds for files that other hosts sent, and gives up all privileges.
func (f *readFlags) asFetched(files int) error {
	f.show.elsewhere = &f.of
	boundTimes(fmt.Sprintf("%d recordings together", files), min(files, mostBounds))
	return dropPrivileges()
}
