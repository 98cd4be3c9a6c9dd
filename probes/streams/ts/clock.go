package ts

// pcrWindow is over how long the least difference of arrival and PCR is kept: as
// long as shows a queue filling, as short as hides two clocks' drift (100 ppm: 1 ms).
const pcrWindow = 10e9

// pcrClock measures PCR against arrival.
type pcrClock struct {
	last    uint64
	arrival int64
	value   int64 // PCR unwrapped, ns
	set     bool
	least   [2]int64 // of arrival less PCR, in this half of the window and the one before
	most    int64    // since the gauge was last told, over the least
	half    int64    // when this half began
	told    int64
}

// add takes a PCR in ticks of 27 MHz. Each second it gives the jitter of that
// second: the most that a PCR came late, over the least of the window, in seconds.
func (c *pcrClock) add(pcr uint64, arrival int64) (jitter float64, ok bool) {
	const wrap = 300 << 33
	step := int64(pcr) - int64(c.last)
	if step < -wrap/2 {
		step += wrap
	}
	c.last = pcr
	moved := step / 27 * 1000
	// More than a second away from arrival is another time base, not jitter.
	if off := moved - (arrival - c.arrival); !c.set || off > 1e9 || off < -10e9 || step < 0 {
		*c = pcrClock{last: pcr, arrival: arrival, value: arrival, set: true, half: arrival, told: arrival}
		c.least = [2]int64{0, 0}
		return 0, false
	}
	c.value += moved + step%27*1000/27
	c.arrival = arrival
	late := arrival - c.value
	if arrival-c.half > pcrWindow/2 {
		c.least[1], c.least[0], c.half = c.least[0], late, arrival
	}
	c.least[0] = min(c.least[0], late)
	least := min(c.least[0], c.least[1])
	c.most = max(c.most, late-least)
	if arrival-c.told < 1e9 {
		return 0, false
	}
	jitter = float64(c.most) / 1e9
	c.told, c.most = arrival, late-least
	return jitter, true
}

// reset forgets the time base.
func (c *pcrClock) reset() { *c = pcrClock{} }
