// Package storetest gives the tests of other packages a migrated database of their own and something in it.
package storetest

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/peterldowns/pgtestdb"
	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/internal/store/db"
	"rihla/internal/store/seed"
	"rihla/internal/testkit"
	"rihla/models"
)

// New opens a store with the default policies on a fresh, migrated database, which goes when the test ends.
func New(tb testing.TB) *store.Store {
	tb.Helper()

	s, _ := Open(tb, models.DefaultPolicies())

	return s
}

// Open is New with policies of the test's choosing, and with a connection for the SQL that puts rows into states
// which take days to come by themselves.
func Open(tb testing.TB, p models.Policies) (*store.Store, *sql.DB) {
	tb.Helper()

	return OpenAt(tb, Database(tb), p)
}

// Database makes a fresh, migrated database, which goes when the test ends, and returns its URL.
func Database(tb testing.TB) string {
	tb.Helper()

	return testkit.DB(tb, migrator{}).URL()
}

// OpenAt opens a store on a database that exists, and brings it to the newest schema.
func OpenAt(tb testing.TB, url string, p models.Policies) (*store.Store, *sql.DB) {
	tb.Helper()

	s, err := store.Open(tb.Context(), url, p, db.Options{MaxConns: 10})
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, s.Close()) })

	_, err = s.DB.Migrate(tb.Context())
	require.NoError(tb, err)

	db, err := sql.Open("pgx", url)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, db.Close()) })

	return s, db
}

// migrator makes the template of the test databases, once per set of migrations.
type migrator struct{}

// Hash implements pgtestdb.Migrator.
func (migrator) Hash() (string, error) { return db.MigrationsHash() }

// Migrate implements pgtestdb.Migrator.
func (migrator) Migrate(ctx context.Context, _ *sql.DB, cfg pgtestdb.Config) (err error) {
	s, err := store.Open(ctx, cfg.URL(), models.DefaultPolicies(), db.Options{MaxConns: 2})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()

	_, err = s.DB.Migrate(ctx)

	return err
}

// Password is that of every user of a World.
const Password = "rihla-dev-password"

// passwordHash is the argon2id hash of Password, made beforehand because making it is slow on purpose.
const passwordHash = "$argon2id$v=19$m=19456,t=2,p=1$NBSov9Kp7QoCB4uJfSWzAA$8F2VkIgFJAQA3cJ9wATAW5VvYlrdTJlJxXIjqGok4JE"

// World is one ACTIVE provider with what it runs, and a user per role; those of provider roles are its staff.
type World struct {
	Provider models.Provider
	Bus      models.Bus
	Hotel    models.Hotel
	RestStop models.RestStop
	Trip     models.Trip // TOURISM, PUBLISHED, departs in 30 days, 40 seats of 115.00 SAR
	Users    map[models.Role]models.User
}

// Fixture inserts a World of its own at every call.
func Fixture(tb testing.TB, s *store.Store) World {
	tb.Helper()

	w := World{Users: map[models.Role]models.User{}}
	w.Provider = models.Provider{
		ID: models.NewID(), Name: "Test Tours", Email: "tours@rihla.test", Phone: "+966500000000",
		CommissionRate: s.Policies().Commission, Status: models.StatusActive,
	}
	w.Bus = models.Bus{
		ID: models.NewID(), ProviderID: w.Provider.ID, PlateNumber: "TEST 1", Model: "Coach", Capacity: 40,
		DriverName: "Test Driver", Features: []string{}, Status: models.StatusActive,
	}
	w.Hotel = models.Hotel{
		ID: models.NewID(), ProviderID: w.Provider.ID, Name: "Test Hotel", City: "AlUla", Status: models.StatusActive,
	}
	w.RestStop = models.RestStop{
		ID: models.NewID(), ProviderID: w.Provider.ID, Name: "Test Rest Stop", City: "Hail",
		Amenities: []string{}, Status: models.StatusActive,
	}
	w.Trip = w.NewTrip("Test Trip", 40)

	d := seed.DemoData{
		Providers: []models.Provider{w.Provider}, Buses: []models.Bus{w.Bus}, Hotels: []models.Hotel{w.Hotel},
		RestStops: []models.RestStop{w.RestStop}, Trips: []models.Trip{w.Trip},
	}

	for _, role := range models.Roles() {
		u := w.newUser(role)
		w.Users[role] = u
		d.Users = append(d.Users, u)
	}

	require.NoError(tb, seed.Of(s).InsertDemo(tb.Context(), d))

	return w
}

// NewTrip is a further trip of the provider, not inserted yet (store.InsertDemo does): TOURISM, PUBLISHED, in 30 days.
func (w World) NewTrip(title string, capacity int) models.Trip {
	leaves := time.Now().UTC().Truncate(time.Second).AddDate(0, 0, 30)

	return models.Trip{
		ID: models.NewID(), ProviderID: w.Provider.ID, Type: models.TripTourism, Title: title,
		Origin: "Riyadh", Destination: "AlUla", DepartureAt: leaves, ReturnAt: leaves.AddDate(0, 0, 3),
		HotelID: &w.Hotel.ID, BusID: w.Bus.ID, PricePerSeat: models.MustMoney("115.00"), Capacity: capacity,
		Status: models.TripPublished, RestStopIDs: []uuid.UUID{w.RestStop.ID},
	}
}

func (w World) newUser(role models.Role) models.User {
	u := models.User{
		ID: models.NewID(), Name: "Test User", Phone: "+966500000000", PasswordHash: passwordHash, Role: role,
		Locale: models.LocaleEnglish,
	}
	// Unique, so that one database can hold several worlds.
	u.Email = strings.ToLower(string(role)) + "." + u.ID.String() + "@rihla.test"

	if role.IsPlatform() {
		u.Phone = "+966500000907" // a second person is not the contact of bookings
	}

	if role.IsProvider() {
		u.ProviderID = &w.Provider.ID
	}

	return u
}
