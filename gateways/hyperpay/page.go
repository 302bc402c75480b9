package hyperpay

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"rihla/gateways"
	"rihla/gateways/httpcall"
	"rihla/internal/brand"
	"rihla/models"
)

// Keys of gateways.Checkout.PageData.
const (
	DataIntegrity = "integrity" // the hash of the widget's script
	DataOrigin    = "origin"    // where the script comes from
	DataBrands    = "brands"    // what it offers, with spaces between
)

//go:embed page/pay.html
var pageHTML string

//go:embed page/pay.css
var pageCSS string

var page = template.Must(template.New("pay").Parse(pageHTML))

// errPage reports data that must not get into a page.
var errPage = errors.New("hyperpay: the page cannot be made")

// Page is a gateways.Page: the company's widget, or that there is nothing to be paid any more.
func Page(w io.Writer, d gateways.PageView) (policy string, err error) {
	v, err := view(&d)
	if err != nil {
		return "", err
	}

	if policy, err = ContentPolicy(d.Checkout[DataOrigin], d.Nonce, hasBrand(v.Brands, applePay)); err != nil {
		return "", err
	}

	var out bytes.Buffer
	if err := page.Execute(&out, v); err != nil {
		return "", fmt.Errorf("%w: %w", errPage, err)
	}

	_, err = out.WriteTo(w)

	return policy, err
}

// applePay is the widget's name of Apple Pay. Its button is a script of Apple's.
const (
	applePay       = "APPLEPAY"
	appleScripts   = "https://applepay.cdn-apple.com"
	appleSessions  = "https://apple-pay-gateway.apple.com https://apple-pay-gateway-cert.apple.com"
	appleResources = appleScripts
)

func hasBrand(brands, name string) bool { return slices.Contains(strings.Fields(brands), name) }

// ContentPolicy is the Content-Security-Policy of Page: scripts, styles and calls of the widget's origin alone, and of Apple's where
// its button is shown. Frames and forms may go to any https address, because the pages of 3-D Secure are those of the customer's bank.
// The widget sets styles of its own, so that inline styles cannot be refused. Error: an origin that is no web address, or a nonce
// that is none.
func ContentPolicy(origin, nonce string, withApplePay bool) (string, error) {
	if !isWebAddress(origin) || !originForm.MatchString(origin) || !nonceForm.MatchString(nonce) {
		return "", errPage
	}

	scripts, calls, resources := origin, origin, origin
	if withApplePay {
		scripts += " " + appleScripts
		calls += " " + appleScripts + " " + appleSessions
		resources += " " + appleResources
	}

	return "default-src 'none'; script-src 'nonce-" + nonce + "' " + scripts + "; style-src 'unsafe-inline' " + origin +
		"; img-src data: " + resources + "; font-src " + resources + "; connect-src " + calls + "; frame-src https: " + origin +
		"; form-action 'self' https: " + origin + "; base-uri 'none'; frame-ancestors 'none'", nil
}

var (
	// originForm keeps what is special in a policy out of it.
	originForm = regexp.MustCompile(`^https?://[A-Za-z0-9.:\[\]-]+$`)
	nonceForm  = regexp.MustCompile(`^[A-Za-z0-9+/_-]{16,128}={0,2}$`)
)

// widgetOptions are those of the company's script: its button says how much is paid.
type widgetOptions struct {
	Locale        string       `json:"locale"`
	PaymentTarget string       `json:"paymentTarget"`
	Labels        widgetLabels `json:"labels"`
}

type widgetLabels struct {
	Submit string `json:"submit"`
}

// pageView is what the template shows.
type pageView struct {
	Lang, Dir, OtherLang, OtherName string
	Text                            map[string]string
	Nonce                           string
	CSS                             template.CSS
	Icon                            template.HTML
	Open, Checking                  bool
	Title, Note                     string
	Declined                        string // why the last try was declined
	Since                           int64  // when the customer came back
	Amount, Currency                string
	Method                          string
	What                            string // is bought
	Ad                              bool   // it is a campaign
	Facts                           []models.PurchaseLine
	Policy                          []string
	Expires, ExpiresISO             string
	Countdown                       template.JS
	Options                         widgetOptions
	Script, Integrity, Brands       string
	ReturnURL                       string
	Back                            bool // ReturnURL is another page than this one
}

