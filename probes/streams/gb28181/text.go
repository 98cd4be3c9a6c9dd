package gb28181

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/simplifiedchinese"
)

// toUTF8 reads a document in the character set that it is in, whatever it declares:
// devices declare GB2312 and send UTF-8, or declare nothing and send GBK. Text in GBK
// is hardly ever valid UTF-8. GB 18030 has GBK and GB2312 in it.
func toUTF8(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	out, err := simplifiedchinese.GB18030.NewDecoder().Bytes(b)
	if err != nil {
		return strings.ToValidUTF8(string(b), "�")
	}
	return string(out)
}

// reference is a character by its number.
var reference = regexp.MustCompile(`&#(?:[0-9]{1,9}|x[0-9a-fA-F]{1,8});`)

// printable replaces what no XML document may hold (XML 1.0, 2.2), so that one
// camera's name does not cost the whole catalogue.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if !allowed(r) {
			return '�'
		}
		return r
	}, s)
	return reference.ReplaceAllStringFunc(s, func(ref string) string {
		digits, base := ref[2:len(ref)-1], 10
		if digits[0] == 'x' {
			digits, base = digits[1:], 16
		}
		n, err := strconv.ParseUint(digits, base, 32)
		if err != nil || n > utf8.MaxRune || !allowed(rune(n)) {
			return "�"
		}
		return ref
	})
}

func allowed(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= ' ' && r <= 0xd7ff || r >= 0xe000 && r <= 0xfffd || r >= 0x10000
}
