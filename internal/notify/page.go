package notify

import (
	"fmt"
	"html/template"
	"net/url"
	"strings"

	"rihla/internal/brand"
	"rihla/models"
)

// tableRow is one line of a mail's table.
type tableRow struct {
	Label, Value string
	Dir          string // empty: that of the value's first letter
}

// section is a list below the table.
type section struct {
	Title string
	Lines []string
	Note  string
}

// link is where a mail's button leads.
type link struct{ Label, URL string }

// contact is a way to reach support.
type contact struct {
	Text string
	URL  template.URL
}

// mailPage is what the template of mails shows.
type mailPage struct {
	Lang, Dir, Start                                    string
	Brand                                               brand.Palette
	Subject, Name, Greeting, Lead, Signature, Automatic string
	Support                                             string
	Contacts                                            []contact
	Rows                                                []tableRow
	Sections                                            []section
	Links                                               []link
}

// logoID is the content id under which a mail has the logo; mail.gohtml names it.
const logoID = "logo@rihla"

func (r *Renderer) mail(w *writer, prefix string, v values, m Message) (Rendered, error) {
	said := w.inSentence(v)
	out := Rendered{Subject: w.text(prefix+"_subject", said)}
	page := mailPage{
		Lang: string(w.locale), Dir: w.dir(), Start: "right", Brand: brand.Colours(),
		Subject: out.Subject, Name: brand.Name(w.locale), Greeting: w.text("greeting", said), Lead: w.text(prefix+"_lead", said),
		Signature: w.text("signature", nil), Automatic: w.text("automatic", nil), Rows: w.rows(v, m.Kind),
		Sections: w.sections(v, m), Links: w.links(prefix, m), Contacts: r.contacts(),
	}

	if !w.isArabic() {
		page.Start = "left"
	}

	if len(page.Contacts) > 0 {
		page.Support = w.text("support", nil)
	}

	out.Text = w.plain(&page)

	var html strings.Builder
	if err := r.page.Execute(&html, page); err != nil {
		return Rendered{}, permanentf("write page: %w", err)
	}

	out.HTML = html.String()

	return out, nil
}

// plain is the same as text.
func (w *writer) plain(page *mailPage) string {
	var text strings.Builder

	fmt.Fprintf(&text, "%s\n\n%s\n\n", page.Greeting, page.Lead)

	for _, row := range page.Rows {
		fmt.Fprintf(&text, "%s: %s\n", row.Label, w.isolated(row.Value))
	}

	for _, s := range page.Sections {
		fmt.Fprintf(&text, "\n%s\n", s.Title)

		for _, line := range s.Lines {
			fmt.Fprintf(&text, "- %s\n", w.isolated(line))
		}

		if s.Note != "" {
			fmt.Fprintf(&text, "%s\n", s.Note)
		}
	}

	for _, one := range page.Links {
		fmt.Fprintf(&text, "\n%s: %s\n", one.Label, one.URL)
	}

	if page.Support != "" {
		fmt.Fprintf(&text, "\n%s\n", page.Support)

		for _, c := range page.Contacts {
			fmt.Fprintf(&text, "%s\n", w.isolated(c.Text))
		}
	}

	fmt.Fprintf(&text, "\n%s\n\n%s\n", page.Signature, page.Automatic)

	return text.String()
}

// contacts are from the configuration, which has checked them.
func (r *Renderer) contacts() []contact {
	var all []contact

	if phone := r.places.SupportPhone; phone != "" {
		all = append(all, contact{phone, template.URL("tel:" + phonePunctuation.Replace(phone))}) //nolint:gosec // digits
	}

	if address := r.places.SupportEmail; address != "" {
		all = append(all, contact{address, template.URL("mailto:" + address)}) //nolint:gosec // a mail address
	}

	return all
}

// destinations are the pages to which a message about a booking can lead; empty ones are not known.
type destinations struct{ booking, bookAgain string }

func (r *Renderer) destinations(m Message) (to destinations) {
	if m.Kind.IsAboutAccount() || m.Kind == models.NotifyCheckoutLink { // that booking is not yet paid
		return to
	}

	if m.Kind == models.NotifyPaymentFailed && m.Details != nil && m.Details.Bookable && r.places.TripURL != "" {
		to.bookAgain = strings.ReplaceAll(r.places.TripURL, "{trip_id}", m.Details.TripID.String())
	}

	id, number := clean(m.Data[DataBookingID]), clean(m.Data[DataBookingNumber])
	if r.places.BookingURL == "" || id == "" || number == "" {
		return to
	}

	to.booking = strings.NewReplacer("{booking_id}", url.PathEscape(id), "{booking_number}", url.PathEscape(number)).
		Replace(r.places.BookingURL)

	return to
}

