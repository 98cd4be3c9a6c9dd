package main

import (
	"bytes"
	"math"
	"reflect"
	"sort"
	"testing"

	"snag/recording"
)

// FuzzEdited puts strange values into a real recording and goes the complete way. The
// input is a list of edits of editSize bytes each.
func FuzzEdited(f *testing.F) {
	bases := editable(f)
	for i := range bases {
		f.Add(uint8(i), bytes.Repeat([]byte{byte(i), 3, 1, 4, byte(i), 5, 9, 2}, 4))
	}
	// A path of a control group without a slash once ended the judging.
	for i := range min(len(strange.texts), len(bases)) {
		f.Add(uint8(i), bytes.Repeat([]byte{0, 0, 0, 9, byte(i), 0, 0, 0}, 2))
	}
	f.Fuzz(func(t *testing.T, which uint8, edits []byte) {
		if len(edits) <= 64*editSize {
			judgeEdited(t, bases[int(which)%len(bases)], edits)
		}
	})
}

// editable are some of the lab's recordings: few, so that a run takes no seconds.
func editable(t testing.TB) (bases []*recording.Recording) {
	for i, packed := range sickOnes(t, true) {
		if i%8 > 0 || len(packed) > 80_000 {
			continue
		}
		r, err := recording.OpenPacked(bytes.NewReader(packed), "fuzz")
		if err != nil {
			t.Fatal(err)
		}
		bases = append(bases, r)
	}
	return bases
}

// judgeEdited goes the complete way of a recording once it is edited.
func judgeEdited(t *testing.T, base *recording.Recording, edits []byte) {
	r := copied(base)
	for ; len(edits) >= editSize; edits = edits[editSize:] {
		edit(r, edits[:editSize])
	}
	// As it is read: what no file can hold does not count.
	var packed bytes.Buffer
	if err := r.Pack(&packed); err != nil {
		return
	}
	judgeAll(t, packed.Bytes())
}

// copied is a recording of which rows, and what is in them, can be changed.
func copied(r *recording.Recording) *recording.Recording {
	out := *r
	v := reflect.ValueOf(&out).Elem()
	for i := range v.NumField() {
		v.Field(i).Set(deep(v.Field(i)))
	}
	return &out
}

func deep(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		p := reflect.New(v.Type().Elem())
		p.Elem().Set(deep(v.Elem()))
		return p
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		s := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			s.Index(i).Set(deep(v.Index(i)))
		}
		return s
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		m := reflect.MakeMap(v.Type())
		for it := v.MapRange(); it.Next(); {
			m.SetMapIndex(it.Key(), deep(it.Value()))
		}
		return m
	case reflect.Struct:
		s := reflect.New(v.Type()).Elem()
		s.Set(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				s.Field(i).Set(deep(v.Field(i)))
			}
		}
		return s
	}
	return v
}

// strange are the values that readers of such files most often forget.
var strange = struct {
	texts   []string
	numbers []int64
	floats  []float64
}{
	texts: []string{"", "/", "//", ".", "no-slash", "[", "]:0", ":", "1.2.3.4", "1.2.3.4:99999", "[::1]:80", "unix:", "unix:#", "\x1b[2J", "a\nb", "\u202e", "\xff",
		" ", "*", "-", "0", "-1", "tcp", "udp", "unix", "LISTEN", "ESTABLISHED", "TCP:", "=", ",", "a=b=c", "1 2 3", "1\t2\t3", "%s%d", "T", "R", "D", "S",
		"99999999999999999999", "/a/b/c.service", "/system.slice/x.service/y", "(", "()", "java", "nginx", "<", "http://[", "rtmp://x", "eth0", "lo"},
	numbers: []int64{0, 1, -1, 2, 80, 4096, 65535, 65536, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64, 1e9, 1e15, -1e18},
	floats:  []float64{0, 1, -1, 1e-300, 1e300, -1e300, math.MaxFloat64, 0.5, 1e18, -0.001},
}

// editSize: which table, which row (2 bytes), which column, which value, and three more.
const editSize = 8

// edit changes one value, or takes a row away or doubles it.
func edit(r *recording.Recording, e []byte) {
	v := reflect.ValueOf(r).Elem()
	var tables []reflect.Value
	for i := range v.NumField() {
		f := v.Field(i)
		if f.Kind() == reflect.Slice && f.Len() > 0 && f.Type().Elem().Kind() == reflect.Struct {
			tables = append(tables, f)
		}
	}
	if len(tables) == 0 || e[0] == 255 {
		leaves := leavesOf(v.FieldByName("Manifest"))
		set(leaves[int(e[3])%len(leaves)], e[4:])
		return
	}
	rows := tables[int(e[0])%len(tables)]
	at := (int(e[1])<<8 + int(e[2])) % rows.Len()
	switch e[3] {
	case 255:
		rows.Set(reflect.AppendSlice(rows.Slice(0, at), rows.Slice(at+1, rows.Len())))
	case 254:
		rows.Set(reflect.Append(rows, deep(rows.Index(at))))
	case 253:
		rows.SetLen(at)
	default:
		leaves := leavesOf(rows.Index(at))
		set(leaves[int(e[3])%len(leaves)], e[4:])
	}
}

// leavesOf are the values in a row that can be set.
func leavesOf(v reflect.Value) (out []reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out = append(out, leavesOf(v.Field(i))...)
			}
		}
	case reflect.Pointer:
		out = append(out, v)
		if !v.IsNil() {
			out = append(out, leavesOf(v.Elem())...)
		}
	case reflect.Slice:
		out = append(out, v)
		for i := range min(v.Len(), 4) {
			out = append(out, leavesOf(v.Index(i))...)
		}
	default:
		out = append(out, v)
	}
	return out
}

func set(v reflect.Value, e []byte) {
	which := int(e[0])
	text := strange.texts[which%len(strange.texts)]
	number := strange.numbers[which%len(strange.numbers)] + int64(e[1])
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(number)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(number))
	case reflect.Float64:
		v.SetFloat(strange.floats[which%len(strange.floats)] + float64(e[1]))
	case reflect.Pointer:
		if which%2 == 0 {
			v.SetZero()
			return
		}
		p := reflect.New(v.Type().Elem())
		if leaves := leavesOf(p.Elem()); len(leaves) > 0 {
			set(leaves[int(e[2])%len(leaves)], []byte{e[1], e[2], e[3], e[0]})
		}
		v.Set(p)
	case reflect.Slice:
		if which%2 == 0 {
			v.SetZero()
			return
		}
		one := reflect.New(v.Type().Elem()).Elem()
		if leaves := leavesOf(one); len(leaves) > 0 {
			set(leaves[int(e[2])%len(leaves)], []byte{e[1], e[2], e[3], e[0]})
		}
		v.Set(reflect.Append(v, one))
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String || v.Type().Elem().Kind() != reflect.String {
			return
		}
		m := reflect.MakeMap(v.Type())
		keys := v.MapKeys()
		sort.Slice(keys, func(i, j int) bool { return keys[i].String() < keys[j].String() })
		for i, k := range keys {
			value := v.MapIndex(k)
			if i == int(e[1])%len(keys) {
				value = reflect.ValueOf(text).Convert(v.Type().Elem())
			}
			m.SetMapIndex(k, value)
		}
		v.Set(m)
	}
}
