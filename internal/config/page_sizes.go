package config

import "reflect"

// PageSizes are how many items a page of a list has at most, per module: `per_page` is 10 to that (rules: reports.lists).
type PageSizes struct {
	AdCampaigns         int `env:"AD_CAMPAIGNS" envDefault:"100"`
	Audit               int `env:"AUDIT" envDefault:"100"`
	Bookings            int `env:"BOOKINGS" envDefault:"100"`
	Buses               int `env:"BUSES" envDefault:"100"`
	Catalogue           int `env:"CATALOGUE" envDefault:"100"`
	FinancialRecords    int `env:"FINANCIAL_RECORDS" envDefault:"100"`
	Hotels              int `env:"HOTELS" envDefault:"100"`
	Incidents           int `env:"INCIDENTS" envDefault:"100"`
	PaymentTransactions int `env:"PAYMENT_TRANSACTIONS" envDefault:"100"`
	Providers           int `env:"PROVIDERS" envDefault:"100"`
	Refunds             int `env:"REFUNDS" envDefault:"100"`
	RestStops           int `env:"REST_STOPS" envDefault:"100"`
	Trips               int `env:"TRIPS" envDefault:"100"`
	Users               int `env:"USERS" envDefault:"100"`
}

// The bounds of a page's greatest size: a page without per_page has 20 items, and one of 1,000 is read within a request's time.
const (
	leastPageMax    = 20
	greatestPageMax = 1000
)

// ByModule are the greatest sizes by the module's name: that of the variable behind PAGE_SIZE_MAX_.
func (p PageSizes) ByModule() map[string]int {
	out := map[string]int{}
	v := reflect.ValueOf(p)

	for i := range v.NumField() {
		out[v.Type().Field(i).Tag.Get("env")] = int(v.Field(i).Int())
	}

	return out
}

func (c Config) validatePageSizes(p *problems) {
	for module, most := range c.PageSizes.ByModule() {
		if most < leastPageMax || most > greatestPageMax {
			p.addf("PAGE_SIZE_MAX_%s must be from %d to %d", module, leastPageMax, greatestPageMax)
		}
	}
}
