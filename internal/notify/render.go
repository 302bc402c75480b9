package notify

import (
	"embed"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/google/uuid"
	"github.com/nicksnyder/go-i18n/v2/i18n"
	"golang.org/x/text/language"

	"rihla/models"
)

//go:embed locales/*.json mail.gohtml
var files embed.FS

// maxValue is the length, in characters, of what a single datum may add to a text.
const maxValue = 120

// Rendered is a message in words. Mail has all three; an SMS has only Text.
type Rendered struct {
	Subject string
	Text    string
	HTML    string
}

// Renderer writes messages in Arabic and English. It is safe for concurrent use.
type Renderer struct {
	arabic, english *i18n.Localizer
	page            *template.Template
	bookingURL      string
}

// NewRenderer reads the built-in catalogues. bookingURL is where customers see a booking, with {booking_id} or
// {booking_number} in it; empty for mails without a link.
func NewRenderer(bookingURL string) (*Renderer, error) {
	bundle := i18n.NewBundle(language.Arabic)

	for _, name := range []string{"locales/active.ar.json", "locales/active.en.json"} {
		if _, err := bundle.LoadMessageFileFS(files, name); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
	}

	page, err := template.ParseFS(files, "mail.gohtml")
	if err != nil {
		return nil, fmt.Errorf("read mail.gohtml: %w", err)
	}

	return &Renderer{
		arabic: i18n.NewLocalizer(bundle, "ar"), english: i18n.NewLocalizer(bundle, "en"), page: page, bookingURL: bookingURL,
	}, nil
}

// withoutMoney are the kinds of messages that may lack an amount.
var withoutMoney = []models.NotificationKind{
	models.NotifyTripMoved, models.NotifyCancellationRejected, models.NotifyBookingCorrected, models.NotifyCompanyCancelled,
	models.NotifyCompanyDispute,
}

// prefixes are those of the kinds' texts in the catalogues.
var prefixes = map[models.NotificationKind]string{
	models.NotifyPaymentSucceeded: "payment_succeeded", models.NotifyPaymentFailed: "payment_failed",
	models.NotifyRefundSucceeded: "refund_succeeded", models.NotifyCampaignPaid: "campaign_paid", models.NotifyTripMoved: "trip_moved",
	models.NotifyAccountLocked: "account_locked", models.NotifyVerifyEmail: "verify_email", models.NotifyResetPassword: "reset_password",
	models.NotifyInvitation: "invitation", models.NotifyAlreadyRegistered: "already_registered",
	models.NotifyPasswordChanged: "password_changed", models.NotifySecondFactorAdded: "second_factor_added",
	models.NotifySecondFactorRemoved: "second_factor_removed", models.NotifySessionStolen: "session_stolen",
	models.NotifyAdminAdded: "admin_added", models.NotifyCheckoutLink: "checkout_link",
	models.NotifyBookingCancelled: "booking_cancelled", models.NotifyCancellationRejected: "cancellation_rejected",
	models.NotifyCancellationWaiting: "cancellation_waiting", models.NotifyBookingCorrected: "booking_corrected",
	models.NotifyCompanyBooked: "company_booked", models.NotifyCompanyCancelled: "company_cancelled",
	models.NotifyCompanyRefunded: "company_refunded", models.NotifyCompanyClawback: "company_clawback",
	models.NotifyCompanyPayout: "company_payout", models.NotifyCompanyDispute: "company_dispute",
}

// Render writes m for its channel and locale; any locale but English is Arabic (rules: notifications.language). A message
// without an amount or a known kind is a permanent error.
func (r *Renderer) Render(m Message) (Rendered, error) {
	w := writer{locale: models.LocaleArabic, localizer: r.arabic}
	if m.Locale == models.LocaleEnglish {
		w = writer{locale: models.LocaleEnglish, localizer: r.english}
	}

	prefix, ok := prefixes[m.Kind]
	if !ok || m.Kind.MailOnly() && m.Channel != models.NotifyEmail {
		return Rendered{}, permanentf("unknown kind %q", m.Kind)
	}

	v, err := w.values(m)
	if err != nil {
		return Rendered{}, err
	}

	var out Rendered

	if m.Channel == models.NotifySMS {
		out.Text, err = fitSMS(&v, segmentsOf(m.Kind), func() string { return w.text(prefix+"_sms", v) })
	} else {
		out, err = r.mail(&w, prefix, v, r.buttons(&w, prefix, m))
	}

	if w.err != nil {
		return Rendered{}, permanentf("write %s: %w", m.Kind, w.err)
	}

	return out, err
}

