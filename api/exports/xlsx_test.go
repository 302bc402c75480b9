package exports

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"rihla/internal/store/ledger"
	"rihla/models"
)

func xlsxRow(texts ...string) [][]byte {
	out := make([][]byte, len(ledger.ExportColumns()))
	for i, text := range texts {
		if text != "" {
			out[i] = []byte(text)
		}
	}

	return out
}

// sold is a sum of sales that are owed to their provider.
func sold(gross, commission, net string) []models.RecordSum {
	return []models.RecordSum{{
		Kind: models.RecordSale, Status: models.BalanceInCurrent, Lines: 5,
		Gross: models.MustMoney(gross), Commission: models.MustMoney(commission), Net: models.MustMoney(net),
	}}
}

// madeAt is when the workbooks of these tests are made.
var madeAt = time.Date(2026, time.March, 11, 9, 30, 0, 0, time.UTC)

// lastRows are the rows at the end of a sheet.
func lastRows(t *testing.T, file *excelize.File, sheet string, n int) [][]string {
	t.Helper()

	rows, err := file.GetRows(sheet)
	require.NoError(t, err)
	require.Greater(t, len(rows), n)

	return rows[len(rows)-n:]
}

func TestWorkbook(t *testing.T) {
	t.Parallel()

	columns := ledger.ExportColumns()

	b, err := newWorkbook(columns, models.LocaleEnglish, 3, madeAt) // a header and two rows on each sheet
	require.NoError(t, err)

	for _, name := range []string{"رحلة العُلا", "=1+1", "-1", "a\x00b", strings.Repeat("x", 40_000)} {
		require.NoError(t, b.add(xlsxRow("RH-2026-000001", "2026-03-10", "SALE", "شركة", name, "-1150.05", "0.00", "999999999999.99")))
	}

	require.Error(t, b.add(xlsxRow("RH-1", "no day")))

	var file bytes.Buffer

	require.NoError(t, b.sendTo(&file, sold("5750.25", "0.00", "999999999999.99")))
	b.close()
	require.NoDirExists(t, b.dir.dir)

	read, err := excelize.OpenReader(&file)
	require.NoError(t, err)

	defer read.Close()

	require.Equal(t, []string{"Financial records", "Financial records 2", "Financial records 3", "Financial records 4"}, read.GetSheetList())

	for _, sheet := range read.GetSheetList() {
		rows, err := read.GetRows(sheet)
		require.NoError(t, err)
		require.Equal(t, "Transaction number", rows[0][0])
		require.Len(t, rows[0], len(columns))

		panes, err := read.GetPanes(sheet)
		require.NoError(t, err)
		require.True(t, panes.Freeze)
		require.Equal(t, 1, panes.YSplit)

		tables, err := read.GetTables(sheet)
		require.NoError(t, err)

		if sheet == "Financial records 4" {
			require.Empty(t, tables, "it has the totals, which are in no table")

			continue
		}

		require.Len(t, tables, 1, "the header filters")
		require.Regexp(t, `^A1:[A-Z]+[23]$`, tables[0].Range)
	}

	total := lastRows(t, read, "Financial records 4", 1)[0]
	require.Equal(t, "Total", total[0])
	require.Equal(t, []string{"5,750.25", "0.00", "999,999,999,999.99"}, total[5:8], "those of all sheets")

	made, err := read.GetDocProps()
	require.NoError(t, err)
	require.Equal(t, "Rihla", made.Creator)
	require.Equal(t, "Rihla", made.LastModifiedBy)
	require.Equal(t, "Financial records", made.Title)
	require.Equal(t, "2026-03-11T09:30:00Z", made.Created)
	require.Equal(t, "2026-03-11T09:30:00Z", made.Modified)

	for cell, want := range map[string]string{"A2": "RH-2026-000001", "B2": "2026-03-10", "E2": "رحلة العُلا", "E3": "=1+1", "F2": "-1,150.05", "H2": "999,999,999,999.99"} {
		got, err := read.GetCellValue("Financial records", cell)
		require.NoError(t, err)
		require.Equal(t, want, got, cell)

		formula, err := read.GetCellFormula("Financial records", cell)
		require.NoError(t, err)
		require.Empty(t, formula, cell)
	}

	kind, err := read.GetCellType("Financial records", "E3")
	require.NoError(t, err)
	require.Equal(t, excelize.CellTypeInlineString, kind)

	raw, err := read.GetCellValue("Financial records", "B2", excelize.Options{RawCellValue: true})
	require.NoError(t, err)
	require.Equal(t, "46091", raw, "a date is a number of days")
}

// TestWorkbookInArabic: an Arabic sheet runs from right to left, and the totals of all sheets are in the last one.
func TestWorkbookInArabic(t *testing.T) {
	t.Parallel()

	b, err := newWorkbook(ledger.ExportColumns(), models.LocaleArabic, 8, madeAt)
	require.NoError(t, err)

	defer b.close()

	for range 9 {
		require.NoError(t, b.add(xlsxRow("RH-2026-000001", "2026-03-10", "بيع", "شركة", "عمرة", "0.10")))
	}

	var file bytes.Buffer

	require.NoError(t, b.sendTo(&file, sold("1000000.26", "0.00", "0.00")))

	read, err := excelize.OpenReader(&file)
	require.NoError(t, err)

	defer read.Close()

	require.Equal(t, []string{"السجلات المالية", "السجلات المالية 2"}, read.GetSheetList())

	for _, sheet := range read.GetSheetList() {
		view, err := read.GetSheetView(sheet, 0)
		require.NoError(t, err)
		require.True(t, *view.RightToLeft, sheet)

		rows, err := read.GetRows(sheet)
		require.NoError(t, err)
		require.Equal(t, []string{"رقم العملية", "التاريخ", "النوع", "الشركة", "التفاصيل", "المبلغ الإجمالي"}, rows[0][:6])
	}

	rows := lastRows(t, read, "السجلات المالية 2", 5)
	require.Equal(t, []string{"المجموع الفرعي", "", "بيع", "", "", "1,000,000.26"}, rows[0][:6])
	require.Equal(t, "الإجمالي", rows[4][0])
	require.Equal(t, "1,000,000.26", rows[4][5])
}

