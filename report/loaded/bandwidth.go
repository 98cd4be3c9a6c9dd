package loaded

import (
	"fmt"
	"io"

	"snag/internal/units"
	"snag/load"
)

// bandwidthText says whether the path carries what is needed, and shows the arithmetic.
func bandwidthText(w io.Writer, r *load.Result) {
	name := r.Plan.Target.Name
	f := r.Flow
	if f == nil {
		fmt.Fprintf(w, "%s: it ended before anything was measured\n", name)
		return
	}
	fmt.Fprintf(w, "%s: %s\n", name, enough(f))
	if why := r.Honest(); why != "" {
		fmt.Fprintf(w, "NOT THE PATH'S FIGURES: %s\n", why)
	}
	messages := func(bits float64) string {
		return fmt.Sprintf("%s bytes × 8 × %s messages/s = %s", units.Count(float64(f.Message)), plain(bits/8/float64(f.Message)), units.Bits(bits))
	}
	fmt.Fprintf(w, "\n  needed        %s\n", messages(f.Needed))
	fmt.Fprintf(w, "  sent          %s\n", messages(f.Sent))
	if f.Acked != nil {
		fmt.Fprintf(w, "  acknowledged  %s bytes/s × 8 = %s\n", units.Count(*f.Acked/8), units.Bits(*f.Acked))
	}
	if f.Returned != nil {
		fmt.Fprintf(w, "  came back     %s\n", messages(*f.Returned))
	}
	if f.Acked != nil && (f.ByWindow > 0.01 || f.ByBuffer > 0.01 || f.Resent > 0) {
		fmt.Fprintf(w, "\nof the time with something to send, the receiver's window was full for %s and the send buffer (--sndbuf) for %s; %s of the bytes were sent again\n",
			units.Percent(f.ByWindow), units.Percent(f.ByBuffer), units.Percent(f.Resent))
	}
	for _, line := range lostKinds(r) {
		fmt.Fprintln(w, line)
	}
}

func enough(f *load.Flow) string {
	carried, known := f.Carried()
	head := units.Bits(f.Needed) + " needed, "
	word := "acknowledged"
	if f.Acked == nil {
		word = "came back"
	}
	available, sure := f.Enough()
	switch {
	case !known:
		return head + units.Bits(f.Sent) + " sent; only the receiver knows what arrived (where it answers each message: --reply BYTES)"
	case available:
		return head + units.Bits(carried) + " " + word + ": it is available"
	case !sure:
		return head + units.Bits(carried) + " " + word + " (" + units.Percent(carried/f.Needed) + "): too short to tell, as acknowledgements may come 40 ms late (--for 5s or more)"
	case f.Sent < load.LeastCarried*f.Needed:
		return head + units.Bits(carried) + " available (" + units.Percent(carried/f.Needed) + ")"
	}
	return head + units.Bits(f.Sent) + " sent, " + units.Bits(carried) + " " + word + " (" + units.Percent(carried/f.Needed) + ")"
}

// plain writes messages per second, of which there may be less than one.
func plain(v float64) string {
	if v < 100 {
		return fmt.Sprintf("%.3g", v)
	}
	return units.Count(v)
}

// bandwidthJSON is in bits per second; null: not known.
func bandwidthJSON(r *load.Result) map[string]any {
	f := r.Flow
	if f == nil {
		return nil
	}
	out := map[string]any{"message_bytes": f.Message, "needed": f.Needed, "sent": f.Sent, "acknowledged": f.Acked, "returned": f.Returned,
		"available": nil, "window_full": nil, "send_buffer_full": nil, "sent_again": nil}
	if available, sure := f.Enough(); sure {
		out["available"] = available
	}
	if f.Acked != nil { // of TCP alone
		out["window_full"], out["send_buffer_full"], out["sent_again"] = f.ByWindow, f.ByBuffer, f.Resent
	}
	return out
}
