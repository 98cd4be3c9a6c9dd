package main

import (
	"encoding/json"
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// encode makes a dashboard's JSON.
func encode(b board) ([]byte, error) {
	//nolint:staticcheck // dashboardv2 is of Grafana 12 and later; each Grafana reads this one
	d := dashboard.NewDashboardBuilder(b.title).Uid("snag-"+b.name).Description(b.about).Tags([]string{"snag"}).
		Timezone("browser").Time("now-1h", "now").Refresh("30s").Tooltip(dashboard.DashboardCursorSyncCrosshair).
		Link(dashboard.NewDashboardLinkBuilder("snag").Type(dashboard.DashboardLinkTypeDashboards).Tags([]string{"snag"}).Icon("external link").AsDropdown(true).KeepTime(true)).
		WithVariable(dashboard.NewDatasourceVariableBuilder("datasource").Label("Data source").Type("prometheus"))
	for _, v := range b.variables {
		d = d.WithVariable(choice(v))
	}
	for _, p := range b.panels {
		if p.kind == separator {
			d = d.WithRow(dashboard.NewRowBuilder(p.title))
			continue
		}
		d = d.WithPanel(picture(p))
	}
	made, err := d.Build()
	if err != nil {
		return nil, fmt.Errorf("dashboard %s: %w", b.name, err)
	}
	for i := range made.Panels {
		if p := made.Panels[i].Panel; p != nil {
			p.Id = cog.ToPtr(uint32(i + 1))
		} else {
			made.Panels[i].RowPanel.Id = uint32(i + 1)
		}
	}
	text, err := json.MarshalIndent(made, "", "  ")
	return append(text, '\n'), err
}

var source = common.DataSourceRef{Type: cog.ToPtr("prometheus"), Uid: cog.ToPtr("${datasource}")}

func choice(v variable) *dashboard.QueryVariableBuilder {
	return dashboard.NewQueryVariableBuilder(v.name).Label(v.title).Datasource(source).Query(dashboard.StringOrMap{String: &v.query}).
		Definition(v.query).Refresh(dashboard.VariableRefreshOnTimeRangeChanged).Sort(dashboard.VariableSortAlphabeticalAsc).
		Multi(!v.one).IncludeAll(!v.one).AllValue(".*")
}

func picture(p panel) cog.Builder[dashboard.Panel] {
	switch p.kind {
	case number:
		return stat.NewPanelBuilder().Title(p.title).Description(p.answer).Unit(p.unit).Span(p.width).Height(p.height).Datasource(source).
			Targets(queries(p)).Thresholds(limits(p.red)).ColorScheme(byLimits()).NoValue(p.empty).
			Orientation(common.VizOrientationAuto).ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"})).GraphMode(common.BigValueGraphModeNone)
	case rows:
		return aTable(p)
	case states:
		return statetimeline.NewPanelBuilder().Title(p.title).Description(p.answer).Span(p.width).Height(p.height).Datasource(source).
			Targets(queries(p)).Thresholds(limits(p.red)).ColorScheme(byLimits()).NoValue(p.empty).ShowValue(common.VisibilityModeNever)
	}
	return timeseries.NewPanelBuilder().Title(p.title).Description(p.answer).Unit(p.unit).Span(p.width).Height(p.height).Datasource(source).
		Targets(queries(p)).Min(0).NoValue(p.empty).Legend(common.NewVizLegendOptionsBuilder().DisplayMode(common.LegendDisplayModeList).Placement(common.LegendPlacementBottom).ShowLegend(true)).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending))
}

// queries are by letters. A table has the values of now.
func queries(p panel) (out []cog.Builder[variants.Dataquery]) {
	for i, a := range p.asks {
		q := prometheus.NewDataqueryBuilder().Datasource(source).Expr(a.expr).RefId(string(rune('A' + i)))
		switch p.kind {
		case rows:
			q = q.Instant().Format(prometheus.PromQueryFormatTable)
		case number:
			q = q.Instant()
			if a.legend != "" {
				q = q.LegendFormat(a.legend)
			}
		default:
			q = q.Range().LegendFormat(a.legend)
		}
		out = append(out, q)
	}
	return out
}

func limits(red float64) *dashboard.ThresholdsConfigBuilder {
	steps := []dashboard.Threshold{{Color: "green"}}
	if red != 0 {
		steps = append(steps, dashboard.Threshold{Value: &red, Color: "red"})
	}
	return dashboard.NewThresholdsConfigBuilder().Mode(dashboard.ThresholdsModeAbsolute).Steps(steps)
}

func byLimits() *dashboard.FieldColorBuilder {
	return dashboard.NewFieldColorBuilder().Mode(dashboard.FieldColorModeIdThresholds)
}

// aTable shows the columns that it names, in their order. The values of several queries are columns, joined by labels.
func aTable(p panel) *table.PanelBuilder {
	t := table.NewPanelBuilder().Title(p.title).Description(p.answer).Span(p.width).Height(p.height).Datasource(source).
		Targets(queries(p)).NoValue(p.empty).Footer(common.NewTableFooterOptionsBuilder().Show(false).Reducer([]string{"sum"})) // Grafana's default
	include, order, names := map[string]any{}, map[string]any{}, map[string]any{}
	for i, c := range p.columns {
		include[c.label], order[c.label], names[c.label] = true, i, c.title
		var of []dashboard.DynamicConfigValue
		if c.unit != "" {
			of = append(of, dashboard.DynamicConfigValue{Id: "unit", Value: c.unit})
		}
		if c.label == "instance" && p.links != "" {
			of = append(of, dashboard.DynamicConfigValue{Id: "links", Value: []any{map[string]any{
				"title": "open this host", "url": "/d/" + p.links + "?var-instance=${__value.raw:percentencode}&${__url_time_range}",
			}}})
		}
		if len(of) > 0 {
			t = t.OverrideByName(c.title, of)
		}
	}
	if len(p.asks) > 1 {
		t = t.WithTransformation(dashboard.DataTransformerConfig{Id: "merge", Options: map[string]any{}})
	}
	return t.WithTransformation(dashboard.DataTransformerConfig{Id: "organize", Options: map[string]any{
		"includeByName": include, "indexByName": order, "renameByName": names,
	}})
}
