package ledger

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// ExportKind is what the cells of a column of an export are.
type ExportKind int

// The kinds of columns.
const (
	ExportText   ExportKind = iota
	ExportMoney             // 2 decimals, SAR
	ExportDay               // YYYY-MM-DD
	ExportMoment            // YYYY-MM-DDTHH:MM:SSZ
	ExportRate              // from 0 to 1, 4 decimals
)

// ExportColumn is a column of an export.
type ExportColumn struct {
	Name  string
	Kind  ExportKind
	Label models.Label // of the column, for people

	sql  string // of the value; empty for fr.<name>
	free bool   // people can write into it what they like
}

// exportColumns are the columns of every file, in their order: nothing else decides on it.
var exportColumns = []ExportColumn{
	{Name: "transaction_number", Label: models.Label{AR: "رقم العملية", EN: "Transaction number"}},
	{Name: "record_date", Label: models.Label{AR: "التاريخ", EN: "Date"}, Kind: ExportDay},
	{Name: "kind", Label: models.Label{AR: "النوع", EN: "Kind"}},
	{Name: "provider_name", Label: models.Label{AR: "الشركة", EN: "Provider"}, sql: companyName, free: true},
	{Name: "details", Label: models.Label{AR: "التفاصيل", EN: "Details"}, free: true},
	{Name: "gross_amount", Label: models.Label{AR: "المبلغ الإجمالي", EN: "Gross amount"}, Kind: ExportMoney},
	{Name: "platform_commission_amount", Label: models.Label{AR: "عمولة المنصة", EN: "Platform commission"}, Kind: ExportMoney},
	{Name: "net_amount", Label: models.Label{AR: "صافي المبلغ", EN: "Net amount"}, Kind: ExportMoney},
	{Name: "vat_amount", Label: models.Label{AR: "ضريبة القيمة المضافة", EN: "VAT"}, Kind: ExportMoney},
	{Name: "refunded_amount", Label: models.Label{AR: "المبلغ المسترد", EN: "Refunded amount"}, Kind: ExportMoney},
	{Name: "currency", Label: models.Label{AR: "العملة", EN: "Currency"}},
	{Name: "balance_status", Label: models.Label{AR: "حالة الرصيد", EN: "Balance status"}},
	{Name: "payout_reference", Label: models.Label{AR: "مرجع التحويل", EN: "Payout reference"}, free: true},
	{Name: "payout_date", Label: models.Label{AR: "تاريخ التحويل", EN: "Payout date"}, Kind: ExportDay},
	{Name: "transferred_at", Label: models.Label{AR: "وقت تسجيل التحويل (UTC)", EN: "Marked as transferred at (UTC)"}, Kind: ExportMoment},
	{Name: "booking_number", Label: models.Label{AR: "رقم الحجز", EN: "Booking number"}, sql: "bn.booking_number"},
	{Name: "booking_id", Label: models.Label{AR: "معرّف الحجز", EN: "Booking id"}},
	{Name: "ad_campaign_id", Label: models.Label{AR: "معرّف الحملة الإعلانية", EN: "Ad campaign id"}},
	{Name: "payment_transaction_id", Label: models.Label{AR: "معرّف عملية الدفع", EN: "Payment transaction id"}},
	{Name: "id", Label: models.Label{AR: "معرّف السجل", EN: "Record id"}},
	{Name: "split_from", Label: models.Label{AR: "مجزّأ من السجل", EN: "Split from record"}},
	{Name: "created_at", Label: models.Label{AR: "وقت الإنشاء (UTC)", EN: "Created at (UTC)"}, Kind: ExportMoment},
	{Name: "commission_rate", Label: models.Label{AR: "نسبة العمولة", EN: "Commission rate"}, Kind: ExportRate},
	{Name: "captured_at", Label: models.Label{AR: "وقت الدفع (UTC)", EN: "Captured at (UTC)"}, Kind: ExportMoment, sql: "paid.captured_at"},
	{Name: "payment_method", Label: models.Label{AR: "طريقة الدفع", EN: "Payment method"}, sql: "paid.payment_method"},
	{Name: "gateway", Label: models.Label{AR: "بوابة الدفع", EN: "Gateway"}, sql: "paid.gateway"},
	{Name: "netted_against", Label: models.Label{AR: "تمت مقاصته مع السجل", EN: "Netted against record"}},
	{
		Name: "payout_reverted_at", Label: models.Label{AR: "وقت إلغاء التحويل (UTC)", EN: "Transfer taken back at (UTC)"},
		Kind: ExportMoment, sql: exportRevertedSQL,
	},
	{
		Name: "gateway_refund_id", Label: models.Label{AR: "مرجع الاسترداد لدى البوابة", EN: "Gateway refund reference"},
		sql: "given.gateway_refund_id",
	},
	{Name: "paid_by", Label: models.Label{AR: "دُفع بطريقة أخرى", EN: "Paid by another method"}, sql: "paid.paid_by"},
}

// exportRevertedSQL is revertedSQL for very many entries: whether an entry can have been taken back at all is looked up in a hash of those
// that were, which is made once.
var exportRevertedSQL = revertedWhere("fr.id IN (SELECT record_id FROM payout_reversals)",
	"fr.transferred_at IN (SELECT transferred_at FROM payout_reversals)")

