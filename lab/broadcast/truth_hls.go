package broadcast

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"snag/lab"
	"snag/lab/origin"
)

// Fault is where a stream stands that is served in segments, as the kernel shows it.
type Fault int

// The faults.
const (
	None      Fault = iota
	NotSent         // nothing comes to the server's host
	NotPacked       // it comes, and waits unread
)

// errorf is what of a test the checks need.
type errorf interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Logf(format string, args ...any)
}

// stood: a playlist that does not change for longer than three segments take stands still.
const stood = 3 * time.Second

// TruthOfHLS checks an incident on segments by the file system and the sockets, without
// snag: whether the playlist stood still for longer than three segments are long, and
// whether what was sent meanwhile waited unread on the server.
func TruthOfHLS(t errorf, s *lab.Stage, v lab.Variant, faults map[lab.Variant]Fault) {
	t.Helper()
	playlist := filepath.Join(origin.Segments(s), origin.Stream+".m3u8")
	b := Of(s, false)
	longest, unread := time.Duration(0), 0
	var written time.Time // zero: there was none yet
	for end := time.Now().Add(11 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		st, err := os.Stat(playlist)
		switch {
		case err == nil:
			written = st.ModTime()
		case !errors.Is(err, fs.ErrNotExist):
			t.Fatal(err)
		case written.IsZero():
			continue // on a busy machine the first segment is not whole yet
		}
		// nginx removes a playlist that was not written for as long as it plays.
		m, err := b.Look()
		if err != nil {
			t.Fatal(err)
		}
		still := time.Since(written)
		if still <= longest {
			continue
		}
		// The least of all looks: when the encoder goes on, all that it owes comes at
		// once, and the playlist still stands.
		if longest <= stood || m.RecvQ < unread {
			unread = m.RecvQ
		}
		longest = still
	}
	if written.IsZero() {
		t.Fatal("no playlist came: " + playlist)
	}
	t.Logf("%s: the playlist stopped for %s, and %d bytes at least waited unread in the server's socket buffer meanwhile", v, longest, unread)
	want := faults[v]
	if (longest > stood) != (want != None) {
		t.Errorf("the playlist stopped for %s at the longest", longest)
	}
	switch want {
	case NotSent:
		if unread > 10_000 {
			t.Errorf("%d bytes waited unread in the server's socket buffer: it was not the encoder", unread)
		}
	case NotPacked:
		if unread < 20_000 {
			t.Errorf("only %d bytes waited unread in the server's socket buffer: it was not who packs", unread)
		}
	}
}
