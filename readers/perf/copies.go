package perf

import (
	"encoding/binary"
	"path"
	"strings"

	"snag/internal/elffile"
	"snag/internal/unwind"
	"snag/readers/perf/perfdata"
	"snag/recording"
)

// perf record --call-graph dwarf copies the top of each thread's stack, and leaves it to
// whoever reads the file to walk it by the programs' call frame information. That can be
// done where these very programs are here.

// copies counts how those walks went.
type copies struct {
	all, whole    uint64
	ended, absent uint64 // at the end of the copy; in a file that is not here
	foreign       uint64 // of another machine, or of 32-bit code
	guessed       uint64
}

// walkedArch is the machine whose stacks are walked.
const walkedArch = "x86_64"

// x86Registers are those of call frame information (System V ABI for AMD64, figure
// 3.36) by their bit in perf's mask (enum perf_event_x86_regs); -1: flags and segments.
var x86Registers = [...]int{
	0, elffile.RegBX, 2, 1, 4, 5, elffile.RegBP, elffile.RegSP, elffile.RegRA, -1, -1, -1, -1, -1, -1, -1, 8, 9, 10, 11, 12, 13, 14, 15,
}

// registers are those of a sample; false where those that a walk needs are not told.
func registers(mask uint64, b []byte) (at unwind.Registers, ok bool) {
	const needed = 1<<6 | 1<<7 | 1<<8 // BP, SP, IP
	if mask&needed != needed {
		return at, false
	}
	for bit := 0; mask != 0 && len(b) >= 8; bit, mask = bit+1, mask>>1 {
		if mask&1 == 0 {
			continue
		}
		if bit < len(x86Registers) && x86Registers[bit] >= 0 {
			at.Set(x86Registers[bit], binary.LittleEndian.Uint64(b))
		}
		b = b[8:]
	}
	return at, true
}

// copied walks the copy of a sample's stack and adds its frames.
func (d *data) copied(s *perfdata.Sample) {
	d.copies.all++
	i := d.images[s.PID]
	at, ok := registers(s.Attr.Registers, s.Registers)
	if !ok || !s.Wide || d.file == nil || d.file.Features.Arch != "" && d.file.Features.Arch != walkedArch {
		d.copies.foreign++
		if s.Mode == perfdata.User {
			d.push(s.PID, s.IP, false)
		}
		return
	}
	if i == nil {
		i = &image{}
	}
	c := &code{d: d, i: i}
	walk := unwind.Full(c, at, unwind.Stack{Base: at.SP(), Bytes: s.Stack}, max(mostDepth+1-len(d.stack), 1))
	for n, addr := range walk.Addresses {
		if n > 0 && addr > 0 {
			addr--
		}
		d.push(s.PID, addr, false)
	}
	switch {
	case walk.End == unwind.EndWhole || walk.End == unwind.EndDeep:
		d.copies.whole++
	case walk.End == unwind.EndCopy:
		d.copies.ended++
	case c.absent:
		d.copies.absent++
	}
	if walk.Guess > 0 {
		d.copies.guessed++
	}
}

// code is what one process ran, as far as its files are here.
type code struct {
	d      *data
	i      *image
	absent bool // the last address lies in a file that is not
}

// row is the call frame information for one address.
// object is the file that an address lies in, and its address there.
func (c *code) object(address uint64) (o *object, offset uint64, mapped bool) {
	m, ok := c.i.find(address)
	if !ok {
		return nil, 0, false
	}
	if made(m.Path) {
		return nil, 0, true
	}
	o = c.d.objects.find(m.Path, m.BuildID)
	c.absent = o == nil
	return o, address - m.Start + m.Offset, true
}

// made tells code that was made at run time, or is the kernel's own.
func made(path string) bool {
	return path == "" || strings.HasPrefix(path, "//anon") || strings.HasPrefix(path, "[")
}

// Row implements unwind.Code.
func (c *code) Row(address uint64) (*elffile.Row, unwind.Kind) {
	o, offset, mapped := c.object(address)
	switch {
	case !mapped:
		return nil, unwind.Nowhere
	case o == nil && c.absent:
		return nil, unwind.Silent
	case o == nil:
		return nil, unwind.FramePointers
	}
	at, ok := o.elf.Address(offset)
	if !ok {
		return nil, unwind.FramePointers
	}
	return o.rows.Of(o.elf, at)
}

// Read implements unwind.Code.
func (c *code) Read(address uint64, b []byte) bool {
	o, offset, _ := c.object(address)
	if o == nil {
		return false
	}
	_, err := o.file.ReadAt(b, int64(offset))
	return err == nil
}

// Function implements unwind.Code.
func (c *code) Function(address uint64) unwind.Function {
	m, ok := c.i.find(address)
	if !ok {
		return unwind.Function{}
	}
	f := unwind.Function{Object: m.Path}
	if !made(m.Path) {
		f.Name = c.d.objects.name(m.Path, m.BuildID, address-m.Start+m.Offset)
	}
	return f
}

// say tells of the walks that did not reach a thread's first frame.
func (c *copies) say(stacks *recording.Coverage, file string) {
	if c.ended > 0 {
		partial(stacks, "of %d stacks the outer callers are missing: they are larger than their copies", c.ended)
		cure(stacks, "perf record --call-graph dwarf,65528")
	}
	if c.absent > 0 {
		partial(stacks, "of %d stacks the callers are missing from a file on that is not here with its build id", c.absent)
		cure(stacks, onOriginOf(file))
	}
	if c.foreign > 0 {
		partial(stacks, "%d copies of stacks (--call-graph dwarf) are of another machine than %s, or of 32-bit code: their callers are missing", c.foreign, walkedArch)
		cure(stacks, onOriginOf(file))
	}
	if n := c.all - c.whole - c.ended - c.absent - c.foreign; n > 0 {
		partial(stacks, "%d stacks end before the thread's first function: nothing shows the caller", n)
	}
	if c.guessed > 0 {
		partial(stacks, "%d stacks have callers found by what looks like a return address: they may be wrong", c.guessed)
	}
}

// onOriginOf is what to run where the files are.
func onOriginOf(file string) string {
	return "on the host that recorded: perf script --header -F +pid -i " + path.Base(file) + " > perf.txt, and read that"
}
