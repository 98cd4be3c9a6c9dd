package watch

import (
	"bytes"
	"encoding/xml"
)

// nginxStat is the part of nginx-rtmp-module's stat page that is needed
// (ngx_rtmp_stat_module.c; the same in both forks).
type nginxStat struct {
	XMLName xml.Name `xml:"rtmp"`
	Servers []struct {
		Applications []struct {
			Name string `xml:"name"`
			Live struct {
				Streams []struct {
					Name       string    `xml:"name"`
					Publishing *struct{} `xml:"publishing"`
				} `xml:"stream"`
			} `xml:"live"`
		} `xml:"application"`
	} `xml:"server"`
}

// readNginx finds the streams that somebody publishes: one that only has
// viewers waiting is listed too, and gives no frame.
func readNginx(body []byte) (listing, error) {
	var stat nginxStat
	dec := xml.NewDecoder(bytes.NewReader(body))
	dec.Strict = false                                                  // it does not escape names as it should: a bare & must not hide the rest
	if err := dec.Decode(&stat); err != nil || len(stat.Servers) == 0 { // the page has each server of the configuration
		return listing{}, another(body, "nginx-rtmp's stat page (rtmp_stat all; in the http server)")
	}
	var out []vars
	for _, s := range stat.Servers {
		for _, a := range s.Applications {
			for _, st := range a.Live.Streams {
				if st.Publishing != nil && st.Name != "" {
					out = append(out, vars{"app": a.Name, "stream": st.Name})
				}
			}
		}
	}
	return listing{found: out, pages: 1}, nil
}
