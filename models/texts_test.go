package models_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

// words are a catalogue: texts by key, and the plural forms of units by name and form.
type words struct {
	texts map[string]string
	units map[string]map[string]string
}

func wordsOf(t *testing.T, language string) words {
	t.Helper()

	text, err := os.ReadFile("words/" + language + ".json")
	require.NoError(t, err)

	var subjects map[string]map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(text, &subjects))

	w := words{map[string]string{}, map[string]map[string]string{}}

	for subject, all := range subjects {
		for name, raw := range all {
			if subject == "unit" {
				var forms map[string]string
				require.NoError(t, json.Unmarshal(raw, &forms), name)
				w.units[name] = forms

				continue
			}

			var said string
			require.NoError(t, json.Unmarshal(raw, &said), "%s.%s is no plain text: count nouns by a unit", subject, name)
			require.Regexp(t, `^[a-z][a-z0-9_]*$`, name)
			w.texts[subject+"."+name] = said
		}
	}

	return w
}

var (
	inBraces = regexp.MustCompile(`\{\{[^}]*\}\}`)
	argument = regexp.MustCompile(`\.([a-z_]+)`)
	counted  = regexp.MustCompile(`count \.[a-z_]+ "([a-z_]+)"`)
)

func argsOf(text string) []string {
	found := map[string]bool{}

	for _, part := range inBraces.FindAllString(text, -1) {
		for _, name := range argument.FindAllStringSubmatch(part, -1) {
			found[name[1]] = true
		}
	}

	return slices.Sorted(maps.Keys(found))
}

// TestCatalogues: both languages have the same keys, each with the same arguments, and all plural forms that they need.
func TestCatalogues(t *testing.T) {
	t.Parallel()

	english, arabic := wordsOf(t, "en"), wordsOf(t, "ar")
	plurals := map[string][]string{"en": {"one", "other"}, "ar": {"few", "many", "one", "other", "two", "zero"}}

	for key, text := range english.texts {
		key, ofPeople := strings.CutSuffix(key, "_ui")
		if ofPeople {
			require.NotEmpty(t, english.texts[key], "words for people of a text that does not exist")
		}

		require.NotEmpty(t, arabic.texts[key], key)
		require.Equal(t, argsOf(text), argsOf(arabic.texts[key]), key)
		require.Regexp(t, `\p{Arabic}|^\{\{`, arabic.texts[key], key)
		require.NotRegexp(t, `\p{Arabic}`, text, key)
	}

	for key := range arabic.texts {
		require.NotEmpty(t, english.texts[key], key)
	}

	for language, w := range map[string]words{"en": english, "ar": arabic} {
		used := map[string]bool{"hour": true, "minute": true} // of durations

		for key, text := range w.texts {
			for _, unit := range counted.FindAllStringSubmatch(text, -1) {
				require.Contains(t, w.units, unit[1], key)
				used[unit[1]] = true
			}
		}

		require.Equal(t, slices.Sorted(maps.Keys(w.units)), slices.Sorted(maps.Keys(used)), language)

		for unit, forms := range w.units {
			require.Equal(t, plurals[language], slices.Sorted(maps.Keys(forms)), "%s: %s", language, unit)
		}
	}
}

// TestTexts holds code and catalogues to each other: every key that is used is there, with the arguments that it is used with, and every
// key that is there is used.
func TestTexts(t *testing.T) {
	t.Parallel()

	english := wordsOf(t, "en").texts
	source := readSource(t)
	used := map[string]bool{}

	for _, c := range models.Causes() {
		used["cause."+strings.ToLower(string(c))] = true
	}

	document, err := os.ReadFile("../api/openapi.yaml")
	require.NoError(t, err)

	for _, found := range regexp.MustCompile(`x-message: ([a-z_.0-9]+)(?:\s+x-message-args: \{ ([a-z_]+):)?`).FindAllStringSubmatch(string(document), -1) {
		used[found[1]] = true
		require.NotEmpty(t, english[found[1]], found[1])
		require.ElementsMatch(t, argsOf(english[found[1]]), strings.Fields(found[2]), found[1])
	}

	for _, f := range source.files {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil {
					used[text] = true
				}
			case *ast.CallExpr:
				source.checkCall(t, english, f, n)
			case *ast.CompositeLit:
				if m, ok := n.Type.(*ast.MapType); ok && isKey(m.Value) {
					for _, e := range n.Elts {
						source.checkKey(t, english, e.(*ast.KeyValueExpr).Value)
					}
				}
			case *ast.FuncDecl:
				if n.Type.Results != nil && slices.ContainsFunc(n.Type.Results.List, func(r *ast.Field) bool { return isKey(r.Type) }) {
					ast.Inspect(n.Body, func(n ast.Node) bool {
						if r, ok := n.(*ast.ReturnStmt); ok {
							source.checkKey(t, english, r.Results[0])
						}

						return true
					})
				}
			}

			return true
		})
	}

	for key := range english {
		subject, _, _ := strings.Cut(key, ".")
		if !used[strings.TrimSuffix(key, "_ui")] && subject != "code" { // those are held to the table of codes
			t.Errorf("nobody says %s", key)
		}
	}

	require.Greater(t, source.checked, 250)
}

