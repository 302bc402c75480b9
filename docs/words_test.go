package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// uncovered are the directories of generated code.
var uncovered = []string{"api/gen", "e2e/clients/oapi", "e2e/clients/ogen", "e2e/clients/generated"}

// declared are names that package-level declarations, methods and struct fields must not have, and what to write instead.
var declared = map[string]string{
	"house": "environment, env", "bell": "webhook proxy", "door": "client", "doors": "limit", "visitor": "tracked connection",
	"moments": "hooks", "tellers": "payout clerks", "errand": "probe", "scene": "evidence", "insist": "panic, retryUntilDecided",
	"roomy": "tripsWithRoom", "Turn": "SweepCursor", "walk": "keyset", "shortcuts": "ListOptions",
	"ToAsk": "ClaimPaymentsToPoll", "EndedToAsk": "ClaimLateChecks", "EndedAsked": "CompleteLateCheck", "owe": "recordLiability",
	"adopt": "linkOrphanEvent", "findSibling": "findOtherOpenAttempt", "yesFirst": "CompareBool", "Standing": "AccountStatus",
	"through": "call", "oddity": "anomaly", "strange": "unexpectedCurrency", "isSickness": "countsAsFailure",
	"scattered": "withJitter", "gone": "errCanceled", "pump": "outboxNotifier", "Poke": "Notify", "alive": "heartbeat",
	"aftermath": "detached", "greet": "ping", "agreeWithSecurity": "checkRolesMatchSecurity",
	"PaymentProvider": "Gateway", "wordsAreKept": "reasonStored",
}

// generic are names that no function, type, variable or constant of a package may have: they do not say of what.
var generic = []string{"list", "get", "row", "kind", "same", "tell", "word", "part", "behind", "later", "each", "carriers", "manager", "helpers"}

// phrases must not stand in comments; the value says what to write instead.
var phrases = map[string]string{
	`whoever`: "the subject: caller, worker, requester", `two who`: "concurrent callers",
	`left alone`: "circuit open, or rate-limited", `as in life`: "the condition",
	`in step with`: "equal to", `speaks? of`: "is about, names", `at the door`: "before storing, at the edge",
	`nobody`: "the subject that does not act, or the passive", `somebody`: "the subject: operator, user, process",
	`is told`: "is notified, gets, is logged", `gateway's word`: "the gateway's answer, status or webhook",
}

// TestWordsAreTheFields holds declarations and comments of product code to the field's words.
func TestWordsAreTheFields(t *testing.T) {
	t.Parallel()

	var found []string

	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		name := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))

		switch {
		case err != nil:
			return err
		case d.IsDir() && path != ".." && (slices.Contains(uncovered, name) || d.Name()[0] == '.' || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go" || name == "docs/words_test.go":
			return nil
		}

		found = append(found, wordsOf(t, path, nil)...)

		return nil
	}))
	require.Empty(t, found, strings.Join(found, "\n"))
}

// TestPrivateWordsAreFound plants one word of each kind.
func TestPrivateWordsAreFound(t *testing.T) {
	t.Parallel()

	const planted = "package p\n\n// F runs again for whoever asks.\nfunc F() {}\n\ntype s struct{ door int }\n\nfunc row() {}\n"

	require.Equal(t, []string{
		"p.go:3: a comment has \"whoever\": write the subject: caller, worker, requester",
		"p.go:6: door: write client",
		"p.go:8: row: say of what",
	}, wordsOf(t, "p.go", planted))
}

// wordsOf lists the private words of a file, by line; src is its text, nil to read it.
func wordsOf(t *testing.T, path string, src any) []string {
	t.Helper()

	var (
		found []string
		files = token.NewFileSet()
	)

	file, err := parser.ParseFile(files, path, src, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)

	report := func(at token.Pos, what string) {
		found = append(found, strings.TrimPrefix(filepath.ToSlash(path), "../")+":"+strconv.Itoa(files.Position(at).Line)+": "+what)
	}

	for _, group := range file.Comments {
		for _, c := range group.List {
			for phrase, instead := range phrases {
				if word := regexp.MustCompile(`(?i)\b` + phrase + `\b`).FindString(c.Text); word != "" {
					report(c.Pos(), "a comment has \""+strings.ToLower(word)+"\": write "+instead)
				}
			}
		}
	}

	for _, d := range file.Decls {
		for _, name := range namesOf(d) {
			if instead, private := declared[name.Name]; private {
				report(name.Pos(), name.Name+": write "+instead)
			}

			if f, ok := d.(*ast.FuncDecl); (!ok || f.Recv == nil) && slices.Contains(generic, name.Name) && !isField(d, name) {
				report(name.Pos(), name.Name+": say of what")
			}
		}
	}

	return found
}

// namesOf are the names that a declaration makes, struct fields included.
func namesOf(d ast.Decl) []*ast.Ident {
	f, ok := d.(*ast.FuncDecl)
	if ok {
		return []*ast.Ident{f.Name}
	}

	var names []*ast.Ident

	for _, s := range d.(*ast.GenDecl).Specs {
		switch s := s.(type) {
		case *ast.ValueSpec:
			names = append(names, s.Names...)
		case *ast.TypeSpec:
			names = append(names, s.Name)
			names = append(names, fieldsOf(s)...)
		}
	}

	return names
}

func fieldsOf(s *ast.TypeSpec) (names []*ast.Ident) {
	if st, ok := s.Type.(*ast.StructType); ok {
		for _, f := range st.Fields.List {
			names = append(names, f.Names...)
		}
	}

	return names
}

func isField(d ast.Decl, name *ast.Ident) bool {
	g, ok := d.(*ast.GenDecl)

	return ok && slices.ContainsFunc(g.Specs, func(s ast.Spec) bool {
		t, ok := s.(*ast.TypeSpec)

		return ok && slices.Contains(fieldsOf(t), name)
	})
}
