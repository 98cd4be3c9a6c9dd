package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"snag/internal/mcp"
	"snag/recording"
)

const scheme = "snag://recording/"

// Bounds of what one resources/read returns.
const (
	mostResource = 1 << 20
	mostRows     = 500
	someRows     = 50
	mostRowBytes = 48 << 10
)

func (k *kept) uri(rest string) string { return scheme + k.ID + "/" + rest }

func verdictResource(k *kept) mcp.Resource {
	return mcp.Resource{URI: k.uri("verdict.json"), Name: k.ID + " verdict", Description: "the whole verdict (docs/json.md): " + k.Of, MIMEType: "application/json"}
}

type resources struct{ *desk }

func (r resources) List() (out []mcp.Resource) {
	for _, k := range r.recordings.list() {
		out = append(out, verdictResource(k), mcp.Resource{
			URI: k.uri("contents"), Name: k.ID + " contents", Description: "what was recorded: probes, tables, series: " + k.Of, MIMEType: "text/plain",
		})
	}
	return out
}

func (r resources) Templates() []mcp.Template {
	return []mcp.Template{
		{URI: scheme + "{id}/verdict.json", Name: "verdict", Description: "the whole verdict as JSON", MIMEType: "application/json"},
		{URI: scheme + "{id}/entry/{entry}", Name: "finding", Description: "one row of the verdict with all its evidence, by its id", MIMEType: "application/json"},
		{URI: scheme + "{id}/contents", Name: "contents", Description: "what was recorded: probes, tables, series", MIMEType: "text/plain"},
		{URI: scheme + "{id}/table/{name}{?offset,limit}", Name: "table", MIMEType: "application/jsonl",
			Description: fmt.Sprintf("rows of a table, a JSON object a line; limit is %d unless it is given, and %d at most. Tables: samples %s", someRows, mostRows, strings.Join(recording.TableNames(), " "))},
	}
}

func none(format string, args ...any) error {
	return &mcp.NoResourceError{Why: fmt.Sprintf(format, args...)}
}

func (r resources) Read(ctx context.Context, uri string) (mcp.Contents, error) {
	c := mcp.Contents{URI: uri, MIMEType: "application/json"}
	rest, ok := strings.CutPrefix(uri, scheme)
	at, err := url.Parse(rest)
	if !ok || err != nil {
		return c, none("no resource has such an address: resources/templates/list has their forms")
	}
	parts := strings.Split(at.Path, "/")
	k := r.recordings.byID(parts[0])
	if k == nil {
		return c, none("no recording %q in this session: judge takes its path and gives it an ID", cut(parts[0], 80))
	}
	switch {
	case len(parts) == 2 && parts[1] == "verdict.json":
		c.Text, err = whole(k.Verdict)
	case len(parts) == 2 && parts[1] == "contents":
		c.MIMEType = "text/plain"
		c.Text, err = r.contents(ctx, k)
	case len(parts) == 3 && parts[1] == "entry":
		id := parts[2]
		if at.Fragment != "" { // of an ID that was not escaped: listen-overflow#4c1f09
			id += "#" + at.Fragment
		}
		c.Text, err = entry(k, id)
	case len(parts) == 3 && parts[1] == "table":
		c.MIMEType = "application/jsonl"
		c.Text, err = r.table(ctx, k, parts[2], at.Query())
	default:
		err = none("a recording has no %q: it has verdict.json, contents, entry/ID and table/NAME", cut(strings.Join(parts[1:], "/"), 80))
	}
	return c, err
}

// whole is a value as JSON, if that is not too long.
func whole(v any) (string, error) {
	b, err := written(v)
	if err == nil && len(b) > mostResource {
		err = fmt.Errorf("it has %d MB: read its rows one by one (entry/ID)", len(b)>>20)
	}
	return string(b), err
}

func entry(k *kept, id string) (string, error) {
	for _, e := range k.Verdict.Verdict {
		if e.ID == id {
			return whole(e)
		}
	}
	return "", none("the verdict has no entry %q: verdict.json has all", cut(id, 80))
}

func (r resources) contents(ctx context.Context, k *kept) (string, error) {
	out, err := r.run(ctx, Command{Name: "show", Args: []string{k.Path}}, r.reading, 0, func(float64, float64, string) {})
	return firstLines(string(out.JSON), mostRowBytes), err
}

// table is a part of a table. The rest has a line of its own, which is no row.
func (r resources) table(ctx context.Context, k *kept, name string, query url.Values) (string, error) {
	offset, err := number(query, "offset", 0, 1<<31)
	if err != nil {
		return "", err
	}
	limit, err := number(query, "limit", someRows, mostRows)
	if err != nil {
		return "", err
	}
	if name == "" {
		return "", none("give the name of a table")
	}
	t := rows{offset: offset, limit: limit}
	c := Command{Name: "show", Args: []string{k.Path}, Line: t.add}
	c.flag("table", name)
	if _, err := r.run(ctx, c, r.reading, 0, func(float64, float64, string) {}); err != nil {
		return "", err
	}
	return t.text()
}

func number(query url.Values, name string, otherwise, most int) (int, error) {
	if !query.Has(name) {
		return otherwise, nil
	}
	n, err := strconv.Atoi(query.Get(name))
	if err != nil || n < 0 || n > most {
		return 0, none("%s %q: a number from 0 to %d", name, cut(query.Get(name), 40), most)
	}
	return n, nil
}

// rows are some rows of a table, and how many there are.
type rows struct {
	offset, limit int
	kept          bytes.Buffer
	all, given    int
	full          bool // what came last did not fit
}

func (r *rows) add(line []byte) {
	r.all++
	if r.all <= r.offset || r.given == r.limit || r.full {
		return
	}
	if r.full = r.kept.Len()+len(line) > mostRowBytes; r.full {
		return
	}
	r.kept.Write(append(line, '\n'))
	r.given++
}

// text is the rows, and a last line that is none: which ones they are, of how many.
func (r *rows) text() (string, error) {
	if r.full && r.given == 0 {
		return "", fmt.Errorf("row %d is longer than %d KB: snag show --table prints it", r.offset, mostRowBytes>>10)
	}
	last, err := json.Marshal(struct {
		Offset int `json:"offset"`
		Rows   int `json:"rows"`
		All    int `json:"all_rows"`
	}{r.offset, r.given, r.all})
	return r.kept.String() + string(last) + "\n", err
}
