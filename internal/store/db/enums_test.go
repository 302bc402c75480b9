package db_test

import (
	"database/sql"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/storetest"
	"rihla/models"
)

// checkedValues is the CHECK of a column that must be one of some values, as PostgreSQL prints it.
var checkedValues = regexp.MustCompile(`^CHECK \(\(\(?"?(\w+)"?(?: IS NULL\) OR \("?\w+"?)? = ANY \(ARRAY\[([^\]]*)\]\)\)\)`)

// noSending has no SENDING: an attempt is opened by a request that ends with the answer.
const noSending = "payment_transactions.sent_answer"

// TestEnumsAgree: a type of the models has the same values in the code, in the CHECKs of all columns that hold it, and in openapi.yaml.
func TestEnumsAgree(t *testing.T) {
	t.Parallel()

	values, columns := enumsOfModels(t)
	_, conn := storetest.Open(t, models.DefaultPolicies())
	inDatabase := valuesInDatabase(t, conn)
	seen := 0

	for column, kind := range columns {
		if checked, ok := inDatabase[column]; ok && len(values[kind]) > 0 && column != noSending {
			require.Equal(t, values[kind], checked, "%s is a models.%s", column, kind)

			seen++
		}
	}

	require.Greater(t, seen, 20, "columns whose values the database checks")

	for kind, documented := range enumsOfDocument(t) {
		require.Equal(t, values[kind], documented, "models.%s in openapi.yaml", kind)
	}
}

// enumsOfModels are the constants of the string types of the package, and the type of each column.
func enumsOfModels(t *testing.T) (values map[string][]string, columns map[string]string) {
	t.Helper()

	values, columns = map[string][]string{}, map[string]string{}
	aliases := map[string]string{}
	files, err := filepath.Glob("../../../models/*.go")
	require.NoError(t, err)

	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}

		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)

		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				kind, ok := n.Type.(*ast.Ident)
				if !ok {
					break
				}

				for _, v := range n.Values {
					if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
						text, err := strconv.Unquote(lit.Value)
						require.NoError(t, err)

						if text != "" { // none of them
							values[kind.Name] = append(values[kind.Name], text)
						}
					}
				}
			case *ast.TypeSpec:
				if of, ok := n.Type.(*ast.Ident); ok && n.Assign.IsValid() {
					aliases[n.Name.Name] = of.Name
				}
			case *ast.StructType:
				columnsOf(n, columns)
			}

			return true
		})
	}

	for kind := range values {
		slices.Sort(values[kind])
	}

	for name, of := range aliases {
		values[name] = values[of]
	}

	return values, columns
}

// columnsOf adds the columns of a row, as table.column, with the names of their types.
func columnsOf(row *ast.StructType, columns map[string]string) {
	table := ""

	for _, f := range row.Fields.List {
		if f.Tag == nil {
			continue
		}

		name, _, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("bun"), ",")

		if of, ok := strings.CutPrefix(name, "table:"); ok {
			table = of

			continue
		}

		kind := f.Type
		if pointer, ok := kind.(*ast.StarExpr); ok {
			kind = pointer.X
		}

		if ident, ok := kind.(*ast.Ident); ok && table != "" && name != "-" {
			columns[table+"."+name] = ident.Name
		}
	}
}

// valuesInDatabase are the values that the CHECKs of columns allow, by table.column.
func valuesInDatabase(t *testing.T, conn *sql.DB) map[string][]string {
	t.Helper()

	rows, err := conn.QueryContext(t.Context(), `SELECT conrelid::regclass::text, pg_get_constraintdef(oid)
		FROM pg_constraint WHERE contype = 'c' AND connamespace = 'public'::regnamespace`)
	require.NoError(t, err)

	defer rows.Close()

	found := map[string][]string{}

	for rows.Next() {
		var table, is string

		require.NoError(t, rows.Scan(&table, &is))

		m := checkedValues.FindStringSubmatch(is)
		if m == nil {
			continue
		}

		allowed := map[string]bool{}
		for _, quoted := range regexp.MustCompile(`'([^']*)'::text`).FindAllStringSubmatch(m[2], -1) {
			if quoted[1] != "" { // none of them
				allowed[quoted[1]] = true
			}
		}

		found[table+"."+m[1]] = slices.Sorted(maps.Keys(allowed))
	}

	require.NoError(t, rows.Err())

	return found
}

// enumsOfDocument are the values of the schemas of openapi.yaml that are types of the models.
func enumsOfDocument(t *testing.T) map[string][]string {
	t.Helper()

	doc, err := openapi3.NewLoader().LoadFromFile("../../../api/openapi.yaml")
	require.NoError(t, err)

	all := map[string][]string{}

	for _, schema := range doc.Components.Schemas {
		kind, ok := strings.CutPrefix(stringOf(schema.Value.Extensions["x-go-type"]), "models.")
		if !ok {
			continue
		}

		for _, v := range schema.Value.Enum {
			if text := stringOf(v); text != "" && !slices.Contains(all[kind], text) {
				all[kind] = append(all[kind], text)
			}
		}
	}

	for kind := range all {
		slices.Sort(all[kind])
	}

	require.Greater(t, len(all), 15)

	return all
}

func stringOf(v any) string {
	text, _ := v.(string)

	return text
}