// TestWorkbookTotals: a refunded record and its claw-back have subtotals, and count in the total as they do in a report.
func TestWorkbookTotals(t *testing.T) {
	t.Parallel()

	sum := func(kind models.RecordKind, status models.BalanceStatus, marked bool, gross, commission, net, vat, refunded string) models.RecordSum {
		return models.RecordSum{
			Kind: kind, Status: status, Marked: marked, Lines: 1, Gross: models.MustMoney(gross), Commission: models.MustMoney(commission),
			Net: models.MustMoney(net), VAT: models.MustMoney(vat), Refunded: models.MustMoney(refunded),
		}
	}

	b, err := newWorkbook(ledger.ExportColumns(), models.LocaleEnglish, excelize.TotalRows, madeAt)
	require.NoError(t, err)

	defer b.close()

	var file bytes.Buffer

	require.NoError(t, b.sendTo(&file, []models.RecordSum{
		sum(models.RecordSale, models.BalanceInCurrent, false, "115.00", "11.50", "103.50", "15.00", "0.00"),
		sum(models.RecordSale, models.BalanceTransferred, true, "230.00", "23.00", "207.00", "30.00", "0.00"),
		sum(models.RecordSale, models.BalanceRefunded, true, "50.00", "5.00", "45.00", "6.52", "50.00"),
		sum(models.RecordSale, models.BalanceRefunded, false, "65.00", "6.50", "58.50", "8.48", "65.00"),
		sum(models.RecordAdvertising, models.BalanceInCurrent, false, "460.00", "460.00", "0.00", "60.00", "0.00"),
		sum(models.RecordClawback, models.BalanceInCurrent, false, "-45.00", "0.00", "-45.00", "0.00", "0.00"),
	}))

	read, err := excelize.OpenReader(&file)
	require.NoError(t, err)

	defer read.Close()

	rows := lastRows(t, read, "Financial records", 9)
	for i, row := range rows {
		rows[i] = append(append([]string{row[0], row[2]}, row[5:min(len(row), 10)]...), row[min(len(row), 11):]...) // without texts
	}

	require.Equal(t, [][]string{
		{"Subtotal", "Sale", "115.00", "11.50", "103.50", "15.00", "0.00", "In current balance"},
		{"Subtotal", "Sale", "230.00", "23.00", "207.00", "30.00", "0.00", "Paid out"},
		{"Subtotal", "Sale", "115.00", "11.50", "103.50", "15.00", "115.00", "Refunded"},
		{"Subtotal", "Advertising", "460.00", "460.00", "0.00", "60.00", "0.00", "In current balance"},
		{"Subtotal", "Claw-back", "-45.00", "0.00", "-45.00", "0.00", "0.00", "In current balance"},
		{"In current balance", "", "", "", "58.50"},
		{"Paid out", "", "", "", "252.00"},
		{"Advertising revenue", "", "460.00"},
		{"Total", "", "805.00", "494.50", "310.50", "105.00", "115.00"},
	}, rows)
}

func TestEmptyWorkbook(t *testing.T) {
	t.Parallel()

	b, err := newWorkbook(ledger.ExportColumns(), models.LocaleEnglish, excelize.TotalRows, madeAt)
	require.NoError(t, err)

	defer b.close()

	var file bytes.Buffer

	require.NoError(t, b.sendTo(&file, nil))

	read, err := excelize.OpenReader(&file)
	require.NoError(t, err)

	defer read.Close()

	rows, err := read.GetRows("Financial records")
	require.NoError(t, err)
	require.Len(t, rows, 5, "a header, and nothing under it but the figures of a report")
	require.Equal(t, "Total", rows[4][0])
	require.Equal(t, []string{"0.00", "0.00", "0.00", "0.00", "0.00"}, rows[4][5:10])
}

// Rows that do not fit into memory are on disk while the workbook is open, and no file is left, whatever the end.
func TestWorkbookLeavesNothingBehind(t *testing.T) {
	t.Parallel()

	b, err := newWorkbook(ledger.ExportColumns(), models.LocaleEnglish, excelize.TotalRows, madeAt)
	require.NoError(t, err)

	row := xlsxRow("RH-2026-000001", "2026-03-10", "SALE", strings.Repeat("y", 10_000))

	for spilled := false; !spilled; {
		require.NoError(t, b.add(row))

		files, err := os.ReadDir(b.dir.dir)
		require.NoError(t, err)

		spilled = len(files) > 0
	}

	require.ErrorIs(t, b.sendTo(brokenWriter{}, nil), errBroken)
	b.close()
	require.NoDirExists(t, b.dir.dir)
}

type brokenWriter struct{}

var errBroken = errors.New("the client is gone")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }
