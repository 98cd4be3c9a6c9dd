package perfdata

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// Types of records (enum perf_event_type, and perf's own from 64 on:
// tools/lib/perf/include/perf/event.h).
const (
	recMmap          = 1
	recLost          = 2
	recComm          = 3
	recExit          = 4
	recFork          = 7
	recSample        = 9
	recMmap2         = 10
	recLostSamples   = 13
	recKsymbol       = 17
	recAttr          = 64
	recTracing       = 66
	recBuildID       = 67
	recFinishedRound = 68
	recAuxtrace      = 71
	recFeature       = 80
	recCompressed    = 81
	recCompressed2   = 83
)

const (
	miscCommExec    = 1 << 13
	miscMmapBuildID = 1 << 14
	miscKsymbolGone = 1
	headerBytes     = 8
	mostRecord      = 1 << 16
)

// Map is a mapping of a file that can be executed.
type Map struct {
	PID          int // -1: the kernel's
	Start, Size  uint64
	Offset       uint64 // in the file
	Path         string
	BuildID      string // "" not told
	Unexecutable bool
}

// Handler is told what the records say, in the order of their times.
type Handler interface {
	Sample(s *Sample)
	Map(m Map)
	Comm(pid, tid int, comm string, exec bool)
	Fork(pid, parent, tid, parentTID int)
	Exit(pid, tid int)
	// Symbol is a function of the kernel that came while it was recorded: a BPF
	// program.
	Symbol(start, size uint64, name string)
	Lost(n uint64)
	// File is a file's build id, which a pipe tells behind its records.
	File(path, buildID string)
}

// anotherPipe is the header of a pipe.
var anotherPipe = binary.LittleEndian.AppendUint64(bytes.Clone(magic), pipeSize)

// Counts say how the reading went.
type Counts struct {
	Records, Samples uint64
	Damaged          uint64 // records that do not hold what they should
	Unknown          uint64 // samples of an event that is not described
	Hurried          uint64 // records that were handed on before their turn: too many were waiting
	Offset           int64  // of the record that ended the reading
}

// reading is one reading of the records.
type reading struct {
	f      *File
	h      Handler
	q      queue
	counts Counts
	sample Sample
	unpack *unpacker
}

// Read reads the records to the end. An error says where it had to stop; what came
// before was handed on.
func (f *File) Read(ctx context.Context, r io.Reader, h Handler) (Counts, error) {
	rd := &reading{f: f, h: h}
	defer func() {
		if rd.unpack != nil {
			rd.unpack.close()
		}
	}()
	start := int64(f.data.offset)
	if f.Pipe {
		start = pipeSize
	} else if !f.Unended {
		r = io.LimitReader(r, int64(min(f.data.size, 1<<62)))
	}
	err := rd.all(ctx, bufio.NewReaderSize(r, 4*mostRecord), start)
	rd.q.flush(^uint64(0), rd.handle)
	return rd.counts, err
}

