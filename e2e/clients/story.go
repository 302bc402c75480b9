// Command clients tells the story of a booking by a Go client that oapi-codegen makes of the API's document: a customer books and pays
// at the gateway's page, and finance staff give a part back. Every amount is compared in halalas.
package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/google/uuid"

	"rihla/e2e/clients/oapi"
)

// devPassword is that of every user that `rihla dev` makes.
const devPassword = "rihla-dev-password"

func main() {
	server := os.Getenv("RIHLA_URL")
	if server == "" {
		server = "http://127.0.0.1:8080"
	}

	if err := play(context.Background(), server); err != nil {
		log.Fatal(err)
	}

	log.Print("a client of oapi-codegen told the whole story")
}

func play(ctx context.Context, server string) error {
	customer, err := signIn(ctx, server, "end_user")
	if err != nil {
		return err
	}

	finance, err := signIn(ctx, server, "finance_admin")
	if err != nil {
		return err
	}

	booking, err := book(ctx, customer)
	if err != nil {
		return err
	}

	if err := pay(ctx, *booking.Payment.CheckoutUrl); err != nil {
		return err
	}

	if err := untilPaid(ctx, customer, booking.Id); err != nil {
		return err
	}

	return giveBack(ctx, finance, booking)
}

// signIn returns a client that acts as the user that `rihla dev` makes for the role.
func signIn(ctx context.Context, server, role string) (*oapi.ClientWithResponses, error) {
	anybody, err := oapi.NewClientWithResponses(server)
	if err != nil {
		return nil, err
	}

	in := oapi.LoginJSONRequestBody{Email: oapi.Email(role + "@rihla.test"), Password: devPassword}

	a, err := anybody.LoginWithResponse(ctx, nil, in)
	if err != nil {
		return nil, err
	}

	if a.JSON200 == nil {
		return nil, fmt.Errorf("log in as %s: %s %s", role, a.Status(), a.Body)
	}

	tokens, err := a.JSON200.Data.AsTokens()
	if err != nil {
		return nil, err
	}

	return oapi.NewClientWithResponses(server, oapi.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+tokens.AccessToken)

		return nil
	}))
}

func book(ctx context.Context, customer *oapi.ClientWithResponses) (oapi.Booking, error) {
	perPage := oapi.PerPage(10)

	trips, err := customer.ListTripsWithResponse(ctx, &oapi.ListTripsParams{PerPage: &perPage})
	if err != nil || trips.JSON200 == nil {
		return oapi.Booking{}, fmt.Errorf("list trips: %w", err)
	}

	for _, trip := range trips.JSON200.Data {
		if trip.SeatsLeft < 1 {
			continue
		}

		key := uuid.New()

		a, err := customer.CreateBookingWithResponse(ctx, &oapi.CreateBookingParams{IdempotencyKey: &key}, oapi.BookingRequest{
			TripId: trip.Id, PaymentMethod: oapi.PaymentMethodCreditCard, Passengers: []oapi.PassengerInput{{Name: "First Passenger"}},
			Contact: oapi.ContactInput{Name: "Demo Customer", Email: "customer@rihla.test", Phone: "+966500000007"},
		})
		if err != nil {
			return oapi.Booking{}, err
		}

		if a.JSON201 == nil {
			return oapi.Booking{}, fmt.Errorf("book: %s %s", a.Status(), a.Body)
		}

		booking := a.JSON201.Data
		if halalas(booking.Amount) != halalas(trip.PricePerSeat) || booking.Payment.CheckoutUrl == nil {
			return oapi.Booking{}, fmt.Errorf("a seat of %.2f is booked for %.2f", trip.PricePerSeat, booking.Amount)
		}

		return booking, nil
	}

	return oapi.Booking{}, fmt.Errorf("no trip can be booked")
}

// pay presses the button of the sandbox gateway's page.
func pay(ctx context.Context, checkout string) error {
	form := url.Values{"outcome": {"succeed"}}.Encode()

	request, err := http.NewRequestWithContext(ctx, http.MethodPost, checkout, strings.NewReader(form))
	if err != nil {
		return err
	}

	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")

	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()

	if answer.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("the gateway's page answers %s", answer.Status)
	}

	return nil
}

func untilPaid(ctx context.Context, customer *oapi.ClientWithResponses, booking uuid.UUID) error {
	wait := int32(20)

	for range 4 {
		a, err := customer.GetPaymentStatusWithResponse(ctx, booking, &oapi.GetPaymentStatusParams{Wait: &wait})
		if err != nil {
			return err
		}

		if a.JSON200 == nil {
			return fmt.Errorf("payment status: %s %s", a.Status(), a.Body)
		}

		if now := a.JSON200.Data; now.PaymentStatus == oapi.TransactionStatusPAID {
			return nil
		}
	}

	return fmt.Errorf("the payment of booking %s stays open", booking)
}

// giveBack refunds a third, rounded down to the halala, and compares what the ledger says.
func giveBack(ctx context.Context, finance *oapi.ClientWithResponses, booking oapi.Booking) error {
	part := float64(halalas(booking.Amount)/3) / 100
	key := uuid.New()

	a, err := finance.RefundBookingWithResponse(ctx, booking.Id, &oapi.RefundBookingParams{IdempotencyKey: &key},
		oapi.RefundRequest{RefundType: oapi.RefundTypePARTIAL, Amount: &part})
	if err != nil {
		return err
	}

	if a.JSON201 == nil {
		return fmt.Errorf("refund: %s %s", a.Status(), a.Body)
	}

	if got := a.JSON201.Data.Amount; halalas(got) != halalas(part) {
		return fmt.Errorf("%.2f is given back instead of %.2f", got, part)
	}

	lines, err := finance.ListFinancialRecordsWithResponse(ctx, &oapi.ListFinancialRecordsParams{BookingId: &booking.Id})
	if err != nil || lines.JSON200 == nil {
		return fmt.Errorf("list records: %w", err)
	}

	var gross, refunded int64
	for _, line := range lines.JSON200.Data {
		gross += halalas(line.GrossAmount)
		refunded += halalas(line.RefundedAmount)
	}

	if gross != halalas(booking.Amount) || refunded != halalas(part) {
		return fmt.Errorf("the ledger has %d of %d halalas, %d of them refunded", gross, halalas(booking.Amount), refunded)
	}

	return nil
}

// halalas are exact up to 90 trillion SAR: money comes as a double, never as a single.
func halalas(amount float64) int64 { return int64(math.Round(amount * 100)) }
