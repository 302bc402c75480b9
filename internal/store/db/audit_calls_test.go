package db_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each action that is noted, and each kind of thing that it is done to, is a constant of models: these are listed there, have words in the
// console, and are found by its filters.
func TestAuditEntriesHaveNamedActions(t *testing.T) {
	t.Parallel()

	files, calls := token.NewFileSet(), 0

	for _, folder := range []string{"api", "activities", "cmd", "internal", "worker"} {
		require.NoError(t, filepath.WalkDir(filepath.Join("../../..", folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}

			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}

			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || !notes(call.Fun) {
					return true
				}

				calls++

				for _, argument := range call.Args {
					if literal, ok := argument.(*ast.BasicLit); ok && literal.Kind == token.STRING {
						t.Errorf("%s: %s is no constant of models", files.Position(n.Pos()), literal.Value)
					}
				}

				return true
			})

			return nil
		}))
	}

	require.Greater(t, calls, 30, "these are no calls of all that is noted")
}

// notes reports whether a function is one that makes an audit entry, or hands an action on to it.
func notes(fun ast.Expr) bool {
	switch fun := fun.(type) {
	case *ast.SelectorExpr:
		return notes(fun.Sel)
	case *ast.Ident:
		return slices.Contains([]string{"Audit", "NewAuditEntry", "note", "moveCampaign"}, fun.Name)
	default:
		return false
	}
}
