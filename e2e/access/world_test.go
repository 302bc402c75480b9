package access_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/internal/store/bookings"
	"rihla/internal/store/db"
	"rihla/internal/store/seed"
	"rihla/models"
)

const (
	nobody   = "nobody"
	idle     = " (idle)"
	patience = 30 * time.Second
	poll     = 50 * time.Millisecond
)

// world is a running service with three companies and a user of every role, all signed in.
type world struct {
	*harness.Stack

	companies map[string]*harness.Stack // A, B and C, as each of them sees the service
	callers   map[string]*harness.Caller
	users     map[string]models.User // behind the callers
	shared    map[string]uuid.UUID   // what only requests that change nothing are about, by `<resource> <kind>`
	deleted   map[string]uuid.UUID   // by `<resource> <company>`
	bookings  map[string]uuid.UUID   // one of each caller, and one of a stranger
	photoURLs map[string]string      // of a bus of each company
	dear      *harness.Caller        // a customer whose seat costs so much that its refund needs an approval
}

const stranger = "stranger"

func newWorld(t *testing.T, s *harness.Stack) *world {
	t.Helper()

	w := &world{
		Stack: s, companies: map[string]*harness.Stack{"A": s, "B": s.For(t), "C": s.For(t)},
		callers: map[string]*harness.Caller{nobody: s.Anybody()}, users: map[string]models.User{},
		shared: map[string]uuid.UUID{}, deleted: map[string]uuid.UUID{}, bookings: map[string]uuid.UUID{}, photoURLs: map[string]string{},
	}

	for _, role := range models.Roles() {
		w.signIn(string(role), w.companies["A"], role)

		if role.IsProvider() {
			w.signIn(string(role)+idle, w.companies["C"], role)
		}
	}

	w.signIn(stranger, w.companies["B"], models.RoleEndUser)

	for name, caller := range w.callers {
		if name != nobody {
			w.bookings[name] = caller.Book(1).ID
		}
	}

	dear := s.For(t)
	dear.World.Trip = dear.NewTripAt("6000.00")
	w.dear = dear.As(models.RoleEndUser)

	w.enlargeTrips(t)
	w.keep(t)

	for name := range w.companies {
		w.own(t, name)
	}

	w.deleted["account"] = w.newManaged(t, "")
	require.NoError(t, w.Store.Accounts.RemoveUser(t.Context(), db.Actor{Operator: "test"}, w.deleted["account"]))

	a, err := w.callers["ADMIN"].Do(http.MethodPost, "/api/v1/admin/providers/"+w.provider("C").String()+"/deactivate", nil, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)

	// Nothing may happen by itself while it is watched whether anything happens.
	require.Eventually(t, func() bool {
		return s.GatewayStats().WebhooksPending == 0 && s.Count(`SELECT (SELECT count(*) FROM notifications WHERE status <> 'SENT')
			+ (SELECT count(*) FROM webhook_events WHERE processed_at IS NULL)`) == 0
	}, patience, poll, "something is still under way")

	return w
}

// enlargeTrips lets the trips take as many bookings as the table makes.
func (w *world) enlargeTrips(t *testing.T) {
	t.Helper()

	for _, query := range []string{"UPDATE buses SET capacity = 100", "UPDATE trips SET capacity = 100"} {
		_, err := w.DB.ExecContext(t.Context(), query)
		require.NoError(t, err)
	}
}

func (w *world) signIn(name string, company *harness.Stack, role models.Role) {
	w.callers[name], w.users[name] = company.As(role), company.World.Users[role]
}

func (w *world) provider(company string) uuid.UUID { return w.companies[company].World.Provider.ID }

// keep makes what the platform keeps about money: a sale of every company, a refund, an incident.
func (w *world) keep(t *testing.T) {
	t.Helper()

	for name, company := range w.companies {
		paid := company.As(models.RoleEndUser).BookPaid(1)
		w.shared["sale "+name] = paid.ID
	}

	returning := w.BookingRequest(1)
	returning["return_url"] = "https://rihla.test/done"
	a := w.callers["END_USER"].Post("/api/v1/bookings", returning)
	require.Equal(t, http.StatusCreated, a.Status, "%s", a.Body)

	w.shared["return"] = w.id(t, "SELECT return_id FROM payment_transactions WHERE return_url <> ''")
	w.shared["transaction"] = w.id(t, "SELECT id FROM payment_transactions WHERE booking_id = $1", w.shared["sale B"])
	w.shared["record"] = w.id(t, "SELECT id FROM financial_records WHERE booking_id = $1", w.shared["sale B"])
	w.shared["incident"] = w.newIncident(t)

	for _, kind := range []models.ExportKind{models.ExportFinancialRecords, models.ExportAuditLog} {
		w.exec(t, "INSERT INTO audit_log (id, action, entity) VALUES ($1, $2, 'export')", models.NewID(), kind.Started())
	}

	a = w.callers["FINANCE_ADMIN"].Post("/api/v1/admin/bookings/"+w.shared["sale B"].String()+"/refund",
		object{"refund_type": "PARTIAL", "amount": 10})
	require.Contains(t, []int{http.StatusCreated, http.StatusAccepted}, a.Status, "%s", a.Body)

	var refund struct {
		ID uuid.UUID `json:"id"`
	}

	require.NoError(t, a.Data(&refund))
	require.Eventually(t, func() bool {
		return w.Count("SELECT count(*) FROM refunds WHERE status = 'PENDING'") == 0
	}, patience, poll, "the refund stays PENDING")

	w.shared["refund"] = refund.ID
	w.shared["payout"] = w.newPayout(t, "ADMIN")
}

