package audit

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/db"
)

// column changes the cells of one column of a CSV.
func column(t *testing.T, file, name string, change func(row map[string]string, cell string) string) string {
	t.Helper()

	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(file, "\ufeff"))).ReadAll()
	require.NoError(t, err)

	for _, cells := range rows[1:] {
		row := map[string]string{}
		for i, cell := range cells {
			row[rows[0][i]] = cell
		}

		i := slices.Index(rows[0], name)
		require.GreaterOrEqual(t, i, 0, name)
		cells[i] = change(row, cells[i])
	}

	var b strings.Builder

	require.NoError(t, csv.NewWriter(&b).WriteAll(rows))

	return b.String()
}

// bare takes what proves an entry from the entries that are asked for; the seal's number is the last that goes.
func bare(t *testing.T, file string, which func(row map[string]string) bool) string {
	t.Helper()

	for _, name := range []string{
		"digest", "seal_entries", "seal_since", "seal_until", "seal_noted_at", "seal_sealed_at", "seal_previous", "seal_hash", "seal_position",
		"seal",
	} {
		file = column(t, file, name, func(row map[string]string, cell string) string {
			if which(row) {
				return ""
			}

			return cell
		})
	}

	return file
}

// An entry without a digest proves nothing, wherever it stands; that is taken only where it is said, and only beside seals over entries
// from before there were seals.
func TestEntriesWithoutDigests(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	file, _ := exported(t, w)
	id := w.id(t, "SELECT entries[2] FROM audit_seals WHERE number = 1").String()

	for name, which := range map[string]func(row map[string]string) bool{
		"one row":                  func(row map[string]string) bool { return row["id"] == id },
		"the last seal":            func(row map[string]string) bool { return row["seal"] == "4" },
		"what is under no seal":    func(row map[string]string) bool { return row["seal"] == "" },
		"all that is in the file":  func(map[string]string) bool { return true },
		"all but the entry's seal": func(row map[string]string) bool { return row["seal"] != "1" },
	} {
		broken := bare(t, file, which)

		for _, partial := range []bool{false, true} {
			_, rules := checkFile(t, broken, LogFileOptions{Partial: partial})
			require.Contains(t, rules, "log-entries", "%s, in part: %v", name, partial)

			_, rules = checkFile(t, broken, LogFileOptions{Partial: partial, PastWaits: true})
			require.NotEmpty(t, rules, "%s, in part: %v", name, partial)
		}
	}

	f, rules := checkFile(t, bare(t, file, func(map[string]string) bool { return true }), LogFileOptions{Partial: true, PastWaits: true})
	require.Equal(t, []string{"log-file"}, rules, "nothing is computed")
	require.Equal(t, f.Entries, f.Unproven)
}

// What is exported while entries from before there were seals wait for theirs has some without a digest.
func TestExportWhileThePastIsSealed(t *testing.T) {
	t.Parallel()

	w := newWorld(t)

	for range 2 {
		w.note(t, "earlier")
	}

	for _, sql := range []string{
		"ALTER TABLE audit_seals DISABLE TRIGGER ALL", "DELETE FROM audit_seals", "DELETE FROM audit_unsealed",
		`INSERT INTO audit_seal_start (created_at, id, until)
		SELECT '-infinity', '00000000-0000-0000-0000-000000000000', max(created_at) FROM audit_log`,
		"SELECT seal_audit_log(1)",
	} {
		_, err := w.db.ExecContext(t.Context(), sql)
		require.NoError(t, err)
	}

	w.note(t, "of now")

	var b bytes.Buffer

	_, err := w.s.DB.ExportAuditCSV(t.Context(), db.AuditFilter{}, &b)
	require.NoError(t, err)

	f, rules := checkFile(t, b.String(), LogFileOptions{PastWaits: true})
	require.Empty(t, rules)
	require.Positive(t, f.Unproven)
	require.Equal(t, f.Entries-2, f.Unproven, "one is sealed, and one was noted")

	_, rules = checkFile(t, b.String(), LogFileOptions{})
	require.Equal(t, []string{"log-entries"}, rules)
}

