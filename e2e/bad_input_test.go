package e2e_test

import (
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

// TestBadInput sends everything that is wrong to everything that listens: each answer is one of the API's document, none is a 5xx
// or HTML, and no row changes.
func TestBadInput(t *testing.T) { //nolint:tparallel // its parts share one service, one after the other
	t.Parallel()

	s := harness.Start(t, harness.Options{})

	w := newTargets(t, s)
	before := s.Digest(t)

	for name, test := range map[string]func(*testing.T, *targets){
		"bodies": badBodies, "needless bodies": needlessBodies, "forms": badForms, "sizes": badSizes, "media types": badMediaTypes, "keys": badKeys, "path ids": badPathIDs,
		"values": badValues, "queries": badQueries, "routes": badRoutes, "methods": badMethods,
		"signatures": badSignatures, "webhook bodies": badWebhooks, "tokens": badTokens,
	} {
		t.Run(name, func(t *testing.T) {
			test(t, w)

			for table, rows := range s.Digest(t) {
				require.Equal(t, before[table], rows, "rows of %s have changed", table)
			}
		})
	}

	cleanLogs(t, s)
}

// target is an operation with a request that it would accept.
type target struct {
	id     string
	method string
	path   string
	caller *harness.Caller
	body   map[string]any
}

// targets is the running service with one of everything in it.
type targets struct {
	*harness.Stack

	doc     *openapi3.T
	callers map[models.Role]*harness.Caller
	posts   []target // every operation that takes JSON from people, with a request that it would accept
	forms   []target // every operation that takes nothing but files
	bare    []target // every other one that changes something, about what does not exist: their bodies are not read
	booking harness.Booking
	paid    harness.Booking
	waiting refund          // for finance staff
	asked   harness.Booking // paid; its cancellation can be asked for
	sold    harness.Booking // paid; it can be cancelled
	decided string          // for the cancellation of a paid booking, withdrawn
	here    *harness.Stack  // with what searches look for; of TestWords
}

func newTargets(t *testing.T, s *harness.Stack) *targets {
	t.Helper()

	doc, err := api.Document()
	require.NoError(t, err)

	w := &targets{Stack: s, doc: doc, callers: map[models.Role]*harness.Caller{}}
	for _, role := range models.Roles() {
		w.callers[role] = s.As(role)
	}

	user := w.As(models.RoleEndUser)
	w.booking, w.paid = user.Book(1), user.BookPaid(1)
	w.waiting = decoded[refund](t, http.StatusAccepted, w.As(models.RoleFinanceAdmin).Post(refundPath(user.BookBilled(1).ID), fully()))
	w.asked, w.sold = user.BookPaid(1), user.BookPaid(1)
	w.decided = withdrawn(t, user, w.asked.ID)
	campaign := s.NewCampaign("1000.00", 3)

	// An event about nothing we know leaves an incident.
	stray := w.booking
	stray.Payment.TransactionID = uuid.New()
	refused(t, deliver(s, models.ChannelGatewayA, "stray", eventOf(stray, models.EventPaymentSucceeded)), http.StatusNotFound, models.CodeNotFound)

	require.Eventually(t, func() bool {
		return s.Count("SELECT count(*) FROM notifications WHERE status <> 'SENT'") == 0
	}, patience, refundPoll, "notifications are not sent")

	w.posts = slices.Concat(w.peopleTargets(), w.identityTargets(), w.moneyTargets(t, campaign), w.providerTargets(), w.resourceTargets(campaign))
	w.forms = []target{{
		"AddBusPhotos", http.MethodPost, "/api/v1/provider/buses/" + s.World.Bus.ID.String() + "/photos", w.As(models.RoleProviderStaff), nil,
	}}
	w.bare = w.bareTargets()
	w.requireAllWrites(t)

	return w
}

// withdrawn is a request for the cancellation of a booking that was taken back.
func withdrawn(t *testing.T, customer *harness.Caller, booking uuid.UUID) string {
	t.Helper()

	path := "/api/v1/bookings/" + booking.String() + "/cancellation-requests"
	id := decoded[refund](t, http.StatusCreated, customer.Post(path, map[string]any{})).ID.String()
	require.Equal(t, http.StatusOK, customer.Post(path+"/"+id+"/withdraw", nil).Status)

	return id
}

// As is a caller who has signed in already: signing in writes a row.
func (w *targets) As(role models.Role) *harness.Caller { return w.callers[role] }

// ownActs are about the caller's own account, and take neither an id nor a body (e2e/identity).
var ownActs = []string{"EndSessions", "RemoveSecondFactor", "SendVerification"}

// takesList takes a list in place of an object (cmd: TestTicketsOverHTTP).
const takesList = "ReportCheckIns"

// requireAllWrites fails when an operation was added to the document and not here.
func (w *targets) requireAllWrites(t *testing.T) {
	t.Helper()

	targets := slices.Concat(w.posts, w.forms, w.bare)
	here, there := make([]string, 0, len(targets)), []string{}

	for _, p := range targets {
		here = append(here, p.id)

		op := w.operation(p.id)
		require.NotNil(t, op, p.id)
		require.Equal(t, p.body != nil, op.RequestBody != nil && op.RequestBody.Value.Content.Get("application/json") != nil, "body of %s", p.id)
	}

	for _, item := range w.doc.Paths.Map() {
		for method, op := range item.Operations() {
			if method != http.MethodGet && op.Extensions["x-raw-body"] == nil && !slices.Contains(ownActs, op.OperationID) &&
				op.OperationID != takesList {
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

	a, err := p.caller.Do(p.method, p.path, body, header)
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
