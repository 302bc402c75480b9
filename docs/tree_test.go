package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
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

// tree is what the names of rules are looked for in. Names are found wherever they are declared: moving a file changes nothing.
type tree struct {
	declared map[string]bool // by Go code: functions, types, constants and variables of packages, and Type.Method
	tests    map[string]bool
	literals map[string]bool // strings in Go code that is no test
	words    map[string]bool // UPPER_SNAKE in Go code and in the API's document
	sql      string          // the migrations, in their order, without comments
	citing   map[string][]string
}

// readTree reads the repository once per test.
func readTree(t *testing.T) *tree {
	t.Helper()

	tr := &tree{
		declared: map[string]bool{}, tests: map[string]bool{}, literals: map[string]bool{}, words: map[string]bool{},
		citing: map[string][]string{},
	}

	var migrations []string

	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}

		name := entry.Name()
		if entry.IsDir() {
			if slices.Contains([]string{".git", ".data", "node_modules", "testdata"}, name) {
				return filepath.SkipDir
			}

			return nil
		}

		if strings.HasSuffix(name, ".up.sql") {
			migrations = append(migrations, path)
		}

		return tr.read(path)
	})
	require.NoError(t, err)

	slices.SortFunc(migrations, func(a, b string) int { return strings.Compare(filepath.Base(a), filepath.Base(b)) })

	for _, path := range migrations {
		text, err := os.ReadFile(path)
		require.NoError(t, err)

		tr.sql += comment.ReplaceAllString(string(text), "") + "\n"
	}

	return tr
}

func (tr *tree) read(path string) error {
	if !slices.Contains([]string{".go", ".sql", ".md", ".yaml", ".yml", ".sh", ".js", ".ts"}, filepath.Ext(path)) ||
		filepath.Base(path) == "rules_test.go" || filepath.Base(path) == enforcedFile {
		return nil
	}

	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}

	for _, c := range cited.FindAllSubmatch(text, -1) {
		for id := range strings.SplitSeq(string(c[1]), ", ") {
			tr.citing[id] = append(tr.citing[id], path)
		}
	}

	for _, l := range linked.FindAllSubmatch(text, -1) {
		tr.citing[string(l[1])] = append(tr.citing[string(l[1])], path)
	}

	if ext := filepath.Ext(path); ext == ".go" || ext == ".yaml" {
		for _, word := range upper.FindAll(text, -1) {
			tr.words[string(word)] = true
		}
	}

	if filepath.Ext(path) != ".go" || strings.HasSuffix(path, ".gen.go") {
		return nil
	}

	file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}

	tr.declare(file, strings.HasSuffix(path, "_test.go"))

	return nil
}

// declare notes what a file declares for its package and, unless it is a test, the strings in it.
func (tr *tree) declare(file *ast.File, isTest bool) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			tr.declareFunc(d, isTest)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					tr.declared[spec.Name.Name] = true
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						tr.declared[name.Name] = true
					}
				}
			}
		}
	}

	if isTest {
		return
	}

	ast.Inspect(file, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if text, err := strconv.Unquote(l.Value); err == nil {
				tr.literals[text] = true
			}
		}

		return true
	})
}

func (tr *tree) declareFunc(f *ast.FuncDecl, isTest bool) {
	switch {
	case f.Recv != nil:
		tr.declared[f.Name.Name] = true
		tr.declared[receiver(f.Recv.List[0].Type)+"."+f.Name.Name] = true
	case isTest && testName.MatchString(f.Name.Name):
		tr.tests[f.Name.Name] = true
	default:
		tr.declared[f.Name.Name] = true
	}
}

// receiver is the name of a method's type, without its parameters.
func receiver(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// inDatabase reports whether the migrations leave a constraint, index, trigger, function or sequence of the name behind;
// `table.column` is a column of a table that they make or change.
func (tr *tree) inDatabase(name string) bool {
	if table, column, ok := strings.Cut(name, "."); ok {
		return regexp.MustCompile(`(?:CREATE|ALTER) TABLE ` + table + `\b[^;]*\b` + column + `\b`).MatchString(tr.sql)
	}

	made := tr.last(`\b` + name + `\b`)
	dropped := tr.last(`DROP (?:CONSTRAINT|INDEX|TRIGGER|FUNCTION)(?: IF EXISTS)? (?:\w+, )*` + name + `\b`)

	return made > dropped
}

// last is where the last match in the migrations ends; -1 when there is none.
func (tr *tree) last(pattern string) int {
	all := regexp.MustCompile(pattern).FindAllStringIndex(tr.sql, -1)
	if len(all) == 0 {
		return -1
	}

	return all[len(all)-1][1]
}
