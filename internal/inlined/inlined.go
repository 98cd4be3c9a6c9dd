// Package inlined reports which functions a compiler put into another one at an address,
// out of a program's debugging information (DWARF 5, section 3.3.8.2): that of C++, Rust,
// Go and whatever else has it.
package inlined

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"io"

	"snag/internal/readable"
	"snag/internal/sorting"
)

const (
	// mostInfo bytes of sections are read, unpacked: all of them have to be in memory.
	mostInfo = 192 << 20
	// mostRanges of inlined functions are kept, 32 bytes each; once there are more, those
	// of the units that were looked at before are read anew.
	mostRanges = 1 << 19
	mostUnits  = 1 << 12
	// mostOrigins: a name stands in the definition, to which the declaration leads, to
	// which the copy leads.
	mostOrigins = 4
)

// Table is the debugging information of one file. One at a time may ask.
type Table struct {
	info  *dwarf.Data
	units []unit // that were asked for
	known map[dwarf.Offset][]code
	held  int
	names map[dwarf.Offset]string
}

// unit is a part of a compilation unit's code.
type unit struct {
	low, high uint64
	at        dwarf.Offset
}

// code is a part of an inlined function's code.
type code struct {
	low, high uint64
	depth     int32 // how many it is inside of
	origin    dwarf.Offset
}

// ErrNone is of a file without debugging information.
var ErrNone = errors.New("it has no debugging information (-g)")

// Open reads the sections of a file; what they hold is looked at when it is asked for.
func Open(r io.ReaderAt) (t *Table, err error) {
	defer rescue(&err)
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, err
	}
	size, found := uint64(0), false
	for _, s := range f.Sections {
		if len(s.Name) > 6 && (s.Name[:6] == ".debug" || s.Name[:6] == ".zdebu") && s.Type != elf.SHT_NOBITS {
			size += s.Size
			found = found || s.Name == ".debug_info" || s.Name == ".zdebug_info"
		}
	}
	switch {
	case !found:
		return nil, ErrNone
	case size > mostInfo:
		return nil, fmt.Errorf("its debugging information has %d MB, and is read up to %d", size>>20, mostInfo>>20)
	}
	info, err := f.DWARF()
	if err != nil {
		return nil, err
	}
	return &Table{info: info, known: map[dwarf.Offset][]code{}, names: map[dwarf.Offset]string{}}, nil
}

// rescue makes a fault of the parser an error: files are others'.
func rescue(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("its debugging information is damaged: %v", r)
	}
}

// At are the functions that are inlined at an address, the innermost first, demangled;
// the function that they are all in is not among them.
func (t *Table) At(address uint64) (names []string) {
	var err error
	defer rescue(&err)
	u, ok := t.find(address)
	if !ok {
		return nil
	}
	var in []code
	for _, c := range t.unit(u.at) {
		if address >= c.low && address < c.high {
			in = append(in, c)
		}
	}
	sorting.StableBy(in, func(a, b code) int { return cmp.Compare(b.depth, a.depth) })
	for _, c := range in {
		if name := t.name(c.origin); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// find is the unit whose code is at an address.
func (t *Table) find(address uint64) (unit, bool) {
	for _, u := range t.units {
		if address >= u.low && address < u.high {
			return u, true
		}
	}
	e, err := t.info.Reader().SeekPC(address)
	if err != nil {
		return unit{}, false
	}
	ranges, err := t.info.Ranges(e)
	if err != nil {
		return unit{}, false
	}
	if len(t.units) > mostUnits {
		t.units = t.units[:0]
	}
	for _, r := range ranges {
		if address >= r[0] && address < r[1] {
			u := unit{r[0], r[1], e.Offset}
			t.units = append(t.units, u)
			return u, true
		}
	}
	return unit{}, false
}

// unit are all inlined functions of a unit.
func (t *Table) unit(at dwarf.Offset) []code {
	if all, ok := t.known[at]; ok {
		return all
	}
	if t.held > mostRanges {
		clear(t.known)
		t.held = 0
	}
	all := t.read(at)
	t.known[at] = all
	t.held += len(all)
	return all
}

func (t *Table) read(at dwarf.Offset) (all []code) {
	in := t.info.Reader()
	in.Seek(at)
	var inside []bool // of what is open, whether it is an inlined function
	depth := int32(0)
	for len(all) < mostRanges {
		e, err := in.Next()
		if err != nil || e == nil {
			return all
		}
		if e.Tag == 0 {
			if n := len(inside); n > 0 {
				if inside[n-1] {
					depth--
				}
				inside = inside[:n-1]
			}
			if len(inside) == 0 {
				return all
			}
			continue
		}
		is := e.Tag == dwarf.TagInlinedSubroutine
		if is {
			origin, _ := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
			if ranges, err := t.info.Ranges(e); err == nil && origin != 0 {
				for _, r := range ranges {
					all = append(all, code{r[0], r[1], depth, origin})
				}
			}
		}
		// Nothing is passed over by its sibling: in a damaged file that may stand before.
		switch {
		case !e.Children && len(inside) == 0:
			return all
		case e.Children:
			inside = append(inside, is)
			if is {
				depth++
			}
		}
	}
	return all
}

// name is that of a function, which its abstract entry has, or the one that this was
// made of.
func (t *Table) name(at dwarf.Offset) string {
	if s, ok := t.names[at]; ok {
		return s
	}
	s := t.readName(at)
	if len(t.names) > mostRanges/8 {
		clear(t.names)
	}
	t.names[at] = s
	return s
}

func (t *Table) readName(at dwarf.Offset) string {
	plain := ""
	for range mostOrigins {
		in := t.info.Reader()
		in.Seek(at)
		e, err := in.Next()
		if err != nil || e == nil {
			break
		}
		if s, ok := e.Val(dwarf.AttrLinkageName).(string); ok {
			return readable.Name(s)
		}
		if s, ok := e.Val(dwarf.AttrName).(string); ok && plain == "" {
			plain = s
		}
		next, ok := e.Val(dwarf.AttrSpecification).(dwarf.Offset)
		if !ok {
			if next, ok = e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); !ok {
				break
			}
		}
		at = next
	}
	return plain
}
