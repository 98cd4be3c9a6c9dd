package watch

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

const pageSize = 1000

// readMediaMTX reads MediaMTX's /v3/paths/list (its api/openapi.yaml, PathList). A
// path that nobody publishes has nothing to read: ready is false, since 1.17 available
// (ready is deprecated there); or what it has is the picture that fills the gap of
// alwaysAvailable, and online is false.
func readMediaMTX(body []byte) (listing, error) {
	var list struct {
		PageCount *int `json:"pageCount"`
		Items     *[]struct {
			Name      string `json:"name"`
			Ready     bool   `json:"ready"`
			Available *bool  `json:"available"`
			Online    *bool  `json:"online"`
		} `json:"items"`
	}
	if err := json.Unmarshal(body, &list); err != nil || list.PageCount == nil || list.Items == nil {
		return listing{}, another(body, "MediaMTX's list of paths (api: yes in mediamtx.yml; /v3/paths/list)")
	}
	var out []vars
	for _, p := range *list.Items {
		published := p.Ready
		if p.Available != nil {
			published = *p.Available && (p.Online == nil || *p.Online)
		}
		if published && p.Name != "" {
			out = append(out, vars{"stream": p.Name})
		}
	}
	return listing{found: out, pages: max(*list.PageCount, 1)}, nil
}

func mediaMTXPage(api *url.URL, n, _ int) *url.URL {
	return withQuery(api, "itemsPerPage", strconv.Itoa(pageSize), "page", strconv.Itoa(n))
}

// readSRS reads SRS's /api/v1/streams (trunk/src/app/srs_app_statistic.cpp, dumps).
// A stream that was published once stays listed with publish.active false. Before
// the path that url has stands the virtual host, where it is not the default one.
func readSRS(body []byte) (listing, error) {
	var list struct {
		Code    *int `json:"code"`
		Streams *[]struct {
			Name    string `json:"name"`
			App     string `json:"app"`
			URL     string `json:"url"`
			Publish struct {
				Active bool `json:"active"`
			} `json:"publish"`
		} `json:"streams"`
	}
	if err := json.Unmarshal(body, &list); err != nil || list.Code == nil || *list.Code == 0 && list.Streams == nil {
		return listing{}, another(body, "SRS's list of streams (http_api enabled on; /api/v1/streams)")
	}
	if *list.Code != 0 {
		return listing{}, fmt.Errorf("SRS answered with its error %d", *list.Code)
	}
	var out []vars
	for _, s := range *list.Streams {
		if s.Publish.Active && s.Name != "" {
			vhost, _, _ := strings.Cut(s.URL, "/")
			out = append(out, vars{"app": s.App, "stream": s.Name, "vhost": vhost, queryVhost: vhost})
		}
	}
	return listing{found: out, pages: 1}, nil
}

// srsPage asks for as many as fit: SRS gives 10 where nobody asks for more.
func srsPage(api *url.URL, _, _ int) *url.URL {
	return withQuery(api, "start", "0", "count", strconv.Itoa(pageSize*10))
}

func withQuery(u *url.URL, pairs ...string) *url.URL {
	out := *u
	q := out.Query()
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	out.RawQuery = q.Encode()
	return &out
}
