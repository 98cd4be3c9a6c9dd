package rectest_test

import (
	"os"
	"path/filepath"
	"testing"

	"snag/recording"
	"snag/recording/rectest"
)

func TestWrittenCaseIsARecording(t *testing.T) {
	file := filepath.Join(t.TempDir(), "case.txt")
	text := `A case.
-- samples --
node_netstat_Udp_InErrors 0+100x30
-- sockets --
{"t":"0..30","netns":1,"inode":77,"proto":"udp","state":"UNCONN","local":"0.0.0.0:5004","recv_q":0,"send_q":0,"drops":"0+100x"}
`
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "r")
	if err := rectest.Write(file, dir); err != nil {
		t.Fatal(err)
	}
	r, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Damage) > 0 {
		t.Errorf("damage: %v", r.Damage)
	}
	if len(r.Sockets) != 31 || r.Sockets[30].Drops != 3000 || r.Sockets[30].T != rectest.Start.Add(30e9) {
		t.Errorf("sockets: %d", len(r.Sockets))
	}
	if s := r.Select("node_netstat_Udp_InErrors"); len(s) != 1 || len(s[0].Points) != 31 {
		t.Errorf("series: %v", s)
	}
	if r.Length().Seconds() != 30 {
		t.Errorf("window %s, want 30 s", r.Length())
	}
}
