package middleware

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"rihla/api/contract"
	"rihla/models"
)

func TestEveryCodeHasWords(t *testing.T) {
	t.Parallel()

	for code := range statusOf {
		require.Contains(t, codeWords, code, "%s has no ui_message: add it to codeWords", code)
	}

	for code, text := range codeWords {
		require.Regexp(t, `^[A-Z][^{}]*\.$`, text.en, code)
		require.Regexp(t, `^\p{Arabic}[^{}A-Za-z]*\.$`, text.ar, code)
	}
}

// TestEveryMessageHasWords reads the messages of details from the source and from the document.
func TestEveryMessageHasWords(t *testing.T) {
	t.Parallel()

	found := messagesOfDocument(t)
	maps.Copy(found, messagesOfSource(t))

	require.Greater(t, len(found), 60)

	for place, text := range found {
		if text == "%s" || strings.HasPrefix(text, "1 ") {
			continue // another message that is found by itself, and a part of one
		}

		sample := regexp.MustCompile(`%[a-z]`).ReplaceAllString(strings.ReplaceAll(text, "%d", "3"), "x")
		arabic, ok := inArabic(sample)
		if !ok {
			t.Errorf("%s: %q has no ui_details: add it to detailWords or detailPhrases", place, text)
		}

		require.Regexp(t, `\p{Arabic}`, arabic, text)
		require.NotContains(t, arabic, "{", text)
	}
}

// messagesOfDocument are the x-message of openapi.yaml, by place.
func messagesOfDocument(t *testing.T) map[string]string {
	t.Helper()

	text, err := os.ReadFile("../openapi.yaml")
	require.NoError(t, err)

	out := map[string]string{}

	for i, line := range strings.Split(string(text), "\n") {
		if found := regexp.MustCompile(`x-message: (?:'([^']+)'|([^,}]+))`).FindStringSubmatch(line); found != nil {
			out["openapi.yaml:"+strconv.Itoa(i+1)] = strings.TrimSpace(found[1] + found[2])
		}
	}

	require.NotEmpty(t, out)

	return out
}

// messagesOfSource are the messages that the service's own code puts into details, by place: arguments of the functions
// that do that, and what problems.go and formats.go say of schemas.
func messagesOfSource(t *testing.T) map[string]string {
	t.Helper()

	out := map[string]string{}
	files := token.NewFileSet()

	for _, folder := range []string{"api", "models", "internal", "gateways", "activities", "workflows", "cmd"} {
		require.NoError(t, filepath.WalkDir(filepath.Join("../..", folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/gen/") ||
				strings.Contains(path, "/simulator/") { // which speak to the service, not for it
				return err
			}

			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}

			words := strings.HasSuffix(path, "contract/problems.go")

			ast.Inspect(file, func(n ast.Node) bool {
				var said []ast.Expr

				switch n := n.(type) {
				case *ast.CallExpr:
					said = append(addedBy(n), saidBy(n, path))
				case *ast.AssignStmt:
					said = setBy(n)
				case *ast.CompositeLit:
					said = heldBy(n)
				case *ast.ReturnStmt:
					if words && len(n.Results) == 1 {
						said = n.Results
					}
				}

				for _, one := range said {
					// What begins with a capital is a list of something else.
					if text := formatOf(one); text != "" && !unicode.IsUpper([]rune(text)[0]) {
						out[files.Position(one.Pos()).String()] = text
					}
				}

				return true
			})

			return nil
		}))
	}

	for format, text := range contract.FormatWords {
		out["formats.go: "+format] = text
	}

	return out
}

// saidBy is the argument of a call that becomes a message of details; nil when there is none.
func saidBy(call *ast.CallExpr, path string) ast.Expr {
	name := ""

	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		name = f.Sel.Name
	case *ast.Ident:
		name = f.Name
	}

	ours := strings.Contains(path, "api/contract/") && (name == "add" || name == "addAt") ||
		strings.Contains(path, "gateways/") && name == "addf" || name == "Invalid"

	if !ours || len(call.Args) < 2 {
		return nil
	}

	return call.Args[1]
}

// setBy are the messages of wrong[field] = []string{…}.
func setBy(n *ast.AssignStmt) (said []ast.Expr) {
	for i, to := range n.Lhs {
		if _, member := to.(*ast.IndexExpr); !member || i >= len(n.Rhs) {
			continue
		}

		if list, ok := n.Rhs[i].(*ast.CompositeLit); ok && isTexts(list.Type) {
			said = append(said, list.Elts...)
		}
	}

	return said
}

// heldBy are the messages of map[string][]string{field: {…}}.
func heldBy(n *ast.CompositeLit) (said []ast.Expr) {
	m, ok := n.Type.(*ast.MapType)
	if !ok || !isTexts(m.Value) {
		return nil
	}

	for _, e := range n.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			if list, ok := pair.Value.(*ast.CompositeLit); ok {
				said = append(said, list.Elts...)
			}
		}
	}

	return said
}

