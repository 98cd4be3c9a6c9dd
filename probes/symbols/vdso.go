package symbols

import (
	"bytes"
	"io"
	"os"

	"snag/internal/elffile"
)

// mostVDSO bytes: it has two pages or three.
const mostVDSO = 64 << 10

// ownVDSO reads the vdso (vdso(7)) out of snag's own memory: the kernel maps the
// same file into every process of 64 bits. An object without ELF where it can't.
func ownVDSO() *object {
	o := &object{path: "[vdso]", names: map[uint64]string{}, read: true}
	maps, err := readMaps("/proc/self/maps")
	if err != nil {
		return o
	}
	for _, m := range maps {
		if m.path != "[vdso]" || m.end-m.start > mostVDSO {
			continue
		}
		mem, err := os.Open("/proc/self/mem")
		if err != nil {
			return o
		}
		defer mem.Close()
		raw, err := io.ReadAll(io.NewSectionReader(mem, int64(m.start), int64(m.end-m.start)))
		if err != nil {
			return o
		}
		if e, err := elffile.Open(bytes.NewReader(raw)); err == nil {
			o.elf, o.functions, o.buildID = e, e.Functions(), e.BuildID()
		}
	}
	return o
}
