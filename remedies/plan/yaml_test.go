package plan

import (
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

// What PyYAML 6.0.3 made of full(), in its styles: yaml.safe_dump(yaml.safe_load(TEXT)),
// with default_flow_style=True, with default_style='"' and "'", with width=40, with
// allow_unicode=True, and as JSON by json.dumps(…, default=str).
func TestWhatPyYAMLWrites(t *testing.T) {
	files, err := filepath.Glob("testdata/pyyaml/*")
	if err != nil || len(files) < 7 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		p, err := ReadFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		want := full()
		want.Changes[0].Why = "a burst: 4 µs → \"8 µs\", # 1"
		if !p.Made.Equal(want.Made.Time) {
			t.Errorf("%s: made at %v", file, p.Made)
		}
		p.Made = want.Made
		if !reflect.DeepEqual(p, want) {
			t.Errorf("%s:\n%+v\n%+v", file, p, want)
		}
	}
}

func TestTimestampsOfYAML(t *testing.T) {
	want := time.Date(2026, 11, 21, 4, 53, 59, 0, time.UTC)
	for _, text := range []string{
		"2026-11-21T04:53:59Z", "2026-11-21 04:53:59+00:00", "2026-11-21 04:53:59", "'2026-11-21 04:53:59+00:00'", `"2026-11-21T04:53:59Z"`,
		"2026-11-21t04:53:59z", "2026-11-20T23:53:59-05:00", "2026-11-20 23:53:59 -5", "2026-11-21 4:53:59.0 Z", "2026-11-21 10:23:59+05:30", "2026-11-21  04:53:59.000000", "!!timestamp '2026-11-21 04:53:59'",
	} {
		p, err := Parse([]byte("version: 1\nfor: {}\nmade: " + text + "\n"))
		if text == "2026-11-21t04:53:59z" {
			if err == nil {
				t.Error("a small z is not a zone of YAML 1.1")
			}
			continue
		}
		if err != nil || !p.Made.Equal(want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"2026-11-21", "null", "~", "", "2001-12-14t21:59:43.10-05:00"} {
		if _, err := Parse([]byte("version: 1\nfor: {}\nmade: " + text + "\n")); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"yesterday", "2026-13-45", "[2026]", "12", "2026-11-21 04:53", "{}"} {
		if _, err := Parse([]byte("version: 1\nfor: {}\nmade: " + text + "\n")); err == nil {
			t.Errorf("%s is a time", text)
		}
	}
}
