package main

import (
	"fmt"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// parse reads a DaemonSet. A field that the API does not have, or that is there twice, is an error, and so is
// what the API server refuses and no type shows.
func parse(text []byte) (*apps.DaemonSet, error) {
	var set apps.DaemonSet
	if err := yaml.UnmarshalStrict(text, &set); err != nil {
		return nil, err
	}
	if set.APIVersion != "apps/v1" || set.Kind != "DaemonSet" {
		return nil, fmt.Errorf("it is a %s of %s, not a DaemonSet of apps/v1", set.Kind, set.APIVersion)
	}
	pod := set.Spec.Template
	for name, want := range set.Spec.Selector.MatchLabels {
		if pod.Labels[name] != want {
			return nil, fmt.Errorf("the selector's label %s is not one of the pod", name)
		}
	}
	if len(pod.Spec.Containers) != 1 {
		return nil, fmt.Errorf("it has %d containers, not one", len(pod.Spec.Containers))
	}
	return &set, mounted(pod.Spec)
}

// mounted checks that each mount has its volume and each volume its mount.
func mounted(pod core.PodSpec) error {
	used := map[string]bool{}
	for _, m := range pod.Containers[0].VolumeMounts {
		if volume(pod, m.Name) == nil {
			return fmt.Errorf("the mount %s has no volume", m.Name)
		}
		used[m.Name] = true
	}
	for _, v := range pod.Volumes {
		if !used[v.Name] {
			return fmt.Errorf("the volume %s is not mounted", v.Name)
		}
	}
	return nil
}

func volume(pod core.PodSpec, name string) *core.Volume {
	for i := range pod.Volumes {
		if pod.Volumes[i].Name == name {
			return &pod.Volumes[i]
		}
	}
	return nil
}
