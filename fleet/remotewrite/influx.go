package remotewrite

import (
	"bytes"
	"compress/gzip"
	"math"
	"strconv"
	"strings"
)

// packedLines are lines, compressed: three thousand of them have some 400 kB, and 20 kB then.
func packedLines(all []sample) []byte {
	var to bytes.Buffer
	w, _ := gzip.NewWriterLevel(&to, gzip.BestSpeed) // the level is one
	_, _ = w.Write(lines(all))                       // to memory
	_ = w.Close()
	return to.Bytes()
}

// lines are samples in line protocol (docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol): a
// measurement for each name, a tag for each label, one field "value", the time in ns.
//
//	node_load1,instance=web1,job=snag value=0.5 1795976155540000000
//
// It has no NaN and no infinity: such values, and the marks of series that ended, are not sent.
func lines(all []sample) (out []byte) {
	for _, s := range all {
		if math.IsNaN(s.value) || math.IsInf(s.value, 0) {
			continue
		}
		name, tags := "", []byte(nil)
		for _, l := range s.labels {
			if l.name == "__name__" {
				name = measurement(l.value)
				continue
			}
			key, value := escaped(l.name, tagEscapes), escaped(l.value, tagEscapes)
			if key == "" || value == "" {
				continue // the protocol has no empty tag
			}
			tags = append(append(append(append(tags, ','), key...), '='), value...)
		}
		if name == "" {
			continue // relabelling took it away
		}
		out = append(append(append(out, name...), tags...), " value="...)
		out = strconv.AppendFloat(out, s.value, 'g', -1, 64)
		out = strconv.AppendInt(append(out, ' '), int64(s.at), 10)
		out = append(out, '\n')
	}
	return out
}

// What a backslash is before, by the element.
const (
	measurementEscapes = ", "
	tagEscapes         = ",= "
)

// measurement is a name. A line that begins with # is a comment.
func measurement(name string) string {
	if strings.HasPrefix(name, "#") {
		name = "_" + name[1:]
	}
	return escaped(name, measurementEscapes)
}

// escaped writes a backslash before each of these characters. A line break ends a line and can't be escaped: control
// characters are spaces. A backslash is itself, so that one before an escaped character or at the end would escape what
// follows: InfluxDB and VictoriaMetrics differ in how they read two, and it is a slash there.
func escaped(text, these string) string {
	out := make([]byte, 0, len(text)+8)
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c < ' ' || c == 0x7f {
			c = ' '
		}
		switch {
		case strings.IndexByte(these, c) >= 0:
			out = append(out, '\\', c)
		case c == '\\' && endsEscaping(text[i:], these):
			out = append(out, '/')
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

// endsEscaping says of a text that begins with backslashes whether what follows them is to be escaped, or nothing.
func endsEscaping(text, these string) bool {
	rest := strings.TrimLeft(text, `\`)
	return rest == "" || rest[0] < ' ' || rest[0] == 0x7f || strings.IndexByte(these, rest[0]) >= 0
}
