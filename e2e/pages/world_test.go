package pages_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// An operation without a token has no role.
const nobody models.Role = ""

// lists says where the rows of each list are, and its reader here.
var lists = map[string]struct {
	table string
	role  models.Role
}{
	"ListHotels": {"hotels", models.RoleProviderStaff}, "ListCatalogueHotels": {"hotels", nobody},
	"ListBuses": {"buses", models.RoleAdmin}, "ListCatalogueBuses": {"buses", nobody},
	"ListRestStops": {"rest_stops", models.RoleProviderAdmin}, "ListCatalogueRestStops": {"rest_stops", nobody},
	"ListProviderTrips": {"trips", models.RoleProviderStaff}, "ListTrips": {"trips", nobody},
	"ListAdCampaigns":      {"ad_campaigns", models.RoleProviderStaff},
	"ListProviderBalances": {"providers", models.RoleFinanceAdmin},
	"ListProviders":        {"providers", models.RoleAdmin}, "ListStaff": {"users", models.RoleSuperAdmin},
	"ListCompanyStaff": {"users", models.RoleProviderAdmin},
	"ListTripBookings": {"bookings", models.RoleProviderStaff},
	"ListMyBookings":   {"bookings", models.RoleEndUser}, "ListBookings": {"bookings", models.RoleSupportAgent},
	"ListPaymentTransactions": {"payment_transactions", models.RoleSupportAgent}, "ListRefunds": {"refunds", models.RoleFinanceAdmin},
	"ListCancellationRequests":    {"cancellation_requests", models.RoleEndUser},
	"ListAllCancellationRequests": {"cancellation_requests", models.RoleFinanceAdmin},
	"ListTripCancellations":       {"trip_cancellations", models.RoleSupportAgent},
	"ListIncidents":               {"incidents", models.RoleFinanceAdmin},
	"ListFinancialRecords":        {"financial_records", models.RoleFinanceAdmin}, "ListProviderFinancialRecords": {"financial_records", models.RoleProviderStaff},
	"ListExports":   {"exports", models.RoleFinanceAdmin},
	"ListAuditLogs": {"audit_log", models.RoleAdmin}, "ListUsers": {"users", models.RoleSuperAdmin},
}

// rowStatements is how a table gets a row, $1 its id and $2 a number: rows of different numbers are equal in many columns, so that
// orders have ties. move puts a row elsewhere in every order of the list; drop takes it away.
type rowStatements struct{ insert, move, drop string }

const (
	created = "date_trunc('hour', now()) - ($2::int % 7) * interval '10 minutes'"
	moved   = "created_at = now() - random() * interval '2 hours'"
	deleted = "UPDATE {table} SET deleted_at = now() WHERE id = $1"
	erased  = "DELETE FROM {table} WHERE id = $1"
	never   = "" // its rows stay as they are
)