func view(d *gateways.PageView) (pageView, error) {
	v := pageView{
		Lang: "ar", Dir: "rtl", OtherLang: "en", OtherName: "English", Text: arabic, Nonce: d.Nonce,
		CSS:  brand.CSS + template.CSS(pageCSS), //nolint:gosec // our own file, embedded
		Icon: brand.Icon(), Countdown: brand.Countdown,
		Open: d.Status == gateways.CheckoutOpen, Amount: d.Amount.Grouped(), Currency: d.Currency, Method: d.Method.Label().AR,
		What: httpcall.Plain(d.Purchase.Name(), maxTitle), Ad: d.Purchase.Number == "", ReturnURL: d.ReturnURL, Back: !d.ReturnsHere,
	}

	if d.Lang == "en" {
		v.Lang, v.Dir, v.OtherLang, v.OtherName, v.Text, v.Method = "en", "ltr", "ar", "العربية", english, d.Method.Label().EN
	}

	if models.SameCurrency(d.Currency, models.Currency) {
		v.Currency = v.Text["sar"]
	}

	locale := models.Locale(v.Lang)
	v.Facts, v.Policy = d.Purchase.Lines(locale), d.Purchase.Policy.Words(locale)

	if len(d.Purchase.Policy) == 0 {
		v.Policy = nil
	}

	v.Options = widgetOptions{Locale: v.Lang, PaymentTarget: "_top", Labels: widgetLabels{
		Submit: v.Text["pay"] + " " + d.Amount.InWords(d.Currency, locale),
	}}

	if !d.ExpiresAt.IsZero() {
		v.Expires, v.ExpiresISO = d.ExpiresAt.In(models.Riyadh).Format("15:04"), d.ExpiresAt.UTC().Format(time.RFC3339)
	}

	state := string(d.Status)
	if v.Open && d.Checking {
		v.Open, v.Checking, state = false, true, "checking"
	}

	if v.Text[state+"_title"] == "" {
		return pageView{}, fmt.Errorf("%w: the checkout has an unknown status", errPage)
	}

	v.Title, v.Note = v.Text[state+"_title"], v.Text[state+"_note"]

	if v.Checking && !d.CheckingSince.IsZero() {
		v.Since = d.CheckingSince.Unix()
	}

	if v.Open && d.Declined != "" {
		v.Declined = v.Text["declined_"+declineOf(d.Declined)]
	}

	return v, widget(d, &v)
}

// widget fills in what the company's script needs. What comes from the company is checked again, since it becomes part of our page.
func widget(d *gateways.PageView, v *pageView) error {
	if !isReturn(d.ReturnURL) || !nonceForm.MatchString(d.Nonce) {
		return fmt.Errorf("%w: the address to return to, or the nonce, is not usable", errPage)
	}

	if !v.Open {
		return nil
	}

	origin := d.Checkout[DataOrigin]
	v.Integrity, v.Brands = d.Checkout[DataIntegrity], d.Checkout[DataBrands]

	if !originForm.MatchString(origin) || !checkoutForm.MatchString(d.CheckoutID) || !integrityForm.MatchString(v.Integrity) {
		return fmt.Errorf("%w: the checkout's data are not usable", errPage)
	}

	for b := range strings.FieldsSeq(v.Brands) {
		if !brandForm.MatchString(b) {
			return fmt.Errorf("%w: a brand is not usable", errPage)
		}
	}

	v.Script = origin + "/v1/paymentWidgets.js?checkoutId=" + url.QueryEscape(d.CheckoutID)

	return nil
}

func isReturn(text string) bool {
	u, err := url.Parse(text)

	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}
