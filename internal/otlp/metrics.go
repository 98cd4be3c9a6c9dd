package otlp

import (
	"encoding/json"
	"math"
	"time"
)

// Metric is one value of one series. Values with the same name are data points of one metric, and have the same Help,
// Unit (UCUM; "" none) and Counter: it only grows, from the time on that EncodeMetrics is given.
type Metric struct {
	Name, Help, Unit string
	Counter          bool
	Value            float64
	Attrs            []Attr
}

type point struct {
	Attrs []Attr  `json:"attributes,omitempty"`
	Since string  `json:"startTimeUnixNano,omitempty"`
	Time  string  `json:"timeUnixNano"`
	Value float64 `json:"asDouble"`
}

type gauge struct {
	Points []point `json:"dataPoints"`
}

type sum struct {
	Points      []point `json:"dataPoints"`
	Temporality int     `json:"aggregationTemporality"`
	Monotonic   bool    `json:"isMonotonic"`
}

const cumulative = 2 // AGGREGATION_TEMPORALITY_CUMULATIVE

type metric struct {
	Name  string `json:"name"`
	Help  string `json:"description,omitempty"`
	Unit  string `json:"unit,omitempty"`
	Gauge *gauge `json:"gauge,omitempty"`
	Sum   *sum   `json:"sum,omitempty"`
}

// EncodeMetrics is an ExportMetricsServiceRequest of values at one time; counters began at since. Values that are no
// number are left out.
func EncodeMetrics(r Resource, all []Metric, since, at time.Time) ([]byte, error) {
	type scoped struct {
		Scope   scope     `json:"scope"`
		Metrics []*metric `json:"metrics"`
	}
	type of struct {
		Resource resource `json:"resource"`
		Scopes   []scoped `json:"scopeMetrics"`
	}
	return json.Marshal(struct {
		Metrics []of `json:"resourceMetrics"`
	}{[]of{{resource{r.Attrs}, []scoped{{scope{"snag", r.Version}, grouped(all, since, at)}}}}})
}

// grouped has the data points of each metric together, in the order in which the metrics came first.
func grouped(all []Metric, since, at time.Time) []*metric {
	byName := map[string]*metric{}
	var out []*metric
	for _, m := range all {
		if math.IsNaN(m.Value) || math.IsInf(m.Value, 0) {
			continue
		}
		one := byName[m.Name]
		if one == nil {
			one = &metric{Name: m.Name, Help: m.Help, Unit: m.Unit}
			byName[m.Name] = one
			out = append(out, one)
		}
		p := point{Attrs: m.Attrs, Time: nanos(at), Value: m.Value}
		if !m.Counter {
			if one.Gauge == nil {
				one.Gauge = &gauge{}
			}
			one.Gauge.Points = append(one.Gauge.Points, p)
			continue
		}
		if one.Sum == nil {
			one.Sum = &sum{Temporality: cumulative, Monotonic: true}
		}
		p.Since = nanos(since)
		one.Sum.Points = append(one.Sum.Points, p)
	}
	return out
}
