package db_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rihla/internal/store/db"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// written are names and words, each in several ways of writing it that are one to a search.
var written = [][]string{
	{"عايشه", "عائشة", "عائشه", "عَائِشَة", "عــائــشة", "عاي\u200cشه"},
	{"نايف", "نائف", "ﻧﺎﺋﻒ"},
	{"مومن", "مؤمن", "مُؤْمِن"},
	{"وفا", "وفاء", "وفآء", "وفا\u0621"},
	{"روف", "رؤوف", "رءوف"},
	{"داود", "داوود", "داؤود"},
	{"احمد", "أحمد", "إحمد", "آحمد", "ٱحمد", "اٴحمد", "\u200fأحمد\u200e"},
	{"عبدالله", "عبد الله", "عبد  الله", "عبدﷲ", "عبد ﷲ", "عبد\u00a0الله", "عبد اللّٰه"},
	{"عبدالرحمن", "عبد الرحمن", "عبد الرحمٰن"},
	{"ابوبكر", "أبو بكر", "أبوبكر"},
	{"نورالدين", "نور الدين", "نور\u200cالدین"},
	{"هدي", "هدى", "هدي", "هدی", "ﻫﺪﻯ"},
	{"مكه", "مكة", "مكه", "مکه", "مكۀ", "مکہ", "ﻣﻜﺔ"},
	{"لالا", "لألأ", "ﻻﻻ", "ﻷﻷ"},
	{"2026", "٢٠٢٦", "۲۰۲۶", "２０２６", "\u2066٢٠٢٦\u2069"},
	{"rh-2026-000001", "RH-2026-000001", "RH–2026–000001", "RH‑2026‑000001", "RH−2026−000001", "ＲＨ－２０２６－０００００１", "RH-2026-000001\u200e"},
	{"1,234.50", "1,234.50", "١٬٢٣٤٫٥٠", "١،٢٣٤٫٥٠"},
	{"jose", "José", "JOSÉ", "Jose\u0301"},
	{"sa'ad", "Sa’ad", "Sa`ad", "Saʿad", "Sa‘ad"},
	{"ali ahmed", "Ali Ahmed", "ALI\u00a0AHMED", "Ali  Ahmed", "Ali\tAhmed", "A\u00adli Ah\u200bmed"},
	{"istanbul", "İSTANBUL", "Istanbul", "ıstanbul"},
	{"οδυσσευσ", "Ὀδυσσεύς", "ΟΔΥΣΣΕΥΣ"},
	{"100%_\\", "100%_\\", "１００％＿＼", "100﹪﹏﹨"},
}

// TestFoldIsOneInGoAndSQL: names are found however they are written, and Go and the database agree on every character.
func TestFoldIsOneInGoAndSQL(t *testing.T) {
	t.Parallel()
	_, conn := storetest.Open(t, models.DefaultPolicies())

	inSQL := func(t require.TestingT, texts []string) (folded []string) {
		rows, err := conn.Query("SELECT search_fold(x) FROM unnest($1::text[]) WITH ORDINALITY AS t (x, n) ORDER BY n", texts)
		require.NoError(t, err)

		defer rows.Close()

		for rows.Next() {
			var text string
			require.NoError(t, rows.Scan(&text))
			folded = append(folded, text)
		}

		require.NoError(t, rows.Err())

		return folded
	}

	for _, ways := range written {
		for i, folded := range inSQL(t, ways) {
			require.Equal(t, ways[0], folded, "SQL: %q, %+q", ways[i], ways[i])
			require.Equal(t, ways[0], models.Fold(ways[i]), "Go: %q, %+q", ways[i], ways[i])
		}
	}

	// Every character of the scripts that names are written in here, and all that cannot be seen.
	var all []string

	for c := rune(0xe0000); c <= 0xe0fff; c++ {
		all = append(all, "a"+string(c)+"b")
	}

	for c := rune(1); c <= 0xffff; c++ {
		if c <= 0x052f || c >= 0x0590 && c <= 0x08ff || c >= 0x1e00 && c <= 0x214f || c >= 0x3000 && c <= 0x30ff || c >= 0xfb00 {
			if unicode.In(c, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.C) {
				all = append(all, string(c), "ابو "+string(c)+" الله")
			}
		}
	}

	for i, folded := range inSQL(t, all) {
		require.Equal(t, models.Fold(all[i]), folded, "%+q", all[i])
	}

	// Folded again, a text stays as it is: a search may be folded in Go, and is again in SQL.
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{" ", "و", "ابو", "أبو", "عبد", "الله", "الدين", "ء", "ـ", "\u200f", "a", "É", "٣", "\n", "\t", "–", "ﻻ", "%"})
		text := strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), "") + rapid.String().Draw(t, "more")
		text = strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", "")

		once := models.Fold(text)
		require.Equal(t, once, models.Fold(once))
	})
}

// No character becomes a wildcard of LIKE by being folded after it was escaped.
func TestFoldMakesNoWildcards(t *testing.T) {
	t.Parallel()

	plain := strings.NewReplacer(`\\`, "", `\%`, "", `\_`, "")

	for c := rune(1); c <= unicode.MaxRune; c++ {
		require.False(t, strings.ContainsAny(plain.Replace(models.Fold(db.LikeEscaper.Replace(string(c)))), `%_\`), "%U", c)
	}
}
