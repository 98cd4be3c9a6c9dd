package elffile

import (
	"bufio"
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// Every row of a real library's call frame information is what readelf(1) prints.
func TestFrameRowsAreWhatReadelfSays(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("read for x86-64 only")
	}
	for _, library := range []string{"libc.so.6", "libstdc++.so.6"} {
		out := run(t, "gcc", "-print-file-name="+library)
		path := strings.TrimSpace(out)
		compareRows(t, path)
	}
}

func compareRows(t *testing.T, path string) {
	t.Helper()
	f := open(t, path)
	cmd := exec.Command("readelf", "--wide", "--debug-dump=frames-interp", path)
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }() // its warnings are none of the test's
	var columns []string
	all, wrong, unread := 0, 0, 0
	inFDE := false
	lines := bufio.NewScanner(pipe)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) > 3 && strings.Contains(lines.Text(), " FDE "):
			inFDE = true
		case len(fields) > 3 && strings.Contains(lines.Text(), " CIE "):
			inFDE = false
		case len(fields) > 1 && fields[0] == "LOC":
			columns = fields
		case inFDE && len(fields) == len(columns) && len(columns) > 0:
			at, err := strconv.ParseUint(fields[0], 16, 64)
			if err != nil {
				continue
			}
			all++
			want := map[string]string{"rbp": "u", "ra": "u"}
			for i, c := range columns {
				want[c] = fields[i]
			}
			row, ok := f.FrameRow(at)
			if !ok {
				// By another register or an expression: not read, and so expected.
				if want["CFA"] != "exp" && want["rbp"] != "exp" && !strings.HasPrefix(want["CFA"], "r1") {
					if unread++; unread < 5 {
						t.Logf("%s: no row for %#x: %v", path, at, want)
					}
				}
				continue
			}
			if got := printed(row); got["CFA"] != want["CFA"] && (!row.PLT || want["CFA"] != "exp") || got["ra"] != want["ra"] || got["rbp"] != want["rbp"] {
				if wrong++; wrong < 5 {
					t.Errorf("%s at %#x: %v, readelf says %v", path, at, got, want)
				}
			}
		}
	}
	t.Logf("%s: %d rows, %d wrong, %d not read", path, all, wrong, unread)
	if all < 1000 || wrong > 0 || unread > all/1000 {
		t.Errorf("%s: of %d rows %d are wrong, %d not read", path, all, wrong, unread)
	}
}

// printed is a row as readelf prints it.
func printed(r Row) map[string]string {
	names := map[uint64]string{0: "rax", 1: "rdx", 2: "rcx", 3: "rbx", RegBP: "rbp", RegSP: "rsp", 10: "r10", 11: "r11", 12: "r12", 13: "r13", 14: "r14", 15: "r15"}
	out := map[string]string{"CFA": fmt.Sprintf("%s%+d", names[r.CFA], r.Offset), "ra": fmt.Sprintf("c%+d", r.RA), "rbp": "u"}
	if r.Outermost {
		out["ra"] = "u"
	}
	if r.SavedBP {
		out["rbp"] = fmt.Sprintf("c%+d", r.BP)
	}
	return out
}

func BenchmarkFrameRow(b *testing.B) {
	path := strings.TrimSpace(run(b, "gcc", "-print-file-name=libc.so.6"))
	f := open(b, path)
	table := f.Functions()
	at := table.base + uint64(table.all[table.Len()/2].start) + 4
	for b.Loop() {
		f.FrameRow(at)
	}
}