func (rd *reading) all(ctx context.Context, in *bufio.Reader, at int64) error {
	for {
		if rd.counts.Records%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		rd.counts.Offset = at
		if rd.f.Pipe { // several pipes in one file
			if next, err := in.Peek(pipeSize); err == nil && bytes.Equal(next, anotherPipe) {
				_, _ = in.Discard(pipeSize)
				at += pipeSize
				continue
			}
		}
		head, err := in.Peek(headerBytes)
		if len(head) == 0 && errors.Is(err, io.EOF) {
			if end := rd.f.data.offset + rd.f.data.size; !rd.f.Pipe && !rd.f.Unended && uint64(at) < end {
				return fmt.Errorf("the file ends at byte %d, and its header says that records follow up to byte %d: %w", at, end, io.ErrUnexpectedEOF)
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("the record at byte %d is cut: %w", at, err)
		}
		size := int(binary.LittleEndian.Uint16(head[6:]))
		if size < headerBytes {
			return fmt.Errorf("the record at byte %d says that it has %d bytes: it is damaged from there on", at, size)
		}
		record, err := in.Peek(size)
		if err != nil {
			return fmt.Errorf("the record at byte %d is cut: %w", at, err)
		}
		behind, err := rd.take(record)
		if err != nil {
			return fmt.Errorf("the record at byte %d: %w", at, err)
		}
		if _, err := in.Discard(size); err != nil {
			return fmt.Errorf("the record at byte %d is cut: %w", at, err)
		}
		if behind > 0 {
			if _, err := io.CopyN(io.Discard, in, behind); err != nil {
				return fmt.Errorf("the data of the record at byte %d are cut: %w", at, err)
			}
		}
		at += int64(size) + behind
	}
}

// take looks at a record, and puts it in line if it has a time. behind is how many
// bytes stand behind it that are none.
func (rd *reading) take(b []byte) (behind int64, err error) {
	rd.counts.Records++
	kind, misc, body := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint16(b[4:]), b[headerBytes:]
	switch kind {
	case recFinishedRound:
		rd.q.round(rd.handle)
	case recCompressed, recCompressed2:
		return 0, rd.compressed(kind, body)
	case recAuxtrace:
		if len(body) >= 8 {
			if n := binary.LittleEndian.Uint64(body); n < 1<<40 {
				return int64(n), nil
			}
		}
		return 0, errors.New("it says that more data follow than a file holds")
	case recTracing:
		if rd.f.Pipe && len(body) >= 4 {
			return (int64(binary.LittleEndian.Uint32(body)) + 7) &^ 7, nil
		}
	case recAttr:
		rd.attr(body)
	case recFeature:
		rd.feature(body)
	case recBuildID:
		if path, id, ok := buildID(body, misc); ok {
			rd.h.File(path, id)
		}
	case recSample:
		a := rd.f.attrOf(body)
		if a == nil {
			rd.counts.Unknown++
			return 0, nil
		}
		if !a.sample(body, misc, &rd.sample) {
			rd.counts.Damaged++
			return 0, nil
		}
		rd.line(b, rd.sample.Time, rd.sample.Timed)
	case recMmap, recMmap2, recComm, recFork, recExit, recLost, recLostSamples, recKsymbol:
		if len(rd.f.Attrs) == 0 {
			rd.handle(b)
			return 0, nil
		}
		at, ok := rd.f.Attrs[0].trailer(body)
		rd.line(b, at, ok)
	}
	return 0, nil
}

// line puts a record in line, or handles it at once where it has no time.
func (rd *reading) line(b []byte, at uint64, timed bool) {
	if !timed {
		rd.handle(b)
		return
	}
	rd.counts.Hurried += rd.q.put(b, at, rd.handle)
}

// handle tells the handler what a record says.
func (rd *reading) handle(b []byte) {
	kind, misc, body := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint16(b[4:]), b[headerBytes:]
	if kind == recSample {
		if a := rd.f.attrOf(body); a != nil && a.sample(body, misc, &rd.sample) {
			rd.counts.Samples++
			rd.h.Sample(&rd.sample)
		}
		return
	}
	if len(rd.f.Attrs) > 0 {
		body = body[:max(0, len(body)-rd.f.Attrs[0].trailerSize())]
	}
	c := cursor{b: body}
	switch kind {
	case recMmap, recMmap2:
		rd.mapped(c, kind, misc)
	case recComm:
		pid, tid := c.two()
		if !c.bad {
			rd.h.Comm(int(int32(pid)), int(int32(tid)), cString(c.b[:min(len(c.b), 64)]), misc&miscCommExec != 0)
		}
	case recFork:
		pid, parent := c.two()
		tid, parentTID := c.two()
		if !c.bad {
			rd.h.Fork(int(int32(pid)), int(int32(parent)), int(int32(tid)), int(int32(parentTID)))
		}
	case recExit:
		pid, _ := c.two()
		if tid, _ := c.two(); !c.bad {
			rd.h.Exit(int(int32(pid)), int(int32(tid)))
		}
	case recLost: // id, lost
		c.u64()
		if n := c.u64(); !c.bad {
			rd.h.Lost(n)
		}
	case recLostSamples:
		if n := c.u64(); !c.bad {
			rd.h.Lost(n)
		}
	case recKsymbol: // address, length and flags, name
		start, size := c.u64(), c.u64()
		if gone := uint16(size>>48)&miscKsymbolGone != 0; !c.bad && !gone {
			rd.h.Symbol(start, size&0xffffffff, cString(c.b[:min(len(c.b), 512)]))
		}
	}
	if c.bad {
		rd.counts.Damaged++
	}
}

func (rd *reading) mapped(c cursor, kind uint32, misc uint16) {
	pid, _ := c.two()
	m := Map{PID: int(int32(pid)), Start: c.u64(), Size: c.u64(), Offset: c.u64()}
	if kind == recMmap2 {
		if len(c.b) < 32 {
			rd.counts.Damaged++
			return
		}
		if misc&miscMmapBuildID != 0 {
			m.BuildID = hex.EncodeToString(c.b[4 : 4+min(int(c.b[0]), 20)])
		}
		const protExec = 4
		m.Unexecutable = binary.LittleEndian.Uint32(c.b[24:])&protExec == 0
		c.b = c.b[32:]
	} else {
		const miscData = 1 << 13 // PERF_RECORD_MISC_MMAP_DATA
		m.Unexecutable = misc&miscData != 0
	}
	if c.bad {
		rd.counts.Damaged++
		return
	}
	m.Path = cString(c.b[:min(len(c.b), mostText)])
	rd.h.Map(m)
}

// attr is an event that a pipe describes: the attr, then its ids.
func (rd *reading) attr(b []byte) {
	if len(b) < leastAttr {
		rd.counts.Damaged++
		return
	}
	size := int(binary.LittleEndian.Uint32(b[4:]))
	if size < leastAttr || size > len(b) {
		rd.counts.Damaged++
		return
	}
	if a, err := parseAttr(b[:size]); err == nil {
		rd.f.add(a, b[size:])
	}
}

// feature is one that a pipe tells.
func (rd *reading) feature(b []byte) {
	if len(b) < 8 {
		return
	}
	kind := binary.LittleEndian.Uint64(b)
	if kind < 256 && wanted(int(kind)) {
		rd.f.Features.take(int(kind), b[8:])
		rd.f.nameEvents(rd.f.Features.names)
	}
}
