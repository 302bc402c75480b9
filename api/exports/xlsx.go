package exports

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/xuri/excelize/v2"

	"rihla/internal/store/ledger"
	"rihla/models"
)

const (
	// creatorName is who the file says that it was made by.
	creatorName = "Rihla"
	// textWidth and numberWidth are widths of columns, in characters.
	textWidth, numberWidth = 22, 16
)

// sheetNames are those of the first sheet; further ones are numbered.
var sheetNames = models.Label{AR: "السجلات المالية", EN: "Financial records"}

// workbook is an XLSX file that grows row by row. Rows beyond a small part of memory are in a directory of its
// own until the file is sent.
type workbook struct {
	file    *excelize.File
	dir     *directory
	lang    models.Locale
	columns []ledger.ExportColumn
	styles  []int // of the columns' cells
	header  int   // style of the first row
	total   int   // style of sums
	perPage int   // rows of a sheet, the header included

	sheets int
	sheet  *excelize.StreamWriter
	row    int // of the current sheet
	cells  []excelize.Cell
	values []any
}

// newWorkbook begins a file that was made now. close must be called in the end.
func newWorkbook(columns []ledger.ExportColumn, lang models.Locale, rowsPerSheet int, now time.Time) (*workbook, error) {
	r, err := newDir()
	if err != nil {
		return nil, fmt.Errorf("make a directory for the file: %w", err)
	}

	b := &workbook{
		file: excelize.NewFile(excelize.Options{TmpDir: r.dir}), dir: r, lang: lang, columns: columns, perPage: rowsPerSheet,
		styles: make([]int, len(columns)), cells: make([]excelize.Cell, len(columns)), values: make([]any, len(columns)),
	}

	b.file.Pkg.Store("docProps/core.xml", coreProperties(sheetNames.In(lang), now))

	if err = b.makeStyles(); err != nil {
		b.close()

		return nil, err
	}

	return b, nil
}

// coreProperties says who made the file, and when. The library would name itself and a moment of 2006, and writes an element
// without a prefix, which exceljs refuses to read.
func coreProperties(title string, now time.Time) []byte {
	moment := now.UTC().Format(time.RFC3339)

	var escaped bytes.Buffer

	_ = xml.EscapeText(&escaped, []byte(title)) // a buffer takes all that is written to it

	return fmt.Appendf(nil, `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"`+
		` xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"`+
		` xmlns:dcmitype="http://purl.org/dc/dcmitype/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">`+
		`<dc:title>%s</dc:title><dc:creator>%s</dc:creator><cp:lastModifiedBy>%s</cp:lastModifiedBy>`+
		`<dcterms:created xsi:type="dcterms:W3CDTF">%s</dcterms:created><dcterms:modified xsi:type="dcterms:W3CDTF">%s</dcterms:modified>`+
		`</cp:coreProperties>`, escaped.Bytes(), creatorName, creatorName, moment, moment)
}

// close frees memory and disk, whatever has become of the file.
func (b *workbook) close() {
	_ = b.file.Close() // closes the temporary files, which go with their directory
	b.dir.close()
}

// formats are the number formats of the columns. Text stays text, even when a reader edits the cell.
var formats = map[ledger.ExportKind]string{
	ledger.ExportText: "@", ledger.ExportMoney: "#,##0.00", ledger.ExportDay: "yyyy-mm-dd", ledger.ExportMoment: "yyyy-mm-dd hh:mm:ss",
	ledger.ExportRate: "0.00%",
}

func (b *workbook) makeStyles() (err error) {
	if b.header, err = b.file.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}}); err != nil {
		return fmt.Errorf("make header style: %w", err)
	}

	amount := formats[ledger.ExportMoney]
	if b.total, err = b.file.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}, CustomNumFmt: &amount}); err != nil {
		return fmt.Errorf("make style of sums: %w", err)
	}

	known := map[ledger.ExportKind]int{}

	for kind, format := range formats {
		if known[kind], err = b.file.NewStyle(&excelize.Style{CustomNumFmt: &format}); err != nil {
			return fmt.Errorf("make cell style: %w", err)
		}
	}

	for i, c := range b.columns {
		b.styles[i] = known[c.Kind]
	}

	return nil
}

// nextSheet ends the current sheet and begins another one with its header, which stays in sight.
func (b *workbook) nextSheet() error {
	if err := b.endSheet(); err != nil {
		return err
	}

	b.sheets++

	name := sheetNames.In(b.lang)
	if b.sheets == 1 {
		if err := b.file.SetSheetName("Sheet1", name); err != nil {
			return err
		}
	} else {
		name += " " + strconv.Itoa(b.sheets)
		if _, err := b.file.NewSheet(name); err != nil {
			return err
		}
	}

	rightToLeft := b.lang == models.LocaleArabic

	err := b.file.SetSheetView(name, 0, &excelize.ViewOptions{RightToLeft: &rightToLeft})
	if err != nil {
		return err
	}

	if b.sheet, err = b.file.NewStreamWriter(name); err != nil {
		return err
	}

	return b.writeHeader()
}

