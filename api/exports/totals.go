package exports

import (
	"slices"
	"strconv"

	"github.com/xuri/excelize/v2"

	"rihla/internal/store/ledger"
	"rihla/models"
)

// totalsRow is a row under the records of a workbook.
type totalsRow struct {
	title   models.Label // in the first column
	texts   map[string]models.Label
	amounts map[string]models.Money // of the columns that it has one for
}

// totalsOf are the rows under the records: what those of each kind and balance status add up to, and what a report's cards say
// about all of them, by the cards' own rule. Subtotals alone would be misread: a refunded record and its claw-back have
// amounts, and neither was sold.
func totalsOf(sums []models.RecordSum) []totalsRow {
	var (
		rows  []totalsRow
		cards models.ReportFigures
	)

	for i, s := range sums {
		cards = cards.Add(s.Figures())

		if i > 0 && sums[i-1].Kind == s.Kind && sums[i-1].Status == s.Status { // marked ones and others
			rows[len(rows)-1].add(s)

			continue
		}

		rows = append(rows, totalsRow{
			title:   models.Label{AR: "المجموع الفرعي", EN: "Subtotal"},
			texts:   map[string]models.Label{"kind": s.Kind.Label(), "balance_status": s.Status.Label()},
			amounts: map[string]models.Money{},
		})
		rows[len(rows)-1].add(s)
	}

	return append(rows, cardRows(cards)...)
}

// add adds entries to a subtotal.
func (r totalsRow) add(s models.RecordSum) {
	for column, amount := range map[string]models.Money{
		"gross_amount": s.Gross, "platform_commission_amount": s.Commission, "net_amount": s.Net, "vat_amount": s.VAT,
		"refunded_amount": s.Refunded,
	} {
		r.amounts[column] = r.amounts[column].Add(amount)
	}
}

// cardRows are the figures of a report, each with what it counts. The total is the last row of the file.
func cardRows(f models.ReportFigures) []totalsRow {
	counting := func(ar, en string) map[string]models.Label {
		return map[string]models.Label{"details": {AR: ar, EN: en}}
	}

	return []totalsRow{
		{
			models.Label{AR: "ضمن الرصيد الحالي", EN: "In current balance"},
			counting("صافي السجلات ضمن الرصيد الحالي، بعد خصم الاسترجاعات", "Net of the records in the current balance, less claw-backs"),
			map[string]models.Money{"net_amount": f.InCurrentBalance},
		},
		{
			models.Label{AR: "المحوّل", EN: "Paid out"},
			counting("صافي ما تم تسجيل تحويله، بما فيه ما استُرد لاحقًا",
				"Net of the records that were marked as transferred, also when refunded later"),
			map[string]models.Money{"net_amount": f.Transferred},
		},
		{
			models.Label{AR: "إيرادات الإعلانات", EN: "Advertising revenue"},
			counting("إجمالي الإعلانات غير المستردة", "Gross of advertising that is not refunded"),
			map[string]models.Money{"gross_amount": f.AdvertisingRevenue},
		},
		{
			models.Label{AR: "الإجمالي", EN: "Total"},
			counting("المبيعات والإعلانات غير المستردة، وكل المبالغ المستردة، كما في بطاقات التقرير",
				"Sales and advertising that are not refunded, and all refunded amounts, as on the cards of the report"),
			map[string]models.Money{
				"gross_amount": f.Gross, "platform_commission_amount": f.Commission, "net_amount": f.Net, "vat_amount": f.VAT,
				"refunded_amount": f.Refunded,
			},
		},
	}
}

// endWithTotals ends the last sheet with the totals of all, behind the table that filters: they are those of the file, whatever
// a filter hides.
func (b *workbook) endWithTotals(sums []models.RecordSum) error {
	rows := totalsOf(sums)

	if b.row > 1 && b.row+len(rows) > b.perPage { // no room for all of them
		if err := b.nextSheet(); err != nil {
			return err
		}
	}

	if err := b.filterHeader(); err != nil {
		return err
	}

	for _, row := range rows {
		cells, err := b.totalsCells(row)
		if err != nil {
			return err
		}

		b.row++

		if err := b.sheet.SetRow("A"+strconv.Itoa(b.row), cells); err != nil {
			return err
		}
	}

	return b.sheet.Flush()
}

func (b *workbook) totalsCells(row totalsRow) ([]any, error) {
	cells := make([]any, len(b.columns))
	cells[0] = excelize.Cell{StyleID: b.header, Value: row.title.In(b.lang)}

	for name, text := range row.texts {
		cells[b.column(name)] = excelize.Cell{StyleID: b.header, Value: text.In(b.lang)}
	}

	for name, amount := range row.amounts {
		value, err := cellValue(ledger.ExportMoney, amount.String())
		if err != nil {
			return nil, err
		}

		cells[b.column(name)] = excelize.Cell{StyleID: b.total, Value: value}
	}

	return cells, nil
}

// column finds a column by its name in the API.
func (b *workbook) column(name string) int {
	return slices.IndexFunc(b.columns, func(c ledger.ExportColumn) bool { return c.Name == name })
}
