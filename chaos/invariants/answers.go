package invariants

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"rihla/api/gen"
	"rihla/chaos/actors"
	"rihla/models"
)

var aboutAnswers = []Invariant{
	{
		"answers",
		"no client got a wrong answer: no 500; 503 with `Retry-After` and 502 about a gateway only while failures last; " +
			"then the end that was due",
		func(_ context.Context, s *Evidence) ([]string, error) { return s.Run.Journal.Problems(), nil },
	},
	{
		"same-key-same-answer",
		"a request that succeeded (2xx) gets the same status, `Location` and body whenever it is sent again with its " +
			"`Idempotency-Key`", sameAnswers,
	},
	{"booked-is-booked", "every booking answered with 201 exists once, as answered", booked},
	{
		"page-tells-the-truth",
		"the success page shows what became of every payment, and never that an unpaid booking is paid", truth,
	},
	{"refund-is-kept", "every refund answered with 201 or 202 exists with its amount", refunded},
	{"payout-is-kept", "every ledger entry answered as transferred was transferred once", paidOut},
}

// final are the answers that are kept: what was done. A refusal has done nothing, and is judged anew.
func final(a actors.Answer) bool {
	return a.Key != "" && a.Status >= http.StatusOK && a.Status < http.StatusMultipleChoices
}

// again are the answers that say "try again".
func again(a actors.Answer) bool {
	return a.Status >= http.StatusInternalServerError || a.Status == http.StatusUnauthorized || a.Code() == models.CodeIdempotencyKeyInProcess
}

func sameAnswers(_ context.Context, s *Evidence) ([]string, error) {
	first := map[string]actors.Answer{}

	var found []string

	for _, a := range s.Run.Journal.Answers() {
		b, known := first[a.Key]
		if !known {
			if final(a) {
				first[a.Key] = a
			}

			continue
		}

		if again(a) {
			continue
		}

		if a.Status != b.Status || a.Header.Get("Location") != b.Header.Get("Location") ||
			!bytes.Equal(bytes.TrimSpace(a.Body), bytes.TrimSpace(b.Body)) {
			found = append(found, fmt.Sprintf("%s: %s %s with key %s: first %d %s\n    then (replayed: %v) %d %s",
				a.Who, a.Method, a.Path, a.Key, b.Status, b.Body, a.Header.Get("Idempotent-Replayed") == "true", a.Status, a.Body))
		}
	}

	return found, nil
}

func booked(ctx context.Context, s *Evidence) ([]string, error) {
	var found []string

	for _, b := range s.Run.Bookings {
		if b == nil {
			continue
		}

		var (
			rows, same int
			byMail     int
		)

		err := s.Env.DB.QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE id = $1),
				count(*) FILTER (WHERE id = $1 AND jsonb_array_length(passengers) = $3 AND amount = $4::numeric AND trip_id = $5), count(*)
			FROM bookings WHERE contact_email = $2 OR id = $1`, b.ID, b.Email, b.Seats, b.Amount.String(), b.TripID).
			Scan(&rows, &same, &byMail)
		if err != nil {
			return nil, err
		}

		if rows != 1 || same != 1 || byMail != 1 {
			found = append(found, fmt.Sprintf("booking %s of %s: %d rows, %d as answered, %d of this customer", b.ID, b.Email, rows, same, byMail))
		}
	}

	return found, nil
}

// truth goes by the gateway's books: an answer says that a payment is made only when the gateway has taken the money. The later
// fate of the money is in the rows.
func truth(ctx context.Context, s *Evidence) ([]string, error) {
	paid, err := saidToBePaid(s)
	if err != nil {
		return nil, err
	}

	found, err := texts(ctx, s.Env.DB, `SELECT format('the page of booking %s said that it was paid, but the gateway has taken nothing',
			said.id)
		FROM unnest($2::uuid[]) AS said (id) WHERE NOT EXISTS (SELECT FROM payment_transactions AS t
			JOIN `+gatewayCheckouts+` ON g.merchant_reference = t.id AND g.status = 'paid' WHERE t.booking_id = said.id)`, checkouts(s), paid)
	if err != nil {
		return nil, err
	}

	for booking, told := range s.Run.Statuses(ctx) {
		is, err := texts(ctx, s.Env.DB, `SELECT CASE WHEN t.refunded_amount = t.amount THEN 'REFUNDED'
				WHEN t.refunded_amount > 0 THEN 'PARTIAL_REFUND' ELSE 'PAID' END
			FROM payment_transactions AS t JOIN `+gatewayCheckouts+` ON g.merchant_reference = t.id AND g.status = 'paid'
			WHERE t.booking_id = $2 AND t.status = 'PAID'
			UNION ALL SELECT 'FAILED' WHERE NOT EXISTS (SELECT FROM payment_transactions WHERE booking_id = $2 AND status = 'PAID')`,
			checkouts(s), booking)
		if err != nil {
			return nil, err
		}

		if len(is) != 1 || is[0] != string(told) {
			found = append(found, fmt.Sprintf("the page of booking %s says %s, it is %s", booking, told, is))
		}
	}

	return found, nil
}

// saidToBePaid are the bookings of which a success page has ever said that they were paid.
func saidToBePaid(s *Evidence) ([]string, error) {
	said := map[string]bool{}

	for _, a := range s.Run.Journal.Answers() {
		if !strings.Contains(a.Path, "/payment-status") || a.Status != http.StatusOK {
			continue
		}

		var page gen.PaymentStatus

		if err := a.Data(&page); err != nil {
			return nil, err
		}

		if page.PaymentStatus != models.TransactionPending && page.PaymentStatus != models.TransactionFailed {
			said[page.BookingID.String()] = true
		}
	}

	return slices.Collect(maps.Keys(said)), nil
}

func refunded(ctx context.Context, s *Evidence) ([]string, error) {
	return kept(ctx, s, "/refund", `SELECT count(*) FROM refunds WHERE id = $1 AND amount = $2::numeric`, "amount")
}

func paidOut(ctx context.Context, s *Evidence) ([]string, error) {
	return kept(ctx, s, "/mark-transferred", `SELECT count(*) FROM financial_records AS r WHERE r.id = $1 AND r.transferred_at IS NOT NULL
		AND r.payout_reference = $2 AND (SELECT count(*) FROM ledger_transfers AS l WHERE l.record_id = r.id AND l.kind = 'PAYOUT') <= 1`,
		"payout_reference")
}

// kept looks up what successful answers to a path were about.
func kept(ctx context.Context, s *Evidence, suffix, query, field string) ([]string, error) {
	var found []string

	for _, a := range s.Run.Journal.Answers() {
		if a.Method != http.MethodPost || !strings.HasSuffix(a.Path, suffix) || a.Status >= http.StatusMultipleChoices {
			continue
		}

		var answered map[string]any
		if err := a.Data(&answered); err != nil {
			return nil, err
		}

		value := answered[field]
		if amount, ok := value.(float64); ok {
			value = fmt.Sprintf("%.2f", amount)
		}

		var n int
		if err := s.Env.DB.QueryRowContext(ctx, query, answered["id"], value).Scan(&n); err != nil {
			return nil, err
		}

		if n != 1 {
			found = append(found, fmt.Sprintf("%s answered %d %s, of which there is nothing", a.Path, a.Status, a.Body))
		}
	}

	return found, nil
}