var rows = map[string]rowStatements{
	"hotels": {
		`INSERT INTO hotels (id, provider_id, name, city, stars, status, created_at) VALUES
		($1, {provider}, 'Hotel ' || $2::int % 5, 'مدينة ' || $2::int % 3, nullif($2::int % 8, 0), 'ACTIVE', ` + created + `)`,
		moved + `, name = md5(random()::text), city = md5(random()::text), stars = nullif((random() * 7)::int, 0)`, deleted,
	},
	"buses": {
		`INSERT INTO buses (id, provider_id, plate_number, model, capacity, driver_name, status, created_at) VALUES
		($1::uuid, {provider}, 'P ' || $1::uuid, 'Model ' || $2::int % 4, 40, 'Driver', 'ACTIVE', ` + created + `)`,
		moved + `, plate_number = md5(random()::text), model = md5(random()::text)`, deleted,
	},
	"rest_stops": {
		`INSERT INTO rest_stops (id, provider_id, name, city, status, created_at) VALUES
		($1, {provider}, 'Stop ' || $2::int % 5, 'City ' || $2::int % 3, 'ACTIVE', ` + created + `)`,
		moved + `, name = md5(random()::text), city = md5(random()::text)`, deleted,
	},
	"trips": {
		`INSERT INTO trips (id, provider_id, type, title, origin, destination, departure_at, return_at, bus_id, price_per_seat,
		capacity, status, created_at) VALUES ($1, {provider}, 'UMRAH', 'Trip ' || $2::int % 5, 'Riyadh', 'Makkah',
		now() + interval '9 days' + ($2::int % 4) * interval '1 day', now() + interval '20 days', {bus}, 100 + $2::int % 3, 10, 'PUBLISHED', ` + created + `)`,
		moved + `, title = md5(random()::text), departure_at = now() + (8 + random() * 9) * interval '1 day', price_per_seat = 1 + random() * 200`,
		deleted,
	},
	"ad_campaigns": {
		`INSERT INTO ad_campaigns (id, provider_id, trip_id, created_by, title, starts_on, ends_on, price, created_at) VALUES
		($1, {provider}, {trip}, {staff}, 'Campaign ' || $2::int % 5, current_date + $2::int % 3, current_date + 9 + $2::int % 4,
		100 + $2::int % 6, ` + created + `)`,
		moved + `, title = md5(random()::text), starts_on = current_date + (random() * 5)::int, price = 1 + random() * 200`, deleted,
	},
	"providers": {
		`INSERT INTO providers (id, name, email, phone, commission_rate, status, created_at) VALUES
		($1, 'Provider ' || $2::int % 5, 'p@rihla.test', '+966500000000', 0.1, (ARRAY['ACTIVE', 'INACTIVE'])[1 + $2::int % 2], ` + created + `)`,
		moved + `, name = md5(random()::text)`, erased,
	},
	"users": {
		`INSERT INTO users (id, name, email, password_hash, role, provider_id, created_at) VALUES
		($1::uuid, 'User ' || $2::int % 5, $1::uuid || '@rihla.test', 'none', 'PROVIDER_STAFF', {provider}, ` + created + `)`,
		moved + `, name = md5(random()::text)`, deleted,
	},
	"bookings": {`INSERT INTO bookings (id, trip_id, provider_id, user_id, status, seats, seats_held, hold_until, amount, vat_rate, vat_amount,
		passengers, contact_name, contact_email, contact_phone, created_at) VALUES ($1, {trip}, {provider}, {user}, 'CANCELLED', 1, false, now(),
		115, 0.15, 15, '[]', 'C', 'c@rihla.test', '+966500000000', ` + created + `)`, moved, erased},
	"payment_transactions": {
		`INSERT INTO payment_transactions (id, kind, attempt, user_id, provider_id, booking_id, amount, vat_rate, vat_amount,
		payment_method, gateway, channel, status, failure_code, expires_at, commission_rate, created_at) VALUES ($1, 'PAYMENT', nextval('attempts'), {user}, {provider},
		{booking}, 100 + $2::int % 5, 0.15, 15, 'credit_card', 'gateway_a', 'gateway_a', 'FAILED', 'DECLINED', now(), 0.1, ` + created + `)`,
		moved + `, amount = 100 + random() * 9`, never,
	},
	"refunds": {
		`INSERT INTO refunds (id, payment_transaction_id, booking_id, refund_type, amount, status, failure_code, completed_at, created_at)
		VALUES ($1, {payment}, {booking}, 'PARTIAL', 10 + $2::int % 5, 'FAILED', 'GATEWAY_REJECTED', now(), ` + created + `)`,
		moved, erased, // the database keeps the amount that was ordered
	},
	"cancellation_requests": {
		`INSERT INTO cancellation_requests (id, booking_id, status, positions, seats_before, percent, reason_code, schedule, hours, paid_amount,
		due_amount, given_amount, left_amount, refund_amount, requested_by, requested_at, decided_at) VALUES ($1, {booking}, 'WITHDRAWN', '{0}', 1,
		50, 'POLICY', '72h:100,24h:50,0h:0', 30, 115, 57.5, 0, 115, 57.5, {user}, ` + created + `, now())`,
		never, never,
	},
	"trip_cancellations": {
		`INSERT INTO trip_cancellations (id, trip_id, status, reason, bookings, seats, refund_total, clawback_total, open_checkouts, campaigns,
		requested_by, requested_at, approval_above, approval_until, decided_at) VALUES ($1, {trip}, 'REJECTED', 'A storm', 1, 1, 100 + $2::int % 5,
		0, 0, 0, {staff}, ` + created + `, 100, now(), now())`,
		never, never,
	},
	"incidents": {`INSERT INTO incidents (id, kind, message, created_at) VALUES ($1, 'GATEWAY_OUTAGE', 'Out', ` + created + `)`, moved, erased},
	"financial_records": {`INSERT INTO financial_records (id, transaction_number, kind, payment_transaction_id, provider_id, booking_id, gross_amount,
		platform_commission_amount, net_amount, vat_amount, refunded_amount, record_date, balance_status, commission_rate, created_at) VALUES ($1::uuid, $1::uuid::text, 'SALE',
		{payment}, {provider}, {booking}, 100 + $2::int % 5, $2::int % 3, 100 + $2::int % 5 - $2::int % 3, 15, 100 + $2::int % 5,
		current_date - $2::int % 6, 'REFUNDED', 0.1, ` + created + `)`, moved + `, record_date = current_date - (random() * 9)::int`, erased},
	"exports": {`INSERT INTO audit_log (id, action, entity, details, created_at) VALUES ($1, 'FINANCIAL_RECORDS_EXPORT_STARTED',
		'financial_record', '{"format": "csv", "filters": {"format": "csv"}}', ` + created + `)`, never, never},
	"audit_log": {`INSERT INTO audit_log (id, action, entity, created_at) VALUES ($1, 'HOTEL_CREATED', 'hotel', ` + created + `)`, never, never},
}

