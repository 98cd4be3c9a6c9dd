package gb28181

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// document is what of a MANSCDP document is looked at (annex A.2).
type document struct {
	XMLName  xml.Name
	CmdType  string `xml:"CmdType"`
	SN       string `xml:"SN"`
	DeviceID string `xml:"DeviceID"`
	SumNum   *int   `xml:"SumNum"`
	Result   string `xml:"Result"`
	Items    []struct {
		DeviceID string `xml:"DeviceID"`
		Name     string `xml:"Name"`
		Status   string `xml:"Status"`
		Parental string `xml:"Parental"` // 1: it has others below it
	} `xml:"DeviceList>Item"`
}

// readDocument reads a body.
func readDocument(body []byte) (document, error) {
	var d document
	in := xml.NewDecoder(strings.NewReader(printable(toUTF8(body))))
	in.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // it is UTF-8 by now
	if err := in.Decode(&d); err != nil {
		return d, fmt.Errorf("its XML can't be read: %w", err)
	}
	d.CmdType, d.SN, d.DeviceID = strings.TrimSpace(d.CmdType), strings.TrimSpace(d.SN), strings.TrimSpace(d.DeviceID)
	return d, nil
}

// isCatalogue tells the answer to a query for the catalogue.
func (d *document) isCatalogue() bool {
	return d.XMLName.Local == "Response" && strings.EqualFold(d.CmdType, "Catalog")
}

// catalogueQuery asks for the catalogue (A.2.4.3).
func catalogueQuery(device, sn string) []byte {
	return fmt.Appendf(nil, "<?xml version=\"1.0\" encoding=\"GB2312\"?>\r\n<Query>\r\n<CmdType>Catalog</CmdType>\r\n<SN>%s</SN>\r\n<DeviceID>%s</DeviceID>\r\n</Query>\r\n", sn, device)
}

// keepalive tells a platform that its client is there (9.6, A.2.5.2).
func keepalive(id, sn string) []byte {
	return fmt.Appendf(nil, "<?xml version=\"1.0\" encoding=\"GB2312\"?>\r\n<Notify>\r\n<CmdType>Keepalive</CmdType>\r\n<SN>%s</SN>\r\n<DeviceID>%s</DeviceID>\r\n<Status>OK</Status>\r\n</Notify>\r\n", sn, id)
}
