package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// phrase is what no text says. Only texts that have stem are searched, by an expression in small letters, in which a space is any space.
type phrase struct {
	stem, expr, instead string
	except              []string // kinds of text that may say it
}

// The kinds of text.
const (
	inGo       = "a comment"
	inStrings  = "a string"
	inMarkdown = "Markdown"
	inSQL      = "a comment of SQL"
	inWords    = "a catalogue"
	inDocument = "the API's document"
)

// phrases are words that this project's texts have used for things that docs/glossary.md names, or that need a reader who knows what is
// meant.
var phrases = compiled([]phrase{
	{"whoever", `whoever`, "the subject: caller, worker, requester", nil},
	{"who waits", `who waits`, "a caller that waits, a long poll", nil},
	{"two who", `two who`, "concurrent callers", nil},
	{"before", `of before`, "older, earlier, before migration 18", nil},
	{"shown", `what is shown`, "the rows, fields or amounts that are shown", nil},
	{"out", `(?:gives?|gave) (?:it |them )?out`, "serves, returns, issues", nil},
	{"of", `speaks? of`, "is about, names", nil},
	{"hand", `by hand`, "manually; manual payout", nil},
	{"promise", `promised|(?:gives?|turns|forgets) the promise|the promise (?:is|becomes)`, "reserved; the reservation", nil},
	{"door", `doors?`, "client, handler, edge; before storing", nil},
	{"room", `rooms|(?:a|each|this|every|own|that) room`, "package, directory, layer; capacity", nil},
	{"be had", `could no longer be had`, "received too late to confirm", nil},
	{"off", `(?:broke|breaks|broken) off`, "interrupted, ended early", nil},
	{"left", `left alone`, "circuit open, or rate-limited", nil},
	{"life", `as in life`, "the condition", nil},
	{"step", `in step with`, "equal to", nil},
	{"nobody", `nobody`, "the subject that does not act, or the passive", []string{inStrings}},
	{"somebody", `somebody`, "the subject: operator, user, process", []string{inStrings}},
	{"told", `is told`, "is notified, gets, is logged", []string{inStrings}},
	{"word", `gateway's word`, "the gateway's answer, status or webhook", nil},
	{"ledger", `ledger lines?`, "ledger entry", nil},
	{"record", `financial records?`, "ledger entry", []string{inStrings, inDocument}}, // the API's name, and its label
	{"debit", `second debits?`, "second payment", nil},
	{"end", `money after the end`, "late payment", nil},
	{"refund", `foreign refunds?`, "outside refund", nil},
	{"back", `take-backs?`, "claw-back", nil},
	{"limbo", `limbo`, "suspense", nil},
	{"sick", `sick(?:ness)?`, "failing", []string{inStrings}},
	{"stand", `stand-ins?`, "simulator", nil},
	{"supplier", `suppliers?`, "provider", nil},
	{"provider", `payment providers?`, "gateway", nil},
	{"asker", `askers?`, "requester", nil},
	{"decider", `deciders?`, "approver, second person", nil},
	{"mail", `e-mails?`, "email", nil},
})

func compiled(all []phrase) map[*regexp.Regexp]phrase {
	out := map[*regexp.Regexp]phrase{}
	for _, p := range all {
		out[regexp.MustCompile(`\b(?:`+strings.ReplaceAll(p.expr, " ", `\s+`)+`)\b`)] = p
	}

	return out
}

// passage is a piece of a file's text.
type passage struct {
	kind, text string
	line       int // of its first character
}

// unwritten are directories of files that are made from others, or by others.
var unwritten = []string{
	"api/gen", "api/released", "console/built", "console/dist", "console/src/gen", "console/test-results", "console/playwright-report",
	"e2e/clients/oapi", "e2e/clients/ogen", "e2e/clients/generated", "e2e/typescript/build", "e2e/typescript/generated",
}

// sayThem are the files that have the words because they are about them.
var sayThem = []string{"docs/glossary.md", "docs/words_test.go", "docs/words_go_test.go"}

