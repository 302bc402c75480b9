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
	// needsToken says that unknown parameters are refused.
	needsToken bool
}

// TestQueries sends every bad habit in every parameter of every list and report.
func TestQueries(t *testing.T) {
	t.Parallel()

	b := setupFuzz(t)

	for _, r := range allReadings(t) {
		before := b.fingerprint(t)

		for _, query := range queryTable(r) {
			b.forgetReads(t)
			b.askQuery(t, r, query)
		}

		if isExport(r) || b.fingerprint(t) == before {
			continue
		}

		for _, query := range queryTable(r) { // which of them it was
			b.checkQuery(t, r, query)
		}

		require.Equal(t, before, b.fingerprint(t), "%s changes something", r.id)
	}
}

// refusing are readings that answer so to whatever query they take: of a trip that leaves in weeks, and a link without its signature.
var refusing = map[string]int{"GetManifest": http.StatusConflict, "OpenTicket": http.StatusNotFound}

// isExport reports operations that are noted in the audit log.
func isExport(r reading) bool { return strings.HasPrefix(r.id, "Export") }

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

	before := b.untouched
	if before == "" {
		before = b.fingerprint(t)
	}

	b.askQuery(t, r, query)

	b.untouched = b.fingerprint(t)
	if !isExport(r) {
		require.Equal(t, before, b.untouched, "reading changes nothing: %s", query)
	}
}

// askQuery sends a query and checks its answer.
func (b *fuzzBundle) askQuery(t *testing.T, r reading, query string) {
	t.Helper()

	raw := rawQuery(withCursor(query))
	answer := b.call(t, http.MethodGet, r.target+"?"+raw, r.role, nil, nil)

	values, err := url.ParseQuery(raw)

	switch answer.Status {
	case http.StatusConflict, http.StatusNotFound:
		require.NoError(t, err)
		require.Equal(t, refusing[r.id], answer.Status, "%s: %s", raw, answer.Body)
	case http.StatusOK:
		require.NoError(t, err)
		require.True(t, !r.needsToken || r.knows(values), "%s has an unknown parameter", raw)
		b.checkPage(t, r, values, answer)
	case http.StatusUnprocessableEntity:
		require.NoError(t, err)
		r.checkRefusal(t, values, answer)
	default:
		require.Equal(t, http.StatusBadRequest, answer.Status, "%s: %s", raw, answer.Body)
		require.Error(t, err, "only a query that is none is refused so: %s", raw)
	}
}

func pick(readings []reading, operation string) reading {
	if i := slices.IndexFunc(readings, func(r reading) bool { return r.id == operation }); i >= 0 {
		return readings[i]
	}

	h := fnv.New32a()
	_, _ = h.Write([]byte(operation))

	return readings[int(h.Sum32()%uint32(len(readings)))]
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

	n, err := strconv.Atoi(models.CleanNumber(asked.Get(name)))
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
		if i < 0 {
			require.True(t, r.needsToken, "%s is no parameter", name)
			require.Equal(t, []string{"is not a known parameter"}, body.Error.Details[name])

			continue
		}

		// Both dates are needed with a period of one's own, and only then may a missing one be the problem.
		require.True(t, asked.Has(name) || r.params[i].Required || asked.Has("period") || asked.Has("date_from") || asked.Has("date_to"), "%s", name)
	}
}

// knows reports whether all names of a query are parameters of the operation.
func (r reading) knows(asked url.Values) bool {
	for name := range asked {
		if !slices.ContainsFunc(r.params, func(p *openapi3.Parameter) bool { return p.Name == name }) {
			return false
		}
	}

	return true
}

// allReadings are the GET operations of the document that take a query, in the order of their names.
func allReadings(tb testing.TB) []reading {
	tb.Helper()

	doc, err := api.Document()
	require.NoError(tb, err)

	var out []reading

	for path, item := range doc.Paths.Map() {
		// A photo's address has a query too, which is a signature; its answer does not say what is wrong with it. And a page for
		// customers is no JSON (e2e: TestCompanies), nor is the way to an identity provider and back (e2e/identity).
		if op := item.Get; op != nil && !strings.Contains(path, "{photo_id}") && !strings.HasPrefix(path, "/pay/") &&
			!strings.Contains(path, "/oidc/") {
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

	switch {
	case strings.Contains(path, "/bookings/"):
		id = fuzzID(604)
	case strings.Contains(path, "/trips/"):
		id = fuzzID(401)
	}

	r := reading{id: op.OperationID, target: strings.ReplaceAll(path, "{id}", id.String()), role: mayRead(op)}

	r.needsToken = fmt.Sprint(op.Extensions["x-roles"]) != "[public]"

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
	case names == "[SUPER_ADMIN]":
		return models.RoleSuperAdmin
	default:
		return models.RoleAdmin
	}
}
