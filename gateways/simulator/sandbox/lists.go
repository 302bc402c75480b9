package sandbox

import (
	"net/http"
	"slices"
	"time"

	"rihla/gateways/simulator/engine"
)

// pageSize is how much of a list one answer has.
const pageSize = 50

// listCheckouts answers GET /v1/checkouts: by merchant_reference, or with created_since what was made since then, the newest first, page
// by page behind after, as companies list what they have (docs.stripe.com/api/checkout/sessions/list).
func (c calls) listCheckouts(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	if !r.URL.Query().Has("created_since") {
		c.findCheckouts(w, r, m)

		return
	}

	listSince(c, w, r, m, c.All, func(row *engine.Checkout) (string, time.Time) { return row.ID, row.CreatedAt },
		func(row *engine.Checkout, f *engine.Fault) any { return c.viewOf(r, row, f) })
}

// listRefunds is the same for refunds.
func (c calls) listRefunds(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	if !r.URL.Query().Has("created_since") {
		c.findRefunds(w, r, m)

		return
	}

	listSince(c, w, r, m, c.AllRefunds, func(row *engine.Refund) (string, time.Time) { return row.ID, row.CreatedAt },
		func(row *engine.Refund, _ *engine.Fault) any { return refundViewOf(row) })
}

func listSince[T any](
	c calls, w http.ResponseWriter, r *http.Request, m *engine.Account, all func(*engine.Account, *engine.Fault) ([]T, error),
	of func(T) (id string, made time.Time), view func(T, *engine.Fault) any,
) {
	query := r.URL.Query()

	since, err := time.Parse(time.RFC3339Nano, query.Get("created_since"))
	if err != nil {
		c.Invalid("created_since", "created_since must be a time as of RFC 3339.").Write(w)

		return
	}

	c.Asked(w, r, engine.OpStatus, m, func(f *engine.Fault) engine.Answer {
		rows, err := all(m, f)
		if err != nil {
			return c.Internal(err)
		}

		rows = slices.DeleteFunc(rows, func(row T) bool { _, made := of(row); return made.Before(since) })

		if after := query.Get("after"); after != "" {
			rows = rows[slices.IndexFunc(rows, func(row T) bool { id, _ := of(row); return id == after })+1:]
		}

		page, next := rows[:min(pageSize, len(rows))], ""
		if len(rows) > pageSize {
			next, _ = of(page[pageSize-1])
		}

		data := make([]any, 0, len(page))
		for _, row := range page {
			data = append(data, view(row, f))
		}

		return engine.Success(http.StatusOK, map[string]any{"data": data, "next": next})
	})
}
