package main

import (
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
	"github.com/grafana/grafana-foundation-sdk/go/units"
)

// board is sections of panels.
type board struct {
	uid, title, about string
	sections          []section
}

type section struct {
	title  string
	panels []panel
}

// panel shows queries over time.
type panel struct {
	title, unit, about string
	queries            []query
}

// query is an expression, and how its lines are named.
type query struct{ expr, legend string }

// sizes in Grafana's grid, which is 24 wide: three panels beside each other.
const (
	panelWidth  = 8
	panelHeight = 7
)

// The source of data is chosen in Grafana: each installation has its own.
func source() common.DataSourceRef {
	return common.DataSourceRef{Type: new("prometheus"), Uid: new("${source}")}
}

// build makes the form that Grafana imports since version 7. Its successor, dashboardv2, needs 12.
func (b board) build() (dashboard.Dashboard, error) { //nolint:staticcheck // see above
	d := dashboard.NewDashboardBuilder( //nolint:staticcheck // see above
		b.title).Uid(b.uid).Description(b.about).Tags([]string{"rihla"}).
		Time("now-6h", "now").Refresh("30s").Timezone("browser").
		WithVariable(dashboard.NewDatasourceVariableBuilder("source").Label("Prometheus").Type("prometheus"))

	for _, r := range b.sections {
		d = d.WithRow(dashboard.NewRowBuilder(r.title))

		for _, p := range r.panels {
			d = d.WithPanel(p.builder())
		}
	}

	return d.Build()
}

func (p panel) builder() *timeseries.PanelBuilder {
	b := timeseries.NewPanelBuilder().Title(p.title).Description(p.about).Unit(p.unit).Datasource(source()).
		Span(panelWidth).Height(panelHeight).Min(0)

	for i, q := range p.queries {
		b = b.WithTarget(prometheus.NewDataqueryBuilder().RefId(string(rune('A' + i))).Expr(q.expr).LegendFormat(q.legend).
			Range().Datasource(source()))
	}

	return b
}

const (
	none    = units.Short
	seconds = units.Seconds
	rate    = units.RequestsPerSecond
	share   = units.PercentUnit
)
