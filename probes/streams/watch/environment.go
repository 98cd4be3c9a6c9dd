package watch

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// environment is what the command is told: of the first stream, and which others
// there are. What is not known is not there.
func environment(c Call) []string {
	a := c.Alarms[0]
	env := []string{
		"SNAG_EVENT=" + a.Event,
		"SNAG_STREAM=" + a.Stream,
		"SNAG_URL=" + a.URL,
		"SNAG_ONSET=" + a.Onset.UTC().Format(time.RFC3339Nano),
		"SNAG_SECONDS=" + strconv.FormatFloat(a.For.Seconds(), 'f', 3, 64),
	}
	put := func(name, value string) {
		if value != "" {
			env = append(env, name+"="+value)
		}
	}
	put("SNAG_LAYER", a.Layer)
	put("SNAG_SIDE", a.side())
	if a.Over {
		put("SNAG_OVER", "1")
	}
	if a.RateBefore > 0 {
		put("SNAG_RATE", strconv.FormatFloat(a.Rate, 'f', 3, 64))
		put("SNAG_RATE_BEFORE", strconv.FormatFloat(a.RateBefore, 'f', 3, 64))
	}
	put("SNAG_VERDICT", a.Verdict)
	if j := a.Judged; j != nil {
		put("SNAG_RECORDING", j.Recording)
		put("SNAG_CULPRIT", j.Culprit)
		put("SNAG_SUBJECT", j.Subject)
		if j.Culprit != "" {
			put("SNAG_CONFIDENCE", strconv.FormatFloat(j.Confidence, 'f', 2, 64))
		}
	}
	if n := len(c.Alarms); n > 1 {
		put("SNAG_STREAMS", strings.Join(names(c.Alarms), "\n"))
		put("SNAG_STREAM_COUNT", strconv.Itoa(n))
	}
	if c.Held.Alarms > 0 {
		put("SNAG_HELD", strconv.Itoa(c.Held.Alarms))
		put("SNAG_HELD_STREAMS", strings.Join(c.Held.Streams, "\n"))
	}
	return env
}

func names(alarms []Alarm) (out []string) {
	for _, a := range alarms {
		out = append(out, a.Stream)
	}
	return out
}

// inherited is snag's own environment without what an outer snag said of another
// stream: what is not known here must not look as if it were.
func inherited() []string {
	return slices.DeleteFunc(os.Environ(), func(s string) bool {
		name, _, _ := strings.Cut(s, "=")
		return slices.Contains(variables, name)
	})
}

// variables are the names that a command may be told.
var variables = []string{
	"SNAG_EVENT", "SNAG_STREAM", "SNAG_URL", "SNAG_LAYER", "SNAG_ONSET", "SNAG_SECONDS",
	"SNAG_VERDICT", "SNAG_CULPRIT", "SNAG_SUBJECT", "SNAG_CONFIDENCE", "SNAG_RECORDING",
	"SNAG_SIDE", "SNAG_OVER", "SNAG_STREAMS", "SNAG_STREAM_COUNT", "SNAG_HELD", "SNAG_HELD_STREAMS",
	"SNAG_RATE", "SNAG_RATE_BEFORE",
}
