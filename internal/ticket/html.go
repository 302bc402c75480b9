package ticket

import (
	"bytes"
	"crypto/rand"
	_ "embed" // of the page
	"fmt"
	"html/template"
	"strings"

	"rihla/internal/brand"
	"rihla/models"
)

//go:embed ticket.gohtml
var pageText string

var page = template.Must(template.New("ticket").Parse(pageText))

// shown is a passenger's code on the page.
type shown struct {
	Name, Path string
	N, Size    int
}

// HTML is the ticket as a page for a telephone, which loads nothing and can be printed, and the Content-Security-Policy that it needs.
func (t *Ticket) HTML(lang models.Locale) (html []byte, policy string, err error) {
	view := struct {
		*Ticket

		Lang, Dir, Nonce, Departs, Returns string
		CSS                                template.CSS
		Icon                               template.HTML
		Words                              words
		Codes                              []shown
	}{
		Ticket: t, Lang: string(lang), Dir: "rtl", Nonce: rand.Text(),
		Departs: models.Moment(t.Departure, lang), Returns: models.Moment(t.Return, lang),
		Words: wordsOf(lang), CSS: brand.CSS, Icon: brand.Icon(),
	}

	if lang == models.LocaleEnglish {
		view.Dir = "ltr"
	}

	for i := range t.Passengers {
		c, err := codeOf(t.Passengers[i].Token)
		if err != nil {
			return nil, "", err
		}

		view.Codes = append(view.Codes, shown{Name: t.Passengers[i].Name, N: i + 1, Size: c.size, Path: c.path()})
	}

	var out bytes.Buffer
	if err := page.Execute(&out, view); err != nil {
		return nil, "", fmt.Errorf("write ticket page: %w", err)
	}

	policy = "default-src 'none'; style-src 'nonce-" + view.Nonce + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

	return out.Bytes(), policy, nil
}

// path is the dark squares as the path of an SVG.
func (c *code) path() string {
	var p strings.Builder

	for _, b := range c.bars {
		fmt.Fprintf(&p, "M%d %dh%dv1h-%dz", b.X, b.Y, b.Width, b.Width)
	}

	return p.String()
}
