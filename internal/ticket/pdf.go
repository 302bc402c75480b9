package ticket

import (
	"fmt"
	"strconv"

	"rihla/internal/pdf"
	"rihla/models"
)

// Places on a page, in points.
const (
	margin    = 48.0
	leading   = 1.6 // of the size of a text
	codeSide  = 170.0
	codeRow   = 250.0 // a passenger's code and what stands below it
	columns   = 2
	labelPart = 0.28 // of a row, for its label
)

var (
	plain  = pdf.Style{Size: 11}
	strong = pdf.Style{Size: 11, Bold: true}
	faint  = pdf.Style{Size: 10, Gray: 0.35}
	title  = pdf.Style{Size: 18, Bold: true}
)

// sheet is a document that is filled from top to bottom, from the side on which its language begins.
type sheet struct {
	*pdf.Document

	rtl bool
	y   float64
}

func newSheet(name string, lang models.Locale) *sheet {
	return &sheet{Document: pdf.New(name, string(lang)), rtl: lang != models.LocaleEnglish}
}

func (s *sheet) begin() {
	s.AddPage()
	s.y = margin
}

// cell writes a text that begins at a distance from the margin and is so wide at most, its first line at the base line y. It returns
// where its last line is.
func (s *sheet) cell(text string, style pdf.Style, from, width, y float64) float64 {
	for i, line := range s.Lines(text, style, width) {
		if i > 0 {
			y += style.Size * leading
		}

		x := margin + from
		if s.rtl {
			x = pdf.Width - margin - from - line.Width
		}

		s.Draw(line, x, y)
	}

	return y
}

// centered writes a text in the middle of a column; it returns where its last line is.
func (s *sheet) centered(text string, style pdf.Style, middle, width, y float64) float64 {
	for i, line := range s.Lines(text, style, width) {
		if i > 0 {
			y += style.Size * leading
		}

		s.Draw(line, middle-line.Width/2, y)
	}

	return y
}

// PDF is the ticket as a document: a code for each passenger, two beside each other.
func (t *Ticket) PDF(lang models.Locale) ([]byte, error) {
	w := wordsOf(lang)
	s := newSheet(w.Ticket+" "+t.Number, lang)
	s.begin()
	t.head(s, w, lang)

	for i := range t.Passengers {
		at := i % columns
		if at == 0 && s.y+codeRow > pdf.Height-margin {
			s.begin()
		}

		if err := t.code(s, w, i, at); err != nil {
			return nil, err
		}

		if at == columns-1 || i == len(t.Passengers)-1 {
			s.y += codeRow
		}
	}

	if s.y+4*plain.Size*leading > pdf.Height-margin {
		s.begin()
	}

	s.y = s.cell(w.Show, faint, 0, pdf.Width-2*margin, s.y+faint.Size*leading)
	s.y = s.cell(w.Help, faint, 0, pdf.Width-2*margin, s.y+faint.Size*leading)
	s.cell(t.Phone, strong, 0, pdf.Width-2*margin, s.y+strong.Size*leading)

	return s.Bytes()
}

// head writes what is the same for all passengers.
func (t *Ticket) head(s *sheet, w words, lang models.Locale) {
	const wide = pdf.Width - 2*margin

	s.y = s.cell(w.Brand+" · "+w.Ticket, strong, 0, wide, s.y)
	s.y = s.cell(t.Title, title, 0, wide, s.y+title.Size*leading)

	for _, row := range [][2]string{
		{w.Booking, t.Number},
		{w.Route, t.Origin + " – " + t.Destination},
		{w.Departure, models.Moment(t.Departure, lang)},
		{w.Returns, models.Moment(t.Return, lang)},
		{w.Company, t.Company},
		{w.Seats, strconv.Itoa(t.Seats)},
	} {
		y := s.y + plain.Size*leading
		s.cell(row[0], faint, 0, wide*labelPart, y)
		s.y = s.cell(row[1], strong, wide*labelPart, wide*(1-labelPart), y)
	}

	s.y += plain.Size * leading
}

// code draws the code of a passenger into a column, the first of which is where the language begins.
func (t *Ticket) code(s *sheet, w words, i, at int) error {
	c, err := codeOf(t.Passengers[i].Token)
	if err != nil {
		return err
	}

	const column = (pdf.Width - 2*margin) / columns

	if s.rtl {
		at = columns - 1 - at
	}

	middle := margin + column*(float64(at)+0.5)
	y := s.centered(t.Passengers[i].Name, strong, middle, column-margin/2, s.y+strong.Size)
	left, top, module := middle-codeSide/2, y+strong.Size/2, codeSide/float64(c.size)

	for _, b := range c.bars {
		s.Bar(left+float64(b.X)*module, top+float64(b.Y)*module, float64(b.Width)*module, module, 0)
	}

	s.centered(t.Number, plain, middle, column, top+codeSide+plain.Size)
	s.centered(fmt.Sprintf("%s %d %s %d", w.Passenger, i+1, w.Of, len(t.Passengers)), faint, middle, column, top+codeSide+2.6*plain.Size)

	return nil
}
