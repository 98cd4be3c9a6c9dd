package watch

import (
	"encoding/json"
	"strconv"
	"strings"
)

// readConsul reads Consul's /v1/health/service/NAME. Instances whose checks fail
// are watched too: whether they still give a stream is the question.
func readConsul(body []byte) (listing, error) {
	var list *[]struct {
		Node *struct {
			Node    string
			Address string
		}
		Service *struct {
			ID      string
			Service string
			Address string
			Port    int
			Tags    []string
			Meta    map[string]string
		}
	}
	if err := json.Unmarshal(body, &list); err != nil || list == nil {
		return listing{}, another(body, "Consul's list of a service's instances (/v1/health/service/NAME)")
	}
	var out []vars
	for _, i := range *list {
		if i.Node == nil || i.Service == nil {
			return listing{}, another(body, "Consul's list of a service's instances (/v1/health/service/NAME)")
		}
		v := vars{"node": i.Node.Node, "address": i.Service.Address, "id": i.Service.ID, "service": i.Service.Service}
		if v["address"] == "" { // the service is registered at its node's
			v["address"] = i.Node.Address
		}
		v["host"] = v["address"]
		if i.Service.Port > 0 {
			v["port"] = strconv.Itoa(i.Service.Port)
		}
		if len(i.Service.Tags) > 0 {
			v["tags"] = strings.Join(i.Service.Tags, ",")
		}
		for key, value := range i.Service.Meta {
			v["meta."+key] = value
		}
		out = append(out, v)
	}
	return listing{found: out, pages: 1}, nil
}
