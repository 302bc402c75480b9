package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// TestRunbookPages: every page says what is true, how it comes and what to do, in that order and in few words, and the index leads to it.
func TestRunbookPages(t *testing.T) {
	t.Parallel()

	index, err := os.ReadFile("operations.md")
	require.NoError(t, err)

	pages, err := filepath.Glob("runbook/*.md")
	require.NoError(t, err)
	require.Greater(t, len(pages), 20)

	headings := regexp.MustCompile(`(?m)^#+ .*$`)

	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)

		found := headings.FindAllString(string(text), -1)
		require.Len(t, found, 4, page)
		require.Equal(t, []string{"## State", "## Cause", "## Action"}, found[1:], page)
		require.LessOrEqual(t, len(strings.Fields(string(text))), 270, "%s: too long to read at night", page)
		require.Contains(t, string(index), "["+strings.TrimPrefix(found[0], "# ")+"]("+filepath.ToSlash(page)+")",
			"the index has no link to it by its title")
	}
}

// TestEveryIncidentKindHasAPage: the index has a row with the anchor of each kind of the API's document, to which incidents link, and that
// row leads to a page which names the kind.
func TestEveryIncidentKindHasAPage(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile("../api/openapi.yaml")
	require.NoError(t, err)

	var document struct {
		Components struct {
			Schemas struct {
				IncidentKind struct {
					Enum []string `yaml:"enum"`
				} `yaml:"IncidentKind"`
			} `yaml:"schemas"`
		} `yaml:"components"`
	}

	require.NoError(t, yaml.Unmarshal(text, &document))

	kinds := document.Components.Schemas.IncidentKind.Enum
	require.Greater(t, len(kinds), 10)

	index, err := os.ReadFile("operations.md")
	require.NoError(t, err)

	for _, kind := range kinds {
		row := regexp.MustCompile(`(?m)^\|.*<a id="incident-` + strings.ToLower(kind) + `"></a>.*\((runbook/[a-z-]+\.md)\) \|$`)
		found := row.FindSubmatch(index)
		require.NotNil(t, found, "%s: no row of the index leads to a page", kind)

		page, err := os.ReadFile(string(found[1]))
		require.NoError(t, err)
		require.Contains(t, string(page), "`"+kind+"`", string(found[1]))
	}
}

// TestAnchorsOfOperationsStay: links to these anchors were published, in alerts, incidents and documents of releases.
func TestAnchorsOfOperationsStay(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile("operations.md")
	require.NoError(t, err)

	there := idsOf(string(text))

	for id := range strings.FieldsSeq(`
		a-customers-booking a-payout-that-was-marked-by-mistake a-refund-that-stays-pending a-refund-that-the-gateway-does-not-make
		accounts accounts-that-nobody-can-reach acting-on-a-workflow archiving-months cancel-and-terminate closing-an-attempt
		dashboards-and-customers-that-are-not-told deploying health-and-metrics late-checks mails-that-strangers-cause
		many-customers-who-wait money-in-suspense money-that-was-given-back-in-the-companys-dashboard months one-payment photos
		reading-encrypted-histories redis refunds-that-wait-for-a-payout-by-hand refunds-that-wait-for-an-approval reset
		something-is-stuck the-audit the-audit-logs-seals the-database-role-of-the-service the-search-attributes the-sweep the-temporal-ui
		too-many-payments-at-once trying-again-at-once unusual-refunds verifying-a-webhook-once-more webhooks-that-cannot-be-read
		what-to-look-at when-a-gateway-is-sick when-a-worker-or-an-api-process-dies when-postgresql-is-down
		when-processes-start-before-the-others when-something-is-down when-temporal-is-down when-the-audit-finds-a-difference
		when-the-gateway-is-down when-webhooks-stop while-a-migration-runs with-versions`) {
		require.Contains(t, there, id)
	}
}

// TestLinksLeadToHeadings: a link to a part of a document leads to a heading or an anchor of it.
func TestLinksLeadToHeadings(t *testing.T) {
	t.Parallel()

	for _, name := range documents(t) {
		text, err := os.ReadFile(name)
		require.NoError(t, err)

		for _, link := range markdown.FindAllStringSubmatch(string(text), -1) {
			if link[2] == "" || strings.Contains(link[1], ":") || (link[1] != "" && filepath.Ext(link[1]) != ".md") {
				continue
			}

			target := name
			if link[1] != "" {
				target = filepath.Join(filepath.Dir(name), link[1])
			}

			page, err := os.ReadFile(target)
			require.NoError(t, err, name)
			require.Contains(t, idsOf(string(page)), link[2], "%s links to %s", name, link[0])
		}
	}
}

var (
	title = regexp.MustCompile(`(?m)^#+ (.+)$`)
	drops = regexp.MustCompile(`<[^>]*>|\]\([^)]*\)|[^a-z0-9 _-]`)
)

// idsOf are the anchors of a document, and the ids that hosts of Markdown give its headings.
func idsOf(text string) map[string]bool {
	ids := map[string]bool{}

	for _, id := range anchorsOf(text) {
		ids[id] = true
	}

	for _, heading := range title.FindAllStringSubmatch(fenced.ReplaceAllStringFunc(text, keepSpans), -1) {
		ids[strings.ReplaceAll(drops.ReplaceAllString(strings.ToLower(heading[1]), ""), " ", "-")] = true
	}

	return ids
}

// keepSpans drops blocks of code, whose comments look like headings, and keeps code within a line.
func keepSpans(code string) string {
	if strings.HasPrefix(code, "```") {
		return ""
	}

	return code
}

// TestNamedTestsExist: the tests that these documents name as proofs are there.
func TestNamedTestsExist(t *testing.T) {
	t.Parallel()

	there := readTree(t)

	for name, least := range map[string]int{"../README.md": 15, "reliability.md": 20, "operations.md": 1} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)

		prose, named := fenced.ReplaceAllStringFunc(string(text), keepSpans), 0

		for _, q := range quoted.FindAllStringSubmatch(prose, -1) {
			if testName.MatchString(q[1]) {
				named++

				require.True(t, there.tests[q[1]], "%s names %s", name, q[1])
			}
		}

		require.GreaterOrEqual(t, named, least, name)
	}
}
