package docs_test

import (
	"encoding/json"
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

var (
	inMarks = regexp.MustCompile(`"((?:… |…: |[A-Z])[^"]+)"`)
	fenced  = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	dynamic = regexp.MustCompile(`…|\(…\)|\b[A-Z][A-Z_]{2,}\b`) // what a text fills in
	verb    = regexp.MustCompile(`%[-+#0-9.]*[a-zA-Z]`)
)

// TestQuotesOfOperations: what the guides for operators quote of the service, in quotation marks and with … for what varies, the code
// still says.
func TestQuotesOfOperations(t *testing.T) {
	t.Parallel()

	guides, err := filepath.Glob("runbook/*.md")
	require.NoError(t, err)

	said, quotes := append(textsOf(t, ".."), catalogueOf(t, "../models/words/en.json")...), 0

	for _, name := range append(guides, "operations.md", "deploy.md") {
		guide, err := os.ReadFile(name)
		require.NoError(t, err)

		prose := strings.Join(strings.Fields(fenced.ReplaceAllString(string(guide), "")), " ")

		for _, quote := range inMarks.FindAllStringSubmatch(prose, -1) {
			if quotes++; slices.Contains(saidByOthers, quote[1]) {
				continue
			}

			require.True(t, isSaid(said, quote[1]), "%s: no text of the code says %q", name, quote[1])
		}
	}

	require.Greater(t, quotes, 12)
}

// saidByOthers are quotes of what Temporal and PostgreSQL say.
var saidByOthers = []string{"Version not found in deployment"}

// isSaid reports that one text of the code has all pieces of a quote, in their order.
func isSaid(texts []string, quote string) bool {
	pieces := dynamic.Split(quote, -1)

	for _, text := range texts {
		rest, all := text, true

		for _, piece := range pieces {
			piece = strings.Trim(piece, " .")
			at := strings.Index(rest, piece)

			if all = at >= 0; !all {
				break
			}

			rest = rest[at+len(piece):]
		}

		if all {
			return true
		}
	}

	return false
}

// catalogueOf are the texts of a catalogue of the service.
func catalogueOf(t *testing.T, path string) (texts []string) {
	t.Helper()

	file, err := os.ReadFile(path)
	require.NoError(t, err)

	var subjects map[string]map[string]any
	require.NoError(t, json.Unmarshal(file, &subjects))

	for _, subject := range subjects {
		for _, text := range subject {
			if said, ok := text.(string); ok {
				texts = append(texts, said)
			}
		}
	}

	return texts
}

// textsOf are the texts of the Go files below a directory: literals that are added up are one text, with a gap for each value between them.
func textsOf(t *testing.T, root string) []string {
	t.Helper()

	var texts []string

	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "gen" || strings.HasPrefix(entry.Name(), ".") && path != root):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}

		tree, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}

		ast.Inspect(tree, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.BinaryExpr, *ast.BasicLit:
				text := textOf(x)
				if text != "" {
					texts = append(texts, text)
				}

				return text == ""
			default:
				return true
			}
		})

		return nil
	})
	require.NoError(t, err)

	return texts
}

// textOf is the text of an expression, empty for one that is none.
func textOf(n ast.Node) string {
	switch x := n.(type) {
	case *ast.BasicLit:
		if x.Kind != token.STRING {
			return ""
		}

		text, err := strconv.Unquote(x.Value)
		if err != nil {
			return ""
		}

		return verb.ReplaceAllString(text, "\x00")
	case *ast.BinaryExpr:
		left, right := textOf(x.X), textOf(x.Y)
		if x.Op != token.ADD || left == "" && right == "" {
			return ""
		}

		return orGap(left) + orGap(right)
	default:
		return ""
	}
}

func orGap(text string) string {
	if text == "" {
		return "\x00"
	}

	return text
}