// values is what the catalogues' texts may show, in the short forms of subjects and SMS.
type values struct {
	Name, Booking, Trip, Campaign, Amount, Departure, DepartureWas, RetryUntil string
	Seats, VAT, Method, Link, Account, Role                                    string

	Note    string // of who has decided
	Changed string // kinds of data, as a list
	Entries string // how many were paid out
	Payout  string // its reference

	Refundable, Stays, Nothing bool // Nothing goes back
	TripOff, Unpaid            bool // why it is cancelled, and why nothing goes back
}

// tableRow is one line of a mail's table.
type tableRow struct{ Label, Value string }

// link is where a mail's button leads.
type link struct{ Label, URL string }

// buttons lead to where the message's own link does, and to its booking, which is not yet paid while that link is of a checkout.
func (r *Renderer) buttons(w *writer, prefix string, m Message) []link {
	var all []link

	alone := m.Kind.IsAboutAccount() || m.Kind == models.NotifyCheckoutLink
	if m.Link != "" && (alone || m.Kind == models.NotifyPaymentSucceeded) {
		all = append(all, link{Label: w.text(prefix+"_link", nil), URL: m.Link})
	}

	if to := r.booking(w, m); to != nil && !alone {
		all = append(all, *to)
	}

	return all
}

// booking is the address of the message's booking; none without an address to make it of.
func (r *Renderer) booking(w *writer, m Message) *link {
	id, number := clean(m.Data[DataBookingID]), clean(m.Data[DataBookingNumber])
	if r.bookingURL == "" || id == "" || number == "" {
		return nil
	}

	address := strings.NewReplacer("{booking_id}", url.PathEscape(id), "{booking_number}", url.PathEscape(number)).Replace(r.bookingURL)

	return &link{Label: w.text("label_link", nil), URL: address}
}

func (r *Renderer) mail(w *writer, prefix string, v values, to []link) (Rendered, error) {
	out := Rendered{Subject: w.text(prefix+"_subject", v)}
	page := struct {
		Lang, Dir, Start                                     string
		Subject, Brand, Greeting, Lead, Signature, Automatic string
		Rows                                                 []tableRow
		Links                                                []link
	}{
		Lang: string(w.locale), Dir: "rtl", Start: "right",
		Subject: out.Subject, Brand: w.text("brand", v), Greeting: w.text("greeting", v), Lead: w.text(prefix+"_lead", v),
		Signature: w.text("signature", v), Automatic: w.text("automatic", v), Rows: w.rows(v), Links: to,
	}

	if w.locale == models.LocaleEnglish {
		page.Dir, page.Start = "ltr", "left"
	}

	var text strings.Builder

	fmt.Fprintf(&text, "%s\n\n%s\n\n", page.Greeting, page.Lead)

	for _, row := range page.Rows {
		fmt.Fprintf(&text, "%s: %s\n", row.Label, row.Value)
	}

	for _, one := range to {
		fmt.Fprintf(&text, "\n%s: %s\n", one.Label, one.URL)
	}

	fmt.Fprintf(&text, "\n%s\n\n%s\n", page.Signature, page.Automatic)
	out.Text = text.String()

	var html strings.Builder
	if err := r.page.Execute(&html, page); err != nil {
		return Rendered{}, permanentf("write page: %w", err)
	}

	out.HTML = html.String()

	return out, nil
}

// writer looks texts up in one language and keeps the first failure.
type writer struct {
	locale    models.Locale
	localizer *i18n.Localizer
	long      struct{ departure, departureWas, retryUntil, lockedUntil string }
	err       error
}

func (w *writer) text(id string, data any) string {
	text, err := w.localizer.Localize(&i18n.LocalizeConfig{MessageID: id, TemplateData: data})
	if err != nil && w.err == nil {
		w.err = err
	}

	return text
}

