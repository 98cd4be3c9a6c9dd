package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// readNetdata reads the charts, and the alarms that went off until it was asked: most of
// them look back over a minute.
func readNetdata(all []section, s span) (a answer, err error) {
	a.figures = figures{}
	for _, q := range all {
		u, err := url.Parse(q.command)
		if err != nil {
			return a, fmt.Errorf("read an address that netdata was asked: %w", err)
		}
		if strings.HasSuffix(u.Path, "/alarm_log") {
			if a.causes, err = raised(q.output, s); err != nil {
				return a, err
			}
			continue
		}
		var d struct {
			Labels []string
			Data   [][]*float64
		}
		if json.Unmarshal([]byte(q.output), &d) != nil || len(d.Data) == 0 {
			continue // this chart has no data of that time
		}
		for i, v := range d.Data[0] {
			if i > 0 && i < len(d.Labels) && v != nil {
				a.figures[u.Query().Get("chart")+" "+d.Labels[i]] = *v
			}
		}
	}
	return a, nil
}

// raised are the alarms that became a warning or worse.
func raised(doc string, s span) (out []string, err error) {
	var all []struct {
		Name, Chart, Status string
		When                int64
		Value               any `json:"value_string"`
	}
	if err := json.Unmarshal([]byte(doc), &all); err != nil {
		return nil, fmt.Errorf("read netdata's alarms: %w", err)
	}
	for _, a := range all {
		bad := a.Status == "WARNING" || a.Status == "CRITICAL"
		if bad && a.When >= s.From.Unix() && a.When <= s.To.Add(restFor).Unix() {
			out = append(out, fmt.Sprintf("%s %s: %s on %s: %v", clock(time.Unix(a.When, 0)), strings.ToLower(a.Status), a.Name, a.Chart, a.Value))
		}
	}
	slices.Sort(out)
	return out, nil
}

// counters of node_exporter: those of netstat and vmstat do not end in _total.
var counters = regexp.MustCompile(`_total$|^node_(netstat|vmstat)_`)

// readPrometheus reads every series of node_exporter: rates of counters and means of all
// else. There are no alarms: Debian's package brings none.
func readPrometheus(all []section, _ span) (a answer, err error) {
	var m struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Values [][2]any // time, value
			}
		}
	}
	if err := json.Unmarshal([]byte(all[0].output), &m); err != nil {
		return a, fmt.Errorf("read the answer of Prometheus: %w", err)
	}
	a.figures = figures{}
	for _, series := range m.Data.Result {
		var times, values []float64
		for _, p := range series.Values {
			t, _ := p[0].(float64)
			word, _ := p[1].(string)
			if v, err := strconv.ParseFloat(word, 64); err == nil {
				times, values = append(times, t), append(values, v)
			}
		}
		n, name := len(values), seriesName(series.Metric)
		switch {
		case n == 0:
		case !counters.MatchString(series.Metric["__name__"]):
			for _, v := range values {
				a.figures[name] += v / float64(n)
			}
		case n > 1 && times[n-1] > times[0]:
			a.figures[name] = (values[n-1] - values[0]) / (times[n-1] - times[0])
		}
	}
	return a, nil
}

func seriesName(metric map[string]string) string {
	var labels []string
	for k, v := range metric {
		if k != "__name__" && k != "job" && k != "instance" {
			labels = append(labels, fmt.Sprintf("%s=%q", k, v))
		}
	}
	slices.Sort(labels)
	return metric["__name__"] + "{" + strings.Join(labels, ",") + "}"
}
