package agent

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"snag/internal/mcp"
	"snag/report"
)

func TestResources(t *testing.T) {
	f, s, d := newFake(t)
	f.answers["show"], f.lines = "host lab\n", "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n"
	if _, err := callTool(t, s, "judge", `{"recording":"/r"}`); err != nil {
		t.Fatal(err)
	}
	list := s.Resources.List()
	if len(list) != 2 || list[0].URI != "snag://recording/r1/verdict.json" || list[1].URI != "snag://recording/r1/contents" {
		t.Errorf("%+v", list)
	}
	id := d.recordings.byID("r1").Verdict.Verdict[0].ID
	for uri, want := range map[string]string{
		"snag://recording/r1/contents":                                     "host lab\n",
		"snag://recording/r1/table/sockets":                                "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n{\"offset\":0,\"rows\":3,\"all_rows\":3}\n",
		"snag://recording/r1/table/sockets?offset=1&limit=1":               "{\"a\":2}\n{\"offset\":1,\"rows\":1,\"all_rows\":3}\n",
		"snag://recording/r1/table/sockets?offset=9":                       "{\"offset\":9,\"rows\":0,\"all_rows\":3}\n",
		"snag://recording/r1/entry/" + strings.ReplaceAll(id, "#", "%23"):  `"suspect":"udp-receive-buffer-full"`,
		"snag://recording/r1/entry/" + id:                                  `"suspect":"udp-receive-buffer-full"`,
		"snag://recording/r1/verdict.json":                                 `"version":2`,
		"snag://recording/r2/contents":                                     `no recording "r2" in this session`,
		"snag://recording/r1/entry/nobody":                                 `no entry "nobody"`,
		"snag://recording/r1/table/":                                       "give the name of a table",
		"snag://recording/r1/table/sockets?limit=100000":                   `limit "100000": a number from 0 to 500`,
		"snag://recording/r1/table/sockets?offset=-1":                      `offset "-1"`,
		"snag://recording/r1/../../etc/passwd":                             `a recording has no "../../etc/passwd"`,
		"snag://recording/":                                                `no recording ""`,
		"file:///etc/passwd":                                               "no resource has such an address",
		"snag://recording/%zz":                                             "no resource has such an address",
		"snag://recording/r1/" + strings.Repeat("x", 100_000):              "a recording has no",
		"snag://recording/r1/table/" + "--load=http%3A%2F%2F127.0.0.1%2F/": "a recording has no",
	} {
		c, err := s.Resources.Read(t.Context(), uri)
		var none *mcp.NoResourceError
		got := c.Text
		if err != nil {
			got = err.Error()
			if !errors.As(err, &none) {
				t.Errorf("%.100s: %v is not an error of what was asked for", uri, err)
			}
		}
		if !strings.Contains(got, want) || err != nil && len(err.Error()) > 300 {
			t.Errorf("%.100s: %.300q, want %q", uri, got, want)
		}
	}
	if f.last() == "" || !strings.HasPrefix(f.last(), "show ") || len(d.recordings.list()) != 1 {
		t.Errorf("%q", f.last())
	}
}

// A table's name is a value, never a flag.
func TestTheNameOfATable(t *testing.T) {
	f, s, _ := newFake(t)
	if _, err := callTool(t, s, "judge", `{"recording":"/r"}`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Resources.Read(t.Context(), "snag://recording/r1/table/--html"); err != nil || f.last() != "show --table=--html -- /r" {
		t.Errorf("%q %v", f.last(), err)
	}
}

// The newest recordings have an ID; older ones that the server made are removed, and no others.
func TestOldRecordings(t *testing.T) {
	r := recordings{changed: make(chan struct{}, 1)}
	var own, others []string
	for range mostKept {
		mine, theirs := t.TempDir(), t.TempDir()
		own, others = append(own, mine), append(others, theirs)
		r.add(mine, "", true, nil)
		r.add(theirs, "", false, nil)
	}
	if n := len(r.list()); n != mostKept || r.byID("r1") != nil || r.byID("r40") == nil {
		t.Errorf("%d are kept", n)
	}
	for i := range own {
		if _, err := os.Stat(own[i]); os.IsNotExist(err) != (i < mostKept/2) {
			t.Errorf("own %d: %v", i, err)
		}
		if _, err := os.Stat(others[i]); err != nil {
			t.Errorf("another's recording was removed: %v", err)
		}
	}
	a := r.add(others[19], "again", false, &report.Document{Host: "h"})
	if a.ID != "r40" || r.byID("r40").Verdict.Host != "h" {
		t.Errorf("%+v", a)
	}
}

// All that a client reads before its first call: it has to fit beside the rest of a model's context.
func TestTheListOfTools(t *testing.T) {
	_, s, _ := newFake(t)
	model := len(s.Instructions)
	for _, tool := range s.Tools {
		model += len(tool.Name) + len(tool.Description) + len(tool.Input)
		if !json.Valid(tool.Input) || !json.Valid(tool.Output) {
			t.Errorf("%s: a schema is not JSON", tool.Name)
		}
	}
	if model > 12_000 {
		t.Errorf("the tools take %d bytes of a model's context", model)
	}
}
