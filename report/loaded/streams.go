package loaded

import (
	"fmt"

	"snag/internal/units"
	"snag/load"
)

// upTo says how many requests one connection carries at a time.
func upTo(r *load.Result) string {
	if r.Plan.Streams <= 1 {
		return ""
	}
	return fmt.Sprintf(" with up to %d each (--streams)", r.Plan.Streams)
}

// busy is why a request that was due was not sent.
func busy(r *load.Result) string {
	if r.Plan.Streams > 1 {
		return "no connection had room for one more"
	}
	return "no connection was free"
}

// streams says what the other side's limit and the ends of its connections did.
func streams(r *load.Result) (out []string) {
	s := r.Streams
	if s.Limit != nil {
		line := fmt.Sprintf("the server allows %s on one connection at a time (SETTINGS_MAX_CONCURRENT_STREAMS), of the %d of --streams", units.Plural(*s.Limit, "request"), r.Plan.Streams)
		if s.Waited > 0 {
			line += fmt.Sprintf(": %s waited for that limit. More --conns go around it", units.Plural(int(s.Waited), "request"))
		} else {
			line += ": none waited for that limit"
		}
		out = append(out, line)
	}
	if s.Again > 0 {
		out = append(out, fmt.Sprintf("sent again on another connection, as the server ended one (GOAWAY) before it began with them: %s. Their times are since they were sent first", units.Plural(int(s.Again), "request")))
	}
	return out
}

// streamsJSON are counts of requests; limit is null where the other side allowed as many as were asked for.
func streamsJSON(r *load.Result) map[string]any {
	return map[string]any{"each": r.Plan.Streams, "limit": r.Streams.Limit, "waited": r.Streams.Waited, "sent_again": r.Streams.Again}
}
