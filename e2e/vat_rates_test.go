package e2e_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/api"
	"rihla/e2e/harness"
	"rihla/models"
)

// vatWalk has what was paid and opened under the old rates.
type vatWalk struct {
	company, customer, admin *harness.Caller
	booking, unpaid          uuid.UUID // bookings
	paid, open               uuid.UUID // campaigns
	trip, bookingAttempt     uuid.UUID
}

// vatReads are the operations that show a rate or an amount of VAT, each with an answer that must not change with the configuration.
var vatReads = map[string]func(vatWalk) harness.Answer{
	"GetBooking":     func(w vatWalk) harness.Answer { return w.customer.Get("/api/v1/bookings/" + w.booking.String()) },
	"ListMyBookings": func(w vatWalk) harness.Answer { return w.customer.Get("/api/v1/my/bookings") },
	"ListTripBookings": func(w vatWalk) harness.Answer {
		return w.company.Get("/api/v1/provider/trips/" + w.trip.String() + "/bookings")
	},
	"ListBookings": func(w vatWalk) harness.Answer {
		return w.admin.Get("/api/v1/admin/bookings?search=" + w.booking.String())
	},
	"PreviewRefund": func(w vatWalk) harness.Answer {
		return w.admin.Get("/api/v1/admin/bookings/" + w.booking.String() + "/refund-preview?refund_type=FULL")
	},
	"GetPaymentTransaction": func(w vatWalk) harness.Answer {
		return w.admin.Get("/api/v1/admin/payment-transactions/" + w.bookingAttempt.String())
	},

	"ListPaymentTransactions": func(w vatWalk) harness.Answer {
		return w.admin.Get("/api/v1/admin/payment-transactions?ad_campaign_id=" + w.paid.String())
	},
	"ListAdCampaigns": func(w vatWalk) harness.Answer { return w.company.Get("/api/v1/provider/ad-campaigns?sort=title") },
	"GetAdCampaign": func(w vatWalk) harness.Answer {
		return w.company.Get("/api/v1/provider/ad-campaigns/" + w.paid.String())
	},
	"PauseAdCampaign": func(w vatWalk) harness.Answer {
		return w.company.Post("/api/v1/ad-campaigns/"+w.paid.String()+"/pause", nil)
	},
	"ResumeAdCampaign": func(w vatWalk) harness.Answer {
		return w.company.Post("/api/v1/ad-campaigns/"+w.paid.String()+"/resume", nil)
	},
	"CreateBookingIntent": func(w vatWalk) harness.Answer {
		return w.customer.Post("/api/v1/payments/booking/"+w.unpaid.String()+"/intent", byCard())
	},
	"CreateCampaignIntent": func(w vatWalk) harness.Answer { return w.company.Post(campaignIntentPath(w.open), byCard()) },

	"GetFinancialSummary": func(w vatWalk) harness.Answer {
		return w.admin.Get("/api/v1/admin/financial-reports/summary?period=today")
	},
	"GetProviderFinancialSummary": func(w vatWalk) harness.Answer {
		return w.company.Get("/api/v1/provider/financial-reports/summary?period=today")
	},
	"ListFinancialRecords": func(w vatWalk) harness.Answer {
		return w.admin.Get("/api/v1/admin/financial-records?booking_id=" + w.booking.String())
	},
	"GetFinancialRecordTotals": func(w vatWalk) harness.Answer {
		return w.admin.Get("/api/v1/admin/financial-records/totals?booking_id=" + w.booking.String())
	},
	"ListProviderFinancialRecords": func(w vatWalk) harness.Answer {
		return w.company.Get("/api/v1/provider/financial-records?booking_id=" + w.booking.String())
	},
	"GetProviderDashboard": func(w vatWalk) harness.Answer { return w.company.Get("/api/v1/provider/dashboard") },
}

// vatOfNewThings show a rate that is of today, for they make or change what is not paid; or the same body as another.
var vatOfNewThings = map[string]string{
	"CreateBooking": "the booking is new", "CancelBooking": "answers as GetBooking", "CancelPaidBooking": "answers as GetBooking",
	"CorrectBooking": "answers as GetBooking", "CreateAdCampaign": "the campaign is new",
	"ReplaceAdCampaign": "refused once it is paid for", "PatchAdCampaign": "refused once it is paid for",
	"PreviewOrderedRefund": "answers as PreviewRefund", "MarkRecordTransferred": "answers as ListFinancialRecords",
	"MarkRecordsTransferred": "answers as ListFinancialRecords", "RevertRecordTransfer": "answers as ListFinancialRecords",
	"GetDashboard": "of all companies, which other tests pay meanwhile; answers as GetProviderDashboard",
}