// TestWordsAreTheFields holds declarations and texts to the words of the glossary.
func TestWordsAreTheFields(t *testing.T) {
	t.Parallel()

	var found []string

	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(filepath.ToSlash(path), "../")

		switch {
		case err != nil:
			return err
		case d.IsDir() && path != ".." && (slices.Contains(unwritten, name) || d.Name()[0] == '.' || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.IsDir() || slices.Contains(sayThem, name) || kindOf(name) == "":
			return nil
		}

		text, err := os.ReadFile(path)
		found = append(found, wordsOf(t, name, string(text))...)

		return err
	}))
	require.Empty(t, found, strings.Join(found, "\n"))
}

// kindOf is what is read of a file; empty: nothing.
func kindOf(name string) string {
	switch filepath.Ext(name) {
	case ".go":
		return inGo
	case ".md":
		return inMarkdown
	case ".sql":
		return inSQL
	case ".ts", ".tsx":
		return inStrings
	}

	switch name {
	case "models/words/en.json", "console/src/i18n/en.json":
		return inWords
	case "api/openapi.yaml":
		return inDocument
	default:
		return ""
	}
}

// wordsOf lists what a file should say in other words, by line.
func wordsOf(t *testing.T, name, text string) (found []string) {
	t.Helper()

	var passages []passage

	switch kindOf(name) {
	case "":
	case inGo:
		passages, found = goPassages(t, name, text)
	default:
		passages = passagesOf(name, text)
	}

	return append(found, saidIn(name, passages)...)
}

func saidIn(name string, passages []passage) (found []string) {
	for _, p := range passages {
		text := lower(p.text)

		for expr, phrase := range phrases {
			if !strings.Contains(text, phrase.stem) || slices.Contains(phrase.except, p.kind) {
				continue
			}

			for _, at := range expr.FindAllStringIndex(text, -1) {
				line := p.line + strings.Count(text[:at[0]], "\n")
				said := strings.Join(strings.Fields(text[at[0]:at[1]]), " ")
				found = append(found, name+":"+strconv.Itoa(line)+": "+p.kind+" has \""+said+"\": write "+phrase.instead)
			}
		}
	}

	slices.Sort(found)

	return found
}

// lower writes ASCII letters small, and leaves every byte where it is.
func lower(text string) string {
	b := []byte(text)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}

	return string(b)
}

var (
	// What is no prose: code and anchors in Markdown, names in the document, keys of catalogues.
	noProse = map[string]*regexp.Regexp{
		inMarkdown: regexp.MustCompile("(?s)```.*?```|`[^`\n]*`|<a id=\"[^\"]*\"></a>|\\]\\([^)\\s]*\\)"),
		inDocument: regexp.MustCompile("`[^`\n]*`|(?m:^ *[\\w-]+:)|\\$ref: *'[^']*'"),
		inWords:    regexp.MustCompile(`(?m)^\s*"[^"]*":`),
	}
	// What a function of SQL is made of stays as databases have it, comments included.
	body       = regexp.MustCompile(`(?s)\$(\w*)\$.*?\$\w*\$`)
	sqlComment = regexp.MustCompile(`--[^\n]*(?:\n[ \t]*--[^\n]*)*`)
	// Comments and strings of TypeScript.
	tsText = regexp.MustCompile("(?s://[^\n]*(?:\n[ \t]*//[^\n]*)*|/\\*.*?\\*/|`(?:\\\\.|[^`\\\\])*`)" +
		"|'(?:\\\\.|[^'\\\\\n])*'|\"(?:\\\\.|[^\"\\\\\n])*\"")
	margin   = regexp.MustCompile(`(?m)^[ \t]*(?://|--|/?\*)`)
	released = regexp.MustCompile(`(?s)\n## \[[^\]]*\] - [0-9].*`)
)

