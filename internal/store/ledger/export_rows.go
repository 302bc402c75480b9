package ledger

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"rihla/internal/store/db"
	"rihla/models"
)

// ExportRows hands every ledger entry that the filter selects to yield, one cell per column as text, nil for NULL, and adds
// them up by kind, balance status and mark, in this order. lang is as in ExportCSV. Text is as it is: what could be a formula
// is for the format to deal with. The cells are valid until yield returns; an error of yield ends the export and is returned.
// It is one statement, as in ExportCSV, and the sums are those of the entries that it gave.
func (s *Store) ExportRows(
	ctx context.Context, f RecordFilter, lang models.Locale, yield func(cells [][]byte) error,
) ([]models.RecordSum, error) {
	q, err := s.exportQuery(f, false, lang)
	if err != nil {
		return nil, err
	}

	query := q.ColumnExpr("fr.kind, fr.balance_status").String() // their codes, in every language

	ctx, stop := context.WithCancel(ctx)
	defer stop()

	sums := exportSums{}

	err = s.db.OnWire(ctx, func(conn *pgx.Conn) error {
		cursor, err := conn.Query(ctx, query, pgx.QueryExecModeSimpleProtocol) // which answers with text
		if err != nil {
			return err
		}
		defer cursor.Close()

		for cursor.Next() {
			row := cursor.RawValues()
			cells, codes := row[:len(exportColumns)], row[len(exportColumns):]

			err := sums.add(cells, codes)
			if err == nil {
				err = yield(cells)
			}

			if err != nil {
				stop() // the statement: reading the rest of it, which Close would do, can take minutes

				return err
			}
		}

		return cursor.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("export records: %w", err)
	}

	return sums.sorted(), nil
}

// exportSums adds exported entries up.
type exportSums map[exportGroup]*models.RecordSum

// exportGroup is what decides on how an entry counts in a report.
type exportGroup struct {
	kind   models.RecordKind
	status models.BalanceStatus
	marked bool
}

// Where the entries have what is added up.
var (
	summedColumns = []struct {
		at  int
		sum func(*models.RecordSum) *models.Money
	}{
		{columnAt("gross_amount"), func(s *models.RecordSum) *models.Money { return &s.Gross }},
		{columnAt("platform_commission_amount"), func(s *models.RecordSum) *models.Money { return &s.Commission }},
		{columnAt("net_amount"), func(s *models.RecordSum) *models.Money { return &s.Net }},
		{columnAt("vat_amount"), func(s *models.RecordSum) *models.Money { return &s.VAT }},
		{columnAt("refunded_amount"), func(s *models.RecordSum) *models.Money { return &s.Refunded }},
	}
	markColumn = columnAt("transferred_at")
)

// columnAt finds a column of exports by its name; it panics when there is none.
func columnAt(name string) int {
	i := slices.IndexFunc(exportColumns, func(c ExportColumn) bool { return c.Name == name })
	if i < 0 {
		panic("store: exports have no column " + name)
	}

	return i
}

// add counts an entry. codes are its kind and balance status.
func (e exportSums) add(cells, codes [][]byte) error {
	g := exportGroup{models.RecordKind(codes[0]), models.BalanceStatus(codes[1]), cells[markColumn] != nil}

	s := e[g]
	if s == nil {
		s = &models.RecordSum{Kind: g.kind, Status: g.status, Marked: g.marked}
		e[g] = s
	}

	s.Lines++

	for _, c := range summedColumns {
		amount, err := models.ParseMoney(string(cells[c.at]))
		if err != nil {
			return fmt.Errorf("%s: %w", exportColumns[c.at].Name, err)
		}

		to := c.sum(s)
		*to = to.Add(amount)
	}

	return nil
}

// sorted lists the sums by kind; of each what is owed, what was paid out, and what was refunded.
func (e exportSums) sorted() []models.RecordSum {
	kinds := models.RecordKinds()
	states := []models.BalanceStatus{models.BalanceInCurrent, models.BalanceTransferred, models.BalanceRefunded}

	list := make([]models.RecordSum, 0, len(e))
	for _, s := range e {
		list = append(list, *s)
	}

	slices.SortFunc(list, func(a, b models.RecordSum) int {
		return cmp.Or(
			cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)),
			cmp.Compare(slices.Index(states, a.Status), slices.Index(states, b.Status)),
			db.CompareBool(a.Marked, b.Marked),
		)
	})

	return list
}
