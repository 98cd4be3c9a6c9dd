package drops

import (
	"fmt"
	"testing"

	"snag/recording"
)

func count(rows []recording.Drop) (n uint64) {
	for _, r := range rows {
		n += r.N
	}
	return n
}

func TestFold(t *testing.T) {
	var rows []recording.Drop
	for i := range 3000 { // a flood from as many source ports to one
		rows = append(rows, recording.Drop{
			T: recording.Time(5000 - i), Reason: "NO_SOCKET", Place: "tcp_v4_rcv", Netns: 1, Proto: "tcp",
			Src: fmt.Sprintf("10.0.0.1:%d", 1024+i), Dst: "10.0.0.2:80", N: 1,
		})
	}
	rows = append(rows, recording.Drop{T: 1, Reason: "SOCKET_RCVBUFF", Netns: 1, Dst: "10.0.0.2:5004", N: 50})
	before := count(rows)
	got := fold(rows, 100)
	if len(got) != 101 || count(got) != before {
		t.Fatalf("%d rows of %d drops, want 101 of %d", len(got), count(got), before)
	}
	if got[0].Reason != "SOCKET_RCVBUFF" || got[0].N != 50 {
		t.Errorf("first row %+v, want the one with most drops, which is the earliest", got[0])
	}
	for i := 1; i < len(got); i++ {
		if got[i].T < got[i-1].T {
			t.Fatalf("row %d is before row %d", i, i-1)
		}
		if got[i].Src == "" && (got[i].N != 2901 || got[i].Dst != "10.0.0.2:80" || got[i].T != 2001) {
			t.Errorf("folded row %+v", got[i])
		}
	}
}

func TestFoldManyPorts(t *testing.T) {
	var rows []recording.Drop
	for i := range 5000 { // a scan
		rows = append(rows, recording.Drop{T: 1, Reason: "NO_SOCKET", Dst: fmt.Sprintf("10.0.0.2:%d", i), Inode: uint64(i + 1), N: 1})
	}
	got := fold(rows, 100)
	whole := got[len(got)-1]
	for _, d := range got {
		if d.N > 1 {
			whole = d
		}
	}
	if whole.N != 4800 || whole.Dst != "" || whole.Inode != 0 {
		t.Errorf("the rest is %+v, want 4800 drops of no port and no socket", whole)
	}
	if len(got) > 201 || count(got) != 5000 {
		t.Errorf("%d rows of %d drops, want at most 201 of 5000", len(got), count(got))
	}
}

func TestFoldFew(t *testing.T) {
	rows := []recording.Drop{{T: 2, N: 1, Src: "a"}, {T: 1, N: 2, Src: "b"}}
	if got := fold(rows, 2); len(got) != 2 || got[0].T != 1 || got[1].Src != "a" {
		t.Errorf("few rows were not left alone: %+v", got)
	}
}

func TestSocketInode(t *testing.T) {
	for link, want := range map[string]uint64{
		"socket:[37546]": 37546, "socket:[]": 0, "pipe:[12]": 0, "/dev/null": 0, "socket:[12": 0, "socket:[x]": 0,
	} {
		if got, ok := socketInode(link); got != want || ok != (want != 0) {
			t.Errorf("socketInode(%q) = %d, %v", link, got, ok)
		}
	}
}
