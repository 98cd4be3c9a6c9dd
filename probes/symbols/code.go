package symbols

// Code is a piece of the machine code of an object.
type Code struct {
	Object string // path as its process sees it
	Start  uint64 // address of the first byte, as the object's linker has it
	Bytes  []byte
	At     int // of the address that was asked for, in Bytes
}

// CodeAround reads the machine code from so many bytes before an address to so many
// behind it from the file that is mapped there, as far as that mapping goes; false where
// that is no file, or can't be read.
func (r *Resolver) CodeAround(image *Image, addr uint64, before, behind int) (Code, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, ok := r.mapping(image, addr)
	if !ok || m.inode == 0 {
		return Code{}, false
	}
	o := r.object(image, m)
	if o.file == nil || o.elf == nil {
		return Code{}, false
	}
	from := max(m.start, addr-min(addr, uint64(before)))
	to := min(m.end, addr+uint64(behind))
	offset := from - m.start + m.offset
	start, ok := o.elf.Address(offset)
	if !ok {
		return Code{}, false
	}
	b := make([]byte, to-from)
	n, _ := o.file.ReadAt(b, int64(offset)) // short at the end of the file: what there is
	if at := int(addr - from); at < n {
		return Code{Object: m.path, Start: start, Bytes: b[:n], At: at}, true
	}
	return Code{}, false
}
