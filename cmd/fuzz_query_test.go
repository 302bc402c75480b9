package cmd

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"rihla/api"
	"rihla/e2e/harness"
	"rihla/models"
)

// reading is a GET that takes a query.
type reading struct {
	id, target string
	role       models.Role
	// params are the query's parameters; columns those that narrow the list to rows with that very value.
	params  []*openapi3.Parameter
	columns []string
	paged   bool
}

// TestQueries sends every bad habit in every parameter of every list and report.
func TestQueries(t *testing.T) {
	t.Parallel()

	b := setupFuzz(t)

	for _, r := range allReadings(t) {
		for _, query := range queryTable(r) {
			b.checkQuery(t, r, query)
		}
	}
}

// FuzzQuery sends any query to every list and report. An input names its operation; a name that does not exist stands
// for some other one, so that the fuzzer wastes nothing and a kept input survives the operation that it was found with.
// The seeds are few, for the fuzzer has to run all of them before it begins.
func FuzzQuery(f *testing.F) {
	b := setupFuzz(f)
	readings := allReadings(f)

	for _, r := range readings {
		for _, query := range querySeeds(r) {
			f.Add(r.id, query)
		}
	}

	f.Fuzz(func(t *testing.T, operation, query string) { b.checkQuery(t, pick(readings, operation), query) })
}

func (b *fuzzBundle) checkQuery(t *testing.T, r reading, query string) {
	t.Helper()

	raw := rawQuery(withCursor(query))
	before := b.fingerprint(t)
	answer := b.call(t, http.MethodGet, r.target+"?"+raw, r.role, nil, nil)

	values, err := url.ParseQuery(raw)

	switch answer.Status {
	case http.StatusOK:
		require.NoError(t, err)
		b.checkPage(t, r, values, answer)
	case http.StatusUnprocessableEntity:
		require.NoError(t, err)
		r.checkRefusal(t, values, answer)
	default:
		require.Equal(t, http.StatusBadRequest, answer.Status, "%s: %s", raw, answer.Body)
		require.Error(t, err, "only a query that is none is refused so: %s", raw)
	}

	if r.id != "ExportFinancialRecords" { // which is in the audit log
		require.Equal(t, before, b.fingerprint(t), "reading changes nothing")
	}
}

func pick(readings []reading, operation string) reading {
	if i := slices.IndexFunc(readings, func(r reading) bool { return r.id == operation }); i >= 0 {
		return readings[i]
	}

	h := fnv.New32a()
	_, _ = h.Write([]byte(operation))

	return readings[int(h.Sum32()%uint32(len(readings)))] //nolint:gosec // a few dozen
}

// withCursor writes `cursor-json=…` at the end of a query as the cursor that holds it: a fuzzer does not get through
// base64 by itself.
func withCursor(query string) string {
	before, inner, ok := strings.Cut(query, "cursor-json=")
	if !ok {
		return query
	}

	return before + "cursor=" + base64.RawURLEncoding.EncodeToString([]byte(inner))
}

// rawQuery escapes what cannot stand in a request line, and leaves everything else as it is.
func rawQuery(s string) string {
	var out strings.Builder

	for i := range len(s) {
		if c := s[i]; c <= ' ' || c == 0x7f || c == '#' {
			fmt.Fprintf(&out, "%%%02X", c)
		} else {
			out.WriteByte(c)
		}
	}

	return out.String()
}

// page is one page of a list.
type page struct {
	Data []map[string]any `json:"data"`
	Meta struct {
		Total       int     `json:"total"`
		PerPage     int     `json:"per_page"`
		CurrentPage int     `json:"current_page"`
		LastPage    int     `json:"last_page"`
		NextCursor  *string `json:"next_cursor"`
	} `json:"meta"`
}

// checkPage holds a page against what was asked for, and reads on behind it.
func (b *fuzzBundle) checkPage(t *testing.T, r reading, asked url.Values, answer harness.Answer) {
	t.Helper()

	if !r.paged {
		return
	}

	got := r.readPage(t, asked, answer)
	perPage, number, total := askedFor(t, asked, "per_page", 20), askedFor(t, asked, "page", 1), got.Meta.Total
	require.Equal(t, perPage, got.Meta.PerPage)
	require.Equal(t, max(1, (total+perPage-1)/perPage), got.Meta.LastPage)

	if asked.Has("cursor") { // which may say anything of where it comes from
		require.LessOrEqual(t, len(got.Data), perPage)
	} else {
		// Without a product, for the page asked for may be as large as a number can be.
		before := total
		if number-1 <= total/perPage {
			before = min(total, (number-1)*perPage)
		}

		require.Equal(t, number, got.Meta.CurrentPage)
		require.Len(t, got.Data, min(total-before, perPage))
		require.Equal(t, total-before > perPage, got.Meta.NextCursor != nil, "%s", answer.Body)
	}

	if got.Meta.NextCursor == nil {
		return
	}

	require.Len(t, got.Data, perPage, "there is more")

	asked.Set("cursor", *got.Meta.NextCursor)

	next := b.call(t, http.MethodGet, r.target+"?"+asked.Encode(), r.role, nil, nil)
	require.Equal(t, http.StatusOK, next.Status, "%s", next.Body)

	for _, item := range r.readPage(t, asked, next).Data {
		for _, earlier := range got.Data {
			require.NotEqual(t, earlier["id"], item["id"], "it is on both pages")
		}
	}
}