func (w *writer) values(m Message) (values, error) {
	v := values{
		Name: clean(m.Data[DataName]), Trip: clean(m.Data[DataTripTitle]), Campaign: clean(m.Data[DataCampaignTitle]),
	}

	if m.Kind.IsAboutAccount() {
		_, until, err := w.moment(m.Data[DataLockedUntil])
		w.long.lockedUntil = until
		v.Account, v.Role, v.Booking = clean(m.Data[DataAccount]), clean(m.Data[DataRole]), clean(m.Data[DataBookingNumber])

		return v, err
	}

	if v.Link = m.Link; m.Kind == models.NotifyCheckoutLink && !isWebAddress(v.Link) {
		return values{}, permanentf("a message about a checkout without its address")
	}

	v.Refundable, v.Stays = m.Data[DataRefundable] != "", m.Data[DataBookingStays] != ""

	v.TripOff, v.Unpaid = m.Data[DataTripCancelled] != "", m.Data[DataUnpaid] != ""

	v.Note = clean(m.Data[DataNote])

	v.Changed, v.Entries, v.Payout = w.changed(m.Data[DataChanged]), clean(m.Data[DataEntries]), clean(m.Data[DataPayoutReference])

	if text := m.Data[DataAmount]; text != "" || !slices.Contains(withoutMoney, m.Kind) {
		amount, err := models.ParseMoney(text)
		if err != nil {
			return values{}, permanentf("amount %w", err)
		}

		v.Amount, v.Nothing = w.money(amount, m.Data[DataCurrency]), amount.IsZero()
	}

	var err error

	if v.Booking = clean(m.Data[DataBookingNumber]); v.Booking == "" { // queued by an older version
		v.Booking = shortID(clean(m.Data[DataBookingID]))
	}

	v.Seats, v.Method = clean(m.Data[DataSeats]), models.PaymentMethod(m.Data[DataMethod]).Label().In(w.locale)

	if text := m.Data[DataVATAmount]; text != "" {
		vat, err := models.ParseMoney(text)
		if err != nil {
			return values{}, permanentf("VAT %w", err)
		}

		v.VAT = w.money(vat, m.Data[DataCurrency])
	}

	if v.Departure, w.long.departure, err = w.moment(m.Data[DataDepartureAt]); err != nil {
		return values{}, err
	}

	if v.DepartureWas, w.long.departureWas, err = w.moment(m.Data[DataDepartureWas]); err != nil {
		return values{}, err
	}

	v.RetryUntil, w.long.retryUntil, err = w.moment(m.Data[DataRetryUntil])

	return v, err
}

// changed lists kinds of data, which are models.CorrectedField, in words.
func (w *writer) changed(fields string) string {
	var words []string

	for field := range strings.SplitSeq(fields, ",") {
		if field = clean(field); field != "" {
			words = append(words, w.text("corrected_"+field, nil))
		}
	}

	return strings.Join(words, w.text("list_separator", nil))
}

func (w *writer) rows(v values) []tableRow {
	var rows []tableRow

	for _, r := range []tableRow{
		{"label_booking", v.Booking},
		{"label_campaign", v.Campaign},
		{"label_trip", v.Trip},
		{"label_departure", w.long.departure},
		{"label_departure_was", w.long.departureWas},
		{"label_changed", v.Changed},
		{"label_entries", v.Entries},
		{"label_payout", v.Payout},
		{"label_seats", v.Seats},
		{"label_amount", v.Amount},
		{"label_vat", v.VAT},
		{"label_method", v.Method},
		{"label_retry_until", w.long.retryUntil},
		{"label_locked_until", w.long.lockedUntil},
		{"label_account", v.Account},
		{"label_role", v.Role},
	} {
		if r.Value != "" {
			rows = append(rows, tableRow{Label: w.text(r.Label, v), Value: r.Value})
		}
	}

	return rows
}

// isWebAddress reports an address that mail programs and telephones open in a browser, and that is one word of a text.
func isWebAddress(text string) bool {
	u, err := url.Parse(text)

	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && !strings.ContainsFunc(text, unicode.IsSpace)
}

// shortID is how people name a booking: the last eight digits of a UUID, which are random in every version.
func shortID(id string) string {
	const digits = 8

	if uuid.Validate(id) != nil {
		return id
	}

	return strings.ToUpper(id[len(id)-digits:])
}

// clean makes outside text safe to put into a header or a sentence: one line, nothing that cannot be seen or turns the reading direction
// of what follows, and not longer than maxValue. Requests bring no such text (rules: input.words); older rows may.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, ""), string(unicode.ReplacementChar), "")

	return truncate(strings.Join(strings.Fields(models.CleanText(s)), " "), maxValue)
}

// truncate shortens s to n characters, the last three of them dots when something is cut off.
func truncate(s string, n int) string {
	const dots = "..."

	runes := []rune(s)
	if len(runes) <= n {
		return s
	}

	if n < len(dots) {
		return ""
	}

	return strings.TrimRight(string(runes[:n-len(dots)]), " ") + dots
}
