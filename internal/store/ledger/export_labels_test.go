package ledger_test

import (
	"bytes"
	"encoding/csv"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/ledger"
	"rihla/models"
)

// TestExportLabels: every column has a title of its own in both languages, and the codes of the first export stay what programs
// know them by.
func TestExportLabels(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.sale(t, 1)

	arabic := regexp.MustCompile(`\p{Arabic}`)
	seen := map[string]bool{}

	for _, c := range ledger.ExportColumns() {
		require.Equal(t, c.Name, c.Title(""))
		require.Regexp(t, arabic, c.Title(models.LocaleArabic))
		require.NotRegexp(t, arabic, c.Title(models.LocaleEnglish))

		for _, title := range []string{c.Title(models.LocaleArabic), c.Title(models.LocaleEnglish)} {
			require.NotEmpty(t, title)
			require.LessOrEqual(t, len(title), 63, "PostgreSQL cuts names: %s", title)
			require.False(t, seen[title], "a table needs titles that differ: %s", title)
			seen[title] = true
		}
	}

	for lang, want := range map[models.Locale][2]string{
		"": {"SALE", "IN_CURRENT_BALANCE"}, models.LocaleEnglish: {"Sale", "In current balance"}, models.LocaleArabic: {"بيع", "ضمن الرصيد الحالي"},
	} {
		var file bytes.Buffer

		_, err := b.Store.Ledger.ExportCSV(t.Context(), ledger.RecordFilter{}, lang, &file)
		require.NoError(t, err)

		rows, err := csv.NewReader(&file).ReadAll()
		require.NoError(t, err)
		require.Len(t, rows, 2, "a CSV has no totals: they would be counted as an entry")

		for i, c := range ledger.ExportColumns() {
			require.Equal(t, c.Title(lang), rows[0][i])
		}

		require.Equal(t, want, [2]string{rows[1][2], rows[1][11]})
	}
}
