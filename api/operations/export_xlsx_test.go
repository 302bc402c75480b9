package operations

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"rihla/internal/store"
	"rihla/models"
)

func xlsxRow(texts ...string) [][]byte {
	out := make([][]byte, len(store.ExportColumns()))
	for i, text := range texts {
		if text != "" {
			out[i] = []byte(text)
		}
	}

	return out
}

func TestWorkbook(t *testing.T) {
	t.Parallel()

	columns := store.ExportColumns()

	b, err := newWorkbook(columns, models.LocaleEnglish, 3) // a header and two rows on each sheet
	require.NoError(t, err)

	for _, name := range []string{"رحلة العُلا", "=1+1", "-1", "a\x00b", strings.Repeat("x", 40_000)} {
		require.NoError(t, b.add(xlsxRow("RH-2026-000001", "2026-03-10", "SALE", "شركة", name, "-1150.05", "0.00", "999999999999.99")))
	}

	require.Error(t, b.add(xlsxRow("RH-1", "no day")))

	var file bytes.Buffer

	require.NoError(t, b.sendTo(&file))
	b.close()
	require.NoDirExists(t, b.room.dir)

	read, err := excelize.OpenReader(&file)
	require.NoError(t, err)

	defer read.Close()

	require.Equal(t, []string{"Financial records", "Financial records 2", "Financial records 3"}, read.GetSheetList())

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
		require.Len(t, tables, 1, "the header filters")
		require.Regexp(t, `^A1:[A-Z]+[23]$`, tables[0].Range)
	}

	rows, err := read.GetRows("Financial records 3")
	require.NoError(t, err)
	require.Equal(t, []string{"Total", "", "", "", "", "-5,750.25", "0.00", "4,999,999,999,999.95"}, rows[len(rows)-1][:8], "those of all sheets")

	made, err := read.GetDocProps()
	require.NoError(t, err)
	require.Equal(t, "Rihla", made.Creator)
	require.Equal(t, "Rihla", made.LastModifiedBy)

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

// TestWorkbookInArabic: an Arabic sheet runs from right to left, and its last row has the sums of all sheets, also when the sheet
// before is full.
func TestWorkbookInArabic(t *testing.T) {
	t.Parallel()

	b, err := newWorkbook(store.ExportColumns(), models.LocaleArabic, 3)
	require.NoError(t, err)

	defer b.close()

	for _, amount := range []string{"0.10", "0.20", "-0.05", "1000000.01"} { // binary floats would not add up
		require.NoError(t, b.add(xlsxRow("RH-2026-000001", "2026-03-10", "بيع", "شركة", "عمرة", amount)))
	}

	var file bytes.Buffer

	require.NoError(t, b.sendTo(&file))

	read, err := excelize.OpenReader(&file)
	require.NoError(t, err)

	defer read.Close()

	require.Equal(t, []string{"السجلات المالية", "السجلات المالية 2", "السجلات المالية 3"}, read.GetSheetList())

	for _, sheet := range read.GetSheetList() {
		view, err := read.GetSheetView(sheet, 0)
		require.NoError(t, err)
		require.True(t, *view.RightToLeft, sheet)

		rows, err := read.GetRows(sheet)
		require.NoError(t, err)
		require.Equal(t, []string{"رقم العملية", "التاريخ", "النوع", "الشركة", "التفاصيل", "المبلغ الإجمالي"}, rows[0][:6])
	}

	rows, err := read.GetRows("السجلات المالية 3")
	require.NoError(t, err)
	require.Len(t, rows, 2)
	require.Equal(t, []string{"الإجمالي", "", "", "", "", "1,000,000.26"}, rows[1][:6])
}

func TestEmptyWorkbook(t *testing.T) {
	t.Parallel()

	b, err := newWorkbook(store.ExportColumns(), models.LocaleEnglish, excelize.TotalRows)
	require.NoError(t, err)

	defer b.close()

	var file bytes.Buffer

	require.NoError(t, b.sendTo(&file))

	read, err := excelize.OpenReader(&file)
	require.NoError(t, err)

	defer read.Close()

	rows, err := read.GetRows("Financial records")
	require.NoError(t, err)
	require.Len(t, rows, 2, "a header, and nothing under it but the totals")
	require.Equal(t, []string{"Total", "", "", "", "", "0.00", "0.00", "0.00", "0.00", "0.00"}, rows[1])
}

// What does not fit into memory is on disk while it lasts, and nothing of it is left, whatever the end.
func TestWorkbookLeavesNothingBehind(t *testing.T) {
	t.Parallel()

	b, err := newWorkbook(store.ExportColumns(), models.LocaleEnglish, excelize.TotalRows)
	require.NoError(t, err)

	row := xlsxRow("RH-2026-000001", "2026-03-10", "SALE", strings.Repeat("y", 10_000))

	for spilled := false; !spilled; {
		require.NoError(t, b.add(row))

		files, err := os.ReadDir(b.room.dir)
		require.NoError(t, err)

		spilled = len(files) > 0
	}

	require.ErrorIs(t, b.sendTo(brokenWriter{}), errBroken)
	b.close()
	require.NoDirExists(t, b.room.dir)
}

type brokenWriter struct{}

var errBroken = errors.New("the client is gone")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }
