package discovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
)

// Where a pod finds its token (kubernetes.io/docs/tasks/run-application/access-api-from-pod).
var accountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// kubePage is how many objects a page of a list has.
const kubePage = 500

// role is one kind of object: where it is listed, and the targets that one is.
type role struct {
	resource   string
	namespaced bool
	targets    func(raw json.RawMessage, out *List) error
}

var roles = map[string]role{
	"node": {"nodes", false, nodeTargets}, "pod": {"pods", true, podTargets},
	"service": {"services", true, serviceTargets}, "endpoints": {"endpoints", true, endpointsTargets},
}

// kubernetes is the objects of a role, asked of the API server.
type kubernetes struct {
	web   *web
	name  string // of the role
	role  role
	path  string
	query url.Values // selectors
	scope string     // for errors
}

// parseKubernetes reads ROLE?namespace=&selector=&field=&api=&token_file=&ca_file=. Without api= it is asked as a pod
// does.
func parseKubernetes(rest string, dial Dial) (Source, error) {
	u, err := url.Parse(rest)
	if err != nil {
		return nil, errors.New("write kubernetes:pod?namespace=live&selector=app%3Dedge")
	}
	r, known := roles[u.Path]
	if !known {
		return nil, fmt.Errorf("%q is not a role: one of %v", shown(u.Path), slices.Sorted(maps.Keys(roles)))
	}
	o, err := options(u.RawQuery, "namespace", "selector", "field", "api", "token_file", "ca_file")
	if err != nil {
		return nil, err
	}
	k := &kubernetes{name: u.Path, role: r, path: "/api/v1/" + r.resource, query: url.Values{}, scope: "all namespaces"}
	if !r.namespaced {
		k.scope = "the cluster"
	}
	if ns := o.Get("namespace"); ns != "" {
		if !r.namespaced {
			return nil, errors.New("nodes have no namespace")
		}
		k.path, k.scope = "/api/v1/namespaces/"+url.PathEscape(ns)+"/"+r.resource, "namespace "+shown(ns)
	}
	for key, as := range map[string]string{"selector": "labelSelector", "field": "fieldSelector"} {
		if o.Has(key) {
			k.query.Set(as, o.Get(key))
		}
	}
	k.web, err = apiServer(o.Get("api"), o.Get("token_file"), o.Get("ca_file"), dial)
	return k, err
}

// apiServer is the API server at a URL, or the one of the pod that this is in.
func apiServer(api, token, ca string, dial Dial) (*web, error) {
	if api == "" {
		host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
		if host == "" || port == "" {
			return nil, errors.New("this is in no pod: give the API server as api=https://HOST:6443&token_file=PATH&ca_file=PATH, or run kubectl proxy and give api=http://127.0.0.1:8001")
		}
		api = "https://" + net.JoinHostPort(host, port)
		if token == "" {
			token = filepath.Join(accountDir, "token")
		}
		if ca == "" {
			ca = filepath.Join(accountDir, "ca.crt")
		}
	}
	u, err := url.Parse(api)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return nil, errors.New("api= is no http:// or https:// URL without a user")
	}
	w, err := newWeb(u, dial, ca)
	if err != nil {
		return nil, err
	}
	w.header, w.prefix, w.token = "Authorization", "Bearer ", token
	return w, nil
}

func (k *kubernetes) Name() string { return "kubernetes:" + k.name + " of " + k.scope }

func (k *kubernetes) failed(err error) error {
	at := k.web.base.Host
	var r *refused
	if errors.As(err, &r) {
		switch r.code {
		case http.StatusForbidden:
			return fmt.Errorf("list %s of %s at %s: %w: allow the verbs list and watch on %s to this account", k.role.resource, k.scope, at, err, k.role.resource)
		case http.StatusUnauthorized:
			return fmt.Errorf("list %s of %s at %s: %w: give a token that is valid, as token_file=PATH", k.role.resource, k.scope, at, err)
		}
	}
	return fmt.Errorf("list %s of %s at %s: %w", k.role.resource, k.scope, at, err)
}

// meta is what every object has.
type meta struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace"`
	UID               string            `json:"uid"`
	ResourceVersion   string            `json:"resourceVersion"`
	Labels            map[string]string `json:"labels"`
	Annotations       map[string]string `json:"annotations"`
	OwnerReferences   []ownerReference  `json:"ownerReferences"`
	DeletionTimestamp string            `json:"deletionTimestamp"`
}

type ownerReference struct {
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	Controller bool   `json:"controller"`
}

// objects are those of a list by namespace and name, each with its targets.
type objects map[string][]Target

func (o objects) list() List {
	var out List
	for _, all := range o {
		out.Targets = append(out.Targets, all...)
	}
	sorted(out.Targets)
	return out
}

// set takes what an object now is; gone: it is no more.
func (k *kubernetes) set(o objects, raw json.RawMessage, gone bool) (version string, err error) {
	var head struct {
		Metadata meta `json:"metadata"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return "", fmt.Errorf("an object can't be read: %w", err)
	}
	key := head.Metadata.Namespace + "/" + head.Metadata.Name
	if gone {
		delete(o, key)
		return head.Metadata.ResourceVersion, nil
	}
	var l List
	if err := k.role.targets(raw, &l); err != nil {
		return "", fmt.Errorf("%s can't be read: %w", shown(key), err)
	}
	o[key] = l.Targets
	return head.Metadata.ResourceVersion, nil
}

// objects asks for all of them, page by page. version is where a watch goes on from.
func (k *kubernetes) objects(ctx context.Context) (all objects, version string, err error) {
	all = objects{}
	query := maps.Clone(k.query)
	query.Set("limit", fmt.Sprint(kubePage))
	for {
		var page struct {
			Metadata struct {
				ResourceVersion string `json:"resourceVersion"`
				Continue        string `json:"continue"`
			} `json:"metadata"`
			Items []json.RawMessage `json:"items"`
		}
		one, cancel := context.WithTimeout(ctx, askTimeout)
		_, err := k.web.get(one, k.path, query, &page)
		cancel()
		if err != nil {
			return nil, "", err
		}
		for _, raw := range page.Items {
			if _, err := k.set(all, raw, false); err != nil {
				return nil, "", err
			}
		}
		if page.Metadata.Continue == "" {
			return all, page.Metadata.ResourceVersion, nil
		}
		query.Set("continue", page.Metadata.Continue)
	}
}

// List asks once for all objects.
func (k *kubernetes) List(ctx context.Context) (List, error) {
	all, _, err := k.objects(ctx)
	if err != nil {
		return List{}, k.failed(err)
	}
	return all.list(), nil
}
