package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

var (
	toAnchor = regexp.MustCompile(`\]\(([^)#\s:]*)#([^)\s]+)\)`)
	heading  = regexp.MustCompile(`(?m)^#+ (.+)$`)
	htmlTag  = regexp.MustCompile(`<[^>]+>`)
	linkText = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// TestLinksLeadToAnchors finds links of the documents to headings and anchors that are not there.
func TestLinksLeadToAnchors(t *testing.T) {
	t.Parallel()

	for _, name := range documents(t) {
		text, err := os.ReadFile(name)
		require.NoError(t, err)

		for _, to := range toAnchor.FindAllStringSubmatch(codeBlock.ReplaceAllString(string(text), ""), -1) {
			target := name
			if to[1] != "" {
				target = filepath.Join(filepath.Dir(name), to[1])
			}

			if filepath.Ext(target) != ".md" {
				continue
			}

			there, err := os.ReadFile(target)
			require.NoError(t, err, name)
			require.True(t, anchors(string(there))[to[2]], "%s links to %s#%s", name, to[1], to[2])
		}
	}
}

// anchors are the places of a document that can be linked to: headings as GitHub names them, and ids.
func anchors(text string) map[string]bool {
	text = codeBlock.ReplaceAllString(text, "")
	found := map[string]bool{}

	for _, id := range anchorsOf(text) {
		found[id] = true
	}

	for _, h := range heading.FindAllStringSubmatch(text, -1) {
		words := linkText.ReplaceAllString(htmlTag.ReplaceAllString(h[1], ""), "$1")
		found[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
				return unicode.ToLower(r)
			default:
				return -1
			}
		}, words)] = true
	}

	return found
}

func TestAnchors(t *testing.T) {
	t.Parallel()

	found := anchors("# The API's document\n## <a id=\"x.y\"></a>`rihla` [and](z.md) more\n```\n# no heading\n```\n**<a id=\"r\">r</a>**\n")
	require.Equal(t, map[string]bool{"the-apis-document": true, "x.y": true, "rihla-and-more": true, "r": true}, found)
}
