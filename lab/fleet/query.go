package fleet

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"time"
)

// found is a series that the querier answered with.
type found struct {
	Labels map[string]string
	Points []point
}

type point struct {
	At    float64 // seconds since 1970
	Value float64
}

func (s found) last() float64 {
	if len(s.Points) == 0 {
		return 0
	}
	return s.Points[len(s.Points)-1].Value
}

// get asks over HTTP in the store's namespace.
func (f *Fleet) get(address string) (string, error) {
	return f.Output(f.Name("monitor"), "curl", "-sS", "--fail-with-body", "--max-time", "10", address)
}

// query asks the querier; a zero time is now.
func (f *Fleet) query(expression string, at time.Time) ([]found, error) {
	q := url.Values{"query": {expression}}
	if !at.IsZero() {
		q.Set("time", strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', 3, 64))
	}
	text, err := f.get(f.Store.Query + "/api/v1/query?" + q.Encode())
	if err != nil {
		return nil, err
	}
	return parseFound([]byte(text))
}

// parseFound reads an answer of Prometheus' HTTP API.
func parseFound(raw []byte) (out []found, err error) {
	var doc struct {
		Status, Error string
		Data          struct {
			Result []struct {
				Metric map[string]string
				Value  [2]any
				Values [][2]any
			}
		}
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("lab: read the querier's answer: %w", err)
	}
	if doc.Status != "success" {
		return nil, fmt.Errorf("lab: the querier answers %s: %s", doc.Status, doc.Error)
	}
	for _, r := range doc.Data.Result {
		s := found{Labels: r.Metric}
		for _, pair := range append(r.Values, r.Value) {
			at, isTime := pair[0].(float64)
			text, isText := pair[1].(string)
			v, err := strconv.ParseFloat(text, 64)
			if isTime && isText && err == nil {
				s.Points = append(s.Points, point{at, v})
			}
		}
		out = append(out, s)
	}
	return out, nil
}
