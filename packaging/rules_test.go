package packaging

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"snag/tools/dashboards/expressions"
)

const rulesFile, rulesTests = "prometheus/snag.rules.yml", "prometheus/snag.rules.test.yml"

// Prometheus' own tool runs the tests of the alerts.
func TestAlerts(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("no promtool: make setup installs Debian's prometheus")
	}
	if out, err := exec.Command(promtool, "check", "rules", rulesFile).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := exec.Command(promtool, "test", "rules", rulesTests).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	// An alert that never fires, or always does, fails its tests.
	rules, err := os.ReadFile(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	tests, err := os.ReadFile(rulesTests)
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"vector(0) == 1", "vector(1)"} {
		dir := t.TempDir()
		changed := regexp.MustCompile(`(?m)^( +expr:) .*$`).ReplaceAll(rules, []byte("$1 "+other))
		for name, text := range map[string][]byte{"snag.rules.yml": changed, "test.yml": tests} {
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		out, err := exec.Command(promtool, "test", "rules", filepath.Join(dir, "test.yml")).CombinedOutput()
		if err == nil || bytes.Count(out, []byte("alertname:")) < len(alerts(t)) {
			t.Errorf("with %s for each alert: %v\n%s", other, err, out)
		}
	}
}

func alerts(t *testing.T) []expressions.Rule {
	t.Helper()
	all, err := expressions.Rules(rulesFile)
	if err != nil || len(all) < 6 {
		t.Fatalf("%d alerts, %v", len(all), err)
	}
	return all
}

// Each alert has a test where it fires and one where it does not, names the host, a culprit or why there is
// none, and the next command.
func TestAlertsAreTestedAndHelp(t *testing.T) {
	t.Parallel()
	var file struct {
		Tests []struct {
			Rules []struct {
				Alert string           `yaml:"alertname"`
				Want  []map[string]any `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	if err := yaml.Unmarshal([]byte(text(t, rulesTests)), &file); err != nil {
		t.Fatal(err)
	}
	fires, quiet := map[string]int{}, map[string]int{}
	for _, one := range file.Tests {
		for _, r := range one.Rules {
			if len(r.Want) > 0 {
				fires[r.Alert]++
			} else {
				quiet[r.Alert]++
			}
		}
	}
	for _, a := range alerts(t) {
		if fires[a.Alert] == 0 || quiet[a.Alert] == 0 {
			t.Errorf("%s fires in %d tests and is quiet in %d", a.Alert, fires[a.Alert], quiet[a.Alert])
		}
		summary, description := a.Annotations["summary"], a.Annotations["description"]
		for _, part := range []string{"$labels.instance"} {
			if !strings.Contains(summary, part) || !strings.Contains(description, part) {
				t.Errorf("%s does not name the host", a.Alert)
			}
		}
		if !regexp.MustCompile(`(?i)culprit`).MatchString(description) || !regexp.MustCompile(`Next.*: *(sudo snag|snag|systemctl|df|journalctl) `).MatchString(description) {
			t.Errorf("%s names no culprit or no command: %s", a.Alert, description)
		}
		if a.Labels["severity"] == "" || a.For == "" {
			t.Errorf("%s: %+v", a.Alert, a)
		}
	}
}

// A label that an annotation names is one of the alert's series.
func TestAnnotationsNameLabels(t *testing.T) {
	t.Parallel()
	for _, a := range alerts(t) {
		uses, err := expressions.Uses(a.Expr)
		if err != nil {
			t.Errorf("%s: %v", a.Alert, err)
		}
		if !strings.Contains(a.Expr, "by (") {
			continue // all labels of the series are there: the live test knows them
		}
		var have []string
		for _, u := range uses {
			have = append(have, u.Labels...)
		}
		for _, name := range found(a.Annotations["summary"]+a.Annotations["description"], `\$labels\.(\w+)`) {
			if !slices.Contains(have, name) {
				t.Errorf("%s names the label %s, its series have %v", a.Alert, name, have)
			}
		}
	}
}
