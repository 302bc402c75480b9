package moyasar

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"rihla/gateways/simulator/engine"
)

// listInvoices answers GET /v1/invoices?page=&status=&id=&metadata[key]=, the newest first.
func (c calls) listInvoices(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	query := r.URL.Query()

	page, err := strconv.Atoi(query.Get("page"))
	if err != nil || page < 1 {
		page = 1
	}

	c.Asked(w, r, engine.OpStatus, m, func(f *engine.Fault) engine.Answer {
		rows, err := c.All(m, f)
		if err != nil {
			return c.Internal(err)
		}

		found := []invoiceView{}

		for _, row := range rows {
			v := c.invoiceOf(r, row, f)
			if !matches(row, v, query) {
				continue
			}

			if c.settings.BareLists {
				v.Payments = nil
			}

			found = append(found, v)
		}

		return pageOf(found, page)
	})
}

func matches(row *engine.Checkout, v invoiceView, query map[string][]string) bool {
	var metadata map[string]string
	if json.Unmarshal([]byte(row.Data[dataMetadata]), &metadata) != nil {
		return false
	}

	for name, values := range query {
		key, filtered := strings.CutPrefix(name, "metadata[")

		switch {
		case filtered && metadata[strings.TrimSuffix(key, "]")] != values[0],
			name == "status" && v.Status != values[0],
			name == "id" && v.ID != values[0]:
			return false
		}
	}

	return true
}

func pageOf(found []invoiceView, page int) engine.Answer {
	pages := max((len(found)+pageSize-1)/pageSize, 1)
	from, to := min((page-1)*pageSize, len(found)), min(page*pageSize, len(found))

	numbered := func(n int) *int {
		if n < 1 || n > pages {
			return nil
		}

		return &n
	}

	return engine.Success(http.StatusOK, map[string]any{
		"invoices": found[from:to],
		"meta": map[string]any{
			"current_page": page, "next_page": numbered(page + 1), "prev_page": numbered(page - 1),
			"total_pages": pages, "total_count": len(found),
		},
	})
}
