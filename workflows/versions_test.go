package workflows_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryVersionHasAName: changes that old runs must not see are predicates of versions.go, each with its own id, which
// is a literal, and a comment.
func TestEveryVersionHasAName(t *testing.T) {
	t.Parallel()

	files, err := filepath.Glob("*.go")
	require.NoError(t, err)

	ids := map[string]string{}

	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}

		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, file, nil, parser.ParseComments)
		require.NoError(t, err)

		for _, declaration := range tree.Decls {
			ast.Inspect(declaration, func(n ast.Node) bool {
				selector, ok := n.(*ast.SelectorExpr)
				if !ok || selector.Sel.Name != "GetVersion" {
					return true
				}

				where := set.Position(n.Pos()).String()
				require.Equal(t, "versions.go", file, "%s: GetVersion belongs into a predicate of versions.go", where)

				predicate, ok := declaration.(*ast.FuncDecl)
				require.True(t, ok, where)
				require.NotEmpty(t, predicate.Doc.Text(), "%s has no comment", predicate.Name)
				require.Contains(t, predicate.Doc.Text(), "Since ", "%s does not say since when", predicate.Name)

				return true
			})

			ast.Inspect(declaration, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}

				if f, ok := call.Fun.(*ast.SelectorExpr); !ok || f.Sel.Name != "GetVersion" {
					return true
				}

				id, ok := call.Args[1].(*ast.BasicLit)
				require.True(t, ok, "%s: a change id is a literal", set.Position(call.Pos()))
				require.Empty(t, ids[id.Value], "%s is used twice", id.Value)
				ids[id.Value] = file

				return true
			})
		}
	}

	require.NotEmpty(t, ids)
}
