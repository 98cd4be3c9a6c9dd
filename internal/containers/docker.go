package containers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// docker asks for GET /containers/json (Docker Engine API; Podman serves it as well).
func docker(ctx context.Context, path string) ([]Container, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://docker/containers/json", nil)
	if err != nil {
		return nil, err
	}
	b, _, err := ask(path, false, req)
	if err != nil {
		return nil, err
	}
	var rows []struct {
		ID     string `json:"Id"`
		Names  []string
		Labels map[string]string
	}
	if err := json.Unmarshal(b, &rows); err != nil {
		return nil, fmt.Errorf("its answer is not a list of containers: %w", err)
	}
	var out []Container
	for _, r := range rows {
		if !isID(r.ID) || len(r.Names) == 0 {
			continue
		}
		out = append(out, labelled(r.ID, strings.TrimPrefix(r.Names[0], "/"), r.Labels))
	}
	return out, nil
}
