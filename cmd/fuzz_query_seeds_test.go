package cmd

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// querySeeds are one query with everything in it, and a few that no list takes.
func querySeeds(r reading) []string {
	all := url.Values{}

	for _, p := range r.params {
		switch s := p.Schema.Value; {
		case p.Name == "cursor": // beside it the page would not be looked at
		case len(s.Enum) > 0:
			all.Set(p.Name, fmt.Sprint(s.Enum[len(s.Enum)-1]))
		case s.Format == "uuid":
			all.Set(p.Name, fuzzProvider.String())
		case s.Format == "date":
			all.Set(p.Name, "2026-11-21")
		case s.Default != nil:
			all.Set(p.Name, fmt.Sprint(s.Default))
		case !s.Type.Is("integer"):
			all.Set(p.Name, "%_\\ فندق")
		}
	}

	all.Set("page", "2")

	sorts := r.sorts()
	seeds := make([]string, 0, len(sorts)+3)

	for _, sort := range sorts {
		seeds = append(seeds, cursorSeed(2, sort, `"2026-11-21"`))
	}

	return append(seeds, all.Encode(), r.needed().Encode()+"&per_page=10", "%zz=1;&=\xff")
}

// needed is what the operation does not do without.
func (r reading) needed() url.Values {
	needed := url.Values{}

	for _, p := range r.params {
		if p.Required && len(p.Schema.Value.Enum) > 0 {
			needed.Set(p.Name, fmt.Sprint(p.Schema.Value.Enum[0]))
		}
	}

	return needed
}

// sorts are the fields by which the list may be sorted, as its document says.
func (r reading) sorts() []string {
	for _, p := range r.params {
		if p.Name == "sort" {
			_, fields, _ := strings.Cut(p.Schema.Value.Pattern, "(")
			fields, _, _ = strings.Cut(fields, ")")

			return strings.Split(fields, "|")
		}
	}

	return nil
}

func cursorSeed(number int, sort, values string) string {
	return fmt.Sprintf(`cursor-json={"p":%d,"s":%q,"v":[%s],"i":%q}`, number, sort, values, fuzzProvider)
}

// queryTable is what is bad for all, and every parameter of the operation with every kind of value.
func queryTable(r reading) []string {
	seeds := []string{
		"", "page=2&per_page=10", "page=9223372036854775807&per_page=100", "page=9223372036854775808", "page=0", "page=-1", "page=+1", "page=1.0",
		"page=%31", "page=1&page=2", "per_page=9", "per_page=101", "per_page=010", "per_page=١٠", "sort=", "sort=-", "sort=,", "sort=id;drop",
		"sort=-created_at,created_at,-created_at", "sort=created_at%00", "search=%25", "search=_", "search=%5C", "search=%00", "search=%FF",
		"search='%20OR%201=1--", "search=فندق", "search=%D9%81%D9", "search=" + strings.Repeat("x", 101), "%", "%zz=1", "a;b=1", "=&=&&", "?",
		"search=\U0001F600", "sort=CREATED_AT", "unknown=1&unknown=2", "wait=1", strings.Repeat("a=1&", 300), "search[]=1", "search=\xed\xa0\x80",
	}

	for _, p := range r.params {
		s := p.Schema.Value

		values := []string{"", "x", "%00", "%FF", "null"}
		for _, e := range s.Enum {
			values = append(values, fmt.Sprint(e), strings.ToLower(fmt.Sprint(e)))
		}

		switch s.Format {
		case "uuid":
			values = append(values, fuzzProvider.String(), fuzzRival.String(), strings.ToUpper(fuzzProvider.String()), "urn:uuid:"+fuzzProvider.String(),
				"00000000-0000-0000-0000-000000000000")
		case "date":
			values = append(values, "2026-11-21", "2026-02-30", "0000-01-01", "0001-01-01", "9999-12-31", "2026-1-1", "2026-11-21T00:00:00Z")
		}

		for _, v := range values {
			seeds = append(seeds, p.Name+"="+v)
		}

		if p.Name == "date_from" {
			seeds = append(seeds, "period=custom&date_from=2026-01-01&date_to=2026-12-31", "period=custom&date_from=2026-01-01&date_to=2027-12-31",
				"period=custom&date_from=2026-01-02&date_to=2026-01-01", "period=today&date_from=0001-01-01&date_to=9999-12-31", "date_from=9999-12-31&date_to=0001-01-01",
				"period=custom&date_from=0001-01-02&date_to=0001-01-02", "period=custom&date_from=9999-12-31&date_to=9999-12-31", "date_from=0001-01-02")
		}
	}

	for _, sort := range r.sorts() {
		for _, value := range []string{
			`null`, `"x"`, `""`, `"1e999999"`, `"NaN"`, `"-infinity"`, `"2026-11-21T09:30:00Z"`, `"9999-12-31"`, `"0001-01-01 BC"`, `"99999999999999999999"`,
			`"\ud800"`, `"\u0000"`, `"';--"`, `"` + fuzzProvider.String() + `"`, `1`, `"a","b"`,
		} {
			seeds = append(seeds, cursorSeed(2, sort, value), "sort="+sort+"&"+cursorSeed(2, sort, value))
		}

		seeds = append(seeds, cursorSeed(1, sort, `"x"`), cursorSeed(1<<40, sort, `"x"`), "per_page=10&sort="+sort, "per_page=10&sort=-"+sort)
	}

	// Without the parameter that an operation needs, the rest of the query would never be looked at.
	if needed := r.needed(); len(needed) > 0 {
		for i, seed := range seeds {
			seeds[i] = needed.Encode() + "&" + seed
		}
	}

	slices.Sort(seeds)

	return slices.Compact(seeds)
}
