package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"time"
)

type spdxPackage struct {
	ID        string    `json:"SPDXID"`
	Name      string    `json:"name"`
	Version   string    `json:"versionInfo"`
	Download  string    `json:"downloadLocation"`
	Analyzed  bool      `json:"filesAnalyzed"`
	Concluded string    `json:"licenseConcluded"`
	Declared  string    `json:"licenseDeclared"`
	Copyright string    `json:"copyrightText"`
	Purpose   string    `json:"primaryPackagePurpose,omitempty"`
	Checksums []spdxSum `json:"checksums,omitempty"`
	Refs      []spdxRef `json:"externalRefs,omitempty"`
	Comment   string    `json:"comment,omitempty"`
}

type spdxSum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type spdxRef struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type spdxRelation struct {
	From string `json:"spdxElementId"`
	Kind string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

var notID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// sbom lists what a program is linked of, as SPDX 2.3 (spdx.github.io/spdx-spec/v2.3).
func (r *release) sbom(program, arch string, modules []module) []byte {
	const none = "NOASSERTION"
	self := spdxPackage{ID: "SPDXRef-snag", Name: "snag", Version: r.Version, Download: none, Concluded: "Apache-2.0", Declared: "Apache-2.0",
		Copyright: none, Purpose: "APPLICATION", Comment: "commit " + r.Commit}
	if b, err := os.ReadFile(program); err == nil {
		self.Checksums = []spdxSum{{"SHA256", sum(b)}}
	}
	packages := []spdxPackage{self}
	relations := []spdxRelation{{"SPDXRef-DOCUMENT", "DESCRIBES", self.ID}}
	for _, m := range modules {
		licence := m.Licence
		if licence == "" {
			licence = none
		}
		p := spdxPackage{ID: "SPDXRef-" + notID.ReplaceAllString(m.Path, "-"), Name: m.Path, Version: m.Version, Download: none,
			Concluded: licence, Declared: licence, Copyright: none, Purpose: "LIBRARY",
			Refs: []spdxRef{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + m.Path + "@" + m.Version}}}
		if m.Sum != "" {
			p.Comment = "go.sum: " + m.Sum
		}
		packages = append(packages, p)
		relations = append(relations, spdxRelation{self.ID, "STATIC_LINK", p.ID})
	}
	name := fmt.Sprintf("snag-%s-linux-%s", r.Version, arch)
	b, err := json.MarshalIndent(map[string]any{
		"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
		"documentNamespace": "https://spdx.org/spdxdocs/" + name + "-" + r.Commit,
		"creationInfo":      map[string]any{"created": r.Date.Format(time.RFC3339), "creators": []string{"Tool: snag tools/release"}},
		"packages":          packages, "relationships": relations,
	}, "", "  ")
	if err != nil {
		panic(err) // of maps and texts
	}
	return append(b, '\n')
}
