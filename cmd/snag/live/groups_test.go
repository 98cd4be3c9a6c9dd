package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"snag/probes/streams/watch"
)

// grouped are five streams at two sites, and two of which no site is known.
func grouped() *watch.Snapshot {
	s := five()
	for i, site := range []string{"north", "south", "south", "", "north"} {
		if site != "" {
			s.Rows[i].Labels = watch.Labels{"site": site, "rack": "r1"}
		}
	}
	well := healthy("rtmp://origin/live/cam3")
	s.Rows = append(s.Rows, well)
	s.States[watch.OK]++
	return s
}

// One look at the groups: the worst first, each with its own count.
func TestTheTableIsGrouped(t *testing.T) {
	s := grouped()
	table := Table{Width: 80, Height: 24, Last: "03:12:40  live/cam7  FROZEN", Group: "site"}
	text := table.Draw(s)
	golden(t, "grouped-80x24", text)
	fits(t, "grouped", text, 80, 24)
	colour := Table{Width: 80, Height: 24, Last: "03:12:40  live/cam7  FROZEN", Group: "site", Color: true}
	if ansi.Strip(colour.Draw(s)) != text {
		t.Error("colour changes the words")
	}
	table.Filter = "site=north"
	if text := table.Draw(s); strings.Contains(text, "cam2") || !strings.Contains(text, "cam10") {
		t.Errorf("filtered by a label:\n%s", text)
	}
	if text := table.Details(s, &s.Rows[0]); !strings.Contains(text, "labels rack=r1 site=north") {
		t.Errorf("details:\n%s", text)
	}
}

// Whatever row is chosen is shown, on a screen of any height, with the line of its group
// above the first of it; and the cursor passes each row once.
func TestTheCursorMovesThroughGroups(t *testing.T) {
	s := twoHundred()
	for i := range s.Rows {
		s.Rows[i].Labels = watch.Labels{"rack": fmt.Sprint("r", i%7)}
	}
	for _, height := range []int{6, 9, 24} {
		m := model{snap: *s, table: Table{Width: 80, Height: height, Group: "rack"}}
		seen := map[string]bool{}
		for range s.Rows {
			text := m.draw()
			chosen := ""
			for i, line := range strings.Split(text, "\n") {
				if strings.HasPrefix(line, "> ") {
					chosen = fmt.Sprint(i, line)
				}
			}
			if chosen == "" {
				t.Fatalf("no row is chosen at %d lines:\n%s", height, text)
			}
			m.move(0)
			seen[m.table.Cursor] = true
			m.move(1)
		}
		if len(seen) != len(s.Rows) {
			t.Errorf("the cursor came to %d of %d rows", len(seen), len(s.Rows))
		}
	}
}

// Who comes back to the first row of a group sees its line again.
func TestTheGroupsLineComesBack(t *testing.T) {
	s := twoHundred()
	for i := range s.Rows {
		s.Rows[i].Labels = watch.Labels{"rack": fmt.Sprint("r", i%7)}
	}
	table := Table{Width: 80, Height: 12, Group: "rack"}
	rows := rowsOf(itemsOf(Sorted(s, ""), "rack"))
	for _, at := range []int{len(rows) - 1, 0} {
		table.Cursor = Key(rows[at])
		table.Draw(s)
	}
	if text := table.Draw(s); !strings.Contains(strings.Split(text, "\n")[3], "rack r") {
		t.Errorf("%s", text)
	}
}

func TestTheSummaryIsGrouped(t *testing.T) {
	var b bytes.Buffer
	l := NewLines(&b)
	l.Group = "site"
	l.Summary(grouped())
	want := `  site south: 2 streams: 1 FROZEN, 1 ok
  site north: 2 streams: 1 refused, 1 ok
  no site: 2 streams: 1 late, 1 ok
`
	var got strings.Builder
	for i, line := range strings.SplitAfter(b.String(), "\n") {
		if i > 0 && line != "" {
			got.WriteString(line[len("03:12:45.000  "):])
		}
	}
	if got.String() != want {
		t.Errorf("%s", b.String())
	}

	many := twoHundred()
	for i := range many.Rows {
		many.Rows[i].Labels = watch.Labels{"site": fmt.Sprint("s", i)}
	}
	b.Reset()
	l.Summary(many)
	if n := strings.Count(b.String(), "\n"); n != maxGroups+2 || !strings.Contains(b.String(), "180 more groups, none of them worse") {
		t.Errorf("%d lines: %s", n, b.String())
	}
}

func TestJSONHasLabelsAndGroups(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("watch.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	j := NewJSON(&b)
	j.Group = "site"
	s := grouped()
	j.Figures(s)
	j.Summary(s)
	h := happened()[0]
	h.Labels = watch.Labels{"site": "north"}
	j.Event(h)
	j.Verdict(watch.Judged{Stream: "live/cam7", Labels: h.Labels, Text: "nobody", Recording: "/tmp/x/3"})
	labels := map[string]int{}
	for line := range strings.SplitSeq(strings.TrimSpace(b.String()), "\n") {
		var doc map[string]any
		if err := json.Unmarshal([]byte(line), &doc); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Fatalf("%v\n%s", err, line)
		}
		if l, ok := doc["labels"].(map[string]any); ok {
			labels[fmt.Sprint(doc["type"], " ", l["site"])]++
		}
		if doc["type"] == "summary" {
			got, err := json.Marshal(doc["groups"])
			want := `[{"states":{"frozen":1,"ok":1},"streams":2,"value":"south"},{"states":{"ok":1,"refused":1},"streams":2,"value":"north"},{"states":{"late":1,"ok":1},"streams":2,"value":""}]`
			if err != nil || string(got) != want || doc["group_by"] != "site" {
				t.Errorf("%s", got)
			}
		}
	}
	if labels["figures north"] != 2 || labels["figures south"] != 2 || labels["event north"] != 1 || labels["verdict north"] != 1 {
		t.Errorf("%v", labels)
	}
}