func (b *workbook) writeHeader() error {
	err := b.sheet.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"})
	if err != nil {
		return err
	}

	names := make([]any, len(b.columns))

	for i, c := range b.columns {
		width := float64(textWidth)
		if c.Kind != ledger.ExportText {
			width = numberWidth
		}

		if err := b.sheet.SetColWidth(i+1, i+1, width); err != nil {
			return err
		}

		names[i] = excelize.Cell{StyleID: b.header, Value: c.Title(b.lang)}
	}

	b.row = 1

	return b.sheet.SetRow("A1", names)
}

// endSheet ends the current sheet, if there is one.
func (b *workbook) endSheet() error {
	if b.sheet == nil {
		return nil
	}

	if err := b.filterHeader(); err != nil {
		return err
	}

	return b.sheet.Flush()
}

// filterHeader makes a table of the rows so far.
func (b *workbook) filterHeader() error {
	if b.row > 1 { // a table has at least one row; with it the header filters and sorts
		last, err := excelize.CoordinatesToCellName(len(b.columns), b.row)
		if err != nil {
			return err
		}

		table := excelize.Table{Range: "A1:" + last, Name: "Records" + strconv.Itoa(b.sheets), StyleName: "TableStyleLight1"}
		if err := b.sheet.AddTable(&table); err != nil {
			return fmt.Errorf("make the header filter: %w", err)
		}
	}

	return nil
}

// add appends a row of cells as text; nil is an empty cell.
func (b *workbook) add(row [][]byte) error {
	if b.sheet == nil || b.row == b.perPage {
		if err := b.nextSheet(); err != nil {
			return err
		}
	}

	for i, text := range row {
		if text == nil {
			b.values[i] = nil

			continue
		}

		value, err := cellValue(b.columns[i].Kind, string(text))
		if err != nil {
			return fmt.Errorf("%s: %w", b.columns[i].Name, err)
		}

		b.cells[i] = excelize.Cell{StyleID: b.styles[i], Value: value}
		b.values[i] = &b.cells[i]
	}

	b.row++

	return b.sheet.SetRow("A"+strconv.Itoa(b.row), b.values)
}

// cellValue is what a spreadsheet calculates with. Its numbers are binary floats: that is the file format's choice, and
// amounts of 14 digits are exact to the halala in it. Text is written as an inline string, which is never a formula.
func cellValue(kind ledger.ExportKind, text string) (any, error) {
	switch kind {
	case ledger.ExportMoney, ledger.ExportRate:
		return strconv.ParseFloat(text, 64)
	case ledger.ExportDay:
		t, err := time.Parse(time.DateOnly, text)

		return serial(t), err
	case ledger.ExportMoment:
		t, err := time.Parse(time.RFC3339, text)

		return serial(t), err
	default:
		return models.CleanLines(text), nil
	}
}

// epoch is day 0 of spreadsheets, for all days after February 1900.
var epoch = time.Date(1899, time.December, 30, 0, 0, 0, 0, time.UTC)

// serial is a moment in UTC as spreadsheets count: days.
func serial(t time.Time) float64 { return float64(t.Unix()-epoch.Unix()) / (24 * 60 * 60) }

// sendTo ends the file with its totals and writes it, straight from its temporary parts.
func (b *workbook) sendTo(w io.Writer, sums []models.RecordSum) error {
	if b.sheet == nil {
		if err := b.nextSheet(); err != nil {
			return err
		}
	}

	if err := b.endWithTotals(sums); err != nil {
		return err
	}

	// The library would put the whole file into memory first; the writer that it is given instead ignores its buffer.
	b.file.SetZipWriter(func(io.Writer) excelize.ZipWriter {
		z := zip.NewWriter(w)
		z.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestSpeed) })

		return z
	})

	return b.file.Write(io.Discard)
}

// WriteXLSX writes an export as a workbook. Its rows leave when all of them are there.
func WriteXLSX(
	ctx context.Context, s *ledger.Store, w io.Writer, f ledger.RecordFilter, lang models.Locale, now time.Time,
) (rows int64, err error) {
	b, err := newWorkbook(ledger.ExportColumns(), lang, excelize.TotalRows, now)
	if err != nil {
		return 0, err
	}
	defer b.close()

	sums, err := s.ExportRows(ctx, f, lang, b.add)
	if err != nil {
		return 0, err
	}

	for _, s := range sums {
		rows += s.Lines
	}

	return rows, b.sendTo(w, sums)
}