// ExportColumns are the columns of every export, in their order.
func ExportColumns() []ExportColumn { return append([]ExportColumn(nil), exportColumns...) }

// Title is what stands above the column in a language; without one its name, which programs know it by.
func (c ExportColumn) Title(lang models.Locale) string {
	if lang == "" {
		return c.Name
	}

	return c.Label.In(lang)
}

// codeLabels are the values of the columns that have labels for people.
var codeLabels = map[string]map[string]models.Label{
	"kind":           labelsOf(models.RecordKinds()...),
	"balance_status": labelsOf(models.BalanceInCurrent, models.BalanceTransferred, models.BalanceRefunded),
	"payment_method": labelsOf(models.PaymentMethods()...),
	"paid_by":        labelsOf(models.PaymentMethods()...),
}

func labelsOf[T interface {
	~string
	Label() models.Label
}](values ...T) map[string]models.Label {
	out := map[string]models.Label{}
	for _, v := range values {
		out[string(v)] = v.Label()
	}

	return out
}

// labelIn is the SQL of a code's label in a language. A code without one, of a newer version, stays as it is.
func labelIn(column, value string, lang models.Locale) string {
	var cases strings.Builder

	for _, code := range slices.Sorted(maps.Keys(codeLabels[column])) {
		fmt.Fprintf(&cases, " WHEN '%s' THEN '%s'", code, codeLabels[column][code].In(lang))
	}

	return "CASE " + value + cases.String() + " ELSE " + value + " END"
}

// detailsIn is the SQL of the details in a language: those that the service words itself are kept in English.
func detailsIn(value string, lang models.Locale) string {
	if lang != models.LocaleArabic {
		return value
	}

	var cases strings.Builder

	for _, kind := range models.RecordKinds() {
		if begin := kind.Details(); begin.EN != "" {
			fmt.Fprintf(&cases, " WHEN fr.kind = '%[1]s' AND starts_with(%[2]s, '%[3]s') THEN '%[4]s' || substr(%[2]s, %[5]d)",
				kind, value, begin.EN, begin.AR, len(begin.EN)+1)
		}
	}

	return "CASE" + cases.String() + " ELSE " + value + " END"
}

// expression is the SQL of the column's cells as text that a file can hold. safe keeps a spreadsheet from running text
// as a formula (db.Harmless); amounts, which may begin with a minus, are not text.
// lang has codes replaced by their labels, and the service's own words by those of the language; empty leaves them as they are.
func (c ExportColumn) expression(safe bool, lang models.Locale) string {
	value := c.sql
	if value == "" {
		value = "fr." + c.Name
	}

	if c.Name == "details" {
		value = detailsIn(value, lang)
	}

	switch {
	case lang != "" && codeLabels[c.Name] != nil:
		return labelIn(c.Name, value, lang)
	case c.Kind == ExportMoment:
		// The session's time zone is UTC.
		return fmt.Sprintf("replace(left(%s::text, 19), ' ', 'T') || 'Z'", value)
	case c.free && safe && value != companyName:
		return db.Harmless(db.Visible(value))
	default:
		return value
	}
}

// companyName is the name of an entry's company: the same for very many entries, it is made harmless once for each company.
const companyName = "p.name"

// exportQuery is the query of an export: latest record date first unless f.Page.Sort says otherwise.
// Error: VALIDATION_ERROR on sort.
func (s *Store) exportQuery(f RecordFilter, safe bool, lang models.Locale) (*bun.SelectQuery, error) {
	w, err := db.NewKeyset[models.FinancialRecord](s.db.DB, recordOrder, db.Page{Sort: f.Page.Sort})
	if err != nil {
		return nil, err
	}

	company := "SELECT name FROM providers WHERE id = fr.provider_id"
	if safe {
		// OFFSET 0 keeps the work in the subquery, whose results PostgreSQL remembers by company.
		company = "SELECT " + db.Harmless(db.Visible("name")) + " AS name FROM providers WHERE id = fr.provider_id OFFSET 0"
	}

	q := withPayment(s.db.NewSelect().Model((*models.FinancialRecord)(nil)).Join("CROSS JOIN LATERAL (" + company + ") AS p")).
		Join("LEFT JOIN refunds AS given ON given.id = fr.refund_id")
	for _, c := range exportColumns {
		q = q.ColumnExpr("? AS ?", bun.Safe(c.expression(safe, lang)), bun.Name(c.Title(lang)))
	}

	return w.Sorted(f.apply(q)), nil
}

// ExportCSV writes every ledger entry that the filter selects to w as CSV with a header row, in a language or, without one,
// with names and codes for programs. It counts those that w was given, whatever the end. It is one statement, so neither the
// size of the ledger nor what happens to it meanwhile matters; PostgreSQL writes the CSV, and what is on its way is all that
// is held. It ends early, and the statement with it, when ctx does or w fails. No cell can be run as a formula. Error:
// VALIDATION_ERROR on sort.
func (s *Store) ExportCSV(ctx context.Context, f RecordFilter, lang models.Locale, w io.Writer) (rows int64, err error) {
	query, err := s.exportQuery(f, true, lang)
	if err != nil {
		return 0, err
	}

	if rows, err = s.db.CopyCSV(ctx, query.String(), w); err != nil {
		return rows, fmt.Errorf("export records: %w", err)
	}

	return rows, nil
}