// passagesOf are the texts of a file that is not of Go.
func passagesOf(name, text string) (out []passage) {
	kind := kindOf(name)
	pieces := [][]int{{0, len(text)}}

	switch kind {
	case inSQL:
		text = blanked(text, body)
		pieces = sqlComment.FindAllStringIndex(text, -1)
	case inStrings:
		pieces = tsText.FindAllStringIndex(text, -1)
	case inMarkdown:
		if name == "CHANGELOG.md" { // what was released stays
			text = released.ReplaceAllString(text, "")
		}

		text = blanked(text, noProse[kind])
		pieces = [][]int{{0, len(text)}}
	default:
		text = blanked(text, noProse[kind])
	}

	for _, at := range pieces {
		piece := passage{kind, blanked(text[at[0]:at[1]], margin), 1 + strings.Count(text[:at[0]], "\n")}
		if kind == inStrings && strings.HasPrefix(text[at[0]:], "/") {
			piece.kind = inGo
		}

		out = append(out, piece)
	}

	return out
}

// blanked writes spaces over what an expression finds; lines stay.
func blanked(text string, expr *regexp.Regexp) string {
	return expr.ReplaceAllStringFunc(text, func(found string) string {
		b := []byte(found)
		for i, c := range b {
			if c != '\n' {
				b[i] = ' '
			}
		}

		return string(b)
	})
}

// TestPrivateWordsAreFound plants words in each kind of file, and beside them what is none of its texts.
func TestPrivateWordsAreFound(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		name, planted string
		want          []string
	}{
		{"p.go", "package p\n\n// F runs again for whoever asks, by\n// hand.\nfunc F() { _ = \"is Promised\" }\n\n" +
			"type s struct{ door int }\n\nfunc row() {}\n", []string{
			`p.go:7: door: write client`,
			`p.go:9: row: say of what`,
			`p.go:3: a comment has "by hand": write manually; manual payout`,
			`p.go:3: a comment has "whoever": write the subject: caller, worker, requester`,
			`p.go:5: a string has "promised": write reserved; the reservation`,
		}},
		{"p.md", "# A <a id=\"at-the-door\"></a>\n\n`by hand`, [b](#by-hand), mail by\nhand.\n\n```\nby hand\n```\n", []string{
			`p.md:3: Markdown has "by hand": write manually; manual payout`,
		}},
		{"CHANGELOG.md", "## [1.1.0] - unreleased\n\nby hand\n\n## [1.0.0] - 2026-11-21\n\nby hand\n", []string{
			`CHANGELOG.md:3: Markdown has "by hand": write manually; manual payout`,
		}},
		{"migrations/p.sql", "SELECT 'by hand'; -- those of\n  -- before\nAS $$\n-- of before\n$$;\n-- A ledger line.\n", []string{
			`migrations/p.sql:1: a comment of SQL has "of before": write older, earlier, before migration 18`,
			`migrations/p.sql:6: a comment of SQL has "ledger line": write ledger entry`,
		}},
		{"models/words/en.json", "{\n  \"door\": {\n    \"door\": \"Your e-mail\"\n  }\n}\n", []string{
			`models/words/en.json:3: a catalogue has "e-mail": write email`,
		}},
		{"models/words/ar.json", "{\"a\": \"by hand\"}", nil},
		{"p.tsx", "/** Speaks\n * of it. */\nconst door = 'a door'; // whoever\nconst p: Promise<void> = `${x} nobody\nby hand`;\n", []string{
			`p.tsx:1: a comment has "speaks of": write is about, names`,
			`p.tsx:3: a comment has "whoever": write the subject: caller, worker, requester`,
			`p.tsx:3: a string has "door": write client, handler, edge; before storing`,
			`p.tsx:5: a string has "by hand": write manually; manual payout`,
		}},
		{"api/openapi.yaml", "door:\n  - name: Financial records\n  description: >\n    Gives\n    them out; `door`\n", []string{
			`api/openapi.yaml:4: the API's document has "gives them out": write serves, returns, issues`,
		}},
		{"p.yaml", "by hand", nil},
	} {
		require.Equal(t, c.want, wordsOf(t, c.name, c.planted), c.name)
	}
}