// own makes a company's things: one of each, and one of each that is deleted.
func (w *world) own(t *testing.T, company string) {
	t.Helper()

	for _, r := range resources {
		w.shared[r.name+" "+company] = w.make(t, r.name, company)
		gone := w.make(t, r.name, company)

		a, err := w.callers["SUPER_ADMIN"].Do(http.MethodDelete, r.path+"/"+gone.String(), nil, nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusNoContent, a.Status, "%s", a.Body)

		w.deleted[r.name+" "+company] = gone
	}

	w.ownPhotos(t, company)
	w.shared["public trip "+company] = w.companies[company].NewTrip("Published "+company, 40).ID
	w.shared["staff "+company] = w.companies[company].World.Users[models.RoleProviderStaff].ID
	w.deleted["staff "+company] = w.newUser(t, company)
	require.NoError(t, w.Store.Accounts.RemoveUser(t.Context(), db.Actor{}, w.deleted["staff "+company]))
}

// make inserts a thing of a company that may be changed and deleted, and returns its id.
func (w *world) make(t *testing.T, resource, company string) uuid.UUID {
	t.Helper()

	var (
		d  seed.DemoData
		id = models.NewID()
		s  = w.companies[company]
	)

	switch resource {
	case "Bus":
		bus := s.World.Bus
		bus.ID, bus.PlateNumber = id, "OF "+id.String()[24:]
		d.Buses = []models.Bus{bus}
	case "Hotel":
		hotel := s.World.Hotel
		hotel.ID = id
		d.Hotels = []models.Hotel{hotel}
	case "RestStop":
		stop := s.World.RestStop
		stop.ID = id
		d.RestStops = []models.RestStop{stop}
	case "Trip":
		trip := s.World.NewTrip("Draft", 40)
		trip.ID, trip.Status = id, models.TripDraft
		d.Trips = []models.Trip{trip}
	case "Provider":
		provider := s.World.Provider
		provider.ID = id
		d.Providers = []models.Provider{provider}
	case "AdCampaign":
		return s.NewCampaign("1000.00", 3)
	default:
		require.Fail(t, "nothing to make", resource)
	}

	require.NoError(t, seed.Of(w.Store).InsertDemo(t.Context(), d))

	return id
}

func (w *world) newUser(t *testing.T, company string) uuid.UUID {
	t.Helper()

	provider := w.provider(company)
	u, err := w.Store.Accounts.CreateUser(t.Context(), models.User{
		Name: "Former Staff", Email: mark() + "@rihla.test", Phone: "+966500000000", PasswordHash: "none",
		Role: models.RoleProviderStaff, ProviderID: &provider,
	})
	require.NoError(t, err)

	return u.ID
}

func (w *world) newIncident(t *testing.T) uuid.UUID {
	t.Helper()

	id := models.NewID()
	_, err := w.DB.ExecContext(t.Context(), "INSERT INTO incidents (id, kind, message) VALUES ($1, 'GATEWAY_OUTAGE', 'Out')", id)
	require.NoError(t, err)

	return id
}

// newBooking books a seat of company A for a user, without a payment yet.
func (w *world) newBooking(t *testing.T, user string) uuid.UUID {
	t.Helper()

	b, err := w.Store.Bookings.CreateBooking(t.Context(), bookings.NewBooking{
		UserID: w.users[user].ID, TripID: w.NewTrip("Bookings", 1).ID, Passengers: []models.Passenger{{Name: "Passenger"}},
		ContactName: "Customer", ContactEmail: "customer@rihla.test", ContactPhone: "+966500000001", Method: models.MethodCreditCard,
	}, time.Now())
	require.NoError(t, err)

	return b.ID
}

func (w *world) id(t *testing.T, query string, args ...any) uuid.UUID {
	t.Helper()

	var id uuid.UUID

	require.NoError(t, w.DB.QueryRowContext(t.Context(), query, args...).Scan(&id), query)

	return id
}

func (w *world) exec(t *testing.T, query string, args ...any) {
	t.Helper()

	_, err := w.DB.ExecContext(t.Context(), query, args...)
	require.NoError(t, err, query)
}

// mark is a word that nothing else uses.
func mark() string { return strings.ReplaceAll(uuid.NewString(), "-", "") }
