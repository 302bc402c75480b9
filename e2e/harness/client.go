package harness

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/api/gen"
	"rihla/e2e/rig"
	"rihla/gateways/simulator"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// Answer is what the API answered.
type Answer = rig.Answer

// Caller is a client of the API, with or without a user's token. It is safe for concurrent use.
type Caller struct {
	stack *Stack
	token string
}

// Anybody is a caller without a token.
func (s *Stack) Anybody() *Caller { return &Caller{stack: s} }

// With is a caller with an access token.
func (s *Stack) With(token string) *Caller { return &Caller{stack: s, token: token} }

// Token is the caller's access token.
func (c *Caller) Token() string { return c.token }

// As signs in as the World's user of a role.
func (s *Stack) As(role models.Role) *Caller {
	s.tb.Helper()

	var tokens gen.Tokens

	a, err := s.Anybody().Do(http.MethodPost, "/api/v1/auth/login",
		gen.LoginRequest{Email: s.World.Users[role].Email, Password: storetest.Password}, nil)
	require.NoError(s.tb, err)
	require.Equal(s.tb, http.StatusOK, a.Status, "%s", a.Body)
	require.NoError(s.tb, a.Data(&tokens))

	return s.With(tokens.AccessToken)
}

// Do sends one request. body may be nil, []byte as it is, or anything that JSON can hold. The error is one of the
// network's, never of the answer.
func (c *Caller) Do(method, path string, body any, header map[string]string) (Answer, error) {
	r, err := rig.Client{URL: c.stack.URL}.Request(context.Background(), method, path, body, header)
	if err != nil {
		return Answer{}, err
	}

	return c.Send(r)
}

// Send is Do with a request of the test's own making. The caller's token is added unless there is one.
func (c *Caller) Send(r *http.Request) (Answer, error) {
	if c.token != "" && r.Header.Get("Authorization") == "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}

	a, err := rig.Send(r)
	if err == nil {
		c.stack.conforms(r, a)
	}

	return a, err
}

// Get is Do for reading; the network must not fail.
func (c *Caller) Get(path string) Answer {
	c.stack.tb.Helper()

	a, err := c.Do(http.MethodGet, path, nil, nil)
	require.NoError(c.stack.tb, err)

	return a
}

// Post is Do for writing, with a fresh Idempotency-Key; the network must not fail.
func (c *Caller) Post(path string, body any) Answer {
	c.stack.tb.Helper()

	a, err := c.Do(http.MethodPost, path, body, map[string]string{"Idempotency-Key": uuid.NewString()})
	require.NoError(c.stack.tb, err)

	return a
}

// Booking is a booking as the API answers it.
type Booking = gen.Booking

// BookingRequest is a body for POST /bookings: seats on the World's trip, paid by card.
func (s *Stack) BookingRequest(seats int) map[string]any {
	passengers := make([]map[string]string, seats)
	for i := range passengers {
		passengers[i] = map[string]string{"name": "Passenger", "document_number": "A1234567"}
	}

	return map[string]any{
		"trip_id": s.World.Trip.ID, "passengers": passengers, "payment_method": models.MethodCreditCard,
		"contact": map[string]string{"name": "Customer", "email": "customer@rihla.test", "phone": "+966500000001"},
	}
}

// Book books seats on the World's trip.
func (c *Caller) Book(seats int) Booking {
	c.stack.tb.Helper()

	return c.book(c.stack.BookingRequest(seats))
}

// BookFor books a seat for a customer who has this phone number.
func (c *Caller) BookFor(phone string) Booking {
	c.stack.tb.Helper()

	body := c.stack.BookingRequest(1)
	body["contact"] = map[string]string{"name": "Customer", "email": "customer@rihla.test", "phone": phone}

	return c.book(body)
}

// book books. On a machine that has too much to do a booking may be answered 503: it is sent again, as every client does.
func (c *Caller) book(body map[string]any) Booking {
	c.stack.tb.Helper()

	a := c.Post("/api/v1/bookings", body)
	for until := time.Now().Add(startPatience); a.Status == http.StatusServiceUnavailable && time.Now().Before(until); {
		<-time.After(time.Second)

		a = c.Post("/api/v1/bookings", body)
	}

	require.Equal(c.stack.tb, http.StatusCreated, a.Status, "%s", a.Body)

	var b Booking

	require.NoError(c.stack.tb, a.Data(&b))

	return b
}

// Pay does what the customer does on the gateway's page: outcome is succeed, decline or cancel.
func (s *Stack) Pay(checkoutURL, outcome string) error {
	return s.press(checkoutURL, url.Values{"outcome": {outcome}})
}

// PayBy pays a checkout by another method than was asked for.
func (s *Stack) PayBy(checkoutURL string, method models.PaymentMethod) error {
	return s.press(checkoutURL, url.Values{"outcome": {"succeed"}, "payment_method": {string(method)}})
}

func (s *Stack) press(checkoutURL string, choice url.Values) error {
	button := checkoutURL

	if strings.HasPrefix(checkoutURL, s.URL) { // a page of ours, with the company's form in it
		var err error
		if button, err = simulator.Button(context.Background(), http.DefaultClient, checkoutURL); err != nil {
			return err
		}
	}

	form := strings.NewReader(choice.Encode())

	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, button, form)
	if err != nil {
		return err
	}

	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")

	_, err = rig.Send(r)

	return err
}

// Status is what the polling app sees.
type Status = gen.PaymentStatus

// Await polls with `wait` until the payment is decided or 30 seconds have passed.
func (c *Caller) Await(booking uuid.UUID) Status {
	c.stack.tb.Helper()

	a := c.Get("/api/v1/bookings/" + booking.String() + "/payment-status?wait=30")
	require.Equal(c.stack.tb, http.StatusOK, a.Status, "%s", a.Body)

	var s Status

	require.NoError(c.stack.tb, a.Data(&s))

	return s
}

// BookPaid books seats, pays by card, and waits until the booking is confirmed.
func (c *Caller) BookPaid(seats int) Booking {
	c.stack.tb.Helper()

	return c.paid(c.Book(seats))
}

// BookBilled is BookPaid by a bill, which cannot be refunded through its gateway.
func (c *Caller) BookBilled(seats int) Booking {
	c.stack.tb.Helper()

	return c.paid(c.BookBill(seats))
}

// BookBill books seats with a bill that is not paid yet.
func (c *Caller) BookBill(seats int) Booking {
	c.stack.tb.Helper()

	body := c.stack.BookingRequest(seats)
	body["payment_method"] = models.MethodBillPayment

	return c.book(body)
}

func (c *Caller) paid(b Booking) Booking {
	c.stack.tb.Helper()
	require.NoError(c.stack.tb, c.stack.Pay(*b.Payment.CheckoutURL, "succeed"))
	require.Equal(c.stack.tb, models.TransactionPaid, c.Await(b.ID).PaymentStatus)

	return b
}
