package recorder

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/internal/netns/netnstest"
	"snag/recording"
)

const (
	manyLinks = 200
	// A piece has to be longer than 15 s: the slowest probe looks that often.
	linkPiece = 20 * time.Second
)

// about is how many rows the last whole piece of a ring has about interfaces, by table.
func about(dir string) (rows map[string]int, piece string, err error) {
	all, err := Ring{dir}.Pieces()
	if err != nil {
		return nil, "", err
	}
	for _, p := range all {
		if !p.Open {
			piece = p.Name
		}
	}
	if piece == "" {
		return nil, "", fmt.Errorf("no piece is whole yet")
	}
	r, err := recording.OpenOwn(filepath.Join(dir, piece))
	if err != nil {
		return nil, "", err
	}
	rows = map[string]int{}
	for _, table := range []string{"links", "nics", "queues", "qdiscs", "routes", "facts"} {
		r.EachRow(table, func(recording.Row) bool { rows[table]++; return true })
	}
	return rows, piece, nil
}

// script runs commands of ip, one a line.
func script(t *testing.T, lines string) {
	t.Helper()
	cmd := exec.Command("ip", "-force", "-batch", "-")
	cmd.Stdin = strings.NewReader(lines)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// 200 interfaces with an address each come and go: later pieces have as many rows as those before.
func TestRowsOfInterfacesThatHaveGone(t *testing.T) {
	t.Parallel()
	asRoot(t)
	if netnstest.Alone(t) {
		return
	}
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, Plan{Dir: dir, Limits: Limits{Keep: time.Hour, Size: 1 << 30}, Note: func(string) {}, piece: linkPiece, again: time.Second, silent: linkPiece})
	}()
	var before, last map[string]int
	var first, piece string
	until(t, "a piece is whole", 3*time.Minute, func() (is bool) {
		var err error
		before, first, err = about(dir)
		return err == nil
	})
	var add, del strings.Builder
	for i := range manyLinks / 2 { // each has two ends
		fmt.Fprintf(&add, "link add a%d type veth peer name b%d\nlink set a%d up\nlink set b%d up\naddr add 10.9.%d.1/24 dev a%d\n", i, i, i, i, i, i)
		fmt.Fprintf(&del, "link del a%d\n", i)
	}
	script(t, add.String())
	until(t, "the interfaces are in the ring", 3*time.Minute, func() bool {
		var err error
		last, _, err = about(dir)
		return err == nil && last["links"] >= before["links"]+manyLinks && last["nics"] >= before["nics"]+manyLinks &&
			last["qdiscs"] >= before["qdiscs"]+manyLinks && last["routes"] >= before["routes"]+manyLinks/2
	})
	t.Logf("%v, then %v", before, last)
	script(t, del.String())
	same := func() bool {
		var err error
		if last, piece, err = about(dir); err != nil || piece == first {
			return false
		}
		for table, n := range last {
			if n > before[table] {
				return false
			}
		}
		return true
	}
	if !within(6*linkPiece, same) {
		t.Errorf("rows in piece %s: %v, before the interfaces came: %v", piece, last, before)
	}
	t.Logf("after: %v in %s", last, piece)
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
