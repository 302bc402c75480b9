package seed

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"rihla/internal/store/ledger"
	"rihla/models"
)

// grower makes up rows. Everything that has to do with money goes through the rules of models.
type grower struct {
	random    *rand.Rand
	policies  models.Policies
	now       time.Time
	days      int // before now that the data is spread over
	password  string
	companies []seedCompany
	customers []uuid.UUID
	finance   uuid.UUID
	texts     map[entryText]int64 // by which entries are searched: ids of record_texts
}

type seedCompany struct {
	id, owner, bus, hotel uuid.UUID
	rate                  models.Rate
}

const (
	seedDays     = 730 // two years
	seedCapacity = 50
	// payoutAge is after how many days an entry is paid out.
	payoutAge = 21 * 24 * time.Hour
)

var (
	seedCities = []string{"الرياض", "جدة", "المدينة المنورة", "العلا", "أبها", "Riyadh", "Jeddah", "Dammam", "Tabuk", "Hail"}
	seedTitles = []string{
		"عمرة رمضان من %s إلى مكة المكرمة", "رحلة عائلية من %s إلى العلا", "عطلة نهاية الأسبوع: %s – أبها",
		"Umrah from %s by coach", "Family weekend from %s to AlUla", "The old towns, leaving from %s",
	}
	seedRates = []string{"0.08", "0.10", "0.10", "0.12", "0.1250", "0.15"}
)

// people makes the companies and customers of one run: about one company per 10,000 entries, and one customer per 20.
func (g *grower) people(lines int) *seedRows {
	rows, born := newSeedRows(), g.now.AddDate(0, 0, -g.days-60)
	user := func(role models.Role, company *uuid.UUID) uuid.UUID {
		id := models.NewID()
		rows.add("users", id, "مستخدم "+id.String()[24:], id.String()+"@seed.rihla.test", "", g.password, string(role), company,
			string(models.LocaleArabic), born, born)

		return id
	}

	g.finance = user(models.RoleFinanceAdmin, nil)

	for i := len(g.companies); i < min(max(lines/10_000, 3), 200); i++ {
		c := seedCompany{
			id: models.NewID(), bus: models.NewID(), hotel: models.NewID(),
			rate: models.MustRate(seedRates[g.random.IntN(len(seedRates))]),
		}
		city := g.pick(seedCities)
		rows.add("providers", c.id, fmt.Sprintf("رحلات %s %d – Tours", city, i+1), c.id.String()+"@seed.rihla.test", "+966500000000", city,
			rate(c.rate), born, born)
		rows.add("buses", c.bus, c.id, fmt.Sprintf("SEED %d", i+1), "Coach", seedCapacity, "سائق", models.StatusActive, born)
		rows.add("hotels", c.hotel, c.id, "فندق "+city, city, int16(3+g.random.IntN(5)), models.StatusActive, born) //nolint:gosec // 3 to 7

		c.owner = user(models.RoleProviderAdmin, &c.id)
		g.companies = append(g.companies, c)
	}

	for range min(max(lines/20, 20), 50_000) {
		g.customers = append(g.customers, user(models.RoleEndUser, nil))
	}

	return rows
}

func (g *grower) pick(of []string) string { return of[g.random.IntN(len(of))] }

// chance is true so many times in a hundred.
func (g *grower) chance(percent int) bool { return g.random.IntN(100) < percent }

// batch makes trips of one company, and what is bought of them, until there are as many entries.
func (g *grower) batch(n, lines int) *seedRows {
	rows, c := newSeedRows(), &g.companies[n%len(g.companies)]

	var paidOut []uuid.UUID

	for len(rows.lines) < lines {
		t := g.trip(c)
		from := len(rows.lines)

		if g.chance(40) {
			g.campaign(rows, c, t)
		}

		for t.SeatsTaken < t.Capacity-4 && len(rows.lines) < lines {
			g.booking(rows, c, t)
		}

		rows.add("trips", t.ID, c.id, string(t.Type), t.Title, t.Origin, t.Destination, t.DepartureAt, t.ReturnAt, c.hotel, c.bus,
			numeric(t.PricePerSeat), t.Capacity, t.SeatsTaken, string(t.Status), t.CreatedAt)

		for i := from; i < len(rows.lines); i++ {
			if l := &rows.lines[i]; l.TransferredAt != nil {
				paidOut = append(paidOut, l.ID)
			}
		}
	}

	g.notePayouts(rows, paidOut)

	return rows
}

// notePayouts leaves one entry of the audit log per payout run, with the entries that it marked.
func (g *grower) notePayouts(rows *seedRows, ids []uuid.UUID) {
	for len(ids) > 0 {
		n := min(len(ids), ledger.MaxTransfers)
		body, _ := json.Marshal(map[string]any{"ids": ids[:n]}) //nolint:errchkjson // ids have a text

		rows.add("audit_log", models.NewID(), g.finance, string(models.RoleFinanceAdmin), models.AuditFinancialRecordsTransferred,
			models.EntityFinancialRecord, nil, string(body), g.now)

		ids = ids[n:]
	}
}

// trip leaves on any of the days, or soon.
func (g *grower) trip(c *seedCompany) *models.Trip {
	origin := g.pick(seedCities)
	leaves := g.now.Add(-time.Duration(g.random.IntN(g.days*24*60)-30*24*60) * time.Minute)

	return &models.Trip{
		ID: models.NewID(), ProviderID: c.id, Type: models.TripTourism, Title: fmt.Sprintf(g.pick(seedTitles), origin),
		Origin: origin, Destination: g.pick(seedCities), DepartureAt: leaves, ReturnAt: leaves.AddDate(0, 0, 3),
		PricePerSeat: models.Halalas(int64(5_000 + g.random.IntN(250_000))), Capacity: seedCapacity, Status: models.TripPublished,
		CreatedAt: leaves.AddDate(0, 0, -50),
	}
}

// paidAt is up to forty days before the departure, and never to come.
func (g *grower) paidAt(t *models.Trip) time.Time {
	at := t.DepartureAt.Add(-time.Duration(60+g.random.IntN(40*24*60)) * time.Minute)
	if latest := g.now.Add(-time.Duration(5+g.random.IntN(24*60)) * time.Minute); at.After(latest) {
		return latest
	}

	return at
}

func (g *grower) method() models.PaymentMethod {
	switch n := g.random.IntN(100); {
	case n < 60:
		return models.MethodCreditCard
	case n < 80:
		return models.MethodDebitNetwork
	case n < 90:
		return models.MethodWalletA
	case n < 97:
		return models.MethodWalletB
	default:
		return models.MethodBillPayment
	}
}
