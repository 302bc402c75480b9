package operations

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/internal/store/bookings"
	"rihla/models"
	"rihla/workflows"
)

// CreateBooking takes the seats and opens the first payment attempt (rules: bookings.seats). When the orchestrator cannot take
// the payment, the seats are given back and the answer is 503: nothing is left half-made.
func (o *Operations) CreateBooking(ctx context.Context, r gen.CreateBookingRequestObject) (gen.CreateBookingResponseObject, error) {
	if err := o.Returns.Check(valueOf(r.Body.ReturnURL)); err != nil {
		return nil, err
	}

	b, again, err := o.book(ctx, r)
	if err != nil {
		return nil, err
	}

	attempt := models.Attempt{
		BookingID: b.ID, ProviderID: b.ProviderID, Number: 1, UserID: b.UserID, Method: r.Body.PaymentMethod,
		Opener: opener(ctx),
	}

	if !again {
		err = o.startFirst(ctx, attempt)
	} else {
		err = o.startAgain(ctx, &b, attempt)
	}

	if err != nil {
		return nil, err
	}

	body, err := o.bookingOf(ctx, b.ID)
	if models.CodeOf(err) == models.CodeNotFound {
		err = unavailable() // another request with the same key has taken it back meanwhile
	}

	if err != nil {
		return nil, err
	}

	return gen.CreateBooking201JSONResponse{
		Body:    gen.BookingAnswer{Data: body},
		Headers: gen.CreateBooking201ResponseHeaders{Location: "/api/v1/bookings/" + b.ID.String()},
	}, nil
}

// book makes the booking, unless a request with the same Idempotency-Key has made it and was killed before it could
// answer: then that one is what was asked for, whatever has become of the trip and its price since.
func (o *Operations) book(ctx context.Context, r gen.CreateBookingRequestObject) (b models.Booking, again bool, err error) {
	n := newBooking(ctx, r)
	n.ReturnBase = o.PublicURL

	if n.ID != uuid.Nil {
		b, err = o.Store.Bookings.BookingByID(ctx, n.ID)
		if err == nil || models.CodeOf(err) != models.CodeNotFound {
			return b, true, err
		}
		// The booking was withdrawn, because no worker took its payment. The next one has its id, and so its workflow, which may
		// be waiting for a worker still: repeated tries of a customer must not add up to more work.
	}

	b, err = o.Store.Bookings.CreateBooking(ctx, n, o.Now())

	return b, false, err
}

func newBooking(ctx context.Context, r gen.CreateBookingRequestObject) bookings.NewBooking {
	passengers := mapEach(r.Body.Passengers, func(p *gen.PassengerInput) models.Passenger {
		return models.Passenger{Name: p.Name, DocumentNumber: valueOf(p.DocumentNumber)}
	})

	key := middleware.Claim(ctx)

	return bookings.NewBooking{
		ID: key.ResourceID, Claim: key.ID, UserID: middleware.Principal(ctx).UserID, TripID: r.Body.TripID,
		Passengers: passengers, ContactName: r.Body.Contact.Name, ContactEmail: r.Body.Contact.Email,
		ContactPhone: r.Body.Contact.Phone, Locale: middleware.Locale(ctx), Method: r.Body.PaymentMethod,
		ReturnURL: valueOf(r.Body.ReturnURL), Network: middleware.Network(ctx),
	}
}

// startFirst starts the payment of a new booking. A gateway that does not answer in time leaves the booking with a
// PENDING attempt that a later intent completes; an orchestrator that does not answer leaves no booking.
func (o *Operations) startFirst(ctx context.Context, a models.Attempt) error {
	err := o.startPayment(ctx, a)
	if err == nil {
		return nil
	}

	// A stored attempt keeps its booking: it is the gateway that is slow. Otherwise no worker has taken the
	// payment, and a workflow that starts after all finds no booking and ends.
	ctx, done := detached(ctx)
	defer done()

	discarded, discardErr := o.Store.Bookings.DiscardBooking(ctx, a.BookingID)

	switch {
	case discardErr != nil:
		return errors.Join(discardErr, err)
	case !notTaken(err):
		return err
	case discarded:
		return errors.Join(unavailable(), err) // the log says why
	default:
		return o.bookingExists(ctx, a.BookingID)
	}
}

// bookingExists is SERVICE_UNAVAILABLE for a booking that was taken back meanwhile, by a request with the same key that was
// held up for longer than its lease.
func (o *Operations) bookingExists(ctx context.Context, booking uuid.UUID) error {
	_, err := o.Store.Bookings.BookingByID(ctx, booking)
	if err != nil && models.CodeOf(err) == models.CodeNotFound {
		return unavailable()
	}

	return err
}

// startAgain goes on where a request was killed after it had made the booking: the payment may not have been started.
func (o *Operations) startAgain(ctx context.Context, b *models.Booking, a models.Attempt) error {
	t, err := o.Store.Bookings.LatestAttempt(ctx, b.ID)
	if err != nil {
		return err
	}

	if b.Status != models.BookingPendingPayment || t != nil && (t.ID != a.ID() || t.CheckoutURL != nil) {
		return nil
	}

	// The trip may be gone or the time over: it is the customer's booking all the same.
	if p, err := o.Store.Payments.PayableBooking(ctx, b.ID, o.Now()); err != nil || p.Err != nil {
		return err
	}

	return o.startFirst(ctx, a)
}