// world is a running service with a user of every role signed in.
type world struct {
	*harness.Stack

	callers map[models.Role]*harness.Caller
	names   *strings.Replacer // what the statements refer to
	booking uuid.UUID
}

func newWorld(t *testing.T, s *harness.Stack) *world {
	t.Helper()

	w := &world{Stack: s, callers: map[models.Role]*harness.Caller{nobody: s.Anybody()}}
	for _, role := range models.Roles() {
		w.callers[role] = s.As(role)
	}

	w.booking = models.NewID()
	payment := models.NewID()
	quoted := func(id uuid.UUID) string { return "'" + id.String() + "'" }
	w.names = strings.NewReplacer(
		"{provider}", quoted(s.World.Provider.ID), "{bus}", quoted(s.World.Bus.ID), "{trip}", quoted(s.World.Trip.ID),
		"{staff}", quoted(s.World.Users[models.RoleProviderStaff].ID), "{user}", quoted(s.World.Users[models.RoleEndUser].ID),
		"{booking}", quoted(w.booking), "{payment}", quoted(payment),
	)

	_, err := s.DB.ExecContext(t.Context(), "CREATE SEQUENCE attempts")
	require.NoError(t, err)

	_, err = s.DB.ExecContext(t.Context(), w.names.Replace(rows["bookings"].insert), w.booking, 0)
	require.NoError(t, err)
	_, err = s.DB.ExecContext(t.Context(), w.names.Replace(rows["payment_transactions"].insert), payment, 0)
	require.NoError(t, err)

	return w
}

// fill inserts the rows that stay as they are, and returns their ids.
func (w *world) fill(t *testing.T, table string) []string {
	t.Helper()

	const enough = 35

	ids := make([]string, 0, enough)

	for i := range enough {
		id, err := w.insert(t.Context(), w.DB, table, i)
		require.NoError(t, err)

		ids = append(ids, id)
	}

	return ids
}

// execer is a connection or a transaction.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

func (w *world) insert(ctx context.Context, db execer, table string, i int) (string, error) {
	id := models.NewID().String()
	_, err := db.ExecContext(ctx, w.names.Replace(rows[table].insert), id, i)

	return id, err
}

// others are concurrent writers while a client reads.
type others struct {
	w     *world
	table string
	late  *sql.Tx  // began before the walk and commits in it
	made  []string // by the others, in the order in which they go again
	moved []string
}

// latePage is the page during which the transaction commits that began before the walk.
const latePage = 3

func (w *world) start(t *testing.T, table string) *others {
	t.Helper()

	o := &others{w: w, table: table}

	for i := range 10 {
		id, err := w.insert(t.Context(), w.DB, table, i)
		require.NoError(t, err)

		o.made = append(o.made, id)
	}

	var err error
	o.late, err = w.DB.BeginTx(t.Context(), nil)
	require.NoError(t, err)

	for i := range 5 {
		id, err := w.insert(t.Context(), o.late, table, i)
		require.NoError(t, err)

		o.made = append(o.made, id)
	}

	return o
}

// write changes the list while its page with the number is read: rows are inserted all over it, one is deleted and one
// is moved.
func (o *others) write(ctx context.Context, number int) <-chan error {
	done := make(chan error, 1)

	go func() { done <- o.change(ctx, number) }()

	return done
}

func (o *others) change(ctx context.Context, number int) error {
	for i := range 3 {
		id, err := o.w.insert(ctx, o.w.DB, o.table, 3*number+i)
		if err != nil {
			return err
		}

		o.made = append(o.made, id)
	}

	r := rows[o.table]

	var moveErr, dropErr, lateErr error

	if r.move != never {
		o.moved = append(o.moved, o.made[1])
		_, moveErr = o.w.DB.ExecContext(ctx, "UPDATE "+o.table+" SET "+r.move+" WHERE id = $1", o.made[1])
	}

	if r.drop != never {
		_, dropErr = o.w.DB.ExecContext(ctx, strings.ReplaceAll(r.drop, "{table}", o.table), o.made[0])
	}

	o.made = o.made[1:]

	if number == latePage {
		lateErr = o.late.Commit()
	}

	return errors.Join(moveErr, dropErr, lateErr)
}

// end takes away what the others made.
func (o *others) end(t *testing.T) {
	t.Helper()

	if err := o.late.Rollback(); !errors.Is(err, sql.ErrTxDone) {
		require.NoError(t, err)
	}

	if rows[o.table].drop == never {
		return
	}

	for _, id := range o.made {
		_, err := o.w.DB.ExecContext(t.Context(), "DELETE FROM "+o.table+" WHERE id = $1", id)
		require.NoError(t, err)
	}
}
