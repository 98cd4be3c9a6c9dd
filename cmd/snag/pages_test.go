package main

import (
	"os"
	"strings"
	"testing"
)

func TestReadOnlyMappings(t *testing.T) {
	for line, want := range map[string]bool{
		"00400000-01376000 r-xp 00000000 fe:00 1311     /usr/bin/snag":        true,
		"01376000-02391000 r--p 00f76000 fe:00 1311     /usr/bin/snag":        true,
		"02391000-02500000 rw-p 01f91000 fe:00 1311     /usr/bin/snag":        false,
		"7f0000000000-7f0000001000 r--p 00000000 fe:00 9  /usr/lib/libc.so.6": false,
		"c000000000-c000400000 rw-p 00000000 00:00 0":                         false,
		"7ffd0-7ffd1 r-xp 00000000 00:00 0 [vdso]":                            false,
		"nonsense": false,
		"zz-01 r-xp 00000000 fe:00 1311 /usr/bin/snag": false,
		"02-01 r-xp 00000000 fe:00 1311 /usr/bin/snag": false,
		"": false,
	} {
		from, to, ok := readOnly(line, "/usr/bin/snag")
		if ok != want || ok && (from >= to || from&0xfff != 0) {
			t.Errorf("%q: %x–%x, %v", line, from, to, ok)
		}
	}
}

// What is given back is no longer resident, but for what runs just now, and works
// as before.
func TestStartIsGivenBack(t *testing.T) {
	if !isStatic("/proc/self/exe") {
		t.Skip("this test's binary is not static: CGO_ENABLED=0 makes it so")
	}
	resident := func() float64 {
		b, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		for l := range strings.Lines(string(b)) {
			if strings.HasPrefix(l, "RssFile:") {
				var kib float64
				for _, c := range strings.Fields(l)[1] {
					kib = kib*10 + float64(c-'0')
				}
				return kib
			}
		}
		t.Fatal("/proc/self/status has no RssFile")
		return 0
	}
	before := resident()
	giveBackPages()
	if after := resident(); after > before/2 {
		t.Errorf("%.0f KiB of files were resident, %.0f KiB are", before, after)
	}
	if got := strings.ToUpper("still there"); got != "STILL THERE" {
		t.Error(got)
	}
}
