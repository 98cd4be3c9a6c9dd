package page

import (
	"encoding/json"
	"os"
	"testing"

	"snag/recording"
	"snag/verdict"
)

func TestDump(t *testing.T) {
	r, err := recording.Open(os.Getenv("REC"))
	if err != nil {
		t.Skip()
	}
	d := New(verdict.Judge(r), limits[0])
	b, _ := json.MarshalIndent(d, "", " ")
	os.WriteFile("/tmp/g/dump.json", b, 0o644)
}
