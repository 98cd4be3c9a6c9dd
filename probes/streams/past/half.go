package past

import "math"

// half is a number of 16 bits (IEEE 754 binary16): three digits, up to 65,504, which is
// what a chart can show. NaN is not measured.
type half uint16

const notMeasured half = 0x7e00

// toHalf rounds to the nearest; what is too large is the largest.
func toHalf(v float64) half {
	if math.IsNaN(v) {
		return notMeasured
	}
	sign := half(0)
	if v < 0 {
		sign, v = 0x8000, -v
	}
	switch {
	case v >= 65504:
		return sign | 0x7bff
	case v < 0x1p-14: // subnormal
		return sign | half(math.RoundToEven(v*0x1p24))
	}
	fraction, exponent := math.Frexp(v) // 0.5 to 1
	bits := int(math.RoundToEven((2*fraction-1)*1024)) + (exponent+14)<<10
	return sign | half(bits)
}

func (h half) value() float64 {
	if h&0x7fff > 0x7c00 {
		return math.NaN()
	}
	mantissa, exponent := float64(h&0x3ff), int(h>>10&0x1f)
	v := math.Ldexp(mantissa, -24)
	if exponent > 0 {
		v = math.Ldexp(1+mantissa/1024, exponent-15)
	}
	if h&0x8000 != 0 {
		return -v
	}
	return v
}
