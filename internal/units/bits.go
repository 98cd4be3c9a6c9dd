package units

import "fmt"

// Bits writes a bit rate in powers of 1000, as networks have it: "12.3 Mbit/s".
func Bits(perSecond float64) string {
	for _, unit := range []string{"bit/s", "kbit/s", "Mbit/s"} {
		if perSecond < 999.5 {
			return fmt.Sprintf("%.3g %s", perSecond, unit)
		}
		perSecond /= 1000
	}
	return fmt.Sprintf("%.4g Gbit/s", perSecond)
}
