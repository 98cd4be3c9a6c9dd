package strace

import (
	"bytes"
	"hash/maphash"
	"strconv"
)

// texts are the names that were made into strings lately: a server opens the same files
// again and again.
type texts [1024]string

var textSeed = maphash.MakeSeed()

// text is b as a string.
func (x *texts) text(b []byte) string {
	slot := &x[maphash.Bytes(textSeed, b)%uint64(len(x))]
	if *slot != string(b) {
		*slot = string(b)
	}
	return *slot
}

// quoted is the first string among a call's arguments, with its escapes.
func (x *texts) quoted(args []byte) string {
	plain, escaped := firstString(args)
	if escaped {
		return unquoted(plain)
	}
	return x.text(plain)
}

// quoted is the first string among a call's arguments, with its escapes.
func quoted(args []byte) string {
	plain, escaped := firstString(args)
	if escaped {
		return unquoted(plain)
	}
	return string(plain)
}

// firstString is what stands between the first quotes, as it stands there.
func firstString(args []byte) (b []byte, escaped bool) {
	i := bytes.IndexByte(args, '"')
	if i < 0 {
		return nil, false
	}
	b = args[i+1:]
	for j := 0; j < len(b); j++ {
		switch b[j] {
		case '\\':
			escaped = true
			j++
		case '"':
			return b[:j], escaped
		}
	}
	return b, false // it has no end
}

func unquoted(b []byte) string {
	q := make([]byte, 0, len(b)+2)
	q = append(append(append(q, '"'), b...), '"')
	if s, err := strconv.Unquote(string(q)); err == nil {
		return s
	}
	return string(b)
}
