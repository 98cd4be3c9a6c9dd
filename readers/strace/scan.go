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

// fraction reads the digits behind a point as nanoseconds.
func fraction(b []byte) (ns int64, rest []byte) {
	scale := int64(1e8)
	for i, c := range b {
		if c < '0' || c > '9' {
			return ns, b[i:]
		}
		ns += int64(c-'0') * scale
		scale /= 10
	}
	return ns, nil
}
