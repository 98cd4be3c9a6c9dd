package gb28181

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/emiago/sipgo/sip"
)

// A response of RFC 3261 24.2, with short names and a folded line.
const response = "SIP/2.0 200 OK\r\nv: SIP/2.0/UDP a.example;branch=z9hG4bKnash\r\n ;received=192.0.2.1\r\nTo: Bob <sip:bob@b.example;x=1>;tag=2493k59kd\r\nCSeq: 1 INVITE\r\nl: 4\r\n\r\nabcd"

func TestParseMessage(t *testing.T) {
	m, n, err := parse([]byte("\r\n\r\n"+response+"SIP/2.0 100"), false)
	if err != nil || n != 4+len(response) || m.status != 200 || m.reason != "OK" || string(m.body) != "abcd" {
		t.Fatalf("%+v, %d, %v", m, n, err)
	}
	if branchOf(m) != "z9hG4bKnash" || parameter(m.get("To"), "tag") != "2493k59kd" || uriOf(m.get("to")) != "sip:bob@b.example;x=1" || seqOf(m) != "1" {
		t.Errorf("%+v", m.fields)
	}
	for i := range len(response) {
		if _, n, err := parse([]byte("\r\n"+response[:i]), false); n != 2 || !errors.Is(err, errMore) {
			t.Errorf("a line end and the first %d bytes: %d, %v", i, n, err)
		}
		if _, _, err := parse([]byte(response[:i]), false); !errors.Is(err, errMore) {
			t.Errorf("the first %d bytes: %v", i, err)
		}
	}
	for _, bad := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "SIP/2.0 99 x\r\n\r\n", "a\r\n\r\n", "\x00\x01\r\n\r\n",
		"OPTIONS sip:a SIP/2.0\r\nno colon\r\n\r\n", "OPTIONS sip:a SIP/2.0\r\nContent-Length: -1\r\n\r\n", "OPTIONS sip:a SIP/2.0\r\nContent-Length: 99999999\r\n\r\n",
		strings.Repeat("x", maxHeader+1), "OPTIONS sip:a SIP/2.0\r\n" + strings.Repeat("a: b\r\n", maxFields+1) + "\r\n",
	} {
		if _, _, err := parse([]byte(bad), false); !errors.Is(err, errSIP) {
			t.Errorf("%.60q: %v", bad, err)
		}
	}
	if m, _, err := parse([]byte("OPTIONS sip:a SIP/2.0\r\nX: a\x1b[31m\x07b\r\n\r\nbody"), true); err != nil || m.get("x") != "a [31m b" || string(m.body) != "body" {
		t.Errorf("%+v, %v", m, err)
	}
}

// Whatever comes is bounded, and what snag answers is SIP as another reads it.
func FuzzMessage(f *testing.F) {
	f.Add([]byte(response))
	f.Add([]byte("MESSAGE sip:a@b SIP/2.0\r\nVia: SIP/2.0/UDP c;branch=z9\r\nFrom: <sip:d@e>;tag=f\r\nTo: <sip:a@b>\r\nCall-ID: g\r\nCSeq: 1 MESSAGE\r\nContent-Length: 0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, n, err := parse(b, true)
		if err != nil {
			return
		}
		if n > len(b) {
			t.Fatalf("%d of %d bytes", n, len(b))
		}
		back, _, err := parse(m.bytes(), false)
		if err != nil || !bytes.Equal(back.body, m.body) || back.status != m.status || back.method != m.method {
			t.Fatalf("%q: %v", m.bytes(), err)
		}
		_, _ = readDocument(m.body)
		_, _ = readAnswer(m.body, OverUDP)
		if m.status == 0 {
			respondTo(m, false)
		}
	})
}

func TestRespond(t *testing.T) {
	m, _, err := parse([]byte("BYE sip:a@b SIP/2.0\r\nVia: SIP/2.0/UDP c;branch=z9\r\nVia: SIP/2.0/UDP d;branch=z8\r\nFrom: <sip:d@e>;tag=f\r\nTo: <sip:a@b>\r\nCall-ID: g\r\nCSeq: 1 BYE\r\nContent-Length: 0\r\n\r\n"), false)
	if err != nil {
		t.Fatal(err)
	}
	got, err := sip.ParseMessage(respondTo(m, false).bytes())
	if err != nil {
		t.Fatal(err)
	}
	r, ok := got.(*sip.Response)
	if !ok || r.StatusCode != 481 || len(r.GetHeaders("Via")) != 2 || r.CSeq().MethodName != sip.BYE {
		t.Fatalf("%v", got)
	}
	if tag, _ := r.To().Params.Get("tag"); tag == "" {
		t.Error("no tag")
	}
}

func TestReadDocument(t *testing.T) {
	for _, declared := range []string{"GB2312", "gbk", "UTF-8", "gb18030", "ISO-8859-1"} {
		text := `<?xml version="1.0" encoding="` + declared + `"?><Response><CmdType>Catalog</CmdType><SN>1</SN><SumNum>1</SumNum><DeviceList Num="1"><Item><DeviceID>1</DeviceID><Name>大门</Name></Item></DeviceList></Response>`
		for _, b := range [][]byte{[]byte(text), gbk(text)} {
			if d, err := readDocument(b); err != nil || !d.isCatalogue() || d.Items[0].Name != "大门" {
				t.Errorf("%s: %+v, %v", declared, d, err)
			}
		}
	}
	if d, err := readDocument(catalogueQuery("1", "2")); err != nil || d.isCatalogue() || d.SN != "2" {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestCameras(t *testing.T) {
	for id, want := range map[string]bool{
		"34020000001310000001": true, "34020000001320000001": true, "34020000001110000001": true, "340200000013200001": true,
		"34020000001340000001": false, "34020000001370000001": false, "34020000002000000001": false, "34020000002160000001": false,
		"3402": false, "34020000": false, "": false,
	} {
		if isCamera(id, false) != want {
			t.Errorf("%s: %v", id, !want)
		}
	}
}
