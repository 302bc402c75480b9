// Package access_test holds the running service to the access table (rules: scope.roles), written down a second time: every
// operation of the document, for every kind of caller, about every kind of resource.
package access_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"rihla/api"
	"rihla/e2e/harness"
	"rihla/models"
)

// patient makes the API wait longer for worker and gateway than it does by default: these tests keep a machine busy.
var patient = map[string]string{"REFUND_WAIT": "12s", "CHECKOUT_WAIT": "12s"}

func TestAccess(t *testing.T) { //nolint:tparallel // its parts share one service, one after the other
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: patient})
	s.Tampered("campaigns are put into states that take a payment, without one", "campaign-status")

	table, operations := matrix(t), operationsOf(t)
	requireSame(t, operations, table)

	for id, op := range operations {
		require.ElementsMatch(t, rolesIn(table[id]), op.roles, "x-roles of %s", id)
	}

	w := newWorld(t, s)
	before := w.Digest(t)

	t.Run("refused", func(t *testing.T) { w.run(t, operations, table, func(c cell) bool { return c.want >= 400 }) })
	t.Run("changes nothing", func(t *testing.T) {
		for table, rows := range w.Digest(t) {
			require.Equal(t, before[table], rows, "rows of %s have changed", table)
		}
	})
	t.Run("lists", func(t *testing.T) { listsOf(t, w, operations) })
	t.Run("allowed", func(t *testing.T) { w.run(t, operations, table, func(c cell) bool { return c.want < 400 }) })

	for _, process := range []*harness.Process{s.API, s.Worker} {
		for line := range strings.Lines(process.Log()) {
			require.NotRegexp(t, `DATA RACE|panic|status=500|level=ERROR`, line)
		}
	}
}

// requireSame fails when an operation is in the document or in the table of this test and not in both.
func requireSame[D, T any](t *testing.T, document map[string]D, table map[string]T) {
	t.Helper()

	for id := range document {
		_, has := table[id]
		require.True(t, has, "%s is missing in the table of this test", id)
	}

	for id := range table {
		_, has := document[id]
		require.True(t, has, "the document does not have %s", id)
	}
}

// operation is an operation of the document.
type operation struct {
	method, path string
	roles        []string // that may call it; none when it needs no token
	list         bool     // its answer has pages
	stream       bool     // its answer does not end
}

func operationsOf(t *testing.T) map[string]operation {
	t.Helper()

	doc, err := api.Document()
	require.NoError(t, err)

	out := map[string]operation{}

	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			o := operation{
				method: method, path: path, list: isList(op),
				stream: op.Responses.Status(http.StatusOK) != nil && op.Responses.Status(http.StatusOK).Value.Content["text/event-stream"] != nil,
			}

			for _, name := range op.Extensions["x-roles"].([]any) {
				switch name {
				case "public":
				case "authenticated":
					for _, role := range models.Roles() {
						o.roles = append(o.roles, string(role))
					}
				default:
					o.roles = append(o.roles, name.(string))
				}
			}

			out[op.OperationID] = o
		}
	}

	return out
}

func isList(op *openapi3.Operation) bool {
	ok := op.Responses.Status(http.StatusOK)
	if ok == nil {
		return false
	}

	body := ok.Value.Content.Get("application/json")

	return body != nil && body.Schema.Value.Properties["meta"] != nil
}

// run sends the cells that are wanted, those of an operation one after the other.
func (w *world) run(t *testing.T, operations map[string]operation, table map[string][]cell, wanted func(cell) bool) {
	t.Helper()

	for id, cells := range table {
		t.Run(id, func(t *testing.T) {
			t.Parallel()

			for _, c := range cells {
				if wanted(c) {
					w.check(t, operations[id], c)
				}
			}
		})
	}
}

var placeholder = regexp.MustCompile(`\{[a-z_]+\}`)

// check sends a cell's request and looks at the answer.
func (w *world) check(t *testing.T, op operation, c cell) {
	t.Helper()

	r := w.about(t, c)

	a := w.send(t, op, c, r)
	require.Equal(t, c.want, a.Status, "%s: %s", c, a.Body)

	if code, refused := refusals[c.want]; refused {
		require.Contains(t, code, a.Code(), "%s: %s", c, a.Body)
	}

	switch {
	case c.want == http.StatusNotFound:
		w.requireLikeNever(t, op, c, a)
	case c.want == http.StatusUnauthorized && c.caller == nobody && c.kind != "unsigned":
		require.Equal(t, "Bearer", a.Header.Get("WWW-Authenticate"), c)
	case c.want == http.StatusUnprocessableEntity && r.creates:
		require.Contains(t, string(a.Body), `"details":{"provider_id":[`, c)
	case c.want < http.StatusBadRequest:
		w.requireIts(t, op, c, r, a)
	}
}

