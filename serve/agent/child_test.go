package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// program is a script in place of snag.
func program(t *testing.T, script string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "snag")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	return file
}

func TestChild(t *testing.T) {
	var said []string
	c := Command{Name: "judge", Args: []string{"/r"}, Said: func(line string) { said = append(said, line) }}
	for script, want := range map[string]string{
		`echo '{}'; exit 0`:  "{}\n 0 <nil>",
		`echo '{}'; exit 10`: "{}\n 10 <nil>",
		`echo '{}'; exit 11`: "{}\n 11 <nil>",
		`echo "seen: x" >&2; echo "snag: /r: no recording" >&2; exit 1`: " 0 /r: no recording",
		`printf 'snag: /r: \033[2Jno\nrecording\n' >&2; exit 2`:         ` 0 /r: \x1b[2Jno recording`,
		`kill -9 $$`: " 0 run snag: signal: killed",
		`echo "$@"`:  "judge -- /r\n 0 <nil>",
		`dd if=/dev/zero bs=1M count=70 2>/dev/null`: " 0 the answer is longer than 64 MB: run the command itself",
	} {
		out, err := Child(program(t, script))(t.Context(), c)
		if got := fmt.Sprintf("%s %d %v", out.JSON, out.Code, err); got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
	if all := strings.Join(said, "\n"); !strings.Contains(all, "seen: x") {
		t.Errorf("progress: %q", all)
	}
	if _, err := Child("/bin/true")(t.Context(), Command{Name: "tune apply"}); err == nil {
		t.Error("a command that changes the host is run")
	}
}

// A cancelled command gets an interrupt, and what it holds on to is over soon, though it does not end at the first.
func TestCancelledChild(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "interrupts")
	snag := program(t, "trap 'echo i >> "+mark+"' INT\necho began >&2\nwhile [ \"$(cat "+mark+" 2>/dev/null | wc -l)\" -lt 2 ]; do sleep 0.05; done")
	ctx, cancel := context.WithCancel(t.Context())
	began := time.Now()
	_, err := Child(snag)(ctx, Command{Name: "find", Said: func(string) { cancel() }})
	if took := time.Since(began); err == nil || err.Error() != "cancelled" || took > untilKilled {
		t.Errorf("%v after %s", err, took)
	}
	if b, err := os.ReadFile(mark); err != nil || string(b) != "i\ni\n" {
		t.Errorf("it got %q, %v", b, err)
	}
}

func TestRows(t *testing.T) {
	snag := program(t, `i=0; while [ $i -lt 100 ]; do echo "{\"i\":$i}"; i=$((i+1)); done`)
	r := rows{offset: 10, limit: 3}
	if _, err := Child(snag)(t.Context(), Command{Name: "show", Line: r.add}); err != nil {
		t.Fatal(err)
	}
	got, err := r.text()
	if want := "{\"i\":10}\n{\"i\":11}\n{\"i\":12}\n{\"offset\":10,\"rows\":3,\"all_rows\":100}\n"; err != nil || got != want {
		t.Errorf("%q %v", got, err)
	}
	long := rows{limit: 5}
	for _, n := range []int{40 << 10, 20 << 10, 10} { // no gap: what follows a row that does not fit is left out too
		long.add([]byte(strings.Repeat("x", n)))
	}
	if got, err = long.text(); err != nil || !strings.HasSuffix(got, "\n"+`{"offset":0,"rows":1,"all_rows":3}`+"\n") {
		t.Errorf("%.100q %v", got, err)
	}
	huge := rows{limit: 5}
	huge.add(make([]byte, mostRowBytes+1))
	if _, err = huge.text(); err == nil || err.Error() != "row 0 is longer than 48 KB: snag show --table prints it" {
		t.Error(err)
	}
}
