package score

// Bin is the accusations whose confidence was from From up to To, To itself only
// in the last bin.
type Bin struct {
	From float64 `json:"from"`
	To   float64 `json:"to"`
	N    int     `json:"n"`
	// Said is the mean confidence, Was the share that was right; both 0 where N is.
	Said float64 `json:"said"`
	Was  float64 `json:"was"`
}

// Calibration reports whether a confidence means what it says.
type Calibration struct {
	N     int   `json:"n"`
	Right int   `json:"right"`
	Bins  []Bin `json:"bins"`
	// Brier is the mean square of confidence − outcome: 0 is perfect, 0.25 is what
	// always saying 0.5 gets. 0 too where N is.
	Brier float64 `json:"brier"`
	// BaseBrier is what always saying the share that is right would get.
	BaseBrier float64 `json:"base_brier"`
}

// edges of the bins: narrow where most verdicts are.
var edges = []float64{0, 0.5, 0.7, 0.8, 0.9, 0.95, 1}

// Calibrate holds accusations against what was right.
func Calibrate(claims []Claim) Calibration {
	c := Calibration{N: len(claims)}
	for i := range len(edges) - 1 {
		c.Bins = append(c.Bins, Bin{From: edges[i], To: edges[i+1]})
	}
	for _, claim := range claims {
		was := 0.0
		if claim.Right {
			was = 1
			c.Right++
		}
		c.Brier += (claim.Confidence - was) * (claim.Confidence - was)
		b := &c.Bins[binOf(claim.Confidence)]
		b.N++
		b.Said += claim.Confidence
		b.Was += was
	}
	for i := range c.Bins {
		if b := &c.Bins[i]; b.N > 0 {
			b.Said /= float64(b.N)
			b.Was /= float64(b.N)
		}
	}
	if c.N > 0 {
		base := float64(c.Right) / float64(c.N)
		c.Brier /= float64(c.N)
		c.BaseBrier = base * (1 - base)
	}
	return c
}

func binOf(confidence float64) int {
	for i := len(edges) - 2; i > 0; i-- {
		if confidence >= edges[i] {
			return i
		}
	}
	return 0
}
