package audit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/db"
)

// exported is the audit log of a world as files, with three seals and one entry under none.
func exported(t *testing.T, w *world) (csv, lines string) {
	t.Helper()

	for _, agent := range []string{
		`=HYPERLINK("x")`, "'=1", "a; =b", "a;'=b", ";'=a;=b", "'=a;=b;''=c", "\u00a0=1;'\u00a0=a;=b", "مرحبا", `a"b,c`,
	} {
		w.note(t, agent)
	}

	w.seal(t)
	w.note(t, "none yet")

	var b bytes.Buffer

	rows, err := w.s.DB.ExportAuditCSV(t.Context(), db.AuditFilter{}, &b)
	require.NoError(t, err)
	require.Greater(t, rows, int64(10))

	csv = "\ufeff" + b.String()
	b.Reset()

	again, err := w.s.DB.ExportAuditLines(t.Context(), db.AuditFilter{}, &b)
	require.NoError(t, err)
	require.Equal(t, rows, again)

	seal, err := w.s.DB.NewestAuditSeal(t.Context())
	require.NoError(t, err)

	fmt.Fprintf(&b, `{"export":{"rows":%d,"newest_seal":{"number":%d,"hash":%q}}}`+"\n", rows, seal.Number, seal.Hash)

	return csv, b.String()
}

// checkFile checks a file, and returns the rules that it breaks.
func checkFile(t *testing.T, file string, o LogFileOptions) (f LogFile, rules []string) {
	t.Helper()

	f, err := CheckLogFile(strings.NewReader(file), o, func(d Difference) error {
		if !slices.Contains(rules, d.Rule) {
			rules = append(rules, d.Rule)
		}

		return nil
	})
	require.NoError(t, err)

	return f, rules
}

// An exported audit log proves itself without the database, in both formats (rules: audit.export).
func TestExportedLogIsCheckedOffline(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	csv, lines := exported(t, w)

	seal, err := w.s.DB.NewestAuditSeal(t.Context())
	require.NoError(t, err)

	noted, err := ParseLogSeal(seal.String())
	require.NoError(t, err)

	for name, file := range map[string]string{"csv": csv, "jsonl": lines} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f, rules := checkFile(t, file, LogFileOptions{Seal: noted})
			require.Empty(t, rules)
			require.EqualValues(t, 4, f.Seals)
			require.Zero(t, f.Parts)
			require.EqualValues(t, 1, f.Unsealed)
			require.Equal(t, noted, f.Last)
			require.True(t, f.HasSeal)

			f, _ = checkFile(t, file, LogFileOptions{Seal: LogSeal{4, strings.Repeat("0", 64)}})
			require.False(t, f.HasSeal)

			for _, tampering := range fileTamperings() {
				broken := tampering.do(t, strings.SplitAfter(strings.TrimSuffix(file, "\n"), "\n"), name == "csv")
				_, rules := checkFile(t, strings.Join(broken, ""), LogFileOptions{})
				require.Contains(t, rules, tampering.rule, tampering.name)
			}
		})
	}
}

// fileTampering changes lines of a file: a CSV's first one is the header, and the last one of JSON lines is about the export.
type fileTampering struct {
	name, rule string
	do         func(t *testing.T, lines []string, csv bool) []string
}

func fileTamperings() []fileTampering {
	return []fileTampering{
		{"one changed row", "log-entries", func(t *testing.T, lines []string, _ bool) []string {
			t.Helper()

			i := lineWith(t, lines, "203.0.113.7")
			lines[i] = strings.Replace(lines[i], "203.0.113.7", "203.0.113.8", 1)

			return lines
		}},
		{"one missing row", "log-chain", func(_ *testing.T, lines []string, _ bool) []string { return slices.Delete(lines, 2, 3) }},
		{"the last sealed row missing", "log-chain", func(_ *testing.T, lines []string, csv bool) []string {
			last := len(lines) - 2 // behind it is one without a seal

			if !csv {
				last--

				lines[len(lines)-1] = strings.Replace(lines[len(lines)-1],
					fmt.Sprintf(`"rows":%d`, len(lines)-1), fmt.Sprintf(`"rows":%d`, len(lines)-2), 1)
			}

			return slices.Delete(lines, last, last+1)
		}},
		{"two swapped rows", "log-chain", func(_ *testing.T, lines []string, _ bool) []string {
			lines[1], lines[2] = lines[2], lines[1]

			return lines
		}},
		{"two rows with swapped contents", "log-entries", func(t *testing.T, lines []string, _ bool) []string {
			t.Helper()

			first, second := lineWith(t, lines, "first"), lineWith(t, lines, "second")
			lines[first] = strings.Replace(lines[first], "first", "second", 1)
			lines[second] = strings.Replace(lines[second], "second", "first", 1)

			return lines
		}},
		{"a row twice", "log-chain", func(_ *testing.T, lines []string, _ bool) []string { return slices.Insert(lines, 2, lines[1]) }},
	}
}

// lineWith is the index of the first line that has a text.
func lineWith(t *testing.T, lines []string, text string) int {
	t.Helper()

	i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, text) })
	require.GreaterOrEqual(t, i, 0, text)

	return i
}

// An interrupted file is not taken for a whole one, and one with filters is checked as far as it goes.
func TestExportedLogInPart(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	_, lines := exported(t, w)

	_, rules := checkFile(t, lines[:strings.LastIndex(lines, `{"export"`)], LogFileOptions{})
	require.Equal(t, []string{"log-file"}, rules, "the end is missing")

	_, rules = checkFile(t, strings.Replace(lines, `"export":{"rows":`, `"export":{"rows":1`, 1), LogFileOptions{})
	require.Equal(t, []string{"log-file"}, rules, "another number of entries")

	_, rules = checkFile(t, lines+"{}", LogFileOptions{})
	require.Equal(t, []string{"log-file"}, rules, "more after the end")

	seal := strings.LastIndex(lines, `"hash":"`) + len(`"hash":"`)
	_, rules = checkFile(t, lines[:seal]+strings.Repeat("0", 64)+lines[seal+64:], LogFileOptions{})
	require.Equal(t, []string{"log-chain"}, rules, "the end names another seal")

	var part bytes.Buffer

	_, err := w.s.DB.ExportAuditCSV(t.Context(), db.AuditFilter{Action: "HOTEL_CREATED", ActorID: w.finance.UserID}, &part)
	require.NoError(t, err)

	f, rules := checkFile(t, part.String(), LogFileOptions{Partial: true})
	require.Empty(t, rules)
	require.Positive(t, f.Parts)

	_, rules = checkFile(t, part.String(), LogFileOptions{})
	require.Equal(t, []string{"log-chain"}, rules, "entries are missing")

	_, rules = checkFile(t, strings.Replace(part.String(), "203.0.113.7", "203.0.113.8", 1), LogFileOptions{Partial: true})
	require.Equal(t, []string{"log-entries"}, rules)

	for _, bad := range []string{"", "{", `{"seal": 1`, "{\"export\": 1}", "seal,id\n1,2,3\n", "id,created_at,details\n1,2,{}\n"} {
		_, err := CheckLogFile(strings.NewReader(bad), LogFileOptions{}, func(Difference) error { return nil })
		require.Error(t, err, bad)
	}
}
