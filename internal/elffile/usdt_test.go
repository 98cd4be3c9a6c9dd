package elffile

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// probesIn is what sys/sdt.h writes for a probe, without needing that header.
const probesIn = `
__attribute__((noinline)) void step(long n) {
	__asm__ volatile("990: nop\n"
		".pushsection .note.stapsdt,\"?\",\"note\"\n.balign 4\n.4byte 992f-991f, 994f-993f, 3\n"
		"991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b\n.8byte _.stapsdt.base\n.8byte 0\n"
		".asciz \"snagtest\"\n.asciz \"step\"\n.asciz \"8@%0\"\n994: .balign 4\n.popsection\n"
		".ifndef _.stapsdt.base\n.pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"
		".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n.popsection\n.endif\n" :: "r"(n));
}
int main(void) { step(1); return 0; }
`

func TestProbes(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Fatal("there is no gcc here: make setup")
	}
	dir := t.TempDir()
	source, program := filepath.Join(dir, "a.c"), filepath.Join(dir, "a")
	if err := os.WriteFile(source, []byte(probesIn), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-O1", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	raw, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	all := f.Probes()
	if len(all) != 1 || all[0].Provider != "snagtest" || all[0].Name != "step" || len(all[0].Args) != 1 || all[0].Semaphore != 0 {
		t.Fatalf("%+v", all)
	}
	const nop = 0x90
	if at := all[0].Offset; at >= uint64(len(raw)) || raw[at] != nop && raw[at] != 0x1f {
		t.Errorf("no no-op instruction lies at %#x", at)
	}
	if address, ok := f.Address(all[0].Offset); !ok {
		t.Errorf("offset %#x has no address", all[0].Offset)
	} else if back, ok := f.Offset(address); !ok || back != all[0].Offset {
		t.Errorf("offset %#x of address %#x", back, address)
	}
	none, err := Open(bytes.NewReader(raw[:4096])) // its sections are cut off
	if err == nil && len(none.Probes()) != 0 {
		t.Error("probes of a file that is cut off")
	}
}
