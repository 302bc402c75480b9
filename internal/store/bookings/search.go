package bookings

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// BookingFilter narrows the list of all bookings; zero fields do not.
type BookingFilter struct {
	Status     models.BookingStatus
	TripID     uuid.UUID
	ProviderID uuid.UUID
	UserID     uuid.UUID
	Days       models.Days // of creation
	Search     string      // see ListBookings
	Page       db.Page
}

// ListedBooking is a booking in the list of all of them, with the columns of its trip that the list shows.
type ListedBooking struct {
	models.Booking `bun:",extend"`

	TripTitle       string    `bun:"trip_title,scanonly"`
	TripDepartureAt time.Time `bun:"trip_departure_at,scanonly"`
}

var allBookingsOrder = db.Order{
	Columns: map[string]string{
		"created_at": "bk.created_at", "amount": "bk.amount", "departure_at": "t.trip_departure_at",
	},
	ID:       "bk.id",
	Fallback: db.Sort{Field: "created_at", Desc: true},
}

// ListBookings lists bookings of all customers, newest first. A search finds parts of the booking number, of contact's and
// passengers' names and of the email address, its words in any order, the phone in any spelling, and whole ids of bookings,
// payments and refunds, references of gateways, transaction numbers and payout references. Errors: VALIDATION_ERROR on sort,
// cursor, and on search when it is a booking number with a wrong check character.
func (s *Store) ListBookings(ctx context.Context, f BookingFilter) (db.Listed[ListedBooking], error) {
	by := db.ListOptions{
		Counts: &s.db.Counts, Count: f.narrow(s.db.NewSelect().Model((*ListedBooking)(nil))),
		Whole: func(ids *bun.SelectQuery) *bun.SelectQuery {
			return withTrip(s.db.NewSelect().ColumnExpr("?TableColumns").ColumnExpr("t.trip_title, t.trip_departure_at")).
				Where("bk.id IN (?)", ids)
		},
		Ways: func(q *bun.SelectQuery, p db.Window) *bun.SelectQuery {
			if p.Walk.Uses("t.trip_departure_at") {
				return withTrip(q)
			}

			return q
		},
	}

	if f.Search == "" {
		return db.ListWith[ListedBooking](ctx, f.narrow(s.db.NewSelect()), f.Page, allBookingsOrder, by)
	}

	w, err := ParseSearch(f.Search)
	if err != nil {
		return db.Listed[ListedBooking]{}, err
	}

	l := Searched{
		Rows:    func() *bun.SelectQuery { return f.narrow(s.db.NewSelect().Model((*models.Booking)(nil))) },
		Booking: "bk.id", ID: "bk.id", Table: "bk", Others: w.others(s.db.DB),
		Join: func(q *bun.SelectQuery, p db.Window) *bun.SelectQuery { return by.Ways(q, p) },
	}

	return ListFound[ListedBooking](ctx, s.db, w, l, f.Page, allBookingsOrder, by)
}

// withTrip joins the columns of a booking's trip that the list shows.
func withTrip(q *bun.SelectQuery) *bun.SelectQuery {
	return q.Join("JOIN LATERAL (SELECT title AS trip_title, departure_at AS trip_departure_at FROM trips WHERE id = bk.trip_id) AS t ON TRUE")
}

// narrow is the filter without the search.
func (f *BookingFilter) narrow(q *bun.SelectQuery) *bun.SelectQuery {
	q = db.WhereEqual(q, "bk.status", f.Status)
	q = db.WhereEqual(q, "bk.trip_id", f.TripID)
	q = db.WhereEqual(q, "bk.provider_id", f.ProviderID)
	q = db.WhereEqual(q, "bk.user_id", f.UserID)

	return db.WhereDuring(q, "bk.created_at", f.Days)
}

// searchWords is what a search for payments and bookings looks for.
type searchWords struct {
	text   string    // as written, without spaces around it
	number string    // in the form of a booking number, empty when it is none
	id     uuid.UUID // uuid.Nil when it is none
	phone  string    // what phone numbers have to contain, empty when it can be no part of one
}

// ParseSearch reads a search. Error: VALIDATION_ERROR on search for a booking number with a wrong check character.
func ParseSearch(text string) (searchWords, error) {
	w := searchWords{text: models.CleanText(text)}
	if models.Fold(w.text) == "" { // it would be part of everything
		return w, models.Invalid("search", "list.search")
	}

	number, ok := models.ParseBookingNumber(w.text)
	if number != "" && !ok {
		return w, models.Invalid("search",
			"list.booking_number", "number", number)
	}

	w.number = number
	w.id, _ = uuid.Parse(models.CleanNumber(w.text))

	w.phone = models.PhonePart(w.text)

	return w, nil
}

