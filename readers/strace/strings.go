package strace

import "bytes"

// unescape appends the bytes of the string that strace shows in b, behind its opening
// quote: C's escapes, octal ones of one to three digits (default), and \x63 (-x, -xx).
// It takes no more than dst has room for.
func unescape(dst, b []byte) []byte {
	for i := 0; i < len(b) && len(dst) < cap(dst); i++ {
		c := b[i]
		if c == '"' {
			break
		}
		if c != '\\' || i+1 == len(b) {
			dst = append(dst, c)
			continue
		}
		i++
		switch c = b[i]; c {
		case 'n':
			c = '\n'
		case 't':
			c = '\t'
		case 'r':
			c = '\r'
		case 'v':
			c = '\v'
		case 'f':
			c = '\f'
		case 'x':
			n := 0
			c = 0
			for n < 2 && i+1 < len(b) {
				v, ok := hexDigit(b[i+1])
				if !ok {
					break
				}
				c = c<<4 | v
				i++
				n++
			}
		default:
			if c < '0' || c > '7' {
				break // \" and \\
			}
			c -= '0'
			for n := 1; n < 3 && i+1 < len(b) && b[i+1] >= '0' && b[i+1] <= '7'; n++ {
				i++
				c = c<<3 | (b[i] - '0')
			}
		}
		dst = append(dst, c)
	}
	return dst
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	}
	return 0, false
}

// spellings are the forms in which strace may show a text: as it is, with what is no
// printable ASCII in octal, and all of it in hexadecimal (-xx, or -x of a text with
// such a byte).
func spellings(text string) [][]byte {
	if text == "" {
		return nil
	}
	const digits = "0123456789abcdef"
	var plain, hexed []byte
	for i := range len(text) {
		c := text[i]
		hexed = append(hexed, '\\', 'x', digits[c>>4], digits[c&15])
		switch {
		case c == '"' || c == '\\':
			plain = append(plain, '\\', c)
		case c >= ' ' && c < 0x7f:
			plain = append(plain, c)
		case c >= '\t' && c <= '\r':
			plain = append(plain, '\\', "tnvfr"[c-'\t'])
		case i+1 < len(text) && text[i+1] >= '0' && text[i+1] <= '9': // else the digit would be taken for its own
			plain = append(plain, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		default:
			plain = append(plain, '\\')
			if c >= 0o100 {
				plain = append(plain, '0'+c>>6)
			}
			if c >= 0o10 {
				plain = append(plain, '0'+c>>3&7)
			}
			plain = append(plain, '0'+c&7)
		}
	}
	return [][]byte{plain, hexed}
}

// holds tells whether one of the spellings is in b.
func holds(b []byte, forms [][]byte) bool {
	for _, f := range forms {
		if bytes.Contains(b, f) {
			return true
		}
	}
	return false
}
