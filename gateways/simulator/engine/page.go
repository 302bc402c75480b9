package engine

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"fmt"
	"html/template"
	"net/http"
	"regexp"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/language"

	"rihla/gateways"
	"rihla/internal/brand"
	"rihla/models"
)

//go:embed page/pay.html
var pageHTML string

//go:embed page/pay.css
var pageCSS string

// languages of the page; the first is the default.
var languages = language.NewMatcher([]language.Tag{language.Arabic, language.English})

// pageData is what the template shows.
type pageData struct {
	Lang, Dir     string
	OtherLang     string
	OtherName     string
	Text          map[string]string
	Nonce         string
	CSS           template.CSS
	JS            template.JS
	Icon          template.HTML
	State         string // a checkout state, or missing
	Open          bool
	Title         string
	Note          string
	Amount        string
	Currency      string
	Description   string
	Reference     string                // the merchant's number of the order, if it has told one
	Details       []models.PurchaseLine // what else the merchant has told of it
	BillNumber    string
	Method        string
	MethodName    string
	ExpiresText   string
	ExpiresISO    string
	Back          template.URL
	ShowReference bool
	Again         bool // the customer can pay with a new attempt

	DescriptionLang, DescriptionDir string
}

func parsePage() (*template.Template, error) {
	page, err := template.New("pay").Parse(pageHTML)
	if err != nil {
		return nil, fmt.Errorf("simulator: page: %w", err)
	}

	return page, nil
}

// showPage is GET /pay/{id}, the page a customer sees.
func (s *Server) showPage(w http.ResponseWriter, r *http.Request) {
	row, err := s.Checkout(r.PathValue("id"))

	switch {
	case err != nil:
		s.Internal(err).Write(w)
	case row == nil:
		s.render(w, r, http.StatusNotFound, nil)
	default:
		s.render(w, r, http.StatusOK, row)
	}
}

// render writes the page for a checkout in whatever state; nil is one that does not exist.
func (s *Server) render(w http.ResponseWriter, r *http.Request, status int, row *Checkout) {
	data := s.newPageData(r, row)

	var page bytes.Buffer
	if err := s.page.Execute(&page, data); err != nil {
		s.Internal(err).Write(w)

		return
	}

	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Language", data.Lang)
	header.Set("Content-Security-Policy", contentPolicy(data.Nonce))
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Vary", "Accept-Language")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	w.WriteHeader(status)

	_, _ = page.WriteTo(w) // a client that left cannot be told
}

// contentPolicy allows the page its own style and script and nothing from anywhere else. It says nothing about form-action:
// browsers apply that to every redirect after the form, and the merchant's address leads on to places that are not known here.
// The page's form has a fixed target, and nothing from outside gets into it as HTML.
func contentPolicy(nonce string) string {
	return "default-src 'none'; style-src 'nonce-" + nonce + "'; script-src 'nonce-" + nonce + "'; img-src data:; " +
		"base-uri 'none'; frame-ancestors 'none'"
}

func (s *Server) newPageData(r *http.Request, row *Checkout) pageData {
	data := pageData{
		Lang: "ar", Dir: "rtl", OtherLang: "en", OtherName: "English", Text: arabic,
		Nonce: rand.Text(), JS: brand.Countdown, Icon: brand.Icon(),
		CSS:   brand.CSS + template.CSS(pageCSS), //nolint:gosec // our own file, embedded
		State: "missing",
	}

	if pageLanguage(r) == "en" {
		data.Lang, data.Dir, data.OtherLang, data.OtherName, data.Text = "en", "ltr", "ar", "العربية", english
	}

	if row != nil {
		data.fill(row, s.protocol.ReturnURL(row))
	}

	data.Title, data.Note = data.Text[data.State+"_title"], data.Text[data.State+"_note"]

	return data
}

func (d *pageData) fill(row *Checkout, back string) {
	d.State = row.Status
	d.Open = row.Status == StatusOpen
	d.Amount = row.Amount.Grouped()
	d.Again = row.Status == StatusFailed || row.Status == StatusExpired || row.Status == StatusCanceled
	d.Description, d.Details = cutDetails(row.Description)

	if parts := orderNumber.FindStringSubmatch(d.Description); parts != nil {
		d.Description, d.Reference = parts[1], parts[2]
	}

	d.DescriptionLang, d.DescriptionDir = "en", "ltr"
	if strings.ContainsFunc(d.Description, func(r rune) bool { return unicode.Is(unicode.Arabic, r) }) {
		d.DescriptionLang, d.DescriptionDir = "ar", "rtl"
	}

	d.BillNumber = billNumber(row.ID)
	d.ShowReference = true
	d.Method = methodForm(row.PaymentMethod)
	d.MethodName = d.Text["method_"+string(row.PaymentMethod)]
	d.ExpiresText = expiryText(d.Lang, row.ExpiresAt)
	d.ExpiresISO = row.ExpiresAt.Format(time.RFC3339)

	d.Currency = row.Currency
	if row.Currency == models.Currency {
		d.Currency = d.Text["sar"]
	}

	if back != "" {
		d.Back = template.URL(back) //nolint:gosec // a Protocol lets nothing in that a browser would run
	}
}

// pageLanguage is ?lang= when it is one of ours, else what the browser prefers, else Arabic.
func pageLanguage(r *http.Request) string {
	if asked := r.URL.Query().Get("lang"); asked == "ar" || asked == "en" {
		return asked
	}

	wanted, _, err := language.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
	if err != nil || len(wanted) == 0 {
		return "ar"
	}

	if _, index, confidence := languages.Match(wanted...); index == 1 && confidence > language.No {
		return "en"
	}

	return "ar"
}

// methodForm tells which mock form fits the method: card, wallet or bill.
func methodForm(method models.PaymentMethod) string {
	switch method {
	case models.MethodWalletA, models.MethodWalletB:
		return "wallet"
	case models.MethodBillPayment:
		return "bill"
	default:
		return "card"
	}
}

// cutDetails takes the `name: value` parts off the end of a description.
func cutDetails(description string) (what string, details []models.PurchaseLine) {
	parts := strings.Split(description, gateways.DetailSeparator)
	n := len(parts)

	for n > 1 && strings.Contains(parts[n-1], ": ") {
		n--
	}

	for _, part := range parts[n:] {
		label, value, _ := strings.Cut(part, ": ")
		details = append(details, models.PurchaseLine{Label: label, Value: value})
	}

	return strings.Join(parts[:n], gateways.DetailSeparator), details
}

// orderNumber is a merchant's number in brackets behind what was ordered.
var orderNumber = regexp.MustCompile(`^(.+) \(([A-Z]{2}-[0-9A-Z-]+)\)$`)

// billNumber is the number by which a customer pays a bill: 12 digits, as banks' apps take them, in groups of four.
func billNumber(checkout string) string {
	const digits, twelve, group = "%012d", 1_000_000_000_000, 4

	sum := sha256.Sum256([]byte(checkout))
	number := fmt.Sprintf(digits, binary.BigEndian.Uint64(sum[:])%twelve)

	return number[:group] + " " + number[group:2*group] + " " + number[2*group:]
}

func expiryText(lang string, at time.Time) string {
	at = at.In(models.Riyadh)
	locale := models.Locale(lang)

	return models.DateIn(at).In(locale) + models.Label{AR: "، ", EN: ", "}.In(locale) + at.Format("15:04")
}
