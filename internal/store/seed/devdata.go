package seed

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/catalogue"
	"rihla/models"
)

// DemoData are rows that something to look at, or a test, starts from. A trip's RestStopIDs are kept too.
type DemoData struct {
	Providers []models.Provider
	Users     []models.User
	Buses     []models.Bus
	Hotels    []models.Hotel
	RestStops []models.RestStop
	Trips     []models.Trip
}

// InsertDemo inserts the rows that do not exist yet, all in one SQL transaction; ids are required.
func (s *Store) InsertDemo(ctx context.Context, d DemoData) error {
	return s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		return insertDemo(ctx, tx, d)
	})
}

func insertDemo(ctx context.Context, tx bun.Tx, d DemoData) error {
	stops := make([]catalogue.TripRestStop, 0, len(d.Trips))

	for i := range d.Trips {
		stops = append(stops, catalogue.StopsOf(&d.Trips[i])...)
	}

	for _, rows := range []struct {
		n     int
		model any
	}{
		{len(d.Providers), &d.Providers},
		{len(d.Users), &d.Users},
		{len(d.Buses), &d.Buses},
		{len(d.Hotels), &d.Hotels},
		{len(d.RestStops), &d.RestStops},
		{len(d.Trips), &d.Trips},
		{len(stops), &stops},
	} {
		if rows.n == 0 {
			continue
		}

		// Without RETURNING, which would leave rows that exist unscanned.
		_, err := tx.NewInsert().Model(rows.model).On("CONFLICT DO NOTHING").Returning("NULL").Exec(ctx)
		if err != nil {
			return fmt.Errorf("insert demo data: %w", err)
		}
	}

	return nil
}

// SeedDev fills a development database with what a developer starts with: a user per role, all with the password of
// the hash, and the provider "Demo Tours" with a hotel, a bus, a rest stop and two published trips. Running it
// again adds nothing; trips that have departed by now are moved into the future.
func (s *Store) SeedDev(ctx context.Context, passwordHash string, now time.Time) error {
	d := demoTours(now, s.policies.Commission)
	d.Users = demoUsers(d.Providers[0].ID, passwordHash, now)

	return s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := insertDemo(ctx, tx, d); err != nil {
			return err
		}

		for i := range d.Trips {
			_, err := tx.NewUpdate().Model(&d.Trips[i]).Column("departure_at", "return_at").Set("updated_at = ?", now).
				WherePK().Where("t.departure_at <= ?", now).Exec(ctx)
			if err != nil {
				return fmt.Errorf("move demo trip: %w", err)
			}
		}

		return nil
	})
}

// GrowDemo gives the company of SeedDev and two others the payments of sixty days, once: a database that has made-up companies stays as it
// is. It returns the number of ledger entries.
func (s *Store) GrowDemo(ctx context.Context, password string, now time.Time) (int, error) {
	there, err := s.db.NewSelect().Model((*models.User)(nil)).Where("email LIKE '%@seed.rihla.test'").Exists(ctx)
	if err != nil || there {
		return 0, err
	}

	return s.Grow(ctx, Seed{Records: 900, Seed: 1, Now: now, Days: 60, Demo: true, Password: password})
}

func demoCompany(commission models.Rate) seedCompany {
	return seedCompany{
		id: demoID("provider"), owner: demoID("user:provider_admin"), bus: demoID("bus"), hotel: demoID("hotel"), rate: commission,
	}
}

// demoPhone is of a range that no operator assigns: all zeros.
const demoPhone = "+966500000000"

// platformPhone is that of the platform's own people: bookings to try have the other one, and their contact is no second person.
const platformPhone = "+966500000907"

func demoID(name string) uuid.UUID { return models.Derive("demo:" + name) }

func demoUsers(provider uuid.UUID, passwordHash string, now time.Time) []models.User {
	users := make([]models.User, 0, len(models.Roles()))

	for _, role := range models.Roles() {
		name := strings.ToLower(string(role))

		words := strings.Split(name, "_")
		for i, w := range words {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}

		u := models.User{
			ID: demoID("user:" + name), Name: "Demo " + strings.Join(words, " "), Email: name + "@rihla.test",
			Phone: demoPhone, PasswordHash: passwordHash, Role: role, Locale: models.LocaleArabic,
			EmailVerifiedAt: &now, OwnerProvedAt: &now,
		}
		if role.IsPlatform() {
			u.Phone = platformPhone
		}

		if role.IsProvider() {
			u.ProviderID = &provider
		}

		users = append(users, u)
	}

	return users
}

func demoTours(now time.Time, commission models.Rate) DemoData {
	var (
		provider = demoID("provider")
		bus      = demoID("bus")
		hotel    = demoID("hotel")
		stop     = demoID("rest-stop")
		stars    = 5
	)

	trip := func(name string, kind models.TripType, title, to, price string, inDays, days int) models.Trip {
		// Six in the morning of a day in Riyadh: a time at which buses leave.
		leaves := models.DateIn(now).AddDays(inDays).Start().Add(6 * time.Hour)

		return models.Trip{
			ID: demoID("trip:" + name), ProviderID: provider, Type: kind, Title: title, Origin: "Riyadh", Destination: to,
			DepartureAt: leaves, ReturnAt: leaves.AddDate(0, 0, days), BusID: bus, PricePerSeat: models.MustMoney(price),
			Capacity: 45, Status: models.TripPublished, RestStopIDs: []uuid.UUID{stop},
		}
	}

	umrah := trip("umrah", models.TripUmrah, "رحلة عمرة من الرياض · Umrah from Riyadh", "Makkah", "575.00", 14, 3)
	tour := trip("tourism", models.TripTourism, "جولة في العُلا · Discover AlUla", "AlUla", "1150.00", 21, 4)
	tour.HotelID = &hotel

	return DemoData{
		Providers: []models.Provider{{
			ID: provider, Name: "Demo Tours", Email: "demo-tours@rihla.test", Phone: demoPhone, City: "Riyadh",
			CommissionRate: commission, Status: models.StatusActive,
		}},
		Buses: []models.Bus{{
			ID: bus, ProviderID: provider, PlateNumber: "DEMO 1234", Model: "Demo Coach 49", Capacity: 49,
			DriverName: "Demo Driver", DriverPhone: demoPhone, DriverLicense: "DEMO-LICENSE",
			Features: []string{"wifi", "usb", "toilet"}, Accessibility: "Lift, 2 wheelchair spaces", Status: models.StatusActive,
		}},
		Hotels: []models.Hotel{{
			ID: hotel, ProviderID: provider, Name: "فندق تجريبي · Demo Hotel", City: "AlUla", Stars: &stars, Status: models.StatusActive,
		}},
		RestStops: []models.RestStop{{
			ID: stop, ProviderID: provider, Name: "استراحة تجريبية · Demo Rest Stop", City: "Al Majmaah",
			Amenities: []string{"mosque", "restaurant", "fuel"}, Status: models.StatusActive,
		}},
		Trips: []models.Trip{umrah, tour},
	}
}