// links lead to where the message's own link does, to where the trip can be booked again, and to the booking.
func (w *writer) links(prefix string, m Message) []link {
	var all []link

	if m.Link != "" && (m.Kind.IsAboutAccount() || m.Kind == models.NotifyCheckoutLink || m.Kind == models.NotifyPaymentSucceeded) {
		all = append(all, link{w.text(prefix+"_link", nil), m.Link})
	}

	if w.to.bookAgain != "" {
		all = append(all, link{w.text("label_book_again", nil), w.to.bookAgain})
	}

	if w.to.booking != "" {
		all = append(all, link{w.text("label_link", nil), w.to.booking})
	}

	return all
}

// amountLabels name the amount of a message by what becomes of it.
var amountLabels = map[models.NotificationKind]string{
	models.NotifyPaymentSucceeded: "label_amount_paid", models.NotifyCampaignPaid: "label_amount_paid",
	models.NotifyCheckoutLink:    "label_amount_due",
	models.NotifyRefundSucceeded: "label_amount_refunded", models.NotifyCompanyRefunded: "label_amount_refunded",
	models.NotifyCampaignRefunded: "label_amount_refunded",
	models.NotifyBookingCancelled: "label_amount_back", models.NotifyTripMoved: "label_amount_refundable",
}

func amountLabel(kind models.NotificationKind) string {
	if label, ok := amountLabels[kind]; ok {
		return label
	}

	return "label_amount"
}

func (w *writer) rows(v values, kind models.NotificationKind) []tableRow {
	var rows []tableRow

	amount := v.Amount
	if v.Unpaid && kind == models.NotifyBookingCancelled {
		amount = "" // there is no sense in a refund of 0.00
	}

	for _, r := range []struct{ Label, Value string }{
		{"label_booking", v.Booking},
		{"label_campaign", v.Campaign},
		{"label_trip", v.Trip},
		{"label_days", v.Days},
		{"label_company", v.Company},
		{"label_company_phone", v.CompanyPhone},
		{"label_route", v.Route},
		{"label_departure", w.long.departure},
		{"label_departure_was", w.long.departureWas},
		{"label_returns", w.long.returns},
		{"label_changed", v.Changed},
		{"label_entries", v.Entries},
		{"label_payout", v.Payout},
		{"label_seats", v.Seats},
		{"label_paid", v.Paid},
		{amountLabel(kind), amount},
		{"label_vat", v.VAT},
		{"label_before", v.Before},
		{"label_fee", v.Fee},
		{"label_kept", v.Kept},
		{"label_way", v.Way},
		{"label_expected_by", v.ExpectedBy},
		{"label_method", v.Method},
		{"label_reference", v.Reference},
		{"label_retry_until", w.long.retryUntil},
		{"label_locked_until", w.long.lockedUntil},
		{"label_account", v.Account},
		{"label_role", v.Role},
	} {
		if r.Value != "" {
			row := tableRow{Label: w.text(r.Label, v), Value: r.Value}
			if strings.Contains(r.Value, isolate) { // put together in the language of the mail
				row.Dir = w.dir()
			}

			rows = append(rows, row)
		}
	}

	return rows
}

// sections are who travels, and what a cancellation gives back.
func (w *writer) sections(v values, m Message) []section {
	if m.Details == nil {
		return nil
	}

	var all []section

	if m.Kind == models.NotifyPaymentSucceeded && len(m.Details.Passengers) > 0 {
		s := section{Title: w.text("section_passengers", nil)}
		for _, name := range m.Details.Passengers {
			s.Lines = append(s.Lines, clean(name))
		}

		all = append(all, s)
	}

	if policy := m.Details.Policy; len(policy) > 0 && (m.Kind == models.NotifyPaymentSucceeded || m.Kind == models.NotifyCheckoutLink) {
		s := section{Title: w.text("section_cancelling", nil), Lines: policy.Words(w.locale)}
		if m.Kind == models.NotifyPaymentSucceeded {
			s.Note = w.text("cancelling_how", v)
		}

		all = append(all, s)
	}

	return all
}