// readPage wants every item once, and every item to pass the filters.
func (r reading) readPage(t *testing.T, asked url.Values, answer harness.Answer) page {
	t.Helper()

	var p page

	decodePlain(t, answer.Body, &p)
	require.NotNil(t, p.Data)

	seen := map[any]bool{}
	for _, item := range p.Data {
		require.False(t, seen[item["id"]], "%v is there twice", item["id"])
		seen[item["id"]] = true

		for _, name := range r.columns {
			if asked.Has(name) {
				require.Equal(t, strings.ToLower(asked.Get(name)), strings.ToLower(fmt.Sprint(item[name])), "the filter %s", name)
			}
		}
	}

	return p
}

func askedFor(t *testing.T, asked url.Values, name string, usual int) int {
	t.Helper()

	if !asked.Has(name) {
		return usual
	}

	n, err := strconv.Atoi(asked.Get(name))
	require.NoError(t, err)
	require.Positive(t, n)

	if name == "per_page" {
		require.GreaterOrEqual(t, n, 10)
		require.LessOrEqual(t, n, 100)
	}

	return n
}

// checkRefusal wants the details to name parameters of the operation, which the query has or which it lacks.
func (r reading) checkRefusal(t *testing.T, asked url.Values, answer harness.Answer) {
	t.Helper()

	var body struct {
		Error struct {
			Code    models.Code         `json:"code"`
			Details map[string][]string `json:"details"`
		} `json:"error"`
	}

	require.NoError(t, json.Unmarshal(answer.Body, &body))
	require.Equal(t, models.CodeValidation, body.Error.Code)
	require.NotEmpty(t, body.Error.Details)

	for name := range body.Error.Details {
		i := slices.IndexFunc(r.params, func(p *openapi3.Parameter) bool { return p.Name == name })
		require.GreaterOrEqual(t, i, 0, "%s is no parameter", name)

		// Both dates are needed with a period of one's own, and only then may a missing one be the problem.
		require.True(t, asked.Has(name) || r.params[i].Required || asked.Has("period") || asked.Has("date_from") || asked.Has("date_to"), "%s", name)
	}
}

// allReadings are the GET operations of the document that take a query, in the order of their names.
func allReadings(tb testing.TB) []reading {
	tb.Helper()

	doc, err := api.Document()
	require.NoError(tb, err)

	var out []reading

	for path, item := range doc.Paths.Map() {
		// A photo's address has a query too, which is a signature and tells nobody what is wrong with it.
		if op := item.Get; op != nil && !strings.Contains(path, "{photo_id}") {
			if r := newReading(path, item, op); len(r.params) > 0 {
				out = append(out, r)
			}
		}
	}

	slices.SortFunc(out, func(a, b reading) int { return strings.Compare(a.id, b.id) })
	require.Greater(tb, len(out), 15)

	return out
}

func newReading(path string, item *openapi3.PathItem, op *openapi3.Operation) reading {
	id := fuzzProvider
	if strings.Contains(path, "/bookings/") {
		id = fuzzID(604)
	}

	r := reading{id: op.OperationID, target: strings.ReplaceAll(path, "{id}", id.String()), role: mayRead(op)}

	for _, p := range slices.Concat(item.Parameters, op.Parameters) {
		if p.Value.In != openapi3.ParameterInQuery {
			continue
		}

		r.params = append(r.params, p.Value)
		r.paged = r.paged || p.Value.Name == "page"

		if s := p.Value.Schema.Value; (len(s.Enum) > 0 || s.Format == "uuid") && p.Value.Name != "period" {
			r.columns = append(r.columns, p.Value.Name)
		}
	}

	return r
}

// mayRead is a role that may call the operation, one of a company's where there is a choice: its view is the narrower.
func mayRead(op *openapi3.Operation) models.Role {
	names := fmt.Sprint(op.Extensions["x-roles"])

	switch {
	case strings.Contains(names, "public"):
		return ""
	case strings.Contains(names, "authenticated"):
		return models.RoleEndUser
	case strings.Contains(names, string(models.RoleProviderAdmin)):
		return models.RoleProviderAdmin
	default:
		return models.RoleAdmin
	}
}

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

	seeds := []string{all.Encode(), r.needed().Encode() + "&per_page=10", "%zz=1;&=\xff"}
	for _, sort := range r.sorts() {
		seeds = append(seeds, cursorSeed(2, sort, `"2026-11-21"`))
	}

	return seeds
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