// notTaken tells an orchestrator that has not taken the payment, or not yet, from one that refuses it. NOT_FOUND is the
// word of a workflow that was looking for an earlier booking of the same request, which had been taken back;
// BOOKING_NOT_PAYABLE of one that came to the booking when its time was over: it was payable when it was made.
func notTaken(err error) bool {
	if errors.Is(err, workflows.ErrStillRunning) {
		return true
	}

	switch models.CodeOf(err) {
	case models.CodeServiceUnavailable, models.CodeNotFound, models.CodeBookingNotPayable:
		return true
	default:
		return false
	}
}

func unavailable() error {
	return models.NewError(models.CodeServiceUnavailable, "payment.unavailable")
}

// GetBooking is one booking, for its owner and for the roles that read any (rules: scope.bookings).
func (o *Operations) GetBooking(ctx context.Context, r gen.GetBookingRequestObject) (gen.GetBookingResponseObject, error) {
	b, err := o.Store.Bookings.ShowBooking(ctx, r.ID)
	if err != nil {
		return nil, err
	}

	if !readsBooking(ctx, b.UserID) {
		return nil, models.NotFound()
	}

	body, err := o.shown(ctx, &b)
	if err != nil {
		return nil, err
	}

	return gen.GetBooking200JSONResponse{Data: body}, nil
}

// readsBooking reports whether the caller may see a booking of owner.
func readsBooking(ctx context.Context, owner uuid.UUID) bool {
	p := middleware.Principal(ctx)

	return p.UserID == owner || p.Role.ReadsAnyBooking()
}

// ListMyBookings lists the caller's own bookings.
func (o *Operations) ListMyBookings(ctx context.Context, r gen.ListMyBookingsRequestObject) (gen.ListMyBookingsResponseObject, error) {
	p := pageOf(r.Params.Page, r.Params.PerPage, r.Params.Sort, r.Params.Cursor)

	list, err := o.Store.Bookings.MyBookings(ctx, middleware.Principal(ctx).UserID, valueOf(r.Params.Status), p)
	if err != nil {
		return nil, err
	}

	bookings, err := o.bookingsOf(ctx, list.Items)

	return gen.ListMyBookings200JSONResponse{Data: bookings, Meta: metaOf(p, list)}, err
}

// bookingOf is a booking with its payment attempt that counts, and the document numbers that the caller may read.
func (o *Operations) bookingOf(ctx context.Context, id uuid.UUID) (gen.Booking, error) {
	b, err := o.Store.Bookings.ShowBooking(ctx, id)
	if err != nil {
		return gen.Booking{}, err
	}

	return o.shown(ctx, &b)
}

func (o *Operations) shown(ctx context.Context, b *bookings.ShownBooking) (gen.Booking, error) {
	one := []models.Booking{b.Booking}
	if err := o.guardDocuments(ctx, one); err != nil {
		return gen.Booking{}, err
	}

	body := bookingWith(&one[0], b.Attempt(), b.Departure)

	return body, o.addRefunds(ctx, &body, b.Attempt())
}

// bookingWith is a booking with the attempt that counts, nil for none, and the departure of its trip.
func bookingWith(b *models.Booking, attempt *models.PaymentTransaction, departure time.Time) gen.Booking {
	label, held := b.Status.Label(), utc(b.HoldUntil)
	out := gen.Booking{
		ID: b.ID, BookingNumber: b.Number, TripID: b.TripID, ProviderID: b.ProviderID, UserID: b.UserID,
		Status: b.Status, StatusLabelAr: label.AR, StatusLabelEn: label.EN, Seats: b.Seats,
		Amount: b.Amount, Currency: b.Currency, VatRate: b.VATRate, VatAmount: b.VATAmount,
		Contact:     gen.Contact{Name: b.ContactName, Email: b.ContactEmail, Phone: b.ContactPhone},
		DepartureAt: utc(departure), DepartureAtBooking: utc(b.BookedDepartureAt), CreatedAt: utc(b.CreatedAt),
		Passengers: passengersOf(b),
		// Until the attempt's row is written, which the gateway's silence can delay, it is known by its derived id.
		Payment: gen.BookingPayment{TransactionID: models.BookingAttemptID(b.ID, 1), ExpiresAt: &held},
	}

	out.Payment.Status, out.Payment.FailureCode = b.Status.Unattempted()

	if attempt != nil {
		out.Payment = bookingPayment(attempt)
	}

	out.Payment = labelled(out.Payment)

	return out
}

// passengersOf are all passengers as they were booked, cancelled ones too.
func passengersOf(b *models.Booking) []gen.Passenger {
	all := make([]gen.Passenger, len(b.Passengers))

	for i := range b.Passengers {
		p, id, status := &b.Passengers[i], models.PassengerID(b.ID, i+1), b.PassengerAt(i+1)
		all[i] = labelled(gen.Passenger{
			ID: &id, Name: p.Name, DocumentNumber: optional(p.DocumentNumber), Status: &status,
		})
	}

	return all
}

func bookingPayment(t *models.PaymentTransaction) gen.BookingPayment {
	return gen.BookingPayment{
		TransactionID: t.ID, Reference: t.Reference, Status: t.Status, FailureCode: t.FailureCode,
		CheckoutURL: openCheckout(t), ExpiresAt: utcOrNil(&t.ExpiresAt),
	}
}

// openCheckout is where the customer pays; an attempt that has ended has no such place.
func openCheckout(t *models.PaymentTransaction) *string {
	if t.Status != models.TransactionPending {
		return nil
	}

	return t.CheckoutURL
}
