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
		case inFDE && len(fields) == len(columns) && fields[1] != "ZERO" && len(columns) > 0:
			at, err := strconv.ParseUint(fields[0], 16, 64)
			if err != nil {
				continue
			}
			all++
			want := map[string]string{"rbp": "u", "ra": "u", "rbx": "u", "r12": "u", "r15": "u"}
			for i, c := range columns {
				want[c] = fields[i]
			}
			row, ok := f.FrameRow(at)
			if !ok {
				if unread++; unread < 5 {
					t.Errorf("%s: no row for %#x: %v", path, at, want)
				}
				continue
			}
			for column, got := range printed(row) {
				if says, ok := want[column]; ok && got != says {
					if wrong++; wrong < 5 {
						t.Errorf("%s at %#x: %s is %s, readelf says %s", path, at, column, got, says)
					}
				}
			}
		}
	}
	t.Logf("%s: %d rows, %d wrong, %d not read", path, all, wrong, unread)
	if all < 1000 || wrong > 0 || unread > 0 {
		t.Errorf("%s: of %d rows %d are wrong, %d not read", path, all, wrong, unread)
	}
}

var registerNames = [Registers]string{"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "ra"}

// printed is a row as readelf prints it.
func printed(r Row) map[string]string {
	out := map[string]string{"CFA": "exp"}
	if r.Expression == nil {
		out["CFA"] = fmt.Sprintf("%s%+d", registerNames[r.CFA], r.Offset)
	}
	for i, rule := range r.Rules {
		text := "u"
		switch rule.Kind {
		case RuleOffset:
			text = fmt.Sprintf("c%+d", rule.Offset)
		case RuleValue:
			text = fmt.Sprintf("v%+d", rule.Offset)
		case RuleRegister:
			text = registerNames[rule.Offset]
		case RuleExpression:
			text = "exp"
		case RuleValueExpression:
			text = "vexp"
		}
		out[registerNames[i]] = text
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
