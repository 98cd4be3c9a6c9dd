package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// asker asks one recorder about a healthy time and an incident, by its own commands.
type asker func(ctx context.Context, o *options, r *running, before, during span) (answer, error)

var askers = map[string]asker{
	"snag": askSnag, "below": askBelow, "atop": askAtop, "sysstat": askSysstat, "netdata": askNetdata, "node_exporter": askPrometheus, "perf": askPerf,
}

// figures are sums of what was recorded, by name, with the number of samples.
type figures map[string]float64

// merge makes facts of the figures of both times. What is in one only was 0 in the other.
func merge(before, during figures) []fact {
	var out []fact
	for name, v := range during {
		out = append(out, fact{name, before[name], v})
	}
	for name, v := range before {
		if _, ok := during[name]; !ok {
			out = append(out, fact{name, v, 0})
		}
	}
	slices.SortFunc(out, func(a, b fact) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// both asks about one time and about the other.
func both(before, during span, one func(span) (figures, error)) (answer, error) {
	b, err := one(before)
	if err != nil {
		return answer{}, err
	}
	d, err := one(during)
	return answer{Facts: merge(b, d)}, err
}

func output(ctx context.Context, r *running, argv ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(cmd.Environ(), "LC_ALL=C")
	cmd.Dir = r.dir
	out, err := cmd.Output()
	if err != nil {
		said := ""
		if e, ok := err.(*exec.ExitError); ok { //nolint:errorlint // Output returns it bare
			said = tail(string(e.Stderr), 300)
		}
		return out, fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, said)
	}
	return out, nil
}

// askSnag runs snag find on the incident's time. What it names as culprits is what it says
// of a cause, and its symptoms are whom it says to be affected.
func askSnag(ctx context.Context, o *options, r *running, _, during span) (answer, error) {
	out, err := output(ctx, r, o.snag, "find", "--ring", r.dir+"/ring", "--json", "--from", during.From.UTC().Format(time.RFC3339), "--to", during.To.UTC().Format(time.RFC3339))
	if len(out) == 0 { // its exit code tells the standing
		return answer{}, err
	}
	return parseVerdict(out)
}

func parseVerdict(doc []byte) (a answer, err error) {
	var v struct {
		Symptoms []struct{ Name, Subject, Text string }
		Verdict  []struct {
			Suspect, State, Subject string
			Evidence                []struct{ Side, Text string }
		}
	}
	if err := json.Unmarshal(doc, &v); err != nil {
		return a, fmt.Errorf("snag find --json: %w", err)
	}
	for _, s := range v.Symptoms {
		a.Harm = append(a.Harm, s.Name+": "+s.Subject+": "+s.Text)
	}
	for _, s := range v.Verdict {
		if s.State != "culprit" {
			continue
		}
		text := s.Suspect + ": " + s.Subject
		for _, e := range s.Evidence {
			if e.Side == "for" {
				text += ": " + e.Text
				break
			}
		}
		a.Said = append(a.Said, text)
	}
	return a, nil
}
