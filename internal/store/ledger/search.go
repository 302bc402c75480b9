package ledger

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"rihla/internal/store/db"
	"rihla/models"
)

// A search looks for a text in five places of a ledger entry: the trip's title, the details, the transaction number, the
// payout reference and the provider's name. Titles and details are the same for very many entries, and are looked up once for
// all of them in record_texts, names in providers. Numbers and references are others each time, and have indexes of their
// own; so has the number at the end of a claw-back's details.

// foundEntries are the entries that a search finds within a filter: all entries of some texts and of some providers, and some
// others.
type foundEntries struct {
	search    string
	texts     int64       // how many have entries that the filter leaves
	providers []uuid.UUID // whose names are found, where the filter leaves more than one provider
	others    []uuid.UUID // entries that are found by a number or payout reference alone
	// tooMany is set when there are more others than anybody lists; then they are counted only.
	tooMany bool
	exact   bool  // total is the number of now, see db.Counted
	total   int64 // entries that are found
	all     int64 // entries that the filter leaves without the search
}

// searchRecords is ListRecords with a search.
func (s *Store) searchRecords(
	ctx context.Context, f RecordFilter, by db.ListOptions,
) (db.Listed[models.FinancialRecord], error) {
	found, err := s.foundEntries(ctx, f)

	switch {
	case err != nil:
		return db.Listed[models.FinancialRecord]{}, fmt.Errorf("search lines: %w", err)
	case slices.Contains(found.providers, f.ProviderID): // all of its entries are found
		f.Search = ""

		return s.ListRecords(ctx, f)
	}

	by.Total = func(context.Context) (db.Counted, error) {
		return db.Counted{Rows: found.total, Exact: found.exact}, nil
	}
	by.Ways = func(along *bun.SelectQuery, p db.Window) *bun.SelectQuery {
		if found.quickerByText(p, f.ProviderID != uuid.Nil) {
			return s.entriesByText(f, found, p)
		}

		return along
	}

	return db.ListWith[models.FinancialRecord](ctx, found.alongList(f.narrow(s.lines())), f.Page, recordOrder, by)
}

func (s *Store) foundEntries(ctx context.Context, f RecordFilter) (foundEntries, error) {
	found := foundEntries{search: f.Search, exact: true}

	err := s.db.NewSelect().Table("providers").Column("id").
		Where("search_fold(name) LIKE '%' || search_fold(?) || '%'", db.LikeEscaper.Replace(f.Search)).Scan(ctx, &found.providers)
	if err != nil || slices.Contains(found.providers, f.ProviderID) {
		return found, err
	}

	if f.ProviderID != uuid.Nil {
		found.providers = nil
	}

	all, err := s.reportedEntries(ctx, f.ProviderID, f.Days, f.BalanceStatus)
	if err != nil {
		return found, err
	}

	found.all = all

	perText := s.reportedTexts(f, found, []uuid.UUID{f.ProviderID}).ColumnExpr("sum(lines) AS lines").GroupExpr("text_id")

	err = s.db.NewSelect().ColumnExpr("count(*), coalesce(sum(lines), 0)::bigint").
		TableExpr("(?) AS t", perText).Where("lines > 0").Scan(ctx, &found.texts, &found.total)
	if err != nil {
		return found, err
	}

	if err := s.addProviders(ctx, f, &found); err != nil || found.total == found.all {
		return found, err
	}

	return found, s.findOthers(ctx, f, &found)
}

// addProviders counts the entries of the providers that are found, but for those that are counted by their texts.
func (s *Store) addProviders(ctx context.Context, f RecordFilter, found *foundEntries) error {
	if len(found.providers) == 0 {
		return nil
	}

	var lines, both int64

	q := s.db.NewSelect().TableExpr("report_days AS n").ColumnExpr("coalesce(sum(?), 0)::bigint", bun.Safe(countedIn(f.BalanceStatus))).
		Where("n.provider_id IN (?)", bun.List(found.providers))
	if err := onDays(q, f.Days).Scan(ctx, &lines); err != nil {
		return fmt.Errorf("count lines of providers: %w", err)
	}

	err := s.reportedTexts(f, *found, found.providers).ColumnExpr("coalesce(sum(lines), 0)::bigint").Scan(ctx, &both)
	if err != nil {
		return fmt.Errorf("count texts of providers: %w", err)
	}

	found.total += lines - both

	return nil
}

// matching selects the texts that the search finds.
func (found foundEntries) matching(q *bun.SelectQuery) *bun.SelectQuery {
	pattern := "%" + db.LikeEscaper.Replace(found.search) + "%"

	return q.TableExpr("record_texts AS rt").
		Where("(rt.trip_title_folded LIKE search_fold(?0) OR rt.details_folded LIKE search_fold(?0))", pattern)
}

