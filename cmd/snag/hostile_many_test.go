//go:build attack

package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"snag/recording"
	"snag/report"
	"snag/report/page"
	"snag/verdict"
)

// vary makes the i-th like of a row: another process, another peer, another file.
func vary(v reflect.Value, i int) {
	switch v.Kind() {
	case reflect.Struct:
		for f := range v.NumField() {
			if !v.Type().Field(f).IsExported() {
				continue
			}
			one := v.Field(f)
			switch name := v.Type().Field(f).Name; name {
			case "PID", "TID", "Inode", "Cookie", "FD", "ID", "Stack", "Address", "Futex", "Number", "Index", "Handle":
				add(one, i)
			case "Local", "Remote", "Client", "Server":
				one.SetString(otherAddress(one.String(), i))
			case "Path", "Device", "Comm", "Name", "Cgroup", "Function", "Probe", "Addr", "Dst":
				if one.Kind() == reflect.String && one.String() != "" {
					one.SetString(one.String() + strconv.Itoa(i))
				}
			case "Owners":
				owners := reflect.MakeSlice(one.Type(), one.Len(), one.Len())
				reflect.Copy(owners, one)
				one.Set(owners)
				for at := range one.Len() {
					vary(one.Index(at), i)
				}
			case "Subject":
				vary(one, i)
			}
		}
	}
}

func add(v reflect.Value, i int) {
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		if v.Int() > 0 {
			v.SetInt(v.Int() + int64(i))
		}
	case reflect.Uint64, reflect.Uint32:
		if v.Uint() > 0 {
			v.SetUint(v.Uint() + uint64(i))
		}
	case reflect.String:
		v.SetString(v.String() + strconv.Itoa(i))
	}
}

// otherAddress keeps the port of a service and takes another host, or another port.
func otherAddress(s string, i int) string {
	host, port, ok := strings.Cut(s, ":")
	n, err := strconv.Atoi(port)
	if !ok || err != nil || strings.Contains(port, ":") {
		return s
	}
	if n >= 20000 {
		return host + ":" + strconv.Itoa(1024+(n+i)%60000)
	}
	return "10." + strconv.Itoa(i>>16&255) + "." + strconv.Itoa(i>>8&255) + "." + strconv.Itoa(i&255) + ":" + port
}

// multiply has n rows in a table for the few that are there.
func multiply(r *recording.Recording, table reflect.Value, n int) {
	was := table.Len()
	out := reflect.MakeSlice(table.Type(), n, n)
	for i := range n {
		out.Index(i).Set(table.Index(i % was))
		if i >= was {
			vary(out.Index(i), i/was)
		}
	}
	reflect.Copy(out, table)
	table.Set(out)
}

// TestManyRows finds what grows faster than what it is given: each table of a lab's
// recording with so many rows that some minutes would go by. It tells CPU time.
func TestManyRows(t *testing.T) {
	const few, many = 5_000, 20_000
	done := map[string]bool{}
	files, _ := filepath.Glob("../../lab/recordings/*-sick.snag")
	for _, f := range files {
		packed, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		one, err := recording.OpenPacked(bytes.NewReader(packed), f)
		if err != nil {
			t.Fatal(err)
		}
		for at := range reflect.ValueOf(one).Elem().NumField() {
			field := reflect.TypeFor[recording.Recording]().Field(at)
			table := reflect.ValueOf(one).Elem().Field(at)
			if table.Kind() != reflect.Slice || table.Len() == 0 || field.Name == "Damage" || field.Name == "Series" || field.Name == "Parts" {
				continue
			}
			if key := field.Name + "/" + strings.SplitN(filepath.Base(f), "-", 2)[0]; done[key] || done[field.Name] && os.Getenv("SNAG_ATTACK") != "all" {
				continue
			} else {
				done[key], done[field.Name] = true, true
			}
			took := func(n int) (judge, show float64) {
				r, err := recording.OpenPacked(bytes.NewReader(packed), f)
				if err != nil {
					t.Fatal(err)
				}
				multiply(r, reflect.ValueOf(r).Elem().Field(at), n)
				began := cpuTime()
				v := verdict.Judge(r)
				judge = (cpuTime() - began).Seconds()
				began = cpuTime()
				_ = report.WriteText(io.Discard, v, report.Options{Verbose: true})
				_ = report.WriteJSON(io.Discard, v)
				_ = page.WriteHTML(io.Discard, v)
				return judge, (cpuTime() - began).Seconds()
			}
			a, b := took(few)
			word := ""
			c, d := 0.0, 0.0
			if a+b > 0.5 {
				if c, d = took(many); c+d > 8*(a+b) {
					word = "QUADRATIC"
				}
			}
			t.Logf("%-16s %-30s judge %6.2f → %6.2f s, show %6.2f → %6.2f s %s", field.Name, strings.TrimSuffix(filepath.Base(f), ".snag"), a, c, b, d, word)
		}
	}
}