// A seal is proven by all of its entries, and by their hash.
func TestSealThatWasNotComputed(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	file, _ := exported(t, w)

	seal, err := w.s.DB.NewestAuditSeal(t.Context())
	require.NoError(t, err)

	lines := strings.SplitAfter(strings.TrimSuffix(file, "\n"), "\n")
	lines = slices.Delete(lines, len(lines)-3, len(lines)-2) // the last but one of the seal

	f, rules := checkFile(t, strings.Join(lines, ""), LogFileOptions{Partial: true, Seal: LogSeal{seal.Number, seal.Hash}})
	require.Empty(t, rules)
	require.False(t, f.HasSeal, "it is there in part")

	other := LogSeal{4, strings.Repeat("ab", 32)}
	f, rules = checkFile(t, column(t, file, "seal_hash", func(row map[string]string, cell string) string {
		if row["seal"] == "4" {
			return other.Hash
		}

		return cell
	}), LogFileOptions{Seal: other})
	require.Equal(t, []string{"log-chain"}, rules)
	require.False(t, f.HasSeal, "its hash is another one")
}

// Entries under no seal are the last ones of a file.
func TestEntriesUnderNoSealAreTheLast(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	file, _ := exported(t, w)

	lines := strings.SplitAfter(strings.TrimSuffix(file, "\n"), "\n")
	last := lines[len(lines)-1] + "\n"
	lines = slices.Insert(lines[:len(lines)-1], 1, last)

	_, rules := checkFile(t, strings.Join(lines, ""), LogFileOptions{Partial: true})
	require.Equal(t, []string{"log-chain"}, rules)
}

// The origin that earlier log-ins have in their details is theirs; one that was put in place of it is not.
func TestOriginOfOldLogins(t *testing.T) {
	t.Parallel()

	w := newWorld(t)

	for _, agent := range []string{";'=a;=b", "tabs\tand more", ""} {
		require.NoError(t, w.s.DB.Audit(t.Context(), w.finance, "LOGGED_IN", "user", nil, map[string]any{
			"address": "192.0.2.77", "user_agent": agent,
		}))
	}

	w.seal(t)

	var file, lines bytes.Buffer

	_, err := w.s.DB.ExportAuditCSV(t.Context(), db.AuditFilter{}, &file)
	require.NoError(t, err)

	_, rules := checkFile(t, file.String(), LogFileOptions{})
	require.Empty(t, rules)

	for name, to := range map[string]string{"address": "192.0.2.78", "user_agent": "another"} {
		_, rules = checkFile(t, column(t, file.String(), name, func(row map[string]string, cell string) string {
			if row["action"] != "LOGGED_IN" {
				return cell
			}

			return to
		}), LogFileOptions{})
		require.Equal(t, []string{"log-entries"}, rules, name)
	}

	_, err = w.s.DB.ExportAuditLines(t.Context(), db.AuditFilter{Action: "LOGGED_IN"}, &lines)
	require.NoError(t, err)

	end := fmt.Sprintf(`{"export":{"rows":%d}}`, strings.Count(lines.String(), "\n"))
	_, rules = checkFile(t, lines.String()+end, LogFileOptions{Partial: true})
	require.Empty(t, rules)

	_, rules = checkFile(t, strings.Replace(lines.String(), "192.0.2.77", "192.0.2.78", 1)+end, LogFileOptions{Partial: true})
	require.Equal(t, []string{"log-entries"}, rules)
}

// shortTexts are all texts of up to so many of the signs.
func shortTexts(signs []string, most int) []string {
	all := []string{""}

	for from := 0; most > 0; most-- {
		until := len(all)

		for _, text := range all[from:until] {
			for _, sign := range signs {
				all = append(all, text+sign)
			}
		}

		from = until
	}

	return all
}

// What PostgreSQL writes into cells so that none runs is taken out again without a trace, whatever was written: all short texts of what
// matters.
func TestGuardsOfCellsAreTakenOut(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	texts := shortTexts([]string{"'", ";", "=", " ", `"`, "a", "\u00a0", "＝"}, 5)

	rows, err := w.db.QueryContext(t.Context(), "SELECT t, "+db.Harmless("t")+" FROM unnest($1::text[]) AS u (t)", texts)
	require.NoError(t, err)

	defer rows.Close()

	runs := regexp.MustCompile(`^[\s\x{a0}]*[=＝]|;[\s\x{a0}"]*[=＝]`)
	n := 0

	for ; rows.Next(); n++ {
		var text, cell string

		require.NoError(t, rows.Scan(&text, &cell))

		if got := withoutGuards(cell); got != text {
			t.Fatalf("%q is %q, and then %q", text, cell, got)
		}

		if runs.MatchString(cell) {
			t.Fatalf("%q is %q, which runs", text, cell)
		}
	}

	require.NoError(t, rows.Err())
	require.Len(t, texts, n)
}
