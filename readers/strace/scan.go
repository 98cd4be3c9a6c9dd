package strace

func isName(c byte) bool {
	return c >= 'a' && c <= 'z' || c == '_' || c >= '0' && c <= '9'
}

func skipSpaces(b []byte) []byte {
	for len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	return b
}

func trimSpaces(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return b
}

// digits is how many decimal digits b begins with.
func digits(b []byte) int {
	for i, c := range b {
		if c < '0' || c > '9' {
			return i
		}
	}
	return len(b)
}

// number reads the decimal digits at b's beginning, at most 18 of them.
func number(b []byte) (n int64, rest []byte) {
	i := 0
	for i < len(b) && i < 18 && b[i] >= '0' && b[i] <= '9' {
		n = n*10 + int64(b[i]-'0')
		i++
	}
	return n, b[i:]
}

// eightDigits reads eight decimal digits of which the first is in the lowest byte, as
// they lie in memory, without a loop: pairs, then fours, then all.
func eightDigits(v uint64) (n uint64, ok bool) {
	const low, high = 0x0f0f0f0f0f0f0f0f, 0x3030303030303030
	if v&0xf0f0f0f0f0f0f0f0 != high || (v+0x0606060606060606)&0xf0f0f0f0f0f0f0f0 != high {
		return 0, false
	}
	v &= low
	v = v*10 + v>>8
	return (v&0x000000ff000000ff*(100+1000000<<32) + v>>16&0x000000ff000000ff*(1+10000<<32)) >> 32, true
}

// hex reads hexadecimal digits; addresses over 63 bits wrap, which is nothing
// that is counted.
func hex(b []byte) (n int64, rest []byte) {
	for i, c := range b {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | int64(c-'0')
		case c >= 'a' && c <= 'f':
			n = n<<4 | int64(c-'a'+10)
		default:
			return n, b[i:]
		}
	}
	return n, nil
}

// signed reads a decimal number with or without a sign.
func signed(b []byte) (n int64, rest []byte, ok bool) {
	if b[0] == '-' {
		n, rest = number(b[1:])
		return -n, rest, len(rest) < len(b)-1
	}
	n, rest = number(b)
	return n, rest, len(rest) < len(b)
}

// fraction reads the digits behind a point as nanoseconds.
func fraction(b []byte) (ns int64, rest []byte) {
	i := 0
	for i < len(b) && i < 9 && b[i] >= '0' && b[i] <= '9' {
		ns = ns*10 + int64(b[i]-'0')
		i++
	}
	ns *= power[9-i]
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return ns, b[i:]
}

var power = [...]int64{1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}
