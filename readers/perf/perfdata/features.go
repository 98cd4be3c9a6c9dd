package perfdata

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"io"
	"math/bits"
)

// Numbers of features (tools/perf/util/header.h).
const (
	featBuildID    = 2
	featHostname   = 3
	featRelease    = 4
	featVersion    = 5
	featArch       = 6
	featCPUs       = 7
	featCPUDesc    = 8
	featCmdline    = 11
	featEvents     = 12
	featSampleTime = 21
	featClockData  = 29
)

// Features are what stands behind the records: what perf knew of the host.
type Features struct {
	Hostname, Release, Version, Arch, CPU, Cmdline string
	CPUs                                           int
	// BuildIDs are those of files that were sampled, in hex, by path;
	// "[kernel.kallsyms]" is the kernel's.
	BuildIDs map[string]string
	// First and Last are the times of samples, ns on perf's clock; 0: not told.
	First, Last uint64
	// Wall and Clock are the same moment on the wall's clock and on perf's, ns; 0:
	// not told (perf record -k).
	Wall, Clock uint64

	names map[uint64]string // of events, by id
}

const (
	mostFeature = 4 << 20 // bytes of one
	mostText    = 4096
	mostFiles   = 1 << 16
)

// ReadFeatures reads them from a file that can be read anywhere; what is not there
// or damaged stays empty.
func (f *File) ReadFeatures(r io.ReaderAt) {
	if f.Pipe || f.Unended {
		return
	}
	all := &f.Features
	at := int64(f.data.offset + f.data.size)
	for i, word := range f.features {
		for ; word != 0; word &= word - 1 {
			var raw [16]byte
			if _, err := r.ReadAt(raw[:], at); err != nil || at < 0 {
				return
			}
			at += 16
			s := spanAt(raw[:])
			kind := 64*i + bits.TrailingZeros64(word)
			if s.size > mostFeature || !wanted(kind) {
				continue
			}
			b := make([]byte, s.size)
			if _, err := r.ReadAt(b, int64(s.offset)); err == nil {
				all.take(kind, b)
			}
		}
	}
	f.nameEvents(all.names)
}

func wanted(kind int) bool {
	switch kind {
	case featBuildID, featHostname, featRelease, featVersion, featArch, featCPUs, featCPUDesc, featCmdline, featEvents, featSampleTime, featClockData:
		return true
	}
	return false
}

func (all *Features) take(kind int, b []byte) {
	c := cursor{b: b}
	switch kind {
	case featHostname:
		all.Hostname = c.text()
	case featRelease:
		all.Release = c.text()
	case featVersion:
		all.Version = c.text()
	case featArch:
		all.Arch = c.text()
	case featCPUDesc:
		all.CPU = c.text()
	case featCPUs: // configured, online
		if _, online := c.two(); !c.bad && online < 1<<16 {
			all.CPUs = int(online)
		}
	case featCmdline:
		all.Cmdline = c.words()
	case featSampleTime:
		all.First, all.Last = c.u64(), c.u64()
	case featClockData:
		c.two() // version, clock
		all.Wall, all.Clock = c.u64(), c.u64()
	case featEvents:
		all.names = eventNames(b)
	case featBuildID:
		all.BuildIDs = buildIDs(b)
	}
}

func (c *cursor) u32() uint32 {
	if len(c.b) < 4 {
		c.bad = true
		return 0
	}
	v := binary.LittleEndian.Uint32(c.b)
	c.b = c.b[4:]
	return v
}

// text reads a length of 4 bytes and as many bytes, of which those behind a NUL are
// padding.
func (c *cursor) text() string {
	n := c.u32()
	if uint64(n) > uint64(len(c.b)) {
		c.bad = true
		return ""
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return cString(b[:min(len(b), mostText)])
}

func (c *cursor) words() string {
	var out []byte
	for n := c.u32(); n > 0 && !c.bad && len(out) < mostText; n-- {
		if len(out) > 0 {
			out = append(out, ' ')
		}
		out = append(out, c.text()...)
	}
	return string(out)
}

func cString(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// eventNames reads how perf calls the events.
func eventNames(b []byte) map[uint64]string {
	c := cursor{b: b}
	out := map[uint64]string{}
	n, size := c.u32(), c.u32()
	for ; n > 0 && !c.bad; n-- {
		if uint64(size) > uint64(len(c.b)) {
			break
		}
		c.b = c.b[size:]
		ids := c.u32()
		name := c.text()
		for ; ids > 0 && !c.bad && len(out) < mostIDs; ids-- {
			if id := c.u64(); !c.bad {
				out[id] = name
			}
		}
	}
	return out
}

// nameEvents puts perf's own names on the events.
func (f *File) nameEvents(names map[uint64]string) {
	for _, a := range f.Attrs {
		for _, id := range a.ids {
			if name := names[id]; name != "" {
				a.Name = name
				break
			}
		}
	}
}

// buildIDs reads records of struct perf_record_header_build_id.
func buildIDs(b []byte) map[string]string {
	out := map[string]string{}
	for len(b) >= 8 && len(out) < mostFiles {
		size := int(binary.LittleEndian.Uint16(b[6:]))
		if size < 8 || size > len(b) {
			break
		}
		if path, id, ok := buildID(b[8:size], binary.LittleEndian.Uint16(b[4:])); ok {
			out[path] = id
		}
		b = b[size:]
	}
	return out
}

const miscBuildIDSize = 1 << 15

func buildID(b []byte, misc uint16) (path, id string, ok bool) {
	if len(b) < 4+24+1 {
		return "", "", false
	}
	n := 20
	if misc&miscBuildIDSize != 0 {
		n = min(int(b[4+20]), 20)
	}
	return cString(b[28:]), hex.EncodeToString(b[4 : 4+n]), true
}