// addedBy are the messages of append(wrong[field], …).
func addedBy(call *ast.CallExpr) []ast.Expr {
	if f, ok := call.Fun.(*ast.Ident); !ok || f.Name != "append" || len(call.Args) < 2 {
		return nil
	}

	if _, member := call.Args[0].(*ast.IndexExpr); !member {
		return nil
	}

	return call.Args[1:]
}

func isTexts(e ast.Expr) bool {
	list, ok := e.(*ast.ArrayType)
	if !ok || list.Len != nil {
		return false
	}

	element, ok := list.Elt.(*ast.Ident)

	return ok && element.Name == "string"
}

// formatOf is the text of an expression as a format: a literal, fmt.Sprintf, or a literal with something behind it.
func formatOf(said ast.Expr) string {
	switch e := said.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)

		return text
	case *ast.BinaryExpr:
		if text := formatOf(e.X); text != "" {
			return text + "3 items"
		}
	case *ast.CallExpr:
		if f, ok := e.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Sprintf" {
			return formatOf(e.Args[0])
		}
	}

	return ""
}

func TestWordsWithValues(t *testing.T) {
	t.Parallel()

	for message, want := range map[string]string{
		"must have at least 10 characters":                                           "يجب ألا يقل النص عن 10 أحرف",
		"must have at most 120 characters":                                           "يجب ألا يزيد النص على 120 حرفًا",
		"must have at most 200 characters":                                           "يجب ألا يزيد النص على 200 حرف",
		"must have at most 102 characters":                                           "يجب ألا يزيد النص على 102 حرف",
		"must have at least 1 item":                                                  "يجب إدخال عنصر واحد على الأقل",
		"must have at least 2 items":                                                 "يجب إدخال عنصرين على الأقل",
		"must be a number with at most 2 decimals":                                   "لا يمكن أن يزيد الرقم على خانتين عشريتين",
		"the period must not be longer than 366 days":                                "لا يمكن أن تزيد الفترة على 366 يومًا",
		"must be name or city, each with an optional leading -, separated by commas": "يجب أن تكون القيمة من: name أو city، مع - اختيارية قبل كل منها، مفصولة بفواصل",
		"must be one of a, b":                                                        "يجب أن تكون القيمة واحدة من: a, b",
		"must be in a year from 1 to 9999":                                           "يجب أن تكون السنة بين 1 و9999",
	} {
		got, ok := inArabic(message)
		require.True(t, ok)
		require.Equal(t, want, got)
	}

	got, ok := inArabic("is something new")
	require.False(t, ok)
	require.Equal(t, notValid, got)

	require.Equal(t, map[string][]string{"a": {"is required"}}, uiDetails(422, map[string][]string{"a": {"is required"}}, models.LocaleEnglish))
	require.Equal(t, map[string][]string{"a": {"هذا الحقل مطلوب"}}, uiDetails(422, map[string][]string{"a": {"is required"}}, models.LocaleArabic))
	require.Equal(t, map[string][]string{"a": {"لا يمكن ترك هذا الحقل فارغًا"}},
		uiDetails(422, map[string][]string{"a": {"must not be empty", "must not be blank"}}, models.LocaleArabic), "one thing is said once")
	require.Nil(t, uiDetails(500, map[string][]string{"request_id": {"x"}}, models.LocaleArabic))
}

// TestEveryCauseHasWords: each cause of a code has words of its own, in both languages, and every 401 has a cause.
func TestEveryCauseHasWords(t *testing.T) {
	t.Parallel()

	seen := map[string]models.Cause{}

	for _, cause := range models.Causes() {
		text, ok := causeWords[cause]
		require.True(t, ok, "%s has no ui_message: add it to causeWords", cause)
		require.Regexp(t, `^[A-Z][^{}]*\.$`, text.en, cause)
		require.Regexp(t, `^\p{Arabic}[^{}A-Za-z]*\.$`, text.ar, cause)

		for _, words := range []string{text.en, text.ar} {
			require.Empty(t, seen[words], "%s has the words of %s", cause, seen[words])
			seen[words] = cause
		}

		err := models.Because(cause)
		require.Equal(t, cause, err.Cause)
		require.NotEmpty(t, err.Message, cause)
		require.Contains(t, statusOf, err.Code, cause)
		require.Equal(t, text.en, uiMessage(err.Code, err.Cause, models.LocaleEnglish))
		require.Equal(t, text.ar, uiMessage(err.Code, err.Cause, models.LocaleArabic))
	}

	require.Len(t, causeWords, len(models.Causes()), "words of a cause that does not exist")

	// No 401 of a person is made without its cause; a sign-on is answered by a page, and a gateway's signature is no person's.
	without := regexp.MustCompile(`(Errorf|NewSignOnError|signOnError)\(models\.Code(Unauthenticated|InvalidCredentials)\b`)

	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "signon.go") {
			return err
		}

		text, err := os.ReadFile(path)
		require.Empty(t, without.FindString(string(text)), path)

		return err
	}))
}
