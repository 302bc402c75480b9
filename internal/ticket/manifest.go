package ticket

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"rihla/internal/pdf"
	"rihla/models"
)

// Manifest is the passenger list of a trip.
type Manifest struct {
	Trip       models.Trip
	Passengers []Boarding
}

// Boarding is one passenger of a list. Document numbers are whole.
type Boarding struct {
	BookingNumber, Name, Document, Phone string
	CheckedInAt                          *time.Time
}

// rows are the cells of a list with their headers, as people read them.
func (m *Manifest) rows(w words) [][]string {
	rows := make([][]string, 1, 1+len(m.Passengers))
	rows[0] = []string{w.Number, w.Booking, w.Name, w.Document, w.Phone, w.Boarded}

	for i, p := range m.Passengers {
		boarded := ""
		if p.CheckedInAt != nil {
			boarded = p.CheckedInAt.In(models.Riyadh).Format("2006-01-02 15:04")
		}

		rows = append(rows, []string{strconv.Itoa(i + 1), p.BookingNumber, p.Name, p.Document, p.Phone, boarded})
	}

	return rows
}

// CSV is the list in UTF-8 with a byte order mark, without which spreadsheets misread Arabic. No cell runs as a formula.
func (m *Manifest) CSV(lang models.Locale) ([]byte, error) {
	out := bytes.NewBufferString("\ufeff")
	file := csv.NewWriter(out)
	file.UseCRLF = true

	for _, row := range m.rows(wordsOf(lang)) {
		for i := range row {
			row[i] = harmless(row[i])
		}

		if err := file.Write(row); err != nil {
			return nil, fmt.Errorf("write passenger list: %w", err)
		}
	}

	file.Flush()

	return out.Bytes(), file.Error()
}

// What a spreadsheet takes for a formula: at the beginning of a cell, and behind a semicolon, which ends a cell where the decimal sign is a
// comma. As the exports of the store have it (db.Harmless).
var (
	formulaAhead = regexp.MustCompile(`^'*[\s\pZ]*[-=+@＝＋－＠]`)
	formulaAfter = regexp.MustCompile(`;('*[\s\pZ"]*[-=+@＝＋－＠])`)
	oneLine      = strings.NewReplacer("\r", " ", "\n", " ", "\t", " ")
)

// harmless is a text that a spreadsheet cannot run: an apostrophe stands before what begins like a formula, a telephone number with a plus
// sign included.
func harmless(text string) string {
	text = oneLine.Replace(text)
	if formulaAhead.MatchString(text) {
		text = "'" + text
	}

	return formulaAfter.ReplaceAllString(text, ";'$1")
}

// widths are the parts of a page that the columns of a list take.
var widths = []float64{0.06, 0.16, 0.30, 0.18, 0.15, 0.15}

// PDF is the list as a document, with the headers on each page.
func (m *Manifest) PDF(lang models.Locale) ([]byte, error) {
	const (
		wide   = pdf.Width - 2*margin
		bottom = pdf.Height - 1.5*margin
	)

	w := wordsOf(lang)
	rows := m.rows(w)
	small, head := pdf.Style{Size: 9}, pdf.Style{Size: 9, Bold: true}
	s := newSheet(w.Manifest+": "+m.Trip.Title, lang)

	s.begin()
	s.y = s.cell(m.Trip.ProviderName+" · "+w.Manifest, strong, 0, wide, s.y)
	s.y = s.cell(m.Trip.Title, title, 0, wide, s.y+title.Size*leading)
	s.y = s.cell(m.Trip.Origin+" – "+m.Trip.Destination, plain, 0, wide, s.y+plain.Size*leading)
	s.y = s.cell(w.Departure+": "+models.Moment(m.Trip.DepartureAt, lang), plain, 0, wide, s.y+plain.Size*leading)
	s.y = s.row(rows[0], head, s.y+2*plain.Size)

	for _, row := range rows[1:] {
		if s.y+s.height(row, small) > bottom {
			s.begin()
			s.y = s.row(rows[0], head, s.y)
		}

		s.y = s.row(row, small, s.y)
	}

	for i := range s.Pages() {
		s.On(i)
		s.centered(fmt.Sprintf("%s %d %s %d", w.Page, i+1, w.Of, s.Pages()), faint, pdf.Width/2, wide, pdf.Height-margin/2)
	}

	return s.Bytes()
}

// gap is between the texts of two columns, and between a row and the line below it.
const gap = 6.0

// row writes the cells of a row with a line below it. It returns the base line of the next one.
func (s *sheet) row(cells []string, style pdf.Style, y float64) float64 {
	const wide = pdf.Width - 2*margin

	from, last := 0.0, y

	for i, text := range cells {
		last = max(last, s.cell(text, style, from*wide, widths[i]*wide-gap, y))
		from += widths[i]
	}

	s.Bar(margin, last+gap, wide, 0.5, 0.8) //nolint:mnd // a hairline, light

	return last + gap + style.Size*leading
}

// height is that of a row.
func (s *sheet) height(cells []string, style pdf.Style) float64 {
	const wide = pdf.Width - 2*margin

	most := 1
	for i, text := range cells {
		most = max(most, len(s.Lines(text, style, widths[i]*wide-gap)))
	}

	return float64(most)*style.Size*leading + gap
}
