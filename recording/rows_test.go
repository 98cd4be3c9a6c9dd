package recording

import "testing"

func TestIsTable(t *testing.T) {
	for path, want := range map[string]bool{
		"/tmp/rec/tables/drops.jsonl": true, "/tmp/rec/tables/loops.jsonl": true, "/var/log/tables/app.jsonl": false,
		"/tmp/rec/drops.jsonl": false, "/tmp/rec/tables/drops.jsonl.1": false, "tables/drops.log": false, "": false,
	} {
		if IsTable(path) != want {
			t.Errorf("%q: %v", path, !want)
		}
	}
}