// How many words are looked for one by one, and how long one of them has to be: as long as a trigram, which is what the index has.
const (
	maxSearchWords = 8
	minIndexedWord = 3
)

// words are what a booking's words have to contain, each of them: people know a name's parts and not always their order. What is
// a phone number, has no part that the index could find, or very many, is looked for as it is.
func (w searchWords) words() []string {
	parts := strings.Fields(models.Fold(w.text))

	indexed := slices.ContainsFunc(parts, func(word string) bool { return utf8.RuneCountInString(word) >= minIndexedWord })
	if w.phone != "" || !indexed || len(parts) > maxSearchWords {
		return []string{w.text}
	}

	return parts
}

// inTexts narrows rows of booking_texts to those that are found by their words.
func (w searchWords) inTexts(q *bun.SelectQuery) *bun.SelectQuery {
	return q.WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
		if w.number != "" {
			// One that is written out is compared in its own form.
			q = q.Where("bt.words LIKE search_fold(?)", w.number+"%")
		} else {
			q = q.WhereGroup(" OR ", func(q *bun.SelectQuery) *bun.SelectQuery {
				for _, word := range w.words() {
					q = q.Where("bt.words LIKE '%' || search_fold(?) || '%'", db.LikeEscaper.Replace(word))
				}

				return q
			})
		}

		if w.phone != "" {
			q = q.WhereOr("bt.words LIKE '%' || search_phone(?) || '%'", w.phone)
		}

		return q
	})
}

// others selects the ids of the bookings that are found by something else than their words: it names a few.
func (w searchWords) others(conn *bun.DB) *bun.SelectQuery {
	q := w.subjects(conn, "booking_id")

	if w.id != uuid.Nil {
		q = q.Union(conn.NewSelect().TableExpr("bookings AS b").ColumnExpr("b.id").Where("b.id = ?", w.id))
	}

	return q
}

// subjects selects the bookings or campaigns of the payments, refunds and ledger entries that are named as a whole.
func (w searchWords) subjects(conn *bun.DB, column string) *bun.SelectQuery {
	about := func(table string) *bun.SelectQuery {
		return conn.NewSelect().TableExpr("? AS x", bun.Ident(table)).ColumnExpr("x.?", bun.Ident(column)).
			Where("x.? IS NOT NULL", bun.Ident(column))
	}

	q := about("payment_transactions").Where("x.reference = ?", models.CleanReference(w.text)).
		Union(about("refunds").Where("x.gateway_refund_id = ?", models.CleanReference(w.text))). // also of one that the gateway has not decided
		Union(about("financial_records").Where("x.transaction_number = upper(search_fold(?))", w.text)).
		Union(about("financial_records").Where("x.payout_reference IS NOT NULL").
			Where("search_fold(x.payout_reference) LIKE search_fold(?)", db.LikeEscaper.Replace(w.text)))

	if w.id != uuid.Nil {
		q = q.Union(about("payment_transactions").Where("x.id = ?", w.id)).Union(about("refunds").Where("x.id = ?", w.id))
	}

	return q
}

// Transactions selects the ids of the payments that are found, and of the transactions of their refunds.
func (w searchWords) Transactions(db *bun.DB) *bun.SelectQuery {
	found := w.inTexts(db.NewSelect().TableExpr("booking_texts AS bt").ColumnExpr("bt.booking_id"))

	return db.NewSelect().TableExpr("payment_transactions AS p").ColumnExpr("p.id").Where("p.booking_id IN (?)", found).
		Union(w.OtherTransactions(db))
}

// OtherTransactions selects the ids of the payments that are found by something else than the words of their bookings, and of the
// transactions of their refunds.
func (w searchWords) OtherTransactions(db *bun.DB) *bun.SelectQuery {
	of := func(column string, found *bun.SelectQuery) *bun.SelectQuery {
		return db.NewSelect().TableExpr("payment_transactions AS p").ColumnExpr("p.id").Where("p.? IN (?)", bun.Ident(column), found)
	}

	q := of("booking_id", w.others(db)).Union(of("ad_campaign_id", w.subjects(db, "ad_campaign_id")))

	if w.id != uuid.Nil {
		q = q.Union(db.NewSelect().TableExpr("payment_transactions AS p").ColumnExpr("p.id").Where("p.ad_campaign_id = ?", w.id))
	}

	return q
}
