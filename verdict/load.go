package verdict

import (
	"fmt"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
)

// loadTellsNothing says why the load that the user asked for tells nothing of the service; "" where it does, or
// there was none. Then nobody is cleared by it: the service did not get the load that it was to be judged
// under.
func (v *Verdict) loadTellsNothing() string {
	if v.Recording == nil || len(v.Recording.Parts) > 0 {
		return ""
	}
	for _, row := range v.Recording.Loads {
		switch {
		case row.NotTheServices != "":
			return fmt.Sprintf("the figures of the load of %s are not the service's: %s; they clear no suspect", row.Target, row.NotTheServices)
		case row.Answered == 0:
			return fmt.Sprintf("no request of the load of %s was answered: it is not known how the service does under it", row.Target)
		}
	}
	if c, ok := v.Recording.Measured(recording.MeasureLoad); !ok && c.State == recording.CoverageFailed {
		return "the load failed: " + c.Why
	}
	return triedTellsNothing(v.Scene, v.Recording)
}

// loadDelayed is a delay that the clients of a load met, in words. parts say what they waited for.
func loadDelayed(d ledger.Delay, parts string) string {
	row := d.Load.Row
	if d.Late > 0 {
		return fmt.Sprintf("%.3g %% of the requests of snag's load were not answered within %s since they were due, %s on average (%s)",
			100*d.Late, units.Short(d.Party.Usual.Objective), units.Short(row.Parts.Whole()), parts)
	}
	return fmt.Sprintf("requests of snag's load took %s on average since they were due; they waited %s of that for a free connection (%s)",
		units.Short(row.Parts.Whole()), units.Short(row.Parts.Waiting), parts)
}
