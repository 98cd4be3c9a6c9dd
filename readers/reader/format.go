package reader

import (
	"context"
	"strings"
	"time"

	"snag/recording"
)

// Format is one kind of file that others write.
type Format struct {
	Name  string // as coverage names it: "strace"
	About string
	// Sniff tells by a file's beginning, unpacked, whether it is of this kind.
	Sniff func(head []byte) bool
	// Read reads a file to its end and hands its rows to out, their times as
	// recording.Time. What it could not read it says in Told; an error is only what
	// keeps it from going on.
	Read func(ctx context.Context, in *Input, o Options, out recording.Sink) (Told, error)
	// Whole: nothing of a file can be read unless all of it is there.
	Whole bool
	// ReadSet reads files that belong together as one: NAME.PID each, or of one SetOf; nil
	// where the format has no sets.
	ReadSet func(ctx context.Context, in []*Input, o []Options, out recording.Sink) (Told, error)
	// SetOf is the set that a file is of by its name; "": of none. nil where the names are NAME.PID.
	SetOf func(path string) string
	// Named tells by a file's name what its content alone can't, of files that were found
	// in a folder; nil where the format has no such.
	Named func(path string, head []byte) bool
	// Together: all files of this format that are in one folder and of one host are read
	// as one set.
	Together bool
}

// Options are what the user told of a file.
type Options struct {
	// Zone is that of times without one.
	Zone *time.Location
	// Modified is when the file was last written: the day of times that name none.
	Modified time.Time
	// Find is a text to look for in what the file holds; "": none.
	Find string
	// Map is a file of named patterns for logs, or the name of one that is ready; "" is
	// none.
	Map string
	// PID is the process of what names none; 0: not known.
	PID int
	// From and To bound the times that are asked for; 0: none. What lies outside is left out of the
	// recording however a format reads it.
	From, To recording.Time
	// Only is a filter of packets, as tcpdump has them; "": all. It is of captures.
	Only string
	// Root is the folder that was given and in which the file was found; "" where the
	// file itself was given.
	Root string
}

// Told is what a file held.
type Told struct {
	First, Last recording.Time // of its lines; 0: it has no times
	Coverage    []recording.Coverage
	Facts       []recording.Fact
	Lines       uint64
	Foreign     uint64 // of the lines: nothing of the format, or damaged
	// Doubts are sentences on what could not be read, or not be told for certain.
	Doubts []string
	// Host that the file names as its own: "" where it names none, or several.
	Host string
	// Snapshot: all of it is of one moment. Two of one host make rates.
	Snapshot bool
	// Moments are when each measure of counters was read. It was measured where there are
	// two, of this file and those that are of its host: a total alone tells no growth.
	Moments map[string][]recording.Time
	// Machine is what the file tells of its host, beside its name.
	Machine Machine
	// Boot is when its host was booted; 0: not told.
	Boot recording.Time
}

// Machine is what is known of a host; zero values are not known.
type Machine struct {
	Kernel, Arch   string
	CPUs, PageSize int
}

// Counts reports whether a series only grows until the host is booted.
func Counts(name string) bool {
	for _, family := range []string{"node_netstat_", "node_ethtool_", "node_vmstat_", "node_nf_conntrack_stat_"} {
		if rest, ok := strings.CutPrefix(name, family); ok {
			return rest != "Tcp_CurrEstab" && !strings.HasPrefix(rest, "nr_")
		}
	}
	return strings.HasSuffix(name, "_total")
}
