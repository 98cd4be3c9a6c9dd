// Package expressions reads what Grafana dashboards and Prometheus rules ask of a store: tests compare it
// with what snag really sends.
package expressions

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Expression is PromQL, and where it is used.
type Expression struct{ Where, Text string }

// Dashboards reads the queries of all panels and variables of the *.json in a folder, with Grafana's own variables
// replaced.
func Dashboards(folder string) (out []Expression, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no dashboard in %s (%w)", folder, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		var d struct {
			Panels     []panel
			Templating struct {
				List []struct {
					Type, Name string
					Query      any
				}
			}
		}
		if err := json.Unmarshal(b, &d); err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		for _, v := range d.Templating.List {
			if v.Type == "query" {
				out = append(out, Expression{f + ": variable " + v.Name, labelValues(plain(fmt.Sprint(v.Query)))})
			}
		}
		out = append(out, of(f, d.Panels)...)
	}
	return out, nil
}

type panel struct {
	Title   string
	Panels  []panel // of a row that is closed
	Targets []struct{ Expr string }
}

func of(where string, all []panel) (out []Expression) {
	for _, p := range all {
		for _, t := range p.Targets {
			out = append(out, Expression{where + ": " + p.Title, plain(t.Expr)})
		}
		out = append(out, of(where, p.Panels)...)
	}
	return out
}

// plain has Grafana's variables replaced by values that they may have.
func plain(text string) string {
	return strings.NewReplacer("$__rate_interval", "1m", "$__range", "1h", "$instance", "web1", "$stream", "live/a").Replace(text)
}

var valuesOf = regexp.MustCompile(`^label_values\((.*), *(\w+)\)$`)

// labelValues makes PromQL of Grafana's label_values.
func labelValues(text string) string {
	return valuesOf.ReplaceAllString(text, "count by ($2) ($1)")
}

// Rule is an alert.
type Rule struct {
	Alert       string
	Expr        string
	For         string
	Labels      map[string]string
	Annotations map[string]string
}

// Rules reads the alerts of a file of Prometheus rules.
func Rules(file string) (out []Rule, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var groups struct {
		Groups []struct {
			Name  string
			Rules []Rule
		}
	}
	if err := yaml.Unmarshal(b, &groups); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, g := range groups.Groups {
		out = append(out, g.Rules...)
	}
	return out, nil
}
