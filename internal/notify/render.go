package notify

import (
	"embed"
	"fmt"
	"html/template"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

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

// Places are where mails send their readers; those that are empty are left out.
type Places struct {
	BookingURL string // a page of a booking, with {booking_id} or {booking_number} in it
	TripURL    string // a page on which a trip is booked, with {trip_id} in it

	SupportPhone, SupportEmail string
}

// Renderer writes messages in Arabic and English. It is safe for concurrent use.
type Renderer struct {
	arabic, english *i18n.Localizer
	page            *template.Template
	places          Places
}

// NewRenderer reads the built-in catalogues.
func NewRenderer(places Places) (*Renderer, error) {
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
		arabic: i18n.NewLocalizer(bundle, "ar"), english: i18n.NewLocalizer(bundle, "en"), page: page, places: places,
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
	models.NotifyRefundSucceeded: "refund_succeeded", models.NotifyCampaignPaid: "campaign_paid",
	models.NotifyCampaignRefunded: "campaign_refunded", models.NotifyTripMoved: "trip_moved",
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

	w.to = r.destinations(m)

	v, err := w.values(m)
	if err != nil {
		return Rendered{}, err
	}

	var out Rendered

	if m.Channel == models.NotifySMS {
		out.Text, err = fitSMS(&v, segmentsOf(m.Kind), func() string { return w.text(prefix+"_sms", w.inSentence(v)) })
	} else {
		out, err = r.mail(&w, prefix, v, m)
	}

	if w.err != nil {
		return Rendered{}, permanentf("write %s: %w", m.Kind, w.err)
	}

	return out, err
}

// writer looks texts up in one language and keeps the first failure.
type writer struct {
	locale    models.Locale
	localizer *i18n.Localizer
	to        destinations
	long      struct{ departure, departureWas, returns, retryUntil, lockedUntil string }
	err       error
}

func (w *writer) isArabic() bool { return w.locale == models.LocaleArabic }

// dir is the direction of the language, as HTML names it.
func (w *writer) dir() string {
	if w.isArabic() {
		return "rtl"
	}

	return "ltr"
}

func (w *writer) text(id string, data any) string {
	text, err := w.localizer.Localize(&i18n.LocalizeConfig{MessageID: id, TemplateData: data})
	if err != nil && w.err == nil {
		w.err = err
	}

	return text
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
	s = strings.Join(strings.Fields(models.CleanText(s)), " ")

	if utf8.RuneCountInString(s) <= maxValue {
		return s
	}

	if short := truncate(s, maxValue, ellipsis); short != "" {
		return short
	}

	return string([]rune(s)[:maxValue-1]) + ellipsis // one word
}

const (
	ellipsis = "…"
	// threeDots is the ellipsis of an SMS in the alphabet of GSM: the character would make all of it UCS-2, with less than half the room.
	threeDots = "..."
)

// truncate shortens s to n characters, at the end of a word and with dots; empty when no word is left.
func truncate(s string, n int, dots string) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}

	room := n - utf8.RuneCountInString(dots)
	if room <= 0 {
		return ""
	}

	// The word that ends where the room does is whole.
	end := strings.LastIndexByte(string(runes[:room+1]), ' ')
	if end < 0 {
		return ""
	}

	words := strings.TrimRight(string(runes[:room+1])[:end], " ,،;؛:-–—(")
	if words == "" {
		return ""
	}

	return words + dots
}
