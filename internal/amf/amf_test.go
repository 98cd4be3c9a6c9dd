package amf

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestRoundTrip(t *testing.T) {
	long := strings.Repeat("x", 70_000)
	want := []any{"_result", 1.0, nil, true, false, Object{{"code", "NetStream.Play.Start"}, {"n", Object{{"x", -2000.5}}}}, Array{"a", 2.0, Array{}}, long}
	b := Append(nil, want...)
	got, err := Decode(b)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("Decode = %#v, %v", got, err)
	}
	small := Append(nil, want[:7]...)
	for n := 1; n < len(small); n++ {
		if got, err := Decode(small[:n]); err == nil && len(got) >= 7 {
			t.Errorf("cut at %d of %d bytes: no error and all values", n, len(small))
		}
	}
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name, hex string
		want      []any
		err       error
	}{
		{"ECMA array, its count wrong", "08 00000063 0001 61 0101 0000 09", []any{Object{{"a", true}}}, nil},
		{"date", "0b 0000000000000000 0000", []any{Date(0)}, nil},
		{"undefined, unsupported, XML", "06 0d 0f 00000001 3c", []any{nil, nil, "<"}, nil},
		{"typed object", "10 0001 43 0001 61 05 0000 09", []any{Object{{"a", nil}}}, nil},
		{"reference", "03 0001 61 0101 0000 09 07 0000", []any{Object{{"a", true}}, Object{{"a", true}}}, nil},
		{"an object inside itself", "03 0001 61 07 0000 0000 09", []any{Object{{"a", nil}}}, nil},
		{"reference to nothing", "05 07 0004", []any{nil}, ErrRef},
		{"movie clip", "04", nil, ErrMarker},
		{"a strict array of 4 billion", "0a ffffffff 05 05", nil, ErrShort},
		{"a string longer than all", "02 ffff 61", nil, ErrShort},
		{"a long string of 4 GB", "0c ffffffff 61", nil, ErrShort},
		{"deep", strings.Repeat("0a 00000001 ", 40) + "05", nil, ErrDeep},
		{"AMF3 inside: object, twice its string", "11 0a 0b 01 03 61 06 05 6869 03 62 06 02 01 02 0001 7a", []any{Object{{"a", "hi"}, {"b", "hi"}}, "z"}, nil},
		{"AMF3 integers", "11 04 05 11 04 ffffffff 11 04 8100", []any{5.0, -1.0, 128.0}, nil},
		{"AMF3 array", "11 09 05 01 02 03", []any{Array{false, true}}, nil},
		{"AMF3 array with names", "11 09 03 03 61 02 01 03", []any{Object{{"a", false}, {"0", true}}}, nil},
		{"AMF3 sealed object, its traits again", "11 09 05 01 0a 13 01 03 61 02 0a 01 03", []any{Array{Object{{"a", false}}, Object{{"a", true}}}}, nil},
		{"AMF3 externalizable", "11 0a 07 03 43 09 03 01 03", []any{Array{true}}, nil},
		{"AMF3 bytes", "11 0c 05 0102", []any{[]byte{1, 2}}, nil},
		{"AMF3 vectors", "11 0d 03 00 ffffffff 11 0e 03 00 ffffffff 11 0f 03 00 3ff0000000000000", []any{Array{-1.0}, Array{4294967295.0}, Array{1.0}}, nil},
		{"AMF3 vector of objects", "11 10 03 00 01 03", []any{Array{true}}, nil},
		{"AMF3 dictionary", "11 11 03 00 06 03 61 03", []any{Object{{"a", true}}}, nil},
		{"AMF3 date", "11 08 01 0000000000000000", []any{Date(0)}, nil},
		{"AMF3 an array inside itself", "11 09 03 01 09 00", []any{Array{nil}}, nil},
		{"AMF3 vector of 256 million", "11 0d ffffffff 00", nil, ErrShort},
		{"AMF3 bytes of 256 MB", "11 0c ffffffff 00", nil, ErrShort},
		{"AMF3 reference to nothing", "11 0a 08", nil, ErrRef},
		{"AMF3 no such marker", "11 12", nil, ErrMarker},
	} {
		got, err := Decode(unhex(t, c.hex))
		if !errors.Is(err, c.err) || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %#v, %v; want %#v, %v", c.name, got, err, c.want, c.err)
		}
	}
	if _, err := Decode(bytes.Repeat([]byte{null0}, MaxValues+1)); !errors.Is(err, ErrMany) {
		t.Errorf("more values than the bound: %v", err)
	}
}

func TestGet(t *testing.T) {
	o := Object{{"code", "x"}, {"n", 2.0}, {"code", "y"}}
	if n, ok := o.Number("n"); o.String("code") != "x" || o.String("n") != "" || !ok || n != 2 || o.Get("z") != nil {
		t.Errorf("Get on %v", o)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(Append(nil, "_result", 1.0, Object{{"code", "x"}, {"a", Array{nil, true}}}))
	f.Add([]byte{strict0, 0xff, 0xff, 0xff, 0xff, null0})
	f.Add([]byte{avmPlus, object3, 0x0b, 1, 3, 'a', string3, 5, 'h', 'i', 1})
	f.Add([]byte{avmPlus, array3, 5, 1, object3, 0x13, 1, 3, 'a', false3, object3, 1, true3})
	f.Fuzz(func(t *testing.T, b []byte) {
		values, err := Decode(b)
		if err == nil && len(b) > 0 && len(values) == 0 {
			t.Fatal("bytes without a value and without an error")
		}
		if len(values) > MaxValues {
			t.Fatalf("%d values", len(values))
		}
		if err != nil {
			return
		}
		if again, err := Decode(Append(nil, values...)); err != nil && !errors.Is(err, ErrMany) && !errors.Is(err, ErrDeep) || err == nil && len(again) != len(values) {
			t.Fatalf("%#v, encoded and decoded: %#v, %v", values, again, err)
		}
	})
}
