package api

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	desk "rihla/api/operations"
	"rihla/internal/auth"
	"rihla/internal/config"
	"rihla/internal/store"
	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/storetest"
	"rihla/models"
	"rihla/workflows"
)

// deskBundle is the API with its own handlers, on a database of its own with a company, its bookings and a user per role.
type deskBundle struct {
	*bundle
	*bookstest.Books

	ahead *atomic.Int64 // of the service's clock
}

func setupDesk(t *testing.T) *deskBundle {
	t.Helper()

	books := bookstest.NewBooks(t)
	away, err := client.NewLazyClient(client.Options{HostPort: "127.0.0.1:1", Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(away.Close)

	ahead := &atomic.Int64{}
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }

	b := setup(t, func(d *Deps) {
		ops := desk.New(desk.Deps{
			Store: books.Store, Log: slog.New(slog.DiscardHandler), Now: now, Workflows: workflows.NewClient(away, "test"),
			AtOnce: config.AtOnce{Exports: 1, Uploads: 1, LongPolls: 1},
		})
		d.Operations, d.Auth, d.Idempotency, d.MayWrite = ops, people{books.World}, keys{books.Store}, ops.MayWrite
	})

	return &deskBundle{bundle: b, Books: books, ahead: ahead}
}

// people knows one token per role, that of the world's user with it.
type people struct{ storetest.World }

func (p people) Verify(_ context.Context, token string) (auth.Principal, error) {
	u, ok := p.Users[models.Role(token)]
	if !ok {
		return auth.Principal{}, models.NotFound()
	}

	caller := auth.Principal{UserID: u.ID, Role: u.Role}
	if u.ProviderID != nil {
		caller.ProviderID = *u.ProviderID
	}

	return caller, nil
}

const deskAgent = string(models.RoleSupportAgent)

func deskPath(booking uuid.UUID, action string) string {
	return "/api/v1/admin/bookings/" + booking.String() + action
}

// data is that of an answer.
func data[T any](t *testing.T, status int, a answer) T {
	t.Helper()
	require.Equal(t, status, a.status, a.body)

	var out struct {
		Data T `json:"data"`
	}

	require.NoError(t, json.Unmarshal([]byte(a.body), &out))

	return out.Data
}

type deskBooking struct {
	Contact    struct{ Name, Email, Phone string }
	Passengers []struct{ ID, Name string }
}

// TestCorrectBooking over HTTP: what people write is cleaned as for a new booking, a phone kept in one spelling, and every other role is refused.
func TestCorrectBooking(t *testing.T) {
	t.Parallel()
	b := setupDesk(t)
	id := *b.Paid(t, 2).BookingID
	passenger := models.PassengerID(id, 2).String()

	is := data[deskBooking](t, http.StatusOK, b.call(t, http.MethodPatch, deskPath(id, ""), deskAgent, `{"contact":{"email":" Right@rihla.test ",
		"phone":"٠٥٠ ١٢٣ ٤٥٦٧"},"passengers":[{"id":"`+passenger+`","name":" Right Name "}]}`))
	require.Equal(t, "Right@rihla.test", is.Contact.Email)
	require.Equal(t, "+966501234567", is.Contact.Phone)
	require.Equal(t, "Contact", is.Contact.Name)
	require.Equal(t, passenger, is.Passengers[1].ID)
	require.Equal(t, "Right Name", is.Passengers[1].Name)

	for _, role := range []models.Role{models.RoleEndUser, models.RoleProviderStaff, models.RoleProviderAdmin} {
		require.Equal(t, http.StatusForbidden, b.call(t, http.MethodPatch, deskPath(id, ""), string(role), `{"contact":{"name":"X"}}`).status, role)
	}

	for body, field := range map[string]string{
		`{}`: "", `{"contact":{}}`: "contact", `{"contact":null}`: "", `{"contact":{"email":"nobody"}}`: "contact.email",
		`{"contact":{"name":"see www.rihla.test/x"}}`: "contact.name",
		`{"contact":{"phone":"12"}}`:                  "contact.phone",
		`{"contact":{"phone":"0000000000"}}`:          "contact.phone",
		`{"contact":{"name":" "}}`:                    "contact.name",
		`{"contact":{"user_id":"1"}}`:                 "contact.user_id",
		`{"amount":1}`:                                "amount",
		`{"passengers":[]}`:                           "passengers",
		`{"passengers":[{"name":"One"}]}`:             "passengers.0.id",
		`{"passengers":[{"id":"1","name":"One"}]}`:    "passengers.0.id",
		`{"passengers":[{"id":"` + passenger + `","name":"One","document_number":"D2"}]}`:              "passengers.0.document_number",
		`{"passengers":[{"id":"` + uuid.NewString() + `","name":"One"}]}`:                              "passengers",
		`{"passengers":[{"id":"` + passenger + `","name":"A"},{"id":"` + passenger + `","name":"B"}]}`: "passengers",
	} {
		a := b.call(t, http.MethodPatch, deskPath(id, ""), deskAgent, body)
		require.Equal(t, http.StatusUnprocessableEntity, a.status, "%s: %s", body, a.body)

		if field != "" {
			require.Contains(t, a.details, field, body)
			require.NotEmpty(t, a.uiDetails[field], body)
		}
	}

	a := b.call(t, http.MethodPatch, deskPath(uuid.New(), ""), deskAgent, `{"contact":{"name":"Other"}}`)
	require.Equal(t, http.StatusNotFound, a.status)

	b.ahead.Store(int64(time.Until(b.Trip.DepartureAt)))
	a = b.call(t, http.MethodPatch, deskPath(id, ""), deskAgent, `{"contact":{"name":"Other"}}`, "Accept-Language", "ar")
	require.Equal(t, string(models.CodeInvalidState), a.code)
	require.Contains(t, a.uiMessage, "غادرت الرحلة")
}

// TestBookingNotes over HTTP: they are written once under a key, and listed newest first.
func TestBookingNotes(t *testing.T) {
	t.Parallel()
	b := setupDesk(t)
	id := b.Book(t, b.Trip, 1).ID
	key := uuid.NewString()

	a := b.call(t, http.MethodPost, deskPath(id, "/notes"), deskAgent, `{"note":"Called about a wheelchair"}`, "Idempotency-Key", key)
	first := data[map[string]string](t, http.StatusCreated, a)
	require.Equal(t, deskPath(id, "/notes"), a.get("Location"))
	again := b.call(t, http.MethodPost, deskPath(id, "/notes"), deskAgent, `{"note":"Called about a wheelchair"}`, "Idempotency-Key", key)
	require.Equal(t, a.body, again.body)
	require.Equal(t, "true", again.get("Idempotent-Replayed"))

	data[map[string]string](t, http.StatusCreated, b.call(t, http.MethodPost, deskPath(id, "/notes"), "ADMIN", `{"note":"It is arranged"}`))

	all := data[[]map[string]string](t, http.StatusOK, b.call(t, http.MethodGet, deskPath(id, "/notes"), "FINANCE_ADMIN", ""))
	require.Len(t, all, 2)
	require.Equal(t, "It is arranged", all[0]["note"])
	require.Equal(t, first, all[1])
	require.Equal(t, b.Users[models.RoleSupportAgent].Name, all[1]["author_name"])

	for _, role := range []string{"END_USER", "PROVIDER_ADMIN"} {
		require.Equal(t, http.StatusForbidden, b.call(t, http.MethodGet, deskPath(id, "/notes"), role, "").status)
		require.Equal(t, http.StatusForbidden, b.call(t, http.MethodPost, deskPath(id, "/notes"), role, `{"note":"x"}`).status)
	}

	for _, body := range []string{`{}`, `{"note":""}`, `{"note":" \n"}`, `{"note":null}`, `{"note":"x","to":"y"}`} {
		require.Equal(t, http.StatusUnprocessableEntity, b.call(t, http.MethodPost, deskPath(id, "/notes"), deskAgent, body).status, body)
	}

	require.Equal(t, http.StatusNotFound, b.call(t, http.MethodGet, deskPath(uuid.New(), "/notes"), deskAgent, "").status)
}

// TestResendBookingMessage over HTTP: the answer names addresses by their masks, and says when to come back.
func TestResendBookingMessage(t *testing.T) {
	t.Parallel()
	b := setupDesk(t)
	id := *b.Paid(t, 1).BookingID
	key := uuid.NewString()

	a := b.call(t, http.MethodPost, deskPath(id, "/resend"), deskAgent, `{"kind":"CONFIRMATION"}`, "Idempotency-Key", key)
	sent := data[struct {
		Kind         string              `json:"kind"`
		KindLabelAr  string              `json:"kind_label_ar"`
		SendingsLeft int                 `json:"sendings_left"`
		Messages     []map[string]string `json:"messages"`
	}](t, http.StatusAccepted, a)
	require.Equal(t, "CONFIRMATION", sent.Kind)
	require.Equal(t, "تأكيد الحجز", sent.KindLabelAr)
	require.Equal(t, 4, sent.SendingsLeft)
	require.Equal(t, "c***@rihla.test", sent.Messages[0]["to"])
	require.Equal(t, a.body, b.call(t, http.MethodPost, deskPath(id, "/resend"), deskAgent, `{"kind":"CONFIRMATION"}`, "Idempotency-Key", key).body)

	many := b.call(t, http.MethodPost, deskPath(id, "/resend"), deskAgent, `{"kind":"CONFIRMATION"}`)
	require.Equal(t, http.StatusTooManyRequests, many.status)
	require.NotEmpty(t, many.get("Retry-After"))

	require.Equal(t, string(models.CodeInvalidState), b.call(t, http.MethodPost, deskPath(id, "/resend"), deskAgent, `{"kind":"REFUND"}`).code)
	require.Equal(t, http.StatusForbidden, b.call(t, http.MethodPost, deskPath(id, "/resend"), "END_USER", `{"kind":"REFUND"}`).status)

	for _, body := range []string{`{}`, `{"kind":"CHECKOUT"}`, `{"kind":null}`, `{"kind":["REFUND"]}`} {
		require.Equal(t, http.StatusUnprocessableEntity, b.call(t, http.MethodPost, deskPath(id, "/resend"), deskAgent, body).status, body)
	}
}

// keys keeps answers in the database.
type keys struct{ s *store.Store }

func (k keys) Claim(ctx context.Context, scope db.KeyScope) (db.Claim, error) {
	return k.s.DB.ClaimKey(ctx, scope, time.Minute)
}

func (k keys) Complete(ctx context.Context, claim uuid.UUID, a db.Answer) error {
	return k.s.DB.CompleteKey(ctx, claim, a)
}

func (k keys) Release(ctx context.Context, claim uuid.UUID) error {
	return k.s.DB.ReleaseKey(ctx, claim)
}
