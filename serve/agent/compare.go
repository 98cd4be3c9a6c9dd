package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"snag/internal/mcp"
	"snag/report/compared"
)

type compareIn struct {
	A    string `json:"a,omitempty" doc:"the recording of the good time, host or release: an ID or a path"`
	B    string `json:"b,omitempty" doc:"the recording in question"`
	At   string `json:"at,omitempty" doc:"instead of a and b: this time of snag record's ring (14:17:28, 2026-11-21T14:17:28Z)"`
	With string `json:"with,omitempty" doc:"with at: the good time"`
	For  string `json:"for,omitempty" doc:"with at: how long each time is; default 30s"`
}

// Comparison is a comparison as a tool returns it: the document of snag compare --json (docs/compare.md), its lists
// cut.
type Comparison struct {
	compared.Document
	LeftOut []string `json:"left_out" doc:"how much of which list is left out"`
}

func (d *desk) compare() mcp.Tool {
	return tool[compareIn, Comparison]("compare", "Compare two recordings or two times",
		`Say what differs by more than chance between two recordings, or between two times of snag record's ring: answers, errors, drops, settings, builds (snag compare).`,
		func(ctx context.Context, in compareIn, p mcp.Progress) (mcp.Result, error) {
			c := Command{Name: "compare", Flags: []string{"--json"}}
			switch byName := in.A != "" && in.B != ""; {
			case byName && in.At == "" && in.With == "":
				for _, name := range []string{in.A, in.B} {
					path, err := d.recordings.path(name)
					if err != nil {
						return mcp.Result{}, err
					}
					c.Args = append(c.Args, path)
				}
			case in.A == "" && in.B == "" && in.At != "" && in.With != "":
				c.flag("at", in.At)
				c.flag("with", in.With)
				c.flag("for", in.For)
				c.flag("ring", d.Ring)
			default:
				return mcp.Result{}, errors.New("give either a and b, or at and with")
			}
			out, err := d.run(ctx, c, d.reading, 0, p)
			if err != nil {
				return mcp.Result{}, err
			}
			return comparison(out.JSON)
		})
}

func comparison(text []byte) (r mcp.Result, err error) {
	for _, s := range []struct{ rows, runes int }{{40, 400}, {15, 300}, {6, 200}, {2, 100}, {1, 50}} {
		var c Comparison
		if err := json.Unmarshal(text, &c.Document); err != nil {
			return r, fmt.Errorf("read the comparison: %w", err)
		}
		c.LeftOut = limit(reflect.ValueOf(&c.Document).Elem(), s.rows)
		shorten(reflect.ValueOf(&c.Document).Elem(), s.runes)
		r.Text = comparisonText(&c)
		if r.Structured, err = written(c); err != nil || len(r.Text) <= mostBytes && len(r.Structured) <= mostBytes {
			break
		}
	}
	r.Text = firstLines(r.Text, mostBytes)
	return r, err
}

// limit keeps the first rows of all lists of a document, and says which were longer.
func limit(v reflect.Value, rows int) []string {
	left := []string{}
	for i := range v.NumField() {
		f := v.Field(i)
		if f.Kind() == reflect.Slice && f.IsNil() {
			f.Set(reflect.MakeSlice(f.Type(), 0, 0)) // the schema has no null
		}
		if f.Kind() != reflect.Slice || f.Len() <= rows {
			continue
		}
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		left = append(left, fmt.Sprintf("%d more %s", f.Len()-rows, name))
		f.Set(f.Slice(0, rows))
	}
	return left
}

func comparisonText(c *Comparison) string {
	var p page
	p.add("%s: %s", strings.ToUpper(string(c.Outcome)), strings.TrimPrefix(c.Sentence, string(c.Outcome)+": "))
	for _, s := range []struct {
		name string
		compared.Side
	}{{"A", c.A}, {"B", c.B}} {
		p.add("%s: %s: host %s, %s, %.0f s", s.name, s.Name, s.Host, s.Start, s.Seconds)
	}
	p.add("%d figures compared; what is marked changed differs by more than chance", c.Compared)
	for _, r := range c.Parties {
		p.add("%s %s: mean time of an answer %s; failed %s; answers per second %.3g, %.3g", r.Role, r.Subject, change(r.Time, " s"), change(r.Failed, ""), r.RateA, r.RateB)
		for _, q := range r.Points {
			p.add("  %s: %+.0f %% of A's time of an answer", q.Account, 100*q.Points)
		}
	}
	for _, r := range c.Amounts {
		if r.Changed {
			p.add("%s%s: %s", r.What, after(" of ", r.Stream), change(r.ChangeRow, " "+r.Unit))
		}
	}
	for _, f := range c.Functions {
		p.add("function %s of %s: %.3g of the CPU samples, then %.3g", f.Function, f.Program, f.A, f.B)
	}
	for _, r := range c.Builds {
		p.add("another build: %s: %s, then %s", r.Name, r.A, r.B)
	}
	for _, r := range c.Settings {
		p.add("setting %s: %s, then %s", r.Name, r.A, r.B)
	}
	for _, r := range c.Stopped {
		p.add("no answers in B: %s (%.3g per second in A)", r.Subject, r.RateA)
	}
	for _, r := range c.Gone {
		p.add("not there in B: %s", r.Subject)
	}
	if len(c.LeftOut) > 0 {
		p.add("left out here: %s (snag compare --json has them)", strings.Join(c.LeftOut, ", "))
	}
	return p.String()
}

func change(c compared.ChangeRow, unit string) string {
	text := fmt.Sprintf("%.3g%s, then %.3g%s", c.A, unit, c.B, unit)
	if c.Changed {
		text += " (changed)"
	}
	return text
}
