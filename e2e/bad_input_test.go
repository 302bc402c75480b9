package e2e_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/api"
	"rihla/e2e/harness"
	"rihla/models"
)

// TestBadInput sends everything that is wrong to everything that listens: each answer is the contract's, none is a 5xx
// or HTML, and no row changes.
func TestBadInput(t *testing.T) { //nolint:tparallel // its parts share one service, one after the other
	t.Parallel()

	s := harness.Start(t, harness.Options{})
	s.Conform()

	w := newTargets(t, s)
	before := rowsOf(t, s)

	for name, test := range map[string]func(*testing.T, *targets){
		"bodies": badBodies, "sizes": badSizes, "media types": badMediaTypes, "keys": badKeys, "path ids": badPathIDs,
		"values": badValues, "queries": badQueries, "routes": badRoutes, "methods": badMethods,
		"signatures": badSignatures, "webhook bodies": badWebhooks, "tokens": badTokens,
	} {
		t.Run(name, func(t *testing.T) {
			test(t, w)

			for table, rows := range rowsOf(t, s) {
				require.Equal(t, before[table], rows, "rows of %s have changed", table)
			}
		})
	}

	cleanLogs(t, s)
}

// target is an operation with a request that it would accept.
type target struct {
	id     string
	path   string
	caller *harness.Caller
	body   map[string]any
}

// targets is the running service with one of everything in it.
type targets struct {
	*harness.Stack

	doc     *openapi3.T
	callers map[models.Role]*harness.Caller
	posts   []target // every operation that takes JSON from people
	booking harness.Booking
	paid    harness.Booking
}

func newTargets(t *testing.T, s *harness.Stack) *targets {
	t.Helper()

	doc, err := api.Document()
	require.NoError(t, err)

	w := &targets{Stack: s, doc: doc, callers: map[models.Role]*harness.Caller{}}
	for _, role := range models.Roles() {
		w.callers[role] = s.As(role)
	}

	user, admin := w.As(models.RoleEndUser), w.As(models.RoleSuperAdmin)
	w.booking, w.paid = user.Book(1), user.BookPaid(1)
	campaign := s.NewCampaign("1000.00", 3)

	// An event about nothing we know leaves an incident.
	stray := w.booking
	stray.Payment.TransactionID = uuid.New()
	refused(t, deliver(s, models.ChannelGatewayA, "stray", eventOf(stray, models.EventPaymentSucceeded)), http.StatusNotFound, models.CodeNotFound)

	require.Eventually(t, func() bool {
		return s.Count("SELECT count(*) FROM notifications WHERE status <> 'SENT'") == 0
	}, patience, refundPoll, "notifications are not sent")

	intent := map[string]any{"payment_method": "credit_card", "return_url": "https://rihla.test/done"}
	token := map[string]any{"refresh_token": "no-such-token"}

	w.posts = []target{
		{"Register", "/api/v1/auth/register", s.Anybody(), map[string]any{
			"name": "Somebody", "email": "somebody@rihla.test", "phone": "+966500000009", "password": "long-enough-password",
		}},
		{"Login", "/api/v1/auth/login", s.Anybody(), map[string]any{"email": "nobody@rihla.test", "password": "long-enough-password"}},
		{"RefreshTokens", "/api/v1/auth/refresh", s.Anybody(), token},
		{"Logout", "/api/v1/auth/logout", s.Anybody(), token},
		{"CreateBooking", "/api/v1/bookings", user, s.BookingRequest(1)},
		{"CreateBookingIntent", "/api/v1/payments/booking/" + w.booking.ID.String() + "/intent", user, intent},
		{"CreateCampaignIntent", "/api/v1/payments/ad-campaign/" + campaign.String() + "/intent", w.As(models.RoleProviderStaff), intent},
		{"RefundBooking", refundPath(w.paid.ID), w.As(models.RoleFinanceAdmin), map[string]any{
			"refund_type": "PARTIAL", "amount": models.MustMoney("1.00"), "reason": "no reason",
		}},
		{
			"ResolveIncident", "/api/v1/admin/incidents/" + w.one(t, "SELECT id FROM incidents") + "/resolve", admin,
			map[string]any{"note": "looked at"},
		},
		{
			"MarkRecordTransferred", "/api/v1/admin/financial-records/" + w.one(t, "SELECT id FROM financial_records") + "/mark-transferred",
			admin,
			map[string]any{"payout_reference": "TRF-1", "payout_date": "2026-11-30"},
		},
	}
	w.requireAllPosts(t)

	return w
}

// As is a caller who has signed in already: signing in writes a row.
func (w *targets) As(role models.Role) *harness.Caller { return w.callers[role] }

// requireAllPosts fails when an operation was added to the document and not here.
func (w *targets) requireAllPosts(t *testing.T) {
	t.Helper()

	here, there := make([]string, len(w.posts)), []string{}
	for i, p := range w.posts {
		here[i] = p.id
	}

	for _, item := range w.doc.Paths.Map() {
		for method, op := range item.Operations() {
			if method != http.MethodGet && op.Extensions["x-raw-body"] == nil {
				there = append(there, op.OperationID)
			}
		}
	}

	require.ElementsMatch(t, there, here)
}

// operation is the document's operation of a target.
func (w *targets) operation(id string) *openapi3.Operation {
	for _, item := range w.doc.Paths.Map() {
		for _, op := range item.Operations() {
			if op.OperationID == id {
				return op
			}
		}
	}

	return nil
}

func (w *targets) one(t *testing.T, query string) string {
	t.Helper()

	var id string

	require.NoError(t, w.DB.QueryRowContext(t.Context(), query).Scan(&id))

	return id
}

// do sends what a target should refuse.
func (w *targets) do(t *testing.T, p target, body any, header map[string]string) harness.Answer {
	t.Helper()

	a, err := p.caller.Do(http.MethodPost, p.path, body, header)
	require.NoError(t, err)

	return a
}

// with is the target's body with a field changed.
func (p target) with(field string, value any) map[string]any {
	body := maps.Clone(p.body)
	body[field] = value

	return body
}

// fields are the names of the target's fields, in order.
func (p target) fields() []string { return slices.Sorted(maps.Keys(p.body)) }

// rowsOf is every table's number of rows and a digest of what is in them.
func rowsOf(t *testing.T, s *harness.Stack) map[string]string {
	t.Helper()

	rows, err := s.DB.QueryContext(t.Context(), `
		SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`)
	require.NoError(t, err)

	defer rows.Close()

	var tables []string

	for rows.Next() {
		var name string

		require.NoError(t, rows.Scan(&name))
		tables = append(tables, name)
	}

	require.NoError(t, rows.Err())
	require.Contains(t, tables, "payment_transactions")

	out := map[string]string{}

	for _, name := range tables {
		var digest string

		require.NoError(t, s.DB.QueryRowContext(t.Context(), fmt.Sprintf(
			`SELECT count(*) || ' ' || coalesce(md5(string_agg(r::text, '|' ORDER BY r::text)), '') FROM %q AS r`, name)).Scan(&digest))
		out[name] = digest
	}

	return out
}
