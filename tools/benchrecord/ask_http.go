package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func get(ctx context.Context, address string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", address, res.Status, tail(string(b), 200))
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	return nil
}

// askNetdata reads the mean of every dimension of every chart, and the alarms that went off.
func askNetdata(ctx context.Context, _ *options, _ *running, before, during span) (answer, error) {
	base := "http://" + netdataAt + "/api/v1/"
	var list struct{ Charts map[string]any }
	if err := get(ctx, base+"charts", &list); err != nil {
		return answer{}, err
	}
	a, err := both(before, during, func(s span) (figures, error) {
		f := figures{}
		for chart := range list.Charts {
			if strings.HasPrefix(chart, "netdata.") {
				continue // of itself
			}
			q := url.Values{"chart": {chart}, "after": {fmt.Sprint(s.From.Unix())}, "before": {fmt.Sprint(s.To.Unix())}, "points": {"1"}, "group": {"average"}, "format": {"json"}, "options": {"absolute"}}
			var d netdataData
			if err := get(ctx, base+"data?"+q.Encode(), &d); err != nil {
				continue // it has no data of that time
			}
			d.add(f, chart)
		}
		return f, nil
	})
	if err != nil {
		return a, err
	}
	var alarms []netdataAlarm
	if err := get(ctx, base+"alarm_log", &alarms); err != nil {
		return a, err
	}
	a.Said = raised(alarms, during)
	return a, nil
}

type netdataData struct {
	Labels []string
	Data   [][]*float64
}

func (d netdataData) add(f figures, chart string) {
	for _, row := range d.Data {
		for i, v := range row {
			if i > 0 && i < len(d.Labels) && v != nil {
				f[chart+" "+d.Labels[i]] = *v
			}
		}
	}
}

type netdataAlarm struct {
	Name, Chart, Status, Info string
	When                      int64
	Value                     any `json:"value_string"`
}

// raised are the alarms that became a warning or worse in that time, or half a minute
// later: most of them look back over a minute.
func raised(all []netdataAlarm, s span) (out []string) {
	for _, a := range all {
		bad := a.Status == "WARNING" || a.Status == "CRITICAL"
		if bad && a.When >= s.From.Unix() && a.When <= s.To.Add(restFor).Unix() {
			out = append(out, fmt.Sprintf("%s %s: %s on %s: %v", time.Unix(a.When, 0).Format(time.TimeOnly), strings.ToLower(a.Status), a.Name, a.Chart, a.Value))
		}
	}
	slices.Sort(out)
	return out
}

// askPrometheus reads every series of node_exporter. It has no alarms: Debian's package
// brings none for it.
func askPrometheus(ctx context.Context, _ *options, _ *running, before, during span) (answer, error) {
	return both(before, during, func(s span) (figures, error) {
		q := url.Values{"query": {fmt.Sprintf(`{__name__=~"node_.+"}[%ds]`, int(s.To.Sub(s.From).Seconds()))}, "time": {fmt.Sprint(s.To.Unix())}}
		var m matrix
		if err := get(ctx, "http://"+prometheusAt+"/api/v1/query?"+q.Encode(), &m); err != nil {
			return nil, err
		}
		return m.figures(), nil
	})
}

// matrix is the answer to a query for ranges.
type matrix struct {
	Data struct {
		Result []struct {
			Metric map[string]string
			Values [][2]any
		}
	}
}

// counters of node_exporter: those of netstat and vmstat do not end in _total.
var counters = regexp.MustCompile(`_total$|^node_(netstat|vmstat)_`)

// figures are rates of counters and means of all else.
func (m matrix) figures() figures {
	f := figures{}
	for _, series := range m.Data.Result {
		metric := series.Metric["__name__"]
		var labels []string
		for k, v := range series.Metric {
			if k != "__name__" && k != "job" && k != "instance" {
				labels = append(labels, fmt.Sprintf("%s=%q", k, v))
			}
		}
		slices.Sort(labels)
		name := metric + "{" + strings.Join(labels, ",") + "}"
		var times, values []float64
		for _, p := range series.Values {
			t, _ := p[0].(float64)
			word, _ := p[1].(string)
			v, err := strconv.ParseFloat(word, 64)
			if err == nil {
				times, values = append(times, t), append(values, v)
			}
		}
		n := len(values)
		switch {
		case n == 0:
		case !counters.MatchString(metric):
			for _, v := range values {
				f[name] += v / float64(n)
			}
		case n > 1 && times[n-1] > times[0]:
			f[name] = (values[n-1] - values[0]) / (times[n-1] - times[0])
		}
	}
	return f
}