// source is the code of the service.
type source struct {
	set     *token.FileSet
	files   []sourceFile
	keys    map[string]keyParameter // by folder and name of the function
	checked int
}

type sourceFile struct {
	folder string
	tree   *ast.File
}

// keyParameter is which parameter of a function is a key, and whether names and values follow it.
type keyParameter struct {
	at       int
	variadic bool
}

func isKey(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == "Key"
	case *ast.SelectorExpr:
		of, ok := e.X.(*ast.Ident)

		return ok && of.Name == "models" && e.Sel.Name == "Key"
	default:
		return false
	}
}

func readSource(t *testing.T) *source {
	t.Helper()

	s := &source{set: token.NewFileSet(), keys: map[string]keyParameter{}}

	for _, folder := range []string{"activities", "api", "cmd", "gateways", "internal", "models", "worker", "workflows"} {
		require.NoError(t, filepath.WalkDir(filepath.Join("..", folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/gen/") {
				return err
			}

			tree, err := parser.ParseFile(s.set, path, nil, parser.SkipObjectResolution)
			s.files = append(s.files, sourceFile{filepath.Dir(path), tree})

			return err
		}))
	}

	for _, f := range s.files {
		for _, d := range f.tree.Decls {
			if function, ok := d.(*ast.FuncDecl); ok {
				s.findKey(f.folder, function)
			}
		}
	}

	return s
}

func (s *source) findKey(folder string, function *ast.FuncDecl) {
	at := 0

	for i, p := range function.Type.Params.List {
		if isKey(p.Type) {
			_, variadic := function.Type.Params.List[len(function.Type.Params.List)-1].Type.(*ast.Ellipsis)
			s.keys[folder+"."+function.Name.Name] = keyParameter{at, variadic && i == len(function.Type.Params.List)-2}

			return
		}

		at += max(len(p.Names), 1)
	}
}

// checkCall looks at a call of a function with a key: one of its own package, or of models.
func (s *source) checkCall(t *testing.T, english map[string]string, f sourceFile, call *ast.CallExpr) {
	t.Helper()

	folder, name := f.folder, ""

	switch fun := call.Fun.(type) {
	case *ast.Ident:
		name = fun.Name
	case *ast.SelectorExpr:
		name = fun.Sel.Name
		if of, ok := fun.X.(*ast.Ident); ok && of.Name == "models" {
			folder = "../models"
		}
	}

	parameter, ok := s.keys[folder+"."+name]
	if !ok || len(call.Args) <= parameter.at {
		return
	}

	key := s.checkKey(t, english, call.Args[parameter.at])
	if key == "" || !parameter.variadic || call.Ellipsis.IsValid() {
		return
	}

	var given []string

	for i := parameter.at + 1; i < len(call.Args); i += 2 {
		text, _ := call.Args[i].(*ast.BasicLit)
		require.NotNil(t, text, "%s: the name of an argument", s.set.Position(call.Pos()))

		name, _ := strconv.Unquote(text.Value)
		given = append(given, name)
	}

	slices.Sort(given)
	if want := argsOf(english[key]); !slices.Equal(want, given) {
		t.Errorf("%s: %s wants the arguments %v, not %v", s.set.Position(call.Pos()), key, want, given)
	}
}

// checkKey is the key that an expression is, which is in the catalogue; empty for one that is found elsewhere.
func (s *source) checkKey(t *testing.T, english map[string]string, e ast.Expr) string {
	t.Helper()

	literal, ok := e.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return ""
	}

	key, _ := strconv.Unquote(literal.Value)
	_, found := english[key]
	if !found {
		t.Errorf("%s: no text %q", s.set.Position(e.Pos()), key)
	}

	s.checked++

	return key
}
