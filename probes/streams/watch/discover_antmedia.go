package watch

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
)

// Ant Media Server's REST API of one application (BroadcastRestService.getBroadcastList
// of 3.1): an array of Broadcast, in pages of 50 at the most by its documentation and of
// 250 by its source (DataStore.MAX_ITEM_IN_ONE_LIST).
const (
	antMediaList  = "/rest/v2/broadcasts/list/"
	antMediaAsk   = 250
	antMediaLeast = 50
)

// antMediaApp is the application that a URL of the API is of, which is the path before
// the API's own.
func antMediaApp(api *url.URL) string {
	app, _, _ := strings.Cut(api.Path, "/rest/")
	return strings.Trim(app, "/")
}

func antMediaVars(api *url.URL) vars { return vars{"app": antMediaApp(api)} }

// antMediaPage asks for those that follow the ones that were listed: how many a page
// has is the server's choice.
func antMediaPage(api *url.URL, _, listed int) *url.URL {
	out := *api
	out.Path, out.RawPath = "/"+antMediaApp(api)+antMediaList+strconv.Itoa(listed)+"/"+strconv.Itoa(antMediaAsk), ""
	return &out
}

// readAntMedia finds the broadcasts that are live: those that were made and never begun,
// and those that are over, stay listed.
func readAntMedia(body []byte) (listing, error) {
	var list *[]struct {
		ID     string `json:"streamId"`
		Status string `json:"status"`
	}
	if err := json.Unmarshal(body, &list); err != nil || list == nil {
		return listing{}, another(body, "Ant Media's list of broadcasts (/APP/rest/v2/broadcasts/list/0/50)")
	}
	out := listing{listed: len(*list), few: antMediaLeast}
	for _, b := range *list {
		if b.Status == "broadcasting" && b.ID != "" {
			out.found = append(out.found, vars{"stream": b.ID})
		}
	}
	return out, nil
}
