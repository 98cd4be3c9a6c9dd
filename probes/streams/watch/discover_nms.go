package watch

import (
	"encoding/json"
	"maps"
	"slices"
)

// readNMS reads Node-Media-Server's list: of version 2 /api/streams, streams by
// application and name (src/api/controllers/streams.js), of version 4 /api/v1/streams, an
// array (src/api/handlers/streams.js). A stream without a publisher has viewers who wait.
func readNMS(body []byte) (listing, error) {
	var four struct {
		Data *struct {
			Streams *[]struct {
				App       string    `json:"app"`
				Name      string    `json:"name"`
				Publisher *struct{} `json:"publisher"`
			} `json:"streams"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &four); err == nil && four.Data != nil && four.Data.Streams != nil {
		out := listing{pages: 1}
		for _, s := range *four.Data.Streams {
			if s.Publisher != nil && s.Name != "" {
				out.found = append(out.found, vars{"app": s.App, "stream": s.Name})
			}
		}
		return out, nil
	}
	var two *map[string]map[string]struct {
		Publisher   *struct{}   `json:"publisher"`
		Subscribers *[]struct{} `json:"subscribers"`
	}
	other := another(body, "Node-Media-Server's list of streams (/api/streams, of version 4 /api/v1/streams)")
	if err := json.Unmarshal(body, &two); err != nil || two == nil {
		return listing{}, other
	}
	out := listing{pages: 1}
	for _, app := range slices.Sorted(maps.Keys(*two)) {
		for _, name := range slices.Sorted(maps.Keys((*two)[app])) {
			s := (*two)[app][name]
			if s.Subscribers == nil { // each stream has them, if it be none
				return listing{}, other
			}
			if s.Publisher != nil && name != "" {
				out.found = append(out.found, vars{"app": app, "stream": name})
			}
		}
	}
	return out, nil
}
