package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"

	"snag/internal/mcp"
	"snag/recorder"
)

type incidentsIn struct {
	Limit int `json:"limit,omitempty" doc:"how many of the newest; default 20, 100 at most"`
}

// Incidents are the newest of those that snag record kept.
type Incidents struct {
	Incidents []recorder.Incident `json:"incidents" doc:"newest first"`
	All       int                 `json:"all" doc:"how many there are"`
}

func (d *desk) incidents() mcp.Tool {
	return tool[incidentsIn, Incidents]("incidents", "When clients or streams were affected",
		`List the incidents that snag record noticed on this host, newest first: when clients or streams were affected, and the culprit (snag incidents). judge shows one with its evidence.`,
		func(ctx context.Context, in incidentsIn, p mcp.Progress) (mcp.Result, error) {
			if in.Limit < 0 || in.Limit > 100 {
				return mcp.Result{}, fmt.Errorf("limit %d: 1 to 100", in.Limit)
			}
			c := Command{Name: "incidents", Flags: []string{"--json"}}
			c.flag("ring", d.Ring)
			out, err := d.run(ctx, c, d.reading, 0, p)
			if err != nil {
				return mcp.Result{}, err
			}
			all, err := incidentsOf(out.JSON)
			if err != nil {
				return mcp.Result{}, err
			}
			if in.Limit == 0 {
				in.Limit = 20
			}
			return listed(all, in.Limit)
		})
}

// incidentsOf reads what snag incidents --json writes, and puts the newest first.
func incidentsOf(text []byte) (all []recorder.Incident, err error) {
	for dec := json.NewDecoder(bytes.NewReader(text)); ; {
		var i recorder.Incident
		if err := dec.Decode(&i); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("read the incidents: %w", err)
		}
		all = append([]recorder.Incident{i}, all...)
	}
}

func listed(all []recorder.Incident, limit int) (r mcp.Result, err error) {
	for n := min(limit, len(all)); ; n = n * 3 / 4 {
		part := Incidents{append([]recorder.Incident{}, all[:n]...), len(all)}
		for i := range part.Incidents {
			one := &part.Incidents[i]
			first(&one.Culprits, 4, "", nil)
			first(&one.Symptoms, 2, "", nil)
			first(&one.Known, 4, "", nil)
			shorten(reflect.ValueOf(&one.Finding).Elem(), 300)
			one.Noticed = cut(one.Noticed, 300)
		}
		r.Text = incidentsText(part)
		if r.Structured, err = written(part); err != nil || n <= 1 || len(r.Text) <= mostBytes && len(r.Structured) <= mostBytes {
			return r, err
		}
	}
}

func incidentsText(all Incidents) string {
	var p page
	if all.All == 0 {
		p.add("NO INCIDENTS while snag record ran")
	} else {
		p.add("%d INCIDENTS; these are the newest %d; judge with incident shows one", all.All, len(all.Incidents))
	}
	for _, i := range all.Incidents {
		end := "not over"
		if !i.End.IsZero() {
			end = "lasted " + i.End.Sub(i.Start).Round(time.Second).String()
		}
		p.add("%d: %s, %s: %s", i.ID, i.Start.UTC().Format(time.RFC3339), end, what(i))
	}
	return p.String()
}

func what(i recorder.Incident) string {
	switch {
	case len(i.Culprits) > 0:
		return fmt.Sprintf("culprit %s: %s: %s", i.Culprits[0].Name, i.Culprits[0].Subject, i.Culprits[0].Text)
	case len(i.Symptoms) > 0:
		return fmt.Sprintf("no culprit proved; %s: %s: %s", i.Symptoms[0].Name, i.Symptoms[0].Subject, i.Symptoms[0].Text)
	}
	return i.Standing + after(": ", i.Noticed)
}
