package notify

import (
	"slices"
	"strings"
	"time"

	"rihla/models"
)

// values is what the catalogues' texts may show, in the short forms of subjects and SMS.
type values struct {
	Name, Booking, Trip, Campaign, Amount, Departure, DepartureWas, RetryUntil string
	Seats, VAT, Method, Link, Account, Role                                    string

	Note      string // of who has decided
	Changed   string // kinds of data, as a list
	Entries   string // how many were paid out
	Payout    string // its reference
	Reference string // of the payment
	Days      string // of a campaign

	// Of what goes back: what was paid, what had gone back before, what is not given back and what of it is a fee, by which way it comes
	// and until when.
	Paid, Before, Kept, Fee, Way, ExpectedBy string

	Company, CompanyPhone, Route string // of the trip

	Refundable, Stays, Nothing bool // Nothing goes back
	TripOff, Unpaid            bool // why it is cancelled, and why nothing goes back
	Expired                    bool // its time to pay is over
	Ticket                     bool // it is sent again for the ticket
	ByHand                     bool // it goes back by a transfer of ours
	BookAgain, HasPage         bool // there is a button that leads there
}

// values reads the data of a message. Those that are missing, as in rows of older versions, are left out of the text.
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

	w.facts(&v, m.Data)
	w.details(&v, m.Details)

	if err := w.amounts(&v, m); err != nil {
		return values{}, err
	}

	return v, w.times(&v, m.Data)
}

// facts are those that are written as they are, and what follows from their presence.
func (w *writer) facts(v *values, data map[string]string) {
	v.Refundable, v.Stays = data[DataRefundable] != "", data[DataBookingStays] != ""
	v.TripOff, v.Unpaid, v.Expired = data[DataTripCancelled] != "", data[DataUnpaid] != "", data[DataExpired] != ""
	v.Ticket = data[DataTicket] != ""
	v.ByHand = data[DataRefundChannel] == string(models.RefundByHand)

	v.Note = clean(data[DataNote])
	v.Changed, v.Entries, v.Payout = w.changed(data[DataChanged]), clean(data[DataEntries]), clean(data[DataPayoutReference])
	v.Reference, v.Seats = clean(data[DataPaymentReference]), clean(data[DataSeats])
	v.Method = models.PaymentMethod(data[DataMethod]).Label().In(w.locale)

	if v.Booking = clean(data[DataBookingNumber]); v.Booking == "" { // queued by an older version
		v.Booking = shortID(clean(data[DataBookingID]))
	}

	if data[DataRefundChannel] != "" {
		v.Way, v.Method = v.Method, ""
	}

	if v.ByHand {
		v.Way = w.text("way_by_hand", nil)
	}

	v.BookAgain, v.HasPage = w.to.bookAgain != "", w.to.booking != ""
}

// details are what was read of the booking and its trip when the message was sent.
func (w *writer) details(v *values, d *Details) {
	if d == nil {
		return
	}

	v.Company, v.CompanyPhone = clean(d.Company), clean(d.CompanyPhone)

	if from, to := clean(d.Origin), clean(d.Destination); from != "" && to != "" {
		v.Route = w.text("route", map[string]string{"From": w.isolated(from), "To": w.isolated(to)})
	}

	if !d.ReturnAt.IsZero() {
		w.long.returns = models.Moment(d.ReturnAt, w.locale)
	}
}

func (w *writer) amounts(v *values, m Message) error {
	if text := m.Data[DataAmount]; text != "" || !slices.Contains(withoutMoney, m.Kind) {
		amount, err := models.ParseMoney(text)
		if err != nil {
			return permanentf("amount %w", err)
		}

		v.Amount, v.Nothing = amount.InWords(clean(m.Data[DataCurrency]), w.locale), amount.IsZero()
	}

	for key, to := range map[string]*string{
		DataVATAmount: &v.VAT, DataPaidAmount: &v.Paid, DataRefundedBefore: &v.Before, DataKeptAmount: &v.Kept, DataFeeAmount: &v.Fee,
	} {
		text := m.Data[key]
		if text == "" {
			continue
		}

		amount, err := models.ParseMoney(text)
		if err != nil {
			return permanentf("%s %w", key, err)
		}

		*to = amount.InWords(clean(m.Data[DataCurrency]), w.locale)
	}

	return nil
}

func (w *writer) times(v *values, data map[string]string) (err error) {
	if v.Departure, w.long.departure, err = w.moment(data[DataDepartureAt]); err != nil {
		return err
	}

	if v.DepartureWas, w.long.departureWas, err = w.moment(data[DataDepartureWas]); err != nil {
		return err
	}

	if v.RetryUntil, w.long.retryUntil, err = w.moment(data[DataRetryUntil]); err != nil {
		return err
	}

	if text := data[DataExpectedBy]; text != "" {
		day, err := models.ParseDate(text)
		if err != nil {
			return permanentf("%s is no date", DataExpectedBy)
		}

		v.ExpectedBy = day.In(w.locale)
	}

	from, to := data[DataStartsOn], data[DataEndsOn]
	if from == "" || to == "" {
		return nil
	}

	starts, err := models.ParseDate(from)
	if err != nil {
		return permanentf("%s is no date", DataStartsOn)
	}

	ends, err := models.ParseDate(to)
	if err != nil {
		return permanentf("%s is no date", DataEndsOn)
	}

	v.Days = models.DaysBetween(starts, ends, w.locale)

	return nil
}

// moment writes an RFC 3339 time as people in Riyadh read it, short for SMS and long for mail; nothing stays nothing.
func (w *writer) moment(text string) (short, long string, err error) {
	if text == "" {
		return "", "", nil
	}

	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return "", "", permanentf("a moment is not RFC 3339")
	}

	return models.ShortMoment(t, w.locale), models.Moment(t, w.locale), nil
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