// refusals are the codes that a status may come with here.
var refusals = map[int][]models.Code{
	http.StatusUnauthorized: {models.CodeUnauthenticated, models.CodeInvalidSignature}, http.StatusForbidden: {models.CodeForbidden},
	http.StatusNotFound: {models.CodeNotFound}, http.StatusUnprocessableEntity: {models.CodeValidation},
	http.StatusConflict: {models.CodeTripNotBookable, models.CodeBookingNotRefundable, models.CodeInvalidState, models.CodeBookingNotPayable},
}

func (w *world) send(t *testing.T, op operation, c cell, r request) harness.Answer {
	t.Helper()

	ids := slices.Clone(r.ids)
	path := placeholder.ReplaceAllStringFunc(op.path, func(string) string {
		require.NotEmpty(t, ids, "the request of %s lacks an id", c)

		id := ids[0]
		ids = ids[1:]

		return id
	})
	require.Empty(t, ids, "the request of %s has too many ids", c)

	caller := w.callers[c.caller]
	if r.caller != nil {
		caller = r.caller
	}

	if op.stream && c.want == http.StatusOK {
		events := caller.Listen(path)
		defer events.Close()

		return harness.Answer{Status: events.Status, Header: events.Header}
	}

	a, err := caller.Do(op.method, path+r.query, r.body, r.header)
	require.NoError(t, err)

	return a
}

// requireLikeNever compares a 404 with that of something that never existed: to the byte, headers included.
func (w *world) requireLikeNever(t *testing.T, op operation, c cell, a harness.Answer) {
	t.Helper()
	require.JSONEq(t, `{"error":{"code":"NOT_FOUND","message":"The resource does not exist.","ui_message":"العنصر المطلوب غير موجود."}}`, string(a.Body))

	never := c
	never.kind = "never"
	b := w.send(t, op, never, w.about(t, never))
	require.Equal(t, string(b.Body), string(a.Body), c)

	for _, name := range []string{"X-Request-Id", "Date"} {
		a.Header.Del(name)
		b.Header.Del(name)
	}

	require.Equal(t, b.Header, a.Header, c)
}

// requireIts checks that a success is about what was asked for, and that something new belongs to whom it should.
func (w *world) requireIts(t *testing.T, op operation, c cell, r request, a harness.Answer) {
	t.Helper()

	list := op.list || strings.HasPrefix(c.operation, "List") || c.operation == "MarkRecordsTransferred" || c.operation == "ReportCheckIns"
	if list || len(a.Body) == 0 || !strings.HasPrefix(op.path, "/api/v1/") || !strings.HasPrefix(a.Header.Get("Content-Type"), "application/json") {
		return
	}

	var data object

	require.NoError(t, a.Data(&data), "%s: %s", c, a.Body)

	if a.Status == http.StatusOK && len(r.ids) > 0 {
		id := data["id"]
		switch c.operation {
		case "CancelPaidBooking":
			id = data["booking"].(map[string]any)["id"] //nolint:forcetypeassert // the answer was held against the document
		case "GetPaymentStatus", "GetRefundQuote", "PreviewRefund", "GetCancellationQuote":
			id = data["booking_id"]
		case "PreviewReschedule", "PreviewTripCancellation", "CancelTrip", "GetTripCancellation", "ApproveTripCancellation", "RejectTripCancellation":
			id = data["trip_id"]
		case "GetTicket":
			return // it has the booking's number
		case "GetBalanceOfProvider":
			id = data["provider_id"]
		}

		require.Equal(t, r.ids[len(r.ids)-1], id, c)
	}

	owner, has := data["provider_id"].(string)

	switch {
	case !has:
	case r.creates && isStaff(c.caller): // whatever they name
		require.Equal(t, w.provider(home(c.caller)).String(), owner, c)
	case w.companies[c.kind] != nil:
		require.Equal(t, w.provider(c.kind).String(), owner, c)
	}
}
