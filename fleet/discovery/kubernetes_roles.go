package discovery

import (
	"encoding/json"
	"net"
	"slices"
	"strconv"
	"strings"
)

const kube = "__meta_kubernetes_"

// of are the labels that every object of a role has.
func (m *meta) of(role string) []string {
	out := []string{kube + role + "_name", m.Name}
	if m.Namespace != "" {
		out = append(out, kube+"namespace", m.Namespace)
	}
	for kind, all := range map[string]map[string]string{"label": m.Labels, "annotation": m.Annotations} {
		for key, value := range all {
			out = append(out, kube+role+"_"+kind+"_"+labelName(key), value, kube+role+"_"+kind+"present_"+labelName(key), "true")
		}
	}
	return out
}

// nodeTypes are the addresses of a node, the one that Prometheus takes first.
var nodeTypes = []string{"InternalIP", "InternalDNS", "ExternalIP", "ExternalDNS", "LegacyHostIP", "Hostname"}

func nodeTargets(raw json.RawMessage, out *List) error {
	var n struct {
		Metadata meta `json:"metadata"`
		Spec     struct {
			ProviderID string `json:"providerID"`
		} `json:"spec"`
		Status struct {
			Addresses       []struct{ Type, Address string } `json:"addresses"`
			DaemonEndpoints struct {
				KubeletEndpoint struct{ Port int } `json:"kubeletEndpoint"`
			} `json:"daemonEndpoints"`
		} `json:"status"`
	}
	if err := json.Unmarshal(raw, &n); err != nil {
		return err
	}
	pairs := append(n.Metadata.of("node"), kube+"node_provider_id", n.Spec.ProviderID, "instance", n.Metadata.Name)
	best, at := len(nodeTypes), ""
	for _, a := range slices.Backward(n.Status.Addresses) { // of one type the first counts
		pairs = append(pairs, kube+"node_address_"+labelName(a.Type), a.Address)
		if i := slices.Index(nodeTypes, a.Type); i >= 0 && i <= best {
			best, at = i, a.Address
		}
	}
	if at != "" {
		out.add(net.JoinHostPort(at, strconv.Itoa(n.Status.DaemonEndpoints.KubeletEndpoint.Port)), pairs...)
	}
	return nil
}

type container struct {
	Name  string `json:"name"`
	Image string `json:"image"`
	Ports []struct {
		Name          string `json:"name"`
		ContainerPort int    `json:"containerPort"`
		Protocol      string `json:"protocol"`
	} `json:"ports"`
}

type containerStatus struct {
	Name        string `json:"name"`
	ContainerID string `json:"containerID"`
}

type pod struct {
	Metadata meta `json:"metadata"`
	Spec     struct {
		NodeName       string      `json:"nodeName"`
		Containers     []container `json:"containers"`
		InitContainers []container `json:"initContainers"`
	} `json:"spec"`
	Status struct {
		Phase                 string                          `json:"phase"`
		PodIP                 string                          `json:"podIP"`
		HostIP                string                          `json:"hostIP"`
		Conditions            []struct{ Type, Status string } `json:"conditions"`
		ContainerStatuses     []containerStatus               `json:"containerStatuses"`
		InitContainerStatuses []containerStatus               `json:"initContainerStatuses"`
	} `json:"status"`
}

// podTargets is a target for each port of each container, and for one without ports the address alone.
func podTargets(raw json.RawMessage, out *List) error {
	var p pod
	if err := json.Unmarshal(raw, &p); err != nil || p.Status.PodIP == "" { // it is starting, or was evicted
		return err
	}
	own := p.labels()
	p.add(out, own, p.Spec.Containers, p.Status.ContainerStatuses, false)
	p.add(out, own, p.Spec.InitContainers, p.Status.InitContainerStatuses, true)
	return nil
}

func (p *pod) labels() []string {
	own := append(p.Metadata.of("pod"), kube+"pod_ip", p.Status.PodIP, kube+"pod_phase", p.Status.Phase, kube+"pod_node_name", p.Spec.NodeName,
		kube+"pod_host_ip", p.Status.HostIP, kube+"pod_uid", p.Metadata.UID, kube+"pod_ready", p.ready())
	for _, o := range p.Metadata.OwnerReferences {
		if o.Controller {
			own = append(own, kube+"pod_controller_kind", o.Kind, kube+"pod_controller_name", o.Name)
		}
	}
	return own
}