// ratesAreKept: what was paid, and what is being paid, shows the rates and amounts of its attempt under another configuration
// (rules: prices.vat-rate).
func ratesAreKept(t *testing.T, s *harness.Stack) {
	t.Helper()

	w := vatWalk{company: s.As(models.RoleProviderAdmin), customer: s.As(models.RoleEndUser), admin: s.As(models.RoleAdmin), trip: s.World.Trip.ID}
	b := w.customer.BookPaid(1)
	w.booking, w.bookingAttempt, w.unpaid = b.ID, b.Payment.TransactionID, w.customer.Book(1).ID

	w.paid, w.open = s.NewCampaign("1000.00", 1), s.NewCampaign("500.00", 1)
	attempt := decoded[transaction](t, http.StatusCreated, w.company.Post(campaignIntentPath(w.paid), byCard()))
	require.NoError(t, s.Pay(*attempt.CheckoutURL, "succeed"))
	require.Equal(t, models.TransactionPaid, awaitTransaction(t, s, attempt.ID).Status)
	decoded[transaction](t, http.StatusCreated, w.company.Post(campaignIntentPath(w.open), byCard()))

	unpaid := s.NewCampaign("500.00", 1)
	was := map[string][]string{}

	for operation, read := range vatReads {
		was[operation] = vatIn(t, read(w))
		require.NotEmpty(t, was[operation], operation)
	}

	other := s.Replica(map[string]string{"VAT_RATE_AD": "0.05", "VAT_RATE_BOOKING": "0.07"})
	w.company, w.customer, w.admin = other.With(w.company.Token()), other.With(w.customer.Token()), other.With(w.admin.Token())

	for operation, read := range vatReads {
		if operation != "ListAdCampaigns" && operation != "GetFinancialSummary" { // one has the unpaid one, too; in the other, all pay
			require.Equal(t, was[operation], vatIn(t, read(w)), operation)
		}
	}

	type campaign struct {
		ID     uuid.UUID    `json:"id"`
		Amount models.Money `json:"amount"`
	}

	amounts := map[uuid.UUID]string{}
	for _, c := range decoded[[]campaign](t, http.StatusOK, vatReads["ListAdCampaigns"](w)) {
		amounts[c.ID] = c.Amount.String()
	}

	require.Equal(t, map[uuid.UUID]string{w.paid: "1200.00", w.open: "600.00", unpaid: "525.00"}, amounts)
	requireWalked(t)
}

// vatIn are the members of an answer that say VAT, or what it is part of, in their order.
func vatIn(t *testing.T, a harness.Answer) []string {
	t.Helper()
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)

	found := []string{}

	for part := range strings.FieldsFuncSeq(string(a.Body), func(c rune) bool { return strings.ContainsRune(`,{}[]`, c) }) {
		if strings.HasPrefix(part, `"vat_`) || strings.HasPrefix(part, `"amount"`) {
			found = append(found, part)
		}
	}

	return found
}

// requireWalked fails for an operation of the document that shows VAT and is in neither table.
func requireWalked(t *testing.T) {
	t.Helper()

	doc, err := api.Document()
	require.NoError(t, err)

	shows := []string{}

	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			for status, r := range op.Responses.Map() {
				if body := r.Value.Content.Get("application/json"); status[0] == '2' && body != nil && showsVAT(body.Schema, map[string]bool{}) {
					shows = append(shows, op.OperationID)
				}
			}
		}
	}

	slices.Sort(shows)

	walked := append(slices.Collect(maps.Keys(vatReads)), slices.Collect(maps.Keys(vatOfNewThings))...)
	slices.Sort(walked)
	require.Equal(t, slices.Compact(shows), walked)
}

func showsVAT(s *openapi3.SchemaRef, seen map[string]bool) bool {
	if s == nil || s.Ref != "" && seen[s.Ref] {
		return false
	}

	seen[s.Ref] = true

	for name, p := range s.Value.Properties {
		if strings.HasPrefix(name, "vat_") || showsVAT(p, seen) {
			return true
		}
	}

	return slices.ContainsFunc(append(slices.Concat(s.Value.AllOf, s.Value.OneOf, s.Value.AnyOf), s.Value.Items),
		func(part *openapi3.SchemaRef) bool { return showsVAT(part, seen) })
}
