// Package otlp sends log records and metrics to a collector with OTLP/HTTP in its JSON encoding, and to no other place
// than the one that it is given: no variable of the environment is read, no proxy is asked, no redirect is followed.
// It knows nothing of verdicts.
//
// The form is that of opentelemetry.io/docs/specs/otlp: names in lowerCamelCase, 64-bit integers as strings,
// enumerations as numbers. The tests read all of it with the real protobuf types.
package otlp

import (
	"encoding/json"
	"strconv"
	"time"
)

// Attr is an attribute of a resource, a log record or a data point.
type Attr struct {
	Key   string   `json:"key"`
	Value attrType `json:"value"`
}

// attrType has exactly one field that is set.
type attrType struct {
	String *string  `json:"stringValue,omitempty"`
	Int    *string  `json:"intValue,omitempty"`
	Double *float64 `json:"doubleValue,omitempty"`
}

// Str is an attribute with a text.
func Str(key, value string) Attr { return Attr{key, attrType{String: &value}} }

// Int is an attribute with an integer.
func Int(key string, value int64) Attr {
	text := strconv.FormatInt(value, 10)
	return Attr{key, attrType{Int: &text}}
}

// Double is an attribute with a number that is finite: JSON has no other.
func Double(key string, value float64) Attr { return Attr{key, attrType{Double: &value}} }

// Severity is how bad what a log record reports is.
type Severity int

// The severities that snag uses, with the numbers of OTLP's SeverityNumber.
const (
	Info  Severity = 9
	Warn  Severity = 13
	Error Severity = 17
)

var severityTexts = map[Severity]string{Info: "INFO", Warn: "WARN", Error: "ERROR"}

// Resource is who sends.
type Resource struct {
	Attrs   []Attr
	Version string // of snag, for the scope
}

// Log is one log record. Event names its kind; all records of one have the same attributes.
type Log struct {
	Time, Observed time.Time
	Severity       Severity
	Event, Body    string
	Attrs          []Attr
}

// nanos are nanoseconds since 1970 as the encoding has 64-bit integers: a string.
func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

type resource struct {
	Attrs []Attr `json:"attributes"`
}

type scope struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

type logRecord struct {
	Time         string    `json:"timeUnixNano"`
	Observed     string    `json:"observedTimeUnixNano"`
	Severity     Severity  `json:"severityNumber"`
	SeverityText string    `json:"severityText"`
	Body         *attrType `json:"body"`
	Attrs        []Attr    `json:"attributes"`
	Event        string    `json:"eventName"`
}

// EncodeLogs is an ExportLogsServiceRequest.
func EncodeLogs(r Resource, logs []Log) ([]byte, error) {
	type scoped struct {
		Scope   scope       `json:"scope"`
		Records []logRecord `json:"logRecords"`
	}
	type of struct {
		Resource resource `json:"resource"`
		Scopes   []scoped `json:"scopeLogs"`
	}
	var records []logRecord
	for _, l := range logs {
		records = append(records, logRecord{
			Time: nanos(l.Time), Observed: nanos(l.Observed), Severity: l.Severity, SeverityText: severityTexts[l.Severity],
			Body: &attrType{String: &l.Body}, Attrs: l.Attrs, Event: l.Event,
		})
	}
	return json.Marshal(struct {
		Logs []of `json:"resourceLogs"`
	}{[]of{{resource{r.Attrs}, []scoped{{scope{"snag", r.Version}, records}}}}})
}
