// Package notify tells customers by email and SMS what became of their payments (rules: notifications.who), in Arabic and English.
// Deciding what to tell, once, is the outbox's work; this package delivers one message of it. Delivery is at least
// once: a message carries its id, so that a second delivery can be recognized.
package notify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/mail"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"

	"rihla/internal/config"
	"rihla/models"
)

// Message is one thing to tell one person on one channel.
type Message struct {
	// ID names the message for ever; a retry has the same one.
	ID      uuid.UUID
	Channel models.NotificationChannel
	Kind    models.NotificationKind
	Locale  models.Locale
	// To is a mail address, or a phone number with country code.
	To string
	// Data fills the text; its keys are the Data constants.
	Data map[string]string
	// Details are what a mail about a booking shows besides; nil: they are not known.
	Details *Details
	// Link is where the button of a mail about an account leads, where a booking is paid, or its ticket. It may hold a secret: it is in no
	// row and in no log.
	Link string
}

// Details are read of a booking when a mail about it is sent: no row of the outbox names passengers.
type Details struct {
	Company, CompanyPhone string
	Origin, Destination   string
	ReturnAt              time.Time
	Passengers            []string // that travel
	// Policy is what a cancellation of the booking gives back.
	Policy models.CancellationPolicy
	TripID uuid.UUID
	// Bookable: the trip has seats left and can be booked.
	Bookable bool
}

// The keys of Message.Data. Amounts are plain numbers (`1150.00`, of DataCurrency); moments are RFC 3339. All but the amount may be
// missing, and that, too, when a trip was moved; the line that would show them is then left out.
const (
	DataName          = "name"
	DataBookingID     = "booking_id"
	DataBookingNumber = "booking_number"
	DataSeats         = "seats"
	DataNote          = "note" // what staff have written for the customer
	DataVATAmount     = "vat_amount"
	DataMethod        = "payment_method" // a models.PaymentMethod
	DataTripTitle     = "trip_title"
	DataCampaignTitle = "campaign_title"
	DataAmount        = "amount"
	DataCurrency      = "currency" // ISO 4217; SAR when it is missing
	DataDepartureAt   = "departure_at"
	DataRetryUntil    = "retry_until"
	DataLockedUntil   = "locked_until"
	DataAccount       = "account" // another one's address
	DataRole          = "role"
	DataChanged       = "changed" // kinds of data, separated by commas: models.CorrectedField
	DataEntries       = "entries" // how many ledger entries were paid out

	DataPayoutReference  = "payout_reference"
	DataPaymentReference = "payment_reference" // the gateway's
	DataStartsOn         = "starts_on"         // with DataEndsOn, of a campaign: YYYY-MM-DD
	DataEndsOn           = "ends_on"

	DataPaidAmount     = "paid_amount"     // of the payment, or of the seats that are cancelled
	DataRefundedBefore = "refunded_before" // what had gone back of it
	DataKeptAmount     = "kept_amount"     // what is left of it
	DataFeeAmount      = "fee_amount"      // what is kept of it
	DataRefundChannel  = "refund_channel"  // a models.RefundChannel
	DataExpectedBy     = "expected_by"     // YYYY-MM-DD: the day by which the customer's bank shows it

	DataDepartureWas = "departure_was"
	DataTokenID      = "token_id"      // of the secret that the link of the mail gets when it is sent
	DataBookingStays = "booking_stays" // not empty: the refund has not cancelled the booking
	// DataTripCancelled, not empty: the booking is cancelled because its trip does not run; DataUnpaid: and nothing was paid for it.
	DataTripCancelled = "trip_cancelled"
	DataUnpaid        = "unpaid"
	DataExpired       = "expired"    // not empty: the time to pay is over
	DataTicket        = "ticket"     // not empty: the confirmation is sent again for its ticket
	DataRefundable    = "refundable" // not empty: the customer may have all of it back
)

// MessageOf is the message of an outbox row.
func MessageOf(n *models.Notification) Message {
	return Message{ID: n.ID, Channel: n.Channel, Kind: n.Kind, Locale: n.Locale, To: n.Recipient, Data: n.Data}
}

// Sender delivers messages. An error for which IsPermanent is true will come again however often it is tried; any other
// one is worth a retry. Errors hold no personal data, so that they may be stored and logged.
type Sender interface {
	Send(ctx context.Context, m Message) error
}

// Notifier delivers each message by its channel. It is safe for concurrent use.
type Notifier struct {
	mail, sms Sender
}

// New chooses the senders: mail goes to SMTP_URL, or into DATA_DIR/outbox when that is empty; SMS by SMS_DRIVER. The log
// shows messages that are written to the outbox.
func New(cfg config.Config, log *slog.Logger) (*Notifier, error) {
	renderer, err := NewRenderer(Places{
		BookingURL: cfg.Notify.BookingURL, TripURL: cfg.Notify.TripURL,
		SupportPhone: cfg.Notify.SupportPhone, SupportEmail: cfg.Notify.SupportEmail,
	})
	if err != nil {
		return nil, err
	}

	from, err := mail.ParseAddress(cfg.Notify.MailFrom)
	if err != nil {
		return nil, errors.New("MAIL_FROM is not a mail address")
	}

	outbox := NewOutbox(filepath.Join(cfg.App.DataDir, "outbox"), from, renderer, log)
	n := &Notifier{mail: outbox, sms: outbox}

	if cfg.Notify.SMTPURL.IsSet() {
		if n.mail, err = NewSMTP(cfg.Notify.SMTPURL, from, renderer); err != nil {
			return nil, err
		}
	}

	if cfg.Notify.SMSDriver == config.SMSHTTP {
		n.sms = NewSMSGateway(cfg.Notify.SMSURL, cfg.Notify.SMSAPIKey, renderer)
	}

	return n, nil
}

// Send implements Sender.
func (n *Notifier) Send(ctx context.Context, m Message) error {
	switch m.Channel {
	case models.NotifyEmail:
		return n.mail.Send(ctx, m)
	case models.NotifySMS:
		return n.sms.Send(ctx, m)
	default:
		return permanentf("unknown channel %q", m.Channel)
	}
}

// Close ends what is kept open for the next messages.
func (n *Notifier) Close() {
	if s, ok := n.mail.(*SMTP); ok {
		s.Close()
	}
}

// permanentError is a failure that no retry cures.
type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

func permanentf(format string, args ...any) error {
	return &permanentError{err: fmt.Errorf("notify: "+format, args...)}
}

// Permanent is err as a failure that no retry cures.
func Permanent(err error) error { return &permanentError{err: err} }

// IsPermanent reports that trying again is useless: a bad address, a refusal for good, a message that cannot be written.
func IsPermanent(err error) bool {
	_, ok := errors.AsType[*permanentError](err)

	return ok
}

var (
	// phoneNumber is E.164, whose plus some people leave out.
	phoneNumber = regexp.MustCompile(`^\+?[0-9]{7,15}$`)
	// phonePunctuation is what people write between the digits.
	phonePunctuation = strings.NewReplacer(" ", "", "-", "", "(", "", ")", "")
)

// mailAddress checks the recipient of a mail.
func mailAddress(to string) (*mail.Address, error) {
	address, err := mail.ParseAddress(models.CleanExact(to)) // earlier rows may have marks
	if err != nil {
		return nil, permanentf("the recipient is not a mail address")
	}

	return address, nil
}

// phone checks the recipient of an SMS and takes the punctuation out.
func phone(to string) (string, error) {
	number := phonePunctuation.Replace(to)
	if !phoneNumber.MatchString(number) {
		return "", permanentf("the recipient is not a phone number with country code")
	}

	return number, nil
}
