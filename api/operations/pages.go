package operations

import (
	"strings"
	"time"

	openapi "github.com/oapi-codegen/runtime/types"

	"rihla/api/gen"
	"rihla/internal/store/db"
	"rihla/models"
)

// pageOf reads the paging parameters of a list (rules: reports.lists). Their bounds were checked against the document.
func pageOf(number *gen.Page, perPage *gen.PerPage, sort *string, cursor *gen.Cursor) db.Page {
	p := db.Page{
		Number: max(valueOf(number), 1), PerPage: valueOf(perPage), Sort: sorts(valueOf(sort)), Cursor: valueOf(cursor),
	}
	if p.PerPage == 0 {
		p.PerPage = 20
	}

	return p
}

// sorts reads the sort parameter, `-departure_at,title`: the fields in the order in which they count, with a - in front of those
// that go down.
func sorts(text string) []db.Sort {
	var out []db.Sort

	for field := range strings.SplitSeq(text, ",") {
		if name, desc := strings.CutPrefix(field, "-"); name != "" {
			out = append(out, db.Sort{Field: name, Desc: desc})
		}
	}

	return out
}

// metaOf says where a page is (rules: api.envelope), and where the next one begins. An empty collection has one, empty, page.
func metaOf[T any](p db.Page, list db.Listed[T]) gen.Meta {
	pages := (list.Total + int64(p.PerPage) - 1) / int64(p.PerPage)

	return gen.Meta{
		Total: list.Total, TotalIsExact: &list.Exact, PerPage: p.PerPage, CurrentPage: list.Number,
		LastPage: int(max(pages, 1)), NextCursor: optional(list.Next),
	}
}

// daysOf resolves the period parameters of a list.
func daysOf(period *gen.CalendarPeriod, from, to *openapi.Date, now time.Time) (models.Days, error) {
	return models.Period(valueOf(period)).Resolve(dateOf(from), dateOf(to), now)
}

func dateOf(d *openapi.Date) models.Date {
	if d == nil {
		return models.Date{}
	}

	return models.NewDate(d.Year(), d.Month(), d.Day())
}

// mapEach converts the items of a list.
func mapEach[T, U any](items []T, convert func(*T) U) []U {
	out := make([]U, len(items))
	for i := range items {
		out[i] = convert(&items[i])
	}

	return out
}
