package gbtest

import (
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/emiago/sipgo/sip"
)

var serial = regexp.MustCompile(`<SN>(\d+)</SN>`)

// message takes a MESSAGE; a query for the catalogue is answered.
func (p *Platform) message(req *sip.Request, send func([]byte)) {
	body := string(req.Body())
	sn := serial.FindStringSubmatch(body)
	if !strings.Contains(body, "<CmdType>Catalog</CmdType>") || !strings.Contains(body, "<DeviceID>"+p.ID+"</DeviceID>") || sn == nil || p.Silent {
		return
	}
	contact := "sip:snag@127.0.0.1"
	if from := req.From(); from != nil {
		contact = from.Address.String()
	}
	for i, document := range p.documents(sn[1]) {
		text := p.request(fmt.Sprintf("cat%s-%d", sn[1], i), contact, document)
		send(text)
		if p.Twice {
			send(text)
		}
	}
}

// documents are the answers to a query.
func (p *Platform) documents(sn string) (out [][]byte) {
	each := p.Each
	if each == 0 {
		each = max(len(p.Cameras), 1)
	}
	for i := 0; i == 0 || i < len(p.Cameras)-p.Hold; i += each {
		some := p.Cameras[i:min(i+each, len(p.Cameras)-p.Hold)]
		var b strings.Builder
		fmt.Fprintf(&b, "<?xml version=\"1.0\" encoding=\"GB2312\"?>\r\n<Response><CmdType>Catalog</CmdType><SN>%s</SN><DeviceID>%s</DeviceID><SumNum>%d</SumNum><DeviceList Num=\"%d\">", sn, p.ID, len(p.Cameras), len(some))
		for _, c := range some {
			b.WriteString("<Item>")
			for _, f := range [][2]string{{"DeviceID", c.ID}, {"Name", c.Name}, {"Manufacturer", "Test"}, {"Parental", c.Parental}, {"ParentID", p.ID}, {"Status", c.Status}} {
				if f[1] != "" {
					fmt.Fprintf(&b, "<%s>%s</%s>", f[0], html.EscapeString(f[1]), f[0])
				}
			}
			b.WriteString("</Item>\r\n")
		}
		b.WriteString("</DeviceList></Response>\r\n")
		if p.Encode != nil {
			out = append(out, p.Encode(b.String()))
		} else {
			out = append(out, []byte(b.String()))
		}
	}
	return out
}

// request is a MESSAGE of the platform's own.
func (p *Platform) request(id, to string, body []byte) []byte {
	return fmt.Appendf(nil, "MESSAGE %s SIP/2.0\r\nVia: SIP/2.0/UDP %s;branch=z9hG4bK%s\r\nFrom: <sip:%s@3402000000>;tag=%s\r\nTo: <%s>\r\nCall-ID: %s\r\nCSeq: 20 MESSAGE\r\nMax-Forwards: 70\r\nContent-Type: Application/MANSCDP+xml\r\nContent-Length: %d\r\n\r\n%s",
		to, p.Address, id, p.ID, id, to, id, len(body), body)
}
