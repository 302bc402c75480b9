package ledger

import (
	"context"
	"strings"
	"unicode"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"rihla/internal/store/db"
	"rihla/models"
)

// manyOthers is up to how many entries that are found by a number are held in memory for a page.
const manyOthers = 5000

// NumberPrefix is how every transaction number begins.
const NumberPrefix = "RH-"

// inEveryNumber reports whether a text is part of every transaction number.
func inEveryNumber(search string) bool {
	return strings.Contains(NumberPrefix, strings.ToUpper(search))
}

// maybeInNumber reports whether a text can be part of a transaction number, or of the details of a claw-back, which end in
// one: whether it has no other characters than they do.
func maybeInNumber(search string) bool {
	return strings.Trim(strings.ToLower(search), "claw-bk ofrh0123456789") == "" && strings.ContainsAny(search, "0123456789rRhH-")
}

// findOthers finds the entries that are found by a number or a payout reference alone, and counts them up to db.SearchedUpTo.
func (s *Store) findOthers(ctx context.Context, f RecordFilter, found *foundEntries) error {
	others := func() *bun.SelectQuery {
		parts := make([]any, 0, len(numbersIn(f.Search)))

		// Each part is found in an index of its own. They have no entry in common, so that a part that is enough spares the next.
		for i, in := range numbersIn(f.Search) {
			q := in.narrow(f.narrow(s.lines()).Column("fr.id")).Where("? IS FALSE", found.byText(s.db.NewSelect()))
			for _, before := range numbersIn(f.Search)[:i] {
				q = q.Where("(?) IS NOT TRUE", before.condition)
			}

			if len(found.providers) > 0 {
				q = q.Where("fr.provider_id NOT IN (?)", bun.List(found.providers))
			}

			parts = append(parts, q.Limit(db.SearchedUpTo+1))
		}

		return s.db.NewSelect().TableExpr("("+strings.Repeat("(?) UNION ALL ", len(parts)-1)+"(?)) AS o", parts...)
	}

	n, err := s.db.Counts.Of(ctx, others(), db.SearchedUpTo)
	if err != nil {
		return err
	}

	found.tooMany, found.exact = n.Rows > manyOthers, n.Exact

	if !found.tooMany {
		if err := others().Column("o.id").Limit(manyOthers).Scan(ctx, &found.others); err != nil {
			return err
		}

		n.Rows = int64(len(found.others))
	}

	found.total += n.Rows

	return nil
}

// numberPart is one of the places with a number of an entry's own.
type numberPart struct{ condition schema.QueryWithArgs }

func (p numberPart) narrow(q *bun.SelectQuery) *bun.SelectQuery { return q.Where("?", p.condition) }

// numbersIn are the places where a search looks for numbers: transaction numbers and the details of claw-backs, which end in one, if it may
// be there; and payout references. A text that is too short for the index of parts is looked for at the beginning of a reference, and among
// numbers when it is digits: nearly every number has those, so that enough are met soon.
func numbersIn(search string) []numberPart {
	text := db.LikeEscaper.Replace(search)
	part := func(condition string, args ...any) numberPart { return numberPart{bun.SafeQuery(condition, args...)} }

	reference := part("fr.payout_reference IS NOT NULL AND search_fold(fr.payout_reference) LIKE ? || search_fold(?) || '%'",
		beforeText(search), text)

	if !maybeInNumber(search) || !hasTrigram(search) && strings.Trim(search, "0123456789") != "" {
		return []numberPart{reference}
	}

	number := part("fr.transaction_number ILIKE ?", "%"+text+"%")

	// A search that begins as numbers do matches at their beginning only, where a plain index finds it. Trigrams find numbers more
	// slowly, which are alike.
	if upper := strings.ToUpper(text); strings.HasPrefix(upper, NumberPrefix) {
		number = part("fr.transaction_number LIKE ?", upper+"%")
	}

	return []numberPart{number, part("fr.kind = ? AND fr.details ILIKE ?", models.RecordClawback, "%"+text+"%"), reference}
}

// hasTrigram reports whether an index of parts of texts can find a text: by three letters or digits in a row, or fewer beside the beginning
// or the end of a word.
func hasTrigram(search string) bool {
	inRow, began := 0, false

	for _, r := range search {
		switch word := unicode.IsLetter(r) || unicode.IsDigit(r); {
		case word && (began || inRow == 2), !word && inRow == 2:
			return true
		case word:
			inRow++
		default:
			inRow, began = 0, true
		}
	}

	return false
}

// beforeText is the pattern of what may be before a text in a payout reference.
func beforeText(search string) string {
	if hasTrigram(search) {
		return "%"
	}

	return ""
}

// inNumber narrows entries to those that are found by a number or a payout reference.
func inNumber(q *bun.SelectQuery, search string) *bun.SelectQuery {
	return q.WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
		for _, in := range numbersIn(search) {
			q = q.WhereOr("(?)", in.condition)
		}

		return q
	})
}