func (p *pod) ready() string {
	for _, c := range p.Status.Conditions {
		if c.Type == "Ready" {
			return strings.ToLower(c.Status)
		}
	}
	return "unknown"
}

func (p *pod) add(out *List, own []string, all []container, status []containerStatus, isInit bool) {
	for _, c := range all {
		pairs := append(slices.Clone(own), kube+"pod_container_name", c.Name, kube+"pod_container_image", c.Image, kube+"pod_container_init", strconv.FormatBool(isInit))
		for _, s := range status {
			if s.Name == c.Name {
				pairs = append(pairs, kube+"pod_container_id", s.ContainerID)
			}
		}
		if len(c.Ports) == 0 {
			out.add(p.Status.PodIP, pairs...)
		}
		for _, port := range c.Ports {
			number := strconv.Itoa(port.ContainerPort)
			out.add(net.JoinHostPort(p.Status.PodIP, number), append(slices.Clone(pairs), kube+"pod_container_port_number", number,
				kube+"pod_container_port_name", port.Name, kube+"pod_container_port_protocol", port.Protocol)...)
		}
	}
}

func serviceTargets(raw json.RawMessage, out *List) error {
	var s struct {
		Metadata meta `json:"metadata"`
		Spec     struct {
			Type         string `json:"type"`
			ClusterIP    string `json:"clusterIP"`
			ExternalName string `json:"externalName"`
			Ports        []struct {
				Name     string `json:"name"`
				Port     int    `json:"port"`
				Protocol string `json:"protocol"`
			} `json:"ports"`
		} `json:"spec"`
		Status struct {
			LoadBalancer struct {
				Ingress []struct {
					IP string `json:"ip"`
				} `json:"ingress"`
			} `json:"loadBalancer"`
		} `json:"status"`
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	own := append(s.Metadata.of("service"), kube+"service_type", s.Spec.Type)
	if s.Spec.Type == "ExternalName" {
		own = append(own, kube+"service_external_name", s.Spec.ExternalName)
	} else {
		own = append(own, kube+"service_cluster_ip", s.Spec.ClusterIP)
	}
	if s.Spec.Type == "LoadBalancer" {
		var all []string
		for _, i := range s.Status.LoadBalancer.Ingress {
			all = append(all, i.IP)
		}
		own = append(own, kube+"service_loadbalancer_ip", strings.Join(all, ","))
	}
	for _, p := range s.Spec.Ports {
		number := strconv.Itoa(p.Port)
		out.add(s.Metadata.Name+"."+s.Metadata.Namespace+".svc:"+number, append(slices.Clone(own), kube+"service_port_name", p.Name,
			kube+"service_port_number", number, kube+"service_port_protocol", p.Protocol)...)
	}
	return nil
}

type endpointAddress struct {
	IP        string `json:"ip"`
	Hostname  string `json:"hostname"`
	NodeName  string `json:"nodeName"`
	TargetRef struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
	} `json:"targetRef"`
}

func endpointsTargets(raw json.RawMessage, out *List) error {
	var e struct {
		Metadata meta `json:"metadata"`
		Subsets  []struct {
			Addresses         []endpointAddress `json:"addresses"`
			NotReadyAddresses []endpointAddress `json:"notReadyAddresses"`
			Ports             []struct {
				Name     string `json:"name"`
				Port     int    `json:"port"`
				Protocol string `json:"protocol"`
			} `json:"ports"`
		} `json:"subsets"`
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return err
	}
	own := e.Metadata.of("endpoints")
	for _, s := range e.Subsets {
		for _, p := range s.Ports {
			add := func(a endpointAddress, ready string) {
				out.add(net.JoinHostPort(a.IP, strconv.Itoa(p.Port)), append(slices.Clone(own), kube+"endpoint_port_name", p.Name,
					kube+"endpoint_port_protocol", p.Protocol, kube+"endpoint_ready", ready, kube+"endpoint_address_target_kind", a.TargetRef.Kind,
					kube+"endpoint_address_target_name", a.TargetRef.Name, kube+"endpoint_node_name", a.NodeName, kube+"endpoint_hostname", a.Hostname)...)
			}
			for _, a := range s.Addresses {
				add(a, "true")
			}
			for _, a := range s.NotReadyAddresses {
				add(a, "false")
			}
		}
	}
	return nil
}
