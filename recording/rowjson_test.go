package recording

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// texts that a row may have, and numbers: the usual ones and those that JSON writes in a
// way of its own.
var (
	oddTexts = []string{"", "nginx", "std::vector<int, A&B>::push_back", `a "b" \c`, "tab\there", "nul\x00", "\x7f", "é", "bad\xff", "line\u2028end", "/x (deleted)"}
	oddReals = []float64{0, 1, -1, 0.25, 1e-7, 123456789.125, 1e21, 1e15, -3.5e-9, math.Copysign(0, -1), 1 << 53, 99, 1.0 / 3}
	oddInts  = []int64{0, 1, -1, 42, math.MaxInt64, math.MinInt64, 1e18, -1e18}
)

// fill puts something into every field that a value has.
func fill(v reflect.Value, pick *rand.Rand) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), pick)
		}
	case reflect.Pointer:
		if pick.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), pick)
		}
	case reflect.Slice:
		for range pick.IntN(4) {
			e := reflect.New(v.Type().Elem()).Elem()
			fill(e, pick)
			v.Set(reflect.Append(v, e))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range pick.IntN(3) {
			k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(k, pick)
			fill(e, pick)
			v.SetMapIndex(k, e)
		}
	case reflect.String:
		v.SetString(oddTexts[pick.IntN(len(oddTexts))])
	case reflect.Bool:
		v.SetBool(pick.IntN(2) == 0)
	case reflect.Float64, reflect.Float32:
		v.SetFloat(oddReals[pick.IntN(len(oddReals))])
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Int16, reflect.Int8:
		v.SetInt(oddInts[pick.IntN(len(oddInts))] >> (64 - v.Type().Bits()))
	case reflect.Uint, reflect.Uint64, reflect.Uint32, reflect.Uint16, reflect.Uint8:
		v.SetUint(uint64(oddInts[pick.IntN(len(oddInts))]) >> (64 - v.Type().Bits()))
	}
}

// decoded is the row of a line, read as recordings are.
func decoded(name string, line []byte) (Row, error) {
	r := &Recording{}
	t := tableNamed(name)
	if err := t.decoder(&rowReader{names: texts{}})(r, line); err != nil {
		return nil, err
	}
	rows, _ := r.Rows(name)
	return rows[len(rows)-1], nil
}

// Rows are written as encoding/json writes them, byte for byte, and read as it reads
// them, whatever is in them.
func TestRowsAreThoseOfEncodingJSON(t *testing.T) {
	pick := rand.New(rand.NewPCG(1, 2))
	for i, of := range oneOfEach(start, 1) {
		table := tableNamed(of.Table())
		all := []Row{of, oneOfEach(start, 0)[i]}
		for range 200 {
			v := reflect.New(reflect.TypeOf(of)).Elem()
			fill(v, pick)
			all = append(all, v.Interface().(Row))
		}
		for _, row := range all {
			want, wantErr := json.Marshal(row)
			got, err := table.encode([]byte("before "), row)
			if string(got) != "before "+string(want) || (err == nil) != (wantErr == nil) {
				t.Fatalf("%s is written as\n%s, %v; want\n%s, %v", table.name, got, err, want, wantErr)
			}
			again := reflect.New(reflect.TypeOf(of))
			if err := json.Unmarshal(want, again.Interface()); err != nil {
				t.Fatal(err)
			}
			back, err := decoded(table.name, append(want, '\n'))
			if err != nil || !reflect.DeepEqual(back, again.Elem().Interface()) {
				t.Fatalf("%s\nis read as %+v, %v", want, back, err)
			}
		}
	}
}

// The usual rows of profiles, traces and logs are read and written without encoding/json:
// it is the point of it.
func TestUsualRowsNeedNoReflection(t *testing.T) {
	for _, row := range []Row{
		Stack{ID: 3, Frames: []string{"std::vector<int>::push_back", "main"}, Objects: []string{"/usr/bin/x", "/usr/bin/x"}},
		OnCPU{T: start, PID: 812, TID: 813, Comm: "nginx", Stack: 1, N: 3, Hz: 99.5},
		Event{T: start, End: start + 5, Kind: EventGCPause, Subject: Subject{Kind: KindProcess, PID: 812}, Attrs: map[string]string{"cause": "System.gc()"}, Value: 0.125, Unit: "s"},
		Socket{
			T: start, Netns: 4026531833, Inode: 7, Proto: "tcp", State: "ESTABLISHED", Local: "10.0.0.1:80", Remote: "10.0.0.2:4711",
			Owners: []FDRef{{PID: 812, Comm: "nginx", FD: 4}, {PID: 813, Comm: "nginx", FD: 9}},
			TCP:    &TCPInfo{RTT: 0.25, Cwnd: 10, BytesSent: 17}, Options: &SocketOptions{},
		},
		Call{T: start, PID: 812, Call: "read", N: 100, Sum: 0.5, Max: 9.92e-7, MaxAt: start, Hist: []uint64{90, 0, 10}},
	} {
		line, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		v := reflect.New(reflect.TypeOf(row)).Elem()
		columns, ok := columnsOf(v)
		r := rowReader{names: texts{}}
		if !ok || !r.read(line, columns) || !reflect.DeepEqual(v.Interface(), row) {
			t.Errorf("%s is read as %+v", line, v)
		}
		v.Set(reflect.ValueOf(row))
		if got, ok := appendColumns(nil, columns); !ok || string(got) != string(line) {
			t.Errorf("%s is written as %s", line, got)
		}
	}
}

// What is read here is what encoding/json reads; what it refuses is refused.
func FuzzRow(f *testing.F) {
	for _, row := range oneOfEach(start, 1) {
		line, err := json.Marshal(row)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(row.Table(), line)
	}
	f.Add("stacks", []byte(`{"id":1,"frames":["a\u003cb","\u00e9"],"frames":[],"Kernel":-1}`))
	f.Add("oncpu", []byte(`{"t":01,"pid":1.0,"comm":null,"hz":1e2} `))
	kinds := map[string]reflect.Type{}
	for _, row := range oneOfEach(start, 1) {
		kinds[row.Table()] = reflect.TypeOf(row)
	}
	f.Fuzz(func(t *testing.T, name string, line []byte) {
		if kinds[name] == nil {
			return
		}
		want := reflect.New(kinds[name])
		wantErr := decodeRow(line, want.Interface())
		got, err := decoded(name, line)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%v; encoding/json: %v", err, wantErr)
		}
		if err == nil && !reflect.DeepEqual(got, want.Elem().Interface()) {
			t.Errorf("%+v; encoding/json: %+v", got, want.Elem())
		}
	})
}
