// Package pages_test walks every list of the running service page by page while rows come, go and move.
package pages_test

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"rihla/api"
	"rihla/e2e/harness"
)

// TestPages follows next_cursor through every list of the document, in every order that it has, up and down. At the same
// time rows are inserted before and behind the page being read, also by a transaction that began before the walk, and
// others are deleted and moved. No row comes twice, and none is missing that was there at the start and stayed as it was.
func TestPages(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{})
	s.Tampered("its rows are inserted manually, without what they belong to")

	documented := listsOf(t)
	require.ElementsMatch(t, slices.Collect(maps.Keys(documented)), slices.Collect(maps.Keys(lists)),
		"the document and the table of this test have different lists")

	w := newWorld(t, s)

	// Lists of the same table share its rows: one walk of a table at a time.
	byTable := map[string][]string{}
	for id, l := range lists {
		byTable[l.table] = append(byTable[l.table], id)
	}

	for table, ids := range byTable {
		t.Run(table, func(t *testing.T) {
			t.Parallel()

			steady := w.fill(t, table)

			for _, id := range ids {
				for _, sort := range documented[id].sorts {
					w.readAllPages(t, documented[id].path, id, sort, steady)
				}
			}
		})
	}
}

// listOperation is a list of the document: where it is, and every order that it has.
type listOperation struct {
	path  string
	sorts []string
}

// sortPattern is how the document says which fields there are: `^-?(a|b)(,-?(a|b))*$`, or `^-?a$`.
var sortPattern = regexp.MustCompile(`^\^-\?\(?([a-z_|]+)\)?(?:\(,-\?\([a-z_|]+\)\)\*)?\$$`)

func listsOf(t *testing.T) map[string]listOperation {
	t.Helper()

	doc, err := api.Document()
	require.NoError(t, err)

	out := map[string]listOperation{}

	for path, item := range doc.Paths.Map() {
		if item.Get == nil || !isList(item.Get) {
			continue
		}

		l := listOperation{path: path, sorts: []string{""}}

		for _, p := range item.Get.Parameters {
			if p.Value.Name != "sort" {
				continue
			}

			fields := sortPattern.FindStringSubmatch(p.Value.Schema.Value.Pattern)
			require.Len(t, fields, 2, p.Value.Schema.Value.Pattern)

			all := strings.Split(fields[1], "|")
			for _, field := range all {
				l.sorts = append(l.sorts, field, "-"+field)
			}

			if len(all) > 1 {
				l.sorts = append(l.sorts, strings.Join(all, ",-"), "-"+strings.Join(all, ","))
			}
		}

		require.Greater(t, len(l.sorts), 1, "%s has no sort", path)
		out[item.Get.OperationID] = l
	}

	return out
}

func isList(op *openapi3.Operation) bool {
	found := op.Responses.Status(http.StatusOK)
	if found == nil { // it redirects
		return false
	}

	body := found.Value.Content.Get("application/json")

	return body != nil && body.Schema.Value.Properties["meta"] != nil
}

// page is what a walk reads of an answer.
type page struct {
	Data []struct {
		ID string `json:"id"`
	} `json:"data"`
	Meta struct {
		Total int     `json:"total"`
		Page  int     `json:"current_page"`
		Next  *string `json:"next_cursor"`
	} `json:"meta"`
}

// readAllPages reads a list from its beginning to its end.
func (w *world) readAllPages(t *testing.T, path, id, sort string, steady []string) {
	t.Helper()

	l, what, query := lists[id], id+" by "+sort, "?per_page=10"
	of := w.World.Provider.ID

	switch {
	case strings.Contains(path, "/trips/{id}"):
		of = w.World.Trip.ID
	case strings.Contains(path, "/bookings/{id}"):
		of = w.booking
	}

	path = strings.Replace(path, "{id}", of.String(), 1)

	if sort != "" {
		query += "&sort=" + sort
	}

	o := w.start(t, l.table)
	seen, cursor := map[string]int{}, ""

	for number := 1; ; number++ {
		var p page

		writing := o.write(t.Context(), number)
		a := w.callers[l.role].Get(path + query + cursor)

		require.NoError(t, <-writing)
		require.Equal(t, http.StatusOK, a.Status, "%s: %s", what, a.Body)
		require.NoError(t, a.Into(&p))
		require.Equal(t, number, p.Meta.Page, what)

		for _, item := range p.Data {
			seen[item.ID]++
		}

		if p.Meta.Next == nil {
			break
		}

		require.Len(t, p.Data, 10, what)
		cursor = "&cursor=" + *p.Meta.Next
	}

	o.end(t)

	for id, n := range seen {
		require.True(t, n == 1 || slices.Contains(o.moved, id), "%s: %s came %d times", what, id, n)
	}

	for _, id := range steady {
		require.Contains(t, seen, id, "%s: missing", what)
	}
}