// reportedTexts selects how many entries of the filter's days and state the texts have that the search finds: those of some providers,
// or with uuid.Nil of all, in several rows per text. It is the view report_texts (migration 0033) with each part joined by itself: few
// texts look up their folded counts, and the deltas are read once.
func (s *Store) reportedTexts(f RecordFilter, found foundEntries, providers []uuid.UUID) *bun.SelectQuery {
	folded := s.db.NewSelect().TableExpr("found").Join("JOIN report_texts_folded AS n ON n.text_id = found.id").
		Where("n.provider_id IN (?)", bun.List(providers))
	if f.Days.IsAll() {
		folded = folded.Where("n.day = '-infinity'")
	} else {
		folded = onDays(folded.Where("n.day > '-infinity'"), f.Days)
	}

	deltas := onDays(s.db.NewSelect().TableExpr("report_deltas AS n").Where("n.text_id IN (SELECT id FROM found)"), f.Days)
	if !slices.Contains(providers, uuid.Nil) {
		deltas = deltas.Where("n.provider_id IN (?)", bun.List(providers))
	}

	lines := bun.SafeQuery("n.text_id, (?)::bigint AS lines", bun.Safe(countedIn(f.BalanceStatus)))

	return s.db.NewSelect().With("found", found.matching(s.db.NewSelect()).Column("rt.id")).
		TableExpr("(?) AS t", folded.ColumnExpr("?", lines).UnionAll(deltas.ColumnExpr("?", lines)))
}

// onDays narrows rows of the reports to those of the days.
func onDays(q *bun.SelectQuery, d models.Days) *bun.SelectQuery {
	if !d.From.IsZero() {
		q = q.Where("n.day >= ?", d.From)
	}

	if !d.To.IsZero() {
		q = q.Where("n.day <= ?", d.To)
	}

	return q
}

// byText is the SQL of whether an entry has a text that the search finds. The planner does not join what it gets with an
// IS behind it: it looks each entry up in the texts, which it has found once.
func (found foundEntries) byText(texts *bun.SelectQuery) schema.QueryWithArgs {
	return bun.SafeQuery("(fr.text_id IN (?))", found.matching(texts).Column("rt.id"))
}

// alongList narrows the entries that a filter leaves to those that are found, to be met on the way along the list. Also when all
// were found: one that comes before the page is read need not be.
func (found foundEntries) alongList(q *bun.SelectQuery) *bun.SelectQuery {
	return q.WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
		q = q.Where("? IS TRUE", found.byText(q.NewSelect()))
		if len(found.providers) > 0 {
			q = q.WhereOr("fr.provider_id IN (?)", bun.List(found.providers))
		}

		switch {
		case found.tooMany:
			return q.WhereGroup(" OR ", func(q *bun.SelectQuery) *bun.SelectQuery { return inNumber(q, found.search) })
		case len(found.others) > 0:
			return q.WhereOr("fr.id IN (?)", bun.List(found.others))
		default:
			return q
		}
	})
}

// scanFactor is how many times as many entries may be met along the list as would be read by text: they are met one after the
// other in one index.
const scanFactor = 4

// quickerByText reports whether fewer entries have to be looked at when each text's own are read in order, up to as many as
// the page needs, than when found ones are met along the list. Both are known: how many entries there are of the texts, and
// how many entries one has to pass for each that is found.
func (found foundEntries) quickerByText(p db.Window, ofProvider bool) bool {
	if found.tooMany || found.total == 0 {
		return found.total == 0
	}

	read := found.total
	// Along the entries of a text those of other providers are passed, and in another order than theirs all are sorted.
	if !ofProvider && p.Walk.By[0] == recordOrder.Fallback {
		read = min(read, (found.texts+int64(len(found.providers)))*p.Rows+int64(len(found.others)))
	}

	return found.texts+read <= scanFactor*p.Rows*found.all/found.total
}

// entriesByText selects the found entries that a page needs: the first ones of each text, and the others.
func (s *Store) entriesByText(f RecordFilter, found foundEntries, p db.Window) *bun.SelectQuery {
	keys := func(q *bun.SelectQuery) *bun.SelectQuery {
		q = q.Column(recordOrder.ID)
		for _, k := range p.Walk.Keys {
			q = q.Column(k.Column)
		}

		return q
	}

	ofText := p.First(keys(f.narrow(s.lines()).Where("fr.text_id = rt.id")))
	lines := keys(found.matching(s.db.NewSelect())).Join("CROSS JOIN LATERAL (?) AS fr", ofText)

	if len(found.others) > 0 {
		lines = lines.UnionAll(keys(s.lines().Where("fr.id IN (?)", bun.List(found.others))))
	}

	if len(found.providers) > 0 {
		// An entry that is found by its text, too, is there once.
		ofProvider := p.First(keys(f.narrow(s.lines()).Where("fr.provider_id = mp.id")))
		lines = lines.Union(keys(s.db.NewSelect().TableExpr("providers AS mp")).
			Join("CROSS JOIN LATERAL (?) AS fr", ofProvider).Where("mp.id IN (?)", bun.List(found.providers)))
	}

	return s.db.NewSelect().TableExpr("(?) AS fr", lines)
}
