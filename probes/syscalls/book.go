package syscalls

import (
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"snag/internal/peek"
	"snag/probes/probe"
	"snag/probes/syscalls/descriptor"
	"snag/recording"
)

// Bounds of what is written of descriptors, in all and of a tick.
const (
	mostFDs  = 20000
	tickFDs  = 2000
	mostOpen = 32768 // descriptors that are remembered
)

type fdKey struct{ pid, fd int }

// known is a descriptor as it was last told of.
type known struct {
	row  recording.FD
	conn peek.Conn
	new  bool // not written yet
}

// book keeps what descriptors are.
type book struct {
	env    *probe.Env
	reader *descriptor.Reader
	open   map[fdKey]*known
	fresh  []fdKey
	rows   int    // written
	left   uint64 // not written: too many
	named  int    // names learnt by peeking
	losses losses
}

func newBook(env *probe.Env) *book {
	return &book{env: env, reader: descriptor.New(env.Proc, env.Netns), open: map[fdKey]*known{}}
}

// note takes one record of the kernel side's ring.
func (b *book) note(raw []byte) {
	n, ok := decodeNote(raw, b.env.Anchor)
	if !ok {
		return
	}
	key := fdKey{n.row.PID, n.row.FD}
	k := b.open[key]
	if k == nil || !n.peeked && k.row.Inode != n.row.Inode {
		if k == nil && len(b.open) >= mostOpen {
			b.left++
			return
		}
		k = &known{row: recording.FD{PID: key.pid, FD: key.fd, Kind: "socket"}}
		b.open[key] = k
	}
	switch {
	case !n.peeked:
		carries := k.row.Carries
		k.row = n.row
		k.row.Carries = carries
	case k.conn.Learn(n.offset, n.bytes):
		b.named++
		k.row.Carries = k.conn.Name()
	default:
		return
	}
	if !k.new {
		k.new = true
		b.fresh = append(b.fresh, key)
	}
}

// complete finds out what the kernel side can't tell, and writes the new rows.
func (b *book) complete(now time.Time, t recording.Time) {
	var rows []*recording.FD
	for _, key := range b.fresh {
		k := b.open[key]
		k.new = false
		if b.rows >= mostFDs || len(rows) >= tickFDs {
			b.left++
			continue
		}
		if k.row.T == 0 {
			k.row.T = t
		}
		b.identify(&k.row)
		b.rows++
		rows = append(rows, &k.row)
	}
	b.fresh = b.fresh[:0]
	b.reader.Complete(now, rows)
	for _, row := range rows {
		b.env.Sink.Append(*row)
	}
}

// identify reads the name and kind of a descriptor that is still what it was.
func (b *book) identify(row *recording.FD) {
	path := filepath.Join(b.env.Proc, strconv.Itoa(row.PID), "fd", strconv.Itoa(row.FD))
	now, err := b.reader.Look(row.PID, row.FD)
	if err != nil {
		return // closed: what the kernel told is what is known
	}
	if now.Inode == 0 {
		// Neither socket nor pipe: its link does not tell the inode.
		now.Inode = inodeOf(path)
	}
	if row.Inode == 0 || now.Inode == row.Inode {
		row.Kind, row.Name, row.Inode = now.Kind, now.Name, now.Inode
	}
}

func inodeOf(path string) uint64 {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return 0
	}
	return st.Ino
}

// name puts a descriptor's name on an event.
func (b *book) name(e *recording.Event, pid, fd int) {
	if fd < 0 {
		return
	}
	e.Attrs["fd"] = strconv.Itoa(fd)
	if row, ok := b.find(pid, fd, time.Now()); ok {
		e.Attrs["name"] = row.Text()
	}
}

// find is what a descriptor is, looked up now where nothing was told of it.
func (b *book) find(pid, fd int, now time.Time) (recording.FD, bool) {
	if k := b.open[fdKey{pid, fd}]; k != nil {
		return k.row, true
	}
	row, err := b.reader.Look(pid, fd)
	if err != nil {
		return row, false
	}
	b.reader.Complete(now, []*recording.FD{&row})
	return row, true
}
