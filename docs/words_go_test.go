package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

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

// goPassages are the comments and strings of a Go file, and found what it declares by private names.
func goPassages(t *testing.T, name, text string) (passages []passage, found []string) {
	t.Helper()

	files := token.NewFileSet()

	file, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)

	line := func(at token.Pos) int { return files.Position(at).Line }

	for _, group := range file.Comments {
		piece := text[files.Position(group.Pos()).Offset:files.Position(group.End()).Offset]
		passages = append(passages, passage{inGo, blanked(piece, margin), line(group.Pos())})
	}

	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING {
			passages = append(passages, passage{inStrings, s.Value, line(s.Pos())})
		}

		return true
	})

	for _, d := range file.Decls {
		for _, declaredName := range namesOf(d) {
			at := name + ":" + strconv.Itoa(line(declaredName.Pos())) + ": " + declaredName.Name

			if instead, private := declared[declaredName.Name]; private {
				found = append(found, at+": write "+instead)
			}

			if f, ok := d.(*ast.FuncDecl); (!ok || f.Recv == nil) && slices.Contains(generic, declaredName.Name) && !isField(d, declaredName) {
				found = append(found, at+": say of what")
			}
		}
	}

	return passages, found
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
